extension AcceptedRequest: StoredRecord {
    // transport: the service that brought a delivery. original_priority: the priority with which FCM got it. Both are
    // NULL for other requests. replay_of: the request that this one replays; NULL for a producer's request.
    public static let table = LedgerTable(
        "requests", rows: "request_rows",
        [
            .integer("seq"), .word("operation", Operation.self), .text("id").orNull, .integer("uid"), .integer("gid"),
            .integer("pid"), .integer("accepted_at"), .integer("accepted_ns"), .shared("boot"),
            .word("mode", DispatchMode.self), .word("platform", Platform.self), .shared("app").orNull,
            .text("device").orNull, .text("external_id").orNull, .text("message_id").orNull, .bytes("body"),
            .word("state", AppState.self).orNull, .text("duplicate_id").orNull, .integer("tracked").or(0),
            .word("transport", Transport.self).orNull, .word("original_priority", MessagePriority.self).orNull,
            .word("delivered_priority", MessagePriority.self).orNull, .integer("replay_of").orNull,
        ])

    @inline(__always) public func write(to row: inout RowWriter) {
        row.add(seq, operation, id, peer)
        row.add(acceptedAt.wall, acceptedAt.monotonic, boot)
        row.add(mode, platform, app)
        row.add(device, externalID, messageID, body)
        row.add(state, duplicateID, isTracked)
        row.add(transport, originalPriority, deliveredPriority, replayOf)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (seq, operation, id, peer) = try row.next()
        let (wall, monotonic): (WallTime, Instant) = try row.next()
        acceptedAt = Moment(monotonic: monotonic, wall: wall)
        boot = try row.next()
        (mode, platform, app) = try row.next()
        (device, externalID, messageID, body) = try row.next()
        (state, duplicateID, isTracked) = try row.next()
        (transport, originalPriority, deliveredPriority, replayOf) = try row.next()
    }
}

extension Peer: StoredValue {
    @inlinable public static var count: Int { 3 }

    @inline(__always) public func write(to row: inout RowWriter) { row.add(uid, gid, pid) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let (uid, gid, pid): (UInt32, UInt32, Int32) = try row.next()
        self.init(uid: uid, gid: gid, pid: pid)
    }
}

extension InvocationRecord: StoredRecord {
    // reason is for people, reason_code for programs. ahead: the number of invocations ahead in the lane.
    // waited_for_us: the time that the one of waited_for_seq had its turn.
    public static let table = LedgerTable(
        "invocations", rows: "invocation_rows", key: .first(2),
        [
            .integer("seq"), .integer("n"), .word("callback", Callback.self), .shared("provider").orNull,
            .shared("route").orNull, .shared("handler").orNull, .integer("budget_us"), .integer("deadline_ns").orNull,
            .integer("started"), .word("outcome", Outcome.self).orNull, .text("reason").orNull,
            .integer("queue_us").orNull, .integer("exec_us").orNull, .integer("total_us").orNull,
            .word("completed_by", Completion.Caller.self).orNull, .integer("completed_times").orNull,
            .word("completed_result", FetchResult.self).orNull, .shared("completed_options").orNull,
            .integer("decided_at").orNull, .integer("observer").or(0), .integer("waited_for_seq").orNull,
            .integer("waited_for_n").orNull, .shared("waited_for_handler").orNull, .shared("reason_code").orNull,
            .integer("ahead").orNull, .integer("waited_for_us").orNull,
        ])

    @inline(__always) public func write(to row: inout RowWriter) {
        row.add(id, callback)
        row.add(provider, route, handler)
        row.add(budget, deadline, started)
        if let sharedResult {
            row.result(sharedResult.value, isObserver: isObserver)
        } else {
            row.nulls(10)
            row.add(isObserver)
            row.nulls(6)
        }
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (id, callback) = try row.next()
        (provider, route, handler) = try row.next()
        (budget, deadline, started) = try row.next()
        guard let outcome: Outcome = try row.next() else {
            try row.skip(9)
            isObserver = try row.next()
            try row.skip(6)
            return
        }
        let (reason, queue, exec, total): (String?, Duration, Duration, Duration) = try row.next()
        let (completion, decidedAt): (Completion?, WallTime) = try row.next()
        isObserver = try row.next()
        let (first, handler): (InvocationID?, String?) = try row.next()
        let (reasonCode, ahead, took): (ReasonCode?, Int?, Duration?) = try row.next()
        let result = InvocationResult(
            outcome: outcome, reason: reason, reasonCode: reasonCode, queue: queue, exec: exec, total: total,
            completion: completion, waitedFor: first.map { Predecessor(id: $0, handler: handler, took: took) },
            ahead: ahead, decidedAt: decidedAt)
        sharedResult = Indirect(result)
    }
}

extension Completion: StoredValue {
    @inlinable public static var count: Int { 4 }

    @inline(__always) public func write(to row: inout RowWriter) {
        // Apple's names have no commas. NULL is an empty list; the empty text is a list of one empty name.
        row.add(by, times, result, options.isEmpty ? nil : options.joined(separator: ","))
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let options: String?
        (by, times, result, options) = try row.next()
        self.options = options?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }
}

extension RowWriter {
    /// Writes the columns of an invocation that has ended. A function of its own, so that it borrows the result without
    /// a copy.
    fileprivate mutating func result(_ result: InvocationResult, isObserver: Bool) {
        add(result.outcome, result.reason)
        add(result.queue, result.exec, result.total)
        add(result.completion, result.decidedAt, isObserver)
        add(result.waitedFor?.id, result.waitedFor?.handler)
        add(result.reasonCode, result.ahead, result.waitedFor?.took)
    }
}

extension AttemptRecord: StoredRecord {
    // The answers of handlers, unless the invocation's own row says all of it. Times count from acceptance. errors: the
    // end of the handler's standard error; errors_cut: the number of bytes before it. attempt counts within the
    // invocation, of_handler among consecutive attempts of one handler.
    public static let table = LedgerTable(
        "attempts", key: .given("number"),
        [
            .integer("seq"), .integer("n"), .text("route").orNull, .text("handler"), .integer("asked_us"),
            .integer("started_us").orNull, .integer("ended_us"), .name("answer", Answer.self),
            .integer("status").orNull, .integer("signal").orNull, .integer("retry_after_us").orNull,
            .text("reason").orNull, .bytes("errors").orNull, .integer("errors_cut").orNull, .integer("attempt"),
            .integer("of_handler"),
        ])

    public func write(to row: inout RowWriter) {
        row.add(id, route, handler)
        row.add(asked, started, ended)
        row.add(answer, status, signal, retryAfter)
        row.add(reason, output, number, numberOfHandler)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (id, route, handler) = try row.next()
        (asked, started, ended) = try row.next()
        (answer, status, signal, retryAfter) = try row.next()
        (reason, output, number, numberOfHandler) = try row.next()
    }
}

extension ErrorOutput: StoredValue {
    @inlinable public static var count: Int { 2 }

    public func write(to row: inout RowWriter) { row.add(end, cut) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(try row.next(), cut: try row.next())
    }
}

extension DeadLetter: StoredRecord {
    // Invocations that a person may replay or purge. Pruning keeps their requests; dead letters have limits of their
    // own. bytes: the length of the request line and, added by the ledger, of the attempts.
    public static let table = LedgerTable(
        "dead_letters", key: .first(2), [.integer("seq"), .integer("n"), .integer("at"), .integer("bytes")])

    public func write(to row: inout RowWriter) { row.add(id, at, byteCount) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (id, at, byteCount) = try row.next()
    }
}

extension InteractionRow: StoredRecord {
    // The tracker's verdict on each interaction with one of its notifications. cause: the request.
    public static let table = LedgerTable(
        "interactions",
        [
            .integer("cause"), .integer("delivery").orNull, .name("verdict", Interaction.Verdict.self),
            .text("button").orNull, .name("button_action", ButtonAction.self).orNull, .integer("at"),
        ])

    public func write(to row: inout RowWriter) {
        row.add(cause, delivery, verdict)
        row.add(button, buttonAction, at)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (cause, delivery, verdict) = try row.next()
        (button, buttonAction, at) = try row.next()
    }
}

// Rows that wait for the end of the grace: a few at any time.

extension PendingStart: StoredRecord {
    public static let table = LedgerTable(
        "pending_starts",
        [
            .integer("cause"), .text("app"), .text("device"), .text("external_id").orNull, .integer("at"),
            .integer("window_ms"), .integer("due_at"),
        ])

    public func write(to row: inout RowWriter) {
        row.add(cause, key, externalID, at)
        row.integer(window)
        row.add(due)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (cause, key, externalID, at) = try row.next()
        window = try row.integer(in: StoredRange.time)
        due = try row.next()
    }
}

extension HeldInteraction: StoredRecord {
    public static let table = LedgerTable(
        "held_interactions",
        [
            .integer("cause"), .integer("delivery").orNull, .text("message_id").orNull, .integer("digest").orNull,
            .name("act", acts), .text("button").orNull, .name("platform", Platform.self),
            .text("app").orNull, .text("device").orNull, .text("external_id").orNull, .integer("at"),
            .integer("due_at"),
        ])

    @usableFromInline static let acts = ["opened", "button", "dismissed"]

    public func write(to row: inout RowWriter) {
        row.add(interaction.cause)
        switch interaction.subject {
        case .delivery(let seq):
            row.add(seq)
            row.nulls(2)
        case .message(let id): row.add(SequenceNumber?.none, id, UInt64?.none)
        case .payload(let digest):
            row.nulls(2)
            row.add(digest)
        }
        switch interaction.act {
        case .opened: row.add("opened", String?.none)
        case .button(let id): row.add("button", id)
        case .dismissed: row.add("dismissed", String?.none)
        }
        row.add(interaction.platform, interaction.app, interaction.device, interaction.externalID)
        row.add(interaction.at, due)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let cause: SequenceNumber = try row.next()
        let (delivery, message, digest): (SequenceNumber?, String?, UInt64?) = try row.next()
        let subject: Interaction.Subject =
            if let message {
                .message(message)
            } else if let delivery {
                .delivery(delivery)
            } else {
                .payload(digest ?? 0)
            }
        let name: String = try row.next()
        guard Self.acts.contains(name) else { throw row.unreadable("unknown interaction '\(name)'") }
        let button: String = try row.next()
        let act: Interaction.Act = name == "opened" ? .opened : name == "button" ? .button(button) : .dismissed
        interaction = Interaction(
            cause: cause, subject: subject, act: act, platform: try row.next(), app: try row.next(),
            device: try row.next(), externalID: try row.next(), at: try row.next())
        due = try row.next()
    }
}

extension FanOut: StoredRecord {
    // devices: the numbers of devices, separated by a space; NULL once all deliveries are made.
    public static let table = LedgerTable(
        "fan_outs",
        [
            .integer("seq"), .integer("members"), .integer("made"), .integer("left_out"), .text("devices").orNull,
        ])

    public func write(to row: inout RowWriter) {
        row.add(seq, members, progress)
        row.add(devices.isEmpty ? nil : devices.map { String($0.value) }.joined(separator: " "))
    }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (seq, members, progress) = try row.next()
        let text: String? = try row.next()
        guard let numbers = text.map(Self.numbers) ?? [] else {
            throw row.unreadable("the numbers of devices cannot be read")
        }
        devices = numbers
    }

    /// Parses the numbers of devices. A start may read a million of them, so no number becomes a text of its own.
    private static func numbers(in text: String) -> [SequenceNumber]? {
        var numbers: [SequenceNumber] = []
        var value: Int64?
        func append() -> Bool {
            guard let number = value, StoredRange.number.contains(number) else { return value == nil }
            numbers.append(SequenceNumber(number))
            value = nil
            return true
        }
        for byte in text.utf8 {
            if byte == 0x20 {
                guard append() else { return nil }
            } else {
                guard byte.isDigit, value ?? 0 < Int64.max / 10 else { return nil }
                value = (value ?? 0) * 10 + Int64(byte - 0x30)
            }
        }
        return append() ? numbers : nil
    }
}

extension FanOut.Progress: StoredValue {
    public static var count: Int { 2 }

    public func write(to row: inout RowWriter) { row.add(made, leftOut) }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init()
        (made, leftOut) = try row.next()
    }
}

extension Producer: StoredRecord {
    // The producers of a chain that several machines write: requests.uid is the uid of one. Without a chain the table
    // is empty, and requests.uid is the uid of a user of the machine.
    public static let table = LedgerTable("producers", [.integer("uid"), .text("name")])

    public func write(to row: inout RowWriter) { row.add(number, name) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (number, name) = try row.next()
    }
}
