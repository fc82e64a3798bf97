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
