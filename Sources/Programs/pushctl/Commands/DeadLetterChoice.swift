import PushModel
import PushReporting
import Store

/// Which dead letters a command is about: those with numbers, or those that options choose.
struct DeadLetterChoice {
    /// As many as one order to the daemon may name, and a word.
    static let operandsMax = ControlRequest.Operation.requestsMax + 1
    static let options: [Option] = [
        .onlyHandler, .onlyRoute, .onlyOutcome, .onlyProvider, .onlyAppOfPush, .since, .until, .deadLetterLimit,
    ]

    private let named: [SequenceNumber]
    private var filter = DeadLetterFilter()
    private let limit: Int
    private let isFiltered: Bool

    /// - Parameter numbers: the numbers that were typed.
    init(_ arguments: Arguments, numbers: [SequenceNumber]) throws(Failure) {
        named = numbers
        let window = try arguments.window()
        (filter.since, filter.until) = (window.since, window.until)
        filter.handler = arguments[.onlyHandler]
        filter.route = arguments[.onlyRoute]
        filter.outcome = arguments.word(.onlyOutcome, Outcome.self)
        filter.provider = arguments[.onlyProvider]
        filter.app = arguments[.onlyAppOfPush]
        let most = ControlRequest.Operation.requestsMax
        guard let limit = Int(arguments[.deadLetterLimit] ?? "100"), (1...most).contains(limit) else {
            throw arguments.usageFailure("--limit \(arguments[.deadLetterLimit] ?? ""): a number from 1 to \(most)")
        }
        self.limit = limit
        isFiltered = Self.options.contains(where: arguments.has)
        guard !isFiltered || named.isEmpty else {
            throw arguments.usageFailure("numbers and options that choose exclude each other")
        }
    }

    /// Numbers of requests, each once.
    static func numbers(
        _ operands: ArraySlice<String>, _ arguments: Arguments
    ) throws(Failure) -> [SequenceNumber] {
        var numbers: [SequenceNumber] = []
        for operand in operands {
            guard let number = Int64(operand), number > 0 else {
                throw arguments.usageFailure("\(operand): SEQ is a number, such as 41")
            }
            if !numbers.contains(SequenceNumber(number)) { numbers.append(SequenceNumber(number)) }
        }
        return numbers
    }

    /// An order without a choice would be about more than was meant.
    func requireSome(_ arguments: Arguments, toDo what: String) throws(Failure) {
        guard named.isEmpty, !isFiltered else { return }
        throw arguments.usageFailure(
            "\(what) needs the numbers of requests, or an option that chooses; --since 2020-01-01 is all")
    }

    /// The numbers, newest first where options choose.
    func numbers(_ session: Session) throws(Failure) -> [SequenceNumber] {
        guard named.isEmpty else { return named }
        return try session.reading { ledger throws(StoreError) in try ledger.deadLetters(filter, limit: limit) }
    }

    /// So many requests, and what they have in common.
    private func described(_ count: Int) -> String {
        counted(count, "request") + (filter == DeadLetterFilter() ? " with dead letters" : " that the options choose")
    }

    /// Lists those that are chosen.
    func list(_ arguments: Arguments, _ session: Session) throws(Failure) -> ExitStatus {
        try list(try numbers(session), arguments, session)
    }

    /// Lists the dead letters of requests.
    func list(_ numbers: [SequenceNumber], _ arguments: Arguments, _ session: Session) throws(Failure) -> ExitStatus {
        let ledger = try session.ledger()
        var rows: [[String]] = []
        var writer = JSONWriter()
        let totals = try Session.reading { () throws(StoreError) in try ledger.deadLetterTotals() }
        let matching = try Session.reading { () throws(StoreError) in
            // Fewer than may be listed are all that there are.
            named.isEmpty && numbers.count >= limit ? try ledger.countOfDeadLetters(filter) : nil
        }
        var stories: [RequestStory] = []
        for number in numbers {
            let story = try Session.reading { () throws(StoreError) in try ledger.story(of: number) }
            guard let story, !story.deadLetters.isEmpty else {
                session.output.note("\(number) has no dead letter")
                continue
            }
            stories.append(story.showingTokens(arguments))
        }
        if arguments.has(.json) {
            writer.object { writer in
                writer.member("count", totals.count)
                writer.member("bytes", totals.bytes)
                writer.member("matching", matching ?? stories.count)
                writer.member(
                    "dead_letters",
                    array: { list in
                        for story in stories {
                            for invocation in story.deadInvocations { list.deadLetter(invocation, story) }
                        }
                    })
            }
            session.output.write(document: writer.bytes)
            return .done
        }
        for story in stories {
            for invocation in story.deadInvocations {
                let request = story.request
                rows.append([
                    "\(request.seq)", arguments.zone.text(request.acceptedAt.wall, milliseconds: false),
                    invocation.result?.outcome.rawValue ?? "", invocation.handler ?? "-", request.app ?? "-",
                    invocation.result?.reason ?? "",
                ])
            }
        }
        guard !rows.isEmpty else { return session.tellOfNone() }
        session.output.print(Text.columns([["SEQ", "ACCEPTED", "OUTCOME", "HANDLER", "APP", "REASON"]] + rows))
        if let matching, matching > numbers.count {
            session.output.note("the \(numbers.count) newest are listed (--limit), of \(described(matching))")
        }
        return .done
    }
}

extension RequestStory {
    /// The invocations that are dead letters.
    fileprivate var deadInvocations: [InvocationRecord] {
        let letters = Set(deadLetters.map(\.id))
        return invocations.filter { letters.contains($0.id) }
    }
}

extension JSONWriter {
    fileprivate mutating func deadLetter(_ invocation: InvocationRecord, _ story: RequestStory) {
        object { writer in
            writer.member("seq", story.request.seq.value)
            writer.member("n", invocation.id.n)
            writer.member("accepted_at", story.request.acceptedAt.wall.rfc3339)
            writer.member("app", story.request.app)
            writer.member("device", story.request.device)
            writer.member("provider", invocation.provider)
            writer.member("route", invocation.route)
            writer.member("handler", invocation.handler)
            if let result = invocation.result { writer.members(of: result) }
            let attempts = story.attempts.filter { $0.id == invocation.id }
            writer.member(
                "attempts", array: { list in attempts.forEach { attempt in list.object { $0.members(of: attempt) } } })
            writer.member("request", raw: story.request.body)
        }
    }
}
