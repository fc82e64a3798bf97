// The values of the rows that the router makes, in the order of the ledger's columns (Store: `LedgerColumns`).
extension RowBuffer {
    /// Appends any record.
    public func append(_ record: LedgerRecord) {
        switch record {
        case .request(let request): append(request)
        case .invocation(let invocation): append(invocation, isNew: true)
        case .update(let invocation): append(invocation, isNew: false)
        case .event(let event): append(event)
        case .tracker(let record): append(record)
        case .customData(let record): append(record)
        case .device(let device): append(device)
        case .forgottenDevice(let number): append(.forgottenDevice) { $0.integer(number.value) }
        case .attempt(let attempt): append(attempt)
        case .output(let id, let output):
            append(.output) { values in
                values.append(id)
                values.append(output)
            }
        case .deadLetter(let letter):
            append(.deadLetter) { values in
                values.append(letter.id)
                values.integer(letter.at.milliseconds)
                values.integer(Int64(letter.byteCount))
            }
        case .noDeadLetters(let seq): append(.noDeadLetters) { $0.integer(seq.value) }
        case .gap(let gap):
            append(.gap) { values in
                values.text(gap.kind.rawValue)
                values.integer(gap.begin.milliseconds)
                values.integer(gap.end.milliseconds)
            }
        case .lifeSign(let sign):
            append(.lifeSign) { values in
                values.integer(sign.at.milliseconds)
                values.integer(sign.last.value)
                values.integer(sign.believed?.milliseconds)
            }
        }
    }

    /// Appends a new request.
    public func append(_ request: AcceptedRequest) {
        append(.request) { values in
            values.integer(request.seq.value)
            values.text(request.operation.rawValue)
            values.text(request.id)
            values.integer(Int64(request.peer.uid))
            values.integer(Int64(request.peer.gid))
            values.integer(Int64(request.peer.pid))
            values.integer(request.acceptedAt.wall.milliseconds)
            values.integer(request.acceptedAt.monotonic.nanoseconds)
            values.uuid(request.boot)
            values.text(request.mode.rawValue)
            values.text(request.platform.rawValue)
            values.text(request.app)
            values.text(request.device)
            values.text(request.externalID)
            values.text(request.messageID)
            values.bytes(request.body)
            values.text(request.state?.rawValue)
            values.text(request.duplicateID)
            values.flag(request.isTracked)
            values.text(request.transport?.rawValue)
            values.text(request.originalPriority?.rawValue)
            values.text(request.deliveredPriority?.rawValue)
            values.integer(request.replayOf?.value)
        }
    }

    /// Appends an invocation: a new one, or one that changed.
    public func append(_ invocation: InvocationRecord, isNew: Bool) {
        append(isNew ? .invocation : .invocationUpdate) { values in
            values.integer(invocation.id.seq.value)
            values.integer(Int64(invocation.id.n))
            values.text(invocation.callback.rawValue)
            values.text(invocation.provider)
            values.text(invocation.route)
            values.text(invocation.handler)
            values.integer(invocation.budget.microseconds)
            values.integer(invocation.deadline?.nanoseconds)
            values.flag(invocation.started)
            if let result = invocation.sharedResult {
                values.append(result.value, isObserver: invocation.isObserver)
            } else {
                values.nulls(10)
                values.flag(invocation.isObserver)
                values.nulls(6)
            }
        }
    }

    private func append(_ attempt: AttemptRecord) {
        append(.attempt) { values in
            values.append(attempt.id)
            values.text(attempt.route)
            values.text(attempt.handler)
            values.integer(attempt.asked.microseconds)
            values.integer(attempt.started?.microseconds)
            values.integer(attempt.ended.microseconds)
            values.text(attempt.answer.rawValue)
            values.integer(attempt.status.map(Int64.init))
            values.integer(attempt.signal.map(Int64.init))
            values.integer(attempt.retryAfter?.microseconds)
            values.text(attempt.reason)
            values.append(attempt.output)
            values.integer(Int64(attempt.number))
            values.integer(Int64(attempt.numberOfHandler))
        }
    }

    /// Appends an event; its cursor it gets where it is applied.
    public func append(_ event: AnalyticsEvent) {
        append(.event) { values in
            values.integer(event.seq.value)
            values.uuid(event.id)
            values.text(event.kind.rawValue)
            values.integer(event.time)
            values.integer(event.delivery.value)
            values.text(event.externalUserID)
            values.text(event.deviceID)
            values.text(event.appID)
            values.text(event.platform.rawValue)
            values.append(event.content)
        }
    }

    private func append(_ device: KnownDevice) {
        append(.device) { values in
            values.integer(device.number.value)
            values.text(device.key.app ?? "")
            values.text(device.key.device)
            values.text(device.platform.rawValue)
            values.text(device.externalID)
        }
    }
}

extension RowWriter {
    fileprivate mutating func append(_ id: InvocationID) {
        integer(id.seq.value)
        integer(Int64(id.n))
    }

    /// The columns of an invocation that has ended. A function of its own: it is given the result, and copies nothing of it.
    fileprivate mutating func append(_ result: InvocationResult, isObserver: Bool) {
        text(result.outcome.rawValue)
        text(result.reason)
        integer(result.queue.microseconds)
        integer(result.exec.microseconds)
        integer(result.total.microseconds)
        text(result.completion?.by.rawValue)
        integer(result.completion.map { Int64($0.times) })
        text(result.completion?.result.rawValue)
        // Apple's names have no commas; no text is no name, the empty text one empty name.
        text(result.completion.flatMap { $0.options.isEmpty ? nil : $0.options.joined(separator: ",") })
        integer(result.decidedAt.milliseconds)
        flag(isObserver)
        integer(result.waitedFor?.id.seq.value)
        integer(result.waitedFor.map { Int64($0.id.n) })
        text(result.waitedFor?.handler)
        text(result.reasonCode?.rawValue)
        integer(result.ahead.map(Int64.init))
        integer(result.waitedFor?.took?.microseconds)
    }

    fileprivate mutating func append(_ output: ErrorOutput?) {
        guard let output else { return nulls(2) }
        bytes(output.end)
        integer(Int64(output.cut))
    }

    /// What happened, in nine values of which each kind of event has its own.
    fileprivate mutating func append(_ content: AnalyticsEvent.Content) {
        switch content {
        case .received(let push), .influencedOpen(let push), .iosForeground(let push):
            append(push)
            nulls(7)
        case .open(let push, let button):
            append(push)
            text(button?.action?.rawValue)
            text(button?.id)
            nulls(5)
        case .sessionStart, .uninstall: nulls(9)
        case .sessionEnd(let duration):
            nulls(4)
            integer(duration.microseconds)
            nulls(4)
        case .tokenStateChange(let change, let token):
            nulls(5)
            text(token)
            text(change.rawValue)
            nulls(2)
        case .customEvent(let name, let properties):
            nulls(7)
            text(name)
            text(properties)
        }
    }

    private mutating func append(_ push: AnalyticsEvent.Push) {
        text(push.campaignID)
        text(push.messageID)
    }

    fileprivate mutating func nulls(_ count: Int) { for _ in 0..<count { null() } }
}
