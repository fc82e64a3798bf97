/// The common properties of the invocations whose figures are summed: every property by which a report groups.
public struct FigureKey: Hashable, Sendable {
    /// The mode of the router.
    public var mode: DispatchMode
    /// The platform of the request.
    public var platform: Platform
    /// Package name or bundle id; `nil` if the request named none, or if ``isOtherApp`` is set.
    public var app: String?
    /// Whether it stands for all apps beyond the limit of a minute, since producers choose the names of apps.
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
    /// The reason, if reports count by it: one of ``countedReasons``.
    public var reasonCode: ReasonCode?
    /// Whether the invocation is the copy for an observing route.
    public var isObserver: Bool

    /// The codes by which reports count: those of gaps, and those of missed deadlines.
    public static let countedReasons: [ReasonCode] = [
        .daemonDown, .daemonCrashed, .leaderLost, .waitingInLane, .notFinishedAtDeadline, .noHandlerStartedInTime,
        .notDoneAfterRetries, .queueFull, .routeTimeOver, .endedInGrace, .refusedSend,
    ]

    /// Returns the code if reports count by it, otherwise `nil`.
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

    /// The key of the same invocations for all apps beyond the limit.
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
        // The key was within the limits of its time, which may have been higher.
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
    /// Whether the times count: a handler was due, or the tracker ran. Other outcomes take no time, and would improve
    /// every quantile falsely.
    public var isTimed: Bool {
        switch self {
        case .handedToTracker, .handled, .failed, .timedOut, .expired: true
        case .unrouted, .duplicate, .shownBySystem, .notWoken, .swallowed, .ownReceiver, .sdkNotReady: false
        }
    }
}

/// The lengths of the spans for which the ledger keeps figures.
///
/// Each is a power of two of a minute, as are the spans of a report's timeline, so that a long span of figures lies
/// within one of these.
public enum SpanLength: Int64, Sendable, CaseIterable {
    /// The length in which invocations are counted.
    case minute = 1
    /// About an hour: 64 minutes.
    case hour = 64
    /// 4096 minutes, nearly three days.
    case days = 4096

    /// The length in minutes.
    public var minutes: Int64 { rawValue }

    /// The number of the span of this length that contains a minute; spans count from 1970 on.
    public func span(of minute: Int64) -> Int64 { minute / rawValue }

    /// Returns the first minute of a span.
    public func firstMinute(of span: Int64) -> Int64 { span * rawValue }
}

/// Minutes of the time of acceptance, counted from 1970 on. A time before 1970 or beyond ``limit`` (after the year
/// 4000) becomes the first or the last minute.
public enum FigureMinute {
    /// The end of the range: the ledger stores the number of a span in the upper half of a signed 64-bit number.
    public static let limit: Int64 = 1 << 30

    /// The minute of a time.
    public static func of(milliseconds: Int64) -> Int64 { min(max(0, milliseconds) / 60_000, limit - 1) }

    /// Returns the first minute that begins at `time` or later.
    public static func first(from time: WallTime) -> Int64 {
        let minute = of(milliseconds: time.milliseconds)
        return minute * 60_000 == time.milliseconds ? minute : minute + 1
    }

    /// The beginning of a minute.
    public static func begin(_ minute: Int64) -> WallTime { WallTime(milliseconds: minute * 60_000) }
}
