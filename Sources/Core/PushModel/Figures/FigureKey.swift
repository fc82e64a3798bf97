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

/// The figures of the ended invocations with one key that were accepted in one span.
public struct KeyFigures: Hashable, Sendable {
    /// The version of the format, the first byte.
    private static let version = 1

    /// The number of invocations.
    public private(set) var count = 0
    /// The shortest budget of an invocation, in microseconds; `nil` if there is no invocation.
    public private(set) var shortestBudget: Int64?
    /// The number of due invocations that took at least their budget from acceptance.
    public private(set) var lateFromAcceptance = 0
    /// The number of due invocations that took at least their budget from the call of the callback.
    public private(set) var lateFromInvocation = 0
    /// For each of ``FigureThresholds/all``, the number of timed invocations that took at least as long from
    /// acceptance.
    public private(set) var overFromAcceptance = Array(repeating: 0, count: FigureThresholds.all.count)
    /// For each of ``FigureThresholds/all``, the number of timed invocations that took at least as long from the call
    /// of the callback.
    public private(set) var overFromInvocation = Array(repeating: 0, count: FigureThresholds.all.count)
    /// The times from acceptance to the start of the handler, of timed invocations.
    public private(set) var queue = Histogram()
    /// The times from the start of the handler to its end, of timed invocations that started.
    public private(set) var exec = Histogram()
    /// The times from acceptance to the end, of timed invocations.
    public private(set) var total = Histogram()

    /// Creates figures without invocations.
    public init() {}

    /// Counts one invocation.
    public mutating func add(_ times: DecidedTimes, of key: FigureKey) {
        count += 1
        shortestBudget = min(shortestBudget ?? times.budget, times.budget)
        guard key.outcome.isTimed else { return }
        queue.add(microseconds: times.queue)
        total.add(microseconds: times.total)
        if key.outcome != .expired { exec.add(microseconds: times.exec) }
        let since = times.sinceInvocation(mode: key.mode, platform: key.platform, outcome: key.outcome)
        if key.outcome.isDue {
            lateFromAcceptance += times.total >= times.budget ? 1 : 0
            lateFromInvocation += since >= times.budget ? 1 : 0
        }
        guard max(since, times.total) >= FigureThresholds.all[0] else { return }
        for (place, threshold) in FigureThresholds.all.enumerated() {
            overFromAcceptance[place] += times.total >= threshold ? 1 : 0
            overFromInvocation[place] += since >= threshold ? 1 : 0
        }
    }

    // MARK: Bytes

    /// The figures in the ledger's format.
    public var bytes: [UInt8] {
        var writer = FigureWriter()
        writer.number(Self.version)
        writer.number(count)
        writer.number(Int(shortestBudget ?? 0))
        for number in [lateFromAcceptance, lateFromInvocation] { writer.number(number) }
        for number in overFromAcceptance + overFromInvocation { writer.number(number) }
        for histogram in [queue, exec, total] { histogram.write(to: &writer) }
        return writer.bytes
    }

    /// Adds the figures in the bytes, which must be of the same key.
    ///
    /// - Throws: if the bytes are no figures; a part of them may have been added by then.
    public mutating func add(_ bytes: UnsafeRawBufferPointer) throws(FigureError) {
        var reader = FigureReader(bytes)
        guard try reader.number() == Self.version else { throw FigureError.unreadable }
        let added = try reader.number()
        let budget = Int64(try reader.number())
        if added > 0 { shortestBudget = min(shortestBudget ?? budget, budget) }
        try count.add(read: added)
        try lateFromAcceptance.add(read: try reader.number())
        try lateFromInvocation.add(read: try reader.number())
        guard max(lateFromAcceptance, lateFromInvocation) <= count else { throw FigureError.unreadable }
        for place in overFromAcceptance.indices { try overFromAcceptance[place].add(read: try reader.number()) }
        for place in overFromInvocation.indices { try overFromInvocation[place].add(read: try reader.number()) }
        try queue.add(&reader)
        try exec.add(&reader)
        try total.add(&reader)
        guard reader.isAtEnd else { throw FigureError.unreadable }
    }

    /// Reads figures.
    public init(_ bytes: UnsafeRawBufferPointer) throws(FigureError) { try add(bytes) }
}

/// The times of an ended invocation in microseconds, as the ledger stores them.
public struct DecidedTimes: Hashable, Sendable {
    /// The time from the start of the invocation to its deadline.
    public var budget: Int64
    /// The time from acceptance to the start of the handler.
    public var queue: Int64
    /// The time from the start of the handler to its end.
    public var exec: Int64
    /// The time from acceptance to the end.
    public var total: Int64

    /// Joins the parts.
    public init(budget: Int64, queue: Int64, exec: Int64, total: Int64) {
        self.budget = budget
        self.queue = queue
        self.exec = exec
        self.total = total
    }

    /// The time from the call of the callback to the end. In `device` mode on Android the ledger's `queue` includes the
    /// wait in the lane; there the time is `exec`, and after a missed deadline at least the budget.
    public func sinceInvocation(mode: DispatchMode, platform: Platform, outcome: Outcome) -> Int64 {
        switch (mode, platform) {
        case (.device, .android): outcome.isMissed ? max(budget, exec) : exec
        case (.relay, .android), (_, .ios), (_, .web): total
        }
    }
}

/// The platforms' time limits for which figures count the invocations that took longer.
public enum FigureThresholds {
    /// The limits in microseconds, shortest first. A new limit needs a new version of the figures.
    public static let all: [Int64] = [9_000_000, 10_000_000, 20_000_000, 30_000_000, 60_000_000]
}

/// The bands of latency of a report's timeline.
public enum LatencyBands {
    /// The exclusive upper bounds in microseconds; the last band has none.
    public static let bounds: [Int64] = [
        1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 9_000_000, 10_000_000, 20_000_000,
        30_000_000, 60_000_000,
    ]

    /// The number of bands.
    public static var count: Int { bounds.count + 1 }

    /// Returns the band of a duration in microseconds.
    public static func band(of duration: Int64) -> Int { bounds.firstIndex { duration < $0 } ?? bounds.count }
}
