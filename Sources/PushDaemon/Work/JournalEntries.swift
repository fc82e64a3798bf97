import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import Store

extension JournalEntry {
    /// The entry for files that a start moved aside, because it could not use them.
    init(setAside aside: RecoverySummary.SetAside) {
        switch aside.kind {
        case .damagedLog:
            self.init(
                .critical, "the log is damaged and was moved to \(aside.path): \(aside.reason)",
                messageID: .logSetAside)
        case .otherFormat:
            self.init(
                .critical,
                "the files of the state directory were moved to \(aside.path), and a new ledger begins: "
                    + aside.reason, messageID: .formatSetAside)
        }
    }

    /// The entry for the end of an invocation, with all that a report needs. It never has payload contents or keys.
    /// - Parameter number: the count of outcomes since the start, including this one.
    init(_ end: InvocationEnd, number: UInt64, successLevel: JournalSettings.Level) {
        let invocation = end.invocation
        let request = end.request
        let result = end.result
        let isMissed = result.outcome.isMissed
        var fields: [Field] = [
            Field(.seq, invocation.id.seq.value),
            Field(.invocation, invocation.id.n),
            Field(.outcomeNumber, number),
            Field(.acceptedAtMicroseconds, request.acceptedAt.wall.milliseconds * 1000),
            Field(.mode, request.mode.rawValue),
            Field(.platform, request.platform.rawValue),
            Field(.callback, invocation.callback.rawValue),
            Field(.outcome, result.outcome.rawValue),
            Field(.queueMicroseconds, result.queue.microseconds),
            Field(.executionMicroseconds, result.exec.microseconds),
            Field(.totalMicroseconds, result.total.microseconds),
            Field(.deadlineMicroseconds, invocation.budget.microseconds),
        ]
        let optional: [(FieldName, String?)] = [
            (.reason, result.reason), (.reasonCode, result.reasonCode?.rawValue),
            (.transport, request.transport?.rawValue), (.originalPriority, request.originalPriority?.rawValue),
            (.deliveredPriority, request.deliveredPriority?.rawValue),
            (.id, request.id), (.app, request.app), (.provider, invocation.provider), (.route, invocation.route),
            (.handler, invocation.handler), (.waitedFor, result.waitedFor.map { "\($0.id.seq)/\($0.id.n)" }),
            (.waitedForHandler, result.waitedFor?.handler),
        ]
        for case (let name, let value?) in optional { fields.append(Field(name, value)) }
        if let took = result.waitedFor?.took { fields.append(Field(.waitedForMicroseconds, took.microseconds)) }
        if let ahead = result.ahead { fields.append(Field(.ahead, ahead)) }
        if let replayOf = request.replayOf { fields.append(Field(.replayOf, replayOf.value)) }
        if invocation.started { fields.append(Field(.started, 1)) }
        if invocation.isObserver { fields.append(Field(.observer, 1)) }
        let handler = invocation.handler.map { invocation.isObserver ? "observing handler \($0)" : "handler \($0)" }
        let who = handler ?? invocation.provider ?? "nobody"
        var message = "seq \(invocation.id.seq): \(invocation.callback.rawValue), \(who): \(result.outcome.rawValue)"
        if let reason = result.reason { message += " (\(reason))" }
        let isFailure = result.outcome.isFailure
        let success: Priority = successLevel == .info ? .info : .debug
        self.init(
            isMissed || isFailure ? .warning : success, message,
            messageID: isMissed ? .miss : isFailure ? .failure : .outcome, fields: fields)
    }
}

extension JournalEntry {
    /// The entry for a handler's breaker that opened or closed.
    init(_ change: BreakerChange) {
        self.init(
            change.isOpen ? .warning : .notice, change.text,
            messageID: change.isOpen ? .breakerOpened : .breakerClosed, fields: [Field(.handler, change.handler)])
    }

    /// The entry for the end of a publish whose time was over.
    init(_ end: PublishEnd) {
        let devices = counted(end.overdue, "device was", "devices were")
        self.init(
            .warning,
            "publish \(end.seq) ended before all its deliveries were made: its time was over, and \(devices) left out "
                + "(\(counted(end.progress.made, "delivery", "deliveries")) made); its payload's ttl or "
                + "PublishTimeMax= limits the time")
    }
}

/// Tells which rules warned of the payloads of pushes: the first warning of a rule at once, later ones together, once in
/// ten minutes. Nothing of a payload is told.
struct WarningLog {
    private static let interval: Int64 = 600_000_000_000

    private var reported: [String: (count: Int, at: Int64)] = [:]
    private var noted = 0

    /// Returns the journal entries that are due.
    ///
    /// - Parameters:
    ///   - warnings: the counts since the start.
    ///   - now: monotonic nanoseconds.
    mutating func note(_ warnings: WarningCounts, at now: Int64) -> [JournalEntry] {
        guard warnings.total != noted else { return [] }
        noted = warnings.total
        return takeDue(warnings, at: now)
    }

    /// Returns the journal entries for warnings that were gathered for `interval`.
    mutating func takeDue(_ warnings: WarningCounts, at now: Int64) -> [JournalEntry] {
        warnings.byRule.sorted { $0.key < $1.key }.compactMap { rule, all in
            let last = reported[rule] ?? (0, now - Self.interval)
            guard all.count > last.count, now - last.at >= Self.interval else { return nil }
            reported[rule] = (all.count, now)
            let others = all.count - last.count - 1
            let more =
                others == 0 ? "" : "; so had \(counted(others, "other push", "other pushes")) since the last entry"
            return JournalEntry(
                .notice,
                "seq \(all.last): the payload has the warning \(rule), which pushctl show \(all.last) says in words\(more)",
                fields: [.init(.seq, all.last.value)])
        }
    }
}

/// Tells that devices with a token or a topic were forgotten for want of room: the first in the journal at once, later
/// ones together, once in ten minutes; and in the status as a problem for an hour after the last of them.
struct EvictionLog {
    /// The time between two journal entries, in nanoseconds.
    private static let interval: Int64 = 600_000_000_000
    /// How long the problem stays after the last eviction, in nanoseconds.
    private static let memory: Int64 = 3_600_000_000_000

    /// The evictions so far.
    private(set) var evictions = DeviceEvictions()
    private var reported = 0
    private var reportedAt: Int64?
    private var lastAt: Int64?

    /// Notes the router's counts.
    ///
    /// - Parameters:
    ///   - evictions: the counts since the start.
    ///   - now: monotonic nanoseconds.
    /// - Returns: the journal entry; `nil`: none is due.
    mutating func note(_ evictions: DeviceEvictions, at now: Int64) -> JournalEntry? {
        guard evictions.count != self.evictions.count else { return nil }
        if evictions.registered != self.evictions.registered { lastAt = now }
        self.evictions = evictions
        return takeDue(at: now)
    }

    /// Returns the journal entry for evictions that were gathered for `interval`; `nil`: none is due.
    mutating func takeDue(at now: Int64) -> JournalEntry? {
        guard evictions.registered > reported, reportedAt.map({ now - $0 >= Self.interval }) ?? true else { return nil }
        let count = evictions.registered - reported
        (reported, reportedAt) = (evictions.registered, now)
        return JournalEntry(
            .warning,
            "the memory of devices is full (DeviceMemoryMax=): \(counted(count, "device")) with a token or topics "
                + "\(count == 1 ? "was" : "were") forgotten, the last of \(owner); publishes leave such a device out "
                + "until it registers again",
            messageID: .devicesEvicted, fields: [.init(.devices, count)])
    }

    /// The problem for the status; `nil`: there is none.
    func problem(at now: Int64) -> String? {
        guard let lastAt, now - lastAt < Self.memory else { return nil }
        return "\(counted(evictions.registered, "device")) with a token or topics "
            + "\(evictions.registered == 1 ? "was" : "were") forgotten since the start, the last of \(owner): "
            + "DeviceMemoryMax= is reached"
    }

    private var owner: String { evictions.lastOwner?.description ?? "an account that the ledger does not name" }
}

/// Counts the entries of custom data that were rejected on arrival, and logs them: the first at once, later ones
/// together, once in 10 s.
struct RejectionLog {
    /// The time between two journal entries, in nanoseconds.
    private static let interval: Int64 = 10_000_000_000

    /// The number of rejections.
    private(set) var count: Int64 = 0
    /// The first rejection since the last journal entry.
    private var first: Rejection?
    private var unreported: Int64 = 0
    private var reportedAt: Int64?

    /// Notes rejections.
    ///
    /// - Parameters:
    ///   - rejections: the entries.
    ///   - now: monotonic nanoseconds.
    /// - Returns: the journal entry; `nil`: none is due.
    mutating func note(_ rejections: [Rejection], at now: Int64) -> JournalEntry? {
        guard !rejections.isEmpty else { return nil }
        count += Int64(rejections.count)
        unreported += Int64(rejections.count)
        first = first ?? rejections.first
        return takeDue(at: now)
    }

    /// Returns the journal entry for rejections that were gathered for `interval`; `nil`: none is due.
    mutating func takeDue(at now: Int64) -> JournalEntry? {
        guard let rejection = first, reportedAt.map({ now - $0 >= Self.interval }) ?? true else { return nil }
        let others = unreported == 1 ? "" : " (and \(unreported - 1) more)"
        let entry = JournalEntry(
            .warning, "custom data rejected, entry \(rejection.number): \(rejection.problem.text)\(others)",
            messageID: .customDataRejected,
            fields: [.init(.rejections, unreported), .init(.reasonCode, rejection.problem.code.rawValue)])
        (first, unreported, reportedAt) = (nil, 0, now)
        return entry
    }
}

/// Limits the journal entries for successes to so many a second, because the ledger has each success. Counts the
/// others, and logs their number.
struct SuccessEntries {
    /// The number of entries a second, in the long run.
    static let rate: Int64 = 500
    /// The number of entries at once after a pause.
    private static let burst: Int64 = 2000
    /// The time between two summaries, in nanoseconds.
    private static let interval: Int64 = 10_000_000_000

    private var credit = Self.burst
    private var creditedAt: Int64
    private var unreported: UInt64 = 0
    private var unreportedSince: Int64?

    init(now: Int64) { creditedAt = now }

    /// Whether there is room for an entry.
    var hasRoom: Bool { credit > 0 }

    /// Reads the clock, in monotonic nanoseconds.
    mutating func read(_ now: Int64) {
        let earned = (now - creditedAt) * Self.rate / 1_000_000_000
        guard earned > 0 else { return }
        credit = min(Self.burst, credit + earned)
        creditedAt = now
    }

    /// Counts a success that gets an entry.
    mutating func countEntry() { credit -= 1 }

    /// Counts successes that get no entry.
    mutating func leaveOut(_ count: Int, at now: Int64) {
        guard count > 0 else { return }
        unreported += UInt64(count)
        unreportedSince = unreportedSince ?? now
    }

    /// The summary of successes without an entry, if it is due.
    mutating func summary(_ level: JournalSettings.Level, at now: Int64) -> JournalEntry? {
        guard let since = unreportedSince, now - since >= Self.interval else { return nil }
        return lastSummary(level)
    }

    /// The summary of successes without an entry, due or not; `nil` if there are none.
    mutating func lastSummary(_ level: JournalSettings.Level) -> JournalEntry? {
        guard unreported > 0 else { return nil }
        defer { (unreported, unreportedSince) = (0, nil) }
        return JournalEntry(
            level == .info ? .info : .debug,
            counted(unreported, "outcome has no entry of its own", "outcomes have no entry of their own")
                + ", because there were more than \(Self.rate) a second: "
                + "pushctl report has them", messageID: .outcomesSummed, fields: [.init(.outcomes, unreported)])
    }
}
