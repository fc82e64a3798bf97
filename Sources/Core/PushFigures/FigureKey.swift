public import PushModel

/// What the invocations have in common whose figures are kept together: all by which a report tells them apart.
public struct FigureKey: Hashable, Sendable {
    /// In whose place the router stood.
    public var mode: DispatchMode
    /// The platform of the request.
    public var platform: Platform
    /// Package name or bundle id; `nil` where the request named none, or where ``isOtherApp`` is set.
    public var app: String?
    /// Whether it stands for all apps for which a minute had no room: producers choose their names.
    public var isOtherApp = false
    /// What brought the delivery.
    public var transport: Transport?
    /// The priority with which a delivery was sent over FCM.
    public var originalPriority: MessagePriority?
    /// The priority with which FCM delivered it.
    public var deliveredPriority: MessagePriority?
    /// The platform callback.
    public var callback: Callback
    /// Whose payload it is.
    public var provider: String?
    /// The route.
    public var route: String?
    /// The handler.
    public var handler: String?
    /// How it ended.
    public var outcome: Outcome
    /// Why, of the codes by which reports count: ``countedReasons``.
    public var reasonCode: ReasonCode?
    /// Whether it is the copy of an observing route.
    public var isObserver: Bool

    /// The codes by which reports count: those of gaps, and those by which a deadline is missed.
    public static let countedReasons: [ReasonCode] = [
        .daemonDown, .daemonCrashed, .leaderLost, .waitingInLane, .notFinishedAtDeadline, .noHandlerStartedInTime,
        .notDoneAfterRetries, .queueFull, .routeTimeOver, .endedInGrace,
    ]

    /// A code if reports count by it.
    public static func counted(_ code: ReasonCode?) -> ReasonCode? {
        code.flatMap { countedReasons.contains($0) ? $0 : nil }
    }

    /// Joins the parts.
    public init(
        mode: DispatchMode, platform: Platform, app: String?, transport: Transport?,
        originalPriority: MessagePriority?, deliveredPriority: MessagePriority?, callback: Callback, provider: String?,
        route: String?, handler: String?, outcome: Outcome, reasonCode: ReasonCode?, isObserver: Bool
    ) {
        self.mode = mode
        self.platform = platform
        self.app = app
        self.transport = transport
        self.originalPriority = originalPriority
        self.deliveredPriority = deliveredPriority
        self.callback = callback
        self.provider = provider
        self.route = route
        self.handler = handler
        self.outcome = outcome
        self.reasonCode = Self.counted(reasonCode)
        self.isObserver = isObserver
    }

    /// The key of the same invocations of all apps for which there is no room.
    public var ofOtherApp: FigureKey {
        var key = self
        (key.app, key.isOtherApp) = (nil, true)
        return key
    }

    // MARK: As a text

    /// The key as a JSON array, by which the ledger finds it: one text for each key.
    public var name: String {
        var writer = JSONWriter()
        writer.array { list in
            for word in [mode.rawValue, platform.rawValue, callback.rawValue, outcome.rawValue] { list.string(word) }
            list.bool(isObserver)
            list.bool(isOtherApp)
            let texts = [
                app, provider, route, handler, transport?.rawValue, originalPriority?.rawValue,
                deliveredPriority?.rawValue, reasonCode?.rawValue,
            ]
            for text in texts { if let text { list.string(text) } else { list.null() } }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Reads a ``name``.
    public init(named name: String) throws(FigureError) {
        // What is in the ledger was within the limits of its time.
        guard let document = try? JSONDocument(scanning: Array(name.utf8), limits: JSONLimits(depth: .max)) else {
            throw FigureError(message: "a key of figures is no JSON: \(name)")
        }
        let parts = document.root.elements
        let error = FigureError(message: "this is no key of figures: \(name)")
        guard parts.count == 14, let mode = DispatchMode(rawValue: parts[0].string ?? ""),
            let platform = Platform(rawValue: parts[1].string ?? ""),
            let callback = Callback(rawValue: parts[2].string ?? ""),
            let outcome = Outcome(rawValue: parts[3].string ?? ""), let isObserver = parts[4].bool,
            let isOtherApp = parts[5].bool
        else { throw error }
        func word<Value: RawRepresentable<String>>(_ place: Int) throws(FigureError) -> Value? {
            guard let text = parts[place].string else { return nil }
            guard let value = Value(rawValue: text) else { throw error }
            return value
        }
        self.init(
            mode: mode, platform: platform, app: parts[6].string, transport: try word(10),
            originalPriority: try word(11), deliveredPriority: try word(12), callback: callback,
            provider: parts[7].string, route: parts[8].string, handler: parts[9].string, outcome: outcome,
            reasonCode: try word(13), isObserver: isObserver)
        self.isOtherApp = isOtherApp
    }
}

extension Outcome {
    /// Whether its times say something: a handler was due, or the tracker ran. What ends without either takes no
    /// time, and would make every quantile look better than it is.
    public var isTimed: Bool {
        switch self {
        case .handedToTracker, .handled, .failed, .timedOut, .expired: true
        case .unrouted, .duplicate, .shownBySystem, .notWoken, .swallowed, .ownReceiver, .sdkNotReady: false
        }
    }
}
