public import PushModel

/// The common properties of invocations whose figures are kept together: all by which a report distinguishes them.
public struct FigureKey: Hashable, Sendable {
    /// The mode of the router.
    public var mode: DispatchMode
    /// The platform of the request.
    public var platform: Platform
    /// Package name or bundle id; `nil` if the request named none, or if ``isOtherApp`` is set.
    public var app: String?
    /// Whether the key is for all apps above a minute's limit; there is a limit because producers choose the names of
    /// apps.
    public var isOtherApp = false
    /// The transport of the delivery.
    public var transport: Transport?
    /// The priority with which a delivery was sent over FCM.
    public var originalPriority: MessagePriority?
    /// The priority with which FCM delivered it.
    public var deliveredPriority: MessagePriority?
    /// The platform callback.
    public var callback: Callback
    /// The provider of the payload.
    public var provider: String?
    /// The route.
    public var route: String?
    /// The handler.
    public var handler: String?
    /// The outcome.
    public var outcome: Outcome
    /// The code of the reason if it is one of ``countedReasons``; otherwise `nil`.
    public var reasonCode: ReasonCode?
    /// Whether it is the copy of an observing route.
    public var isObserver: Bool

    /// The codes by which reports count: those of gaps and those of missed deadlines.
    public static let countedReasons: [ReasonCode] = [
        .daemonDown, .daemonCrashed, .leaderLost, .waitingInLane, .notFinishedAtDeadline, .noHandlerStartedInTime,
        .notDoneAfterRetries, .queueFull, .routeTimeOver, .endedInGrace,
    ]

    /// Returns the code if reports count by it; otherwise `nil`.
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

    /// The key with its app replaced by the other apps.
    public var ofOtherApp: FigureKey {
        var key = self
        (key.app, key.isOtherApp) = (nil, true)
        return key
    }

    // MARK: As a text

    /// The key as a JSON array, by which the ledger finds it; each key has exactly one text.
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
        // Without a limit of depth: the ledger's text was within the limits of its time.
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
    /// Whether figures of time include it: a handler was due, or the tracker ran. An invocation that ends without
    /// either takes no time, and would lower every quantile.
    public var isTimed: Bool {
        switch self {
        case .handedToTracker, .handled, .failed, .timedOut, .expired: true
        case .unrouted, .duplicate, .shownBySystem, .notWoken, .swallowed, .ownReceiver, .sdkNotReady: false
        }
    }
}
