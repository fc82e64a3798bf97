import PushModel
import PushViews
import Store

extension Command {
    static let deadLetters = Command(
        name: "deadletters", summary: "list, show or drop the dead letters of relay mode",
        description: [
            """
            In relay mode a request is a dead letter when one of its invocations failed, timed out, expired or found \
            no route. Without an operand, and with "list", this command prints the dead letters, newest first; options \
            choose among them. "show SEQ" prints the full record of one request: its attempts, the standard error of \
            its handler, and the request as the daemon received it. For a request without a dead letter the exit \
            status is 1. Both read the ledger, with or without a daemon. In JSON "count" and "bytes" cover all dead \
            letters, and "matching" is the number of requests that match the options, whether listed or not.
            """,
            """
            "purge" drops the dead letters of the requests SEQ, or at most --limit (100) that match the options; \
            standard error gives the number of the remaining ones. --limit all drops all that match, the oldest first, \
            in pages of 1000; with --json it prints an object for each page. "purge" needs the running daemon. The \
            requests stay in the ledger for Retention=. The daemon itself drops dead letters that are older than \
            DeadLetterRetention=, and the oldest dead letters when their total size exceeds DeadLetterSizeMax=.
            """,
        ],
        operands: Operands(
            usage: "[list|show SEQ|purge [SEQ...]]", count: 0...DeadLetterChoice.operandsMax,
            words: ["list", "show", "purge"]),
        options: DeadLetterChoice.options + [.listOnly, .fullTokens, .utc, .json],
        examples: [
            Example(
                line: "pushctl deadletters --handler crm --since -1d",
                meaning: "list the dead letters of the last day"),
            Example(line: "pushctl deadletters show 41", meaning: "show everything about request 41"),
            Example(
                line: "pushctl deadletters purge --until 2026-11-01",
                meaning: "drop the dead letters of earlier dates"),
        ]
    ) { arguments, session throws(Failure) in
        switch arguments.operands.first {
        case nil, "list":
            guard arguments.operands.count <= 1 else { throw arguments.usageFailure("list takes no number") }
            return try DeadLetterChoice(arguments, numbers: [], mayBeAll: false).list(arguments, session)
        case "show":
            let number = try DeadLetterChoice.numbers(arguments.operands.dropFirst(), arguments)
            guard number.count == 1 else { throw arguments.usageFailure("show takes the number of one request") }
            return try session.showDeadLetter(number[0], arguments)
        case "purge":
            let numbers = try DeadLetterChoice.numbers(arguments.operands.dropFirst(), arguments)
            let choice = try DeadLetterChoice(arguments, numbers: numbers, mayBeAll: true)
            try choice.requireSelection(arguments, toDo: "purge")
            if arguments.has(.listOnly) { return try choice.list(arguments, session) }
            return try session.purge(choice, arguments)
        case let word?:
            throw arguments.usageFailure("\(word): must be list, show or purge")
        }
    }
}

extension Session {
    /// Prints the story of a request that has a dead letter.
    ///
    /// - Throws: when the request has no dead letter, or does not exist.
    fileprivate func showDeadLetter(
        _ number: SequenceNumber, _ arguments: Arguments
    ) throws(Failure) -> ExitStatus {
        let story = try reading { ledger throws(StoreError) in try ledger.story(of: number) }
        guard let story, story.deadLetters.isEmpty else { return try show(number, arguments) }
        let replays = story.replays.map(\.description).joined(separator: ", ")
        throw Failure(
            .no,
            "\(number) has no dead letter" + (replays.isEmpty ? "" : ": it was replayed as \(replays)")
                + "; \"pushctl show \(number)\" shows the request")
    }

    /// Prints that no dead letter is selected.
    func printNoDeadLetters() -> ExitStatus {
        let last = try? reading { ledger throws(StoreError) in try ledger.story(of: ledger.highestSequenceNumber()) }
        let isDevice = last?.request.mode == .device
        output.note("no dead letter matches" + (isDevice ? "; device mode keeps no dead letters (Mode=)" : ""))
        return .done
    }

    /// Drops the selected dead letters.
    fileprivate func purge(_ choice: DeadLetterChoice, _ arguments: Arguments) throws(Failure) -> ExitStatus {
        var (purged, status): (Int64, ExitStatus) = (0, .done)
        let isAny = try choice.take(self, done: "purged") { page throws(Failure) in
            let letters = choice.isNamed ? try havingDeadLetters(page) : page
            if letters.count < page.count { status = .no }
            guard !letters.isEmpty else { return 0 }
            let reply = try control(.purge(letters))
            purged += reply["purged"]?.int64 ?? 0
            if arguments.has(.json) { output.write(document: Array(reply.rawBytes)) }
            return letters.count
        }
        guard isAny else { return printNoDeadLetters() }
        if purged > 0, !arguments.has(.json) { output.print("purged \(counted(purged, "request"))\n") }
        return status
    }

    /// The numbers whose requests have a dead letter; prints which of them have none.
    private func havingDeadLetters(_ numbers: [SequenceNumber]) throws(Failure) -> [SequenceNumber] {
        let letters = try reading { ledger throws(StoreError) in
            var letters: [SequenceNumber] = []
            for number in numbers {
                if try ledger.story(of: number)?.deadLetters.isEmpty == false { letters.append(number) }
            }
            return letters
        }
        for number in numbers where !letters.contains(number) { output.note("\(number) has no dead letter") }
        return letters
    }
}

/// The dead letters that a command works on: those with the given numbers, or those that the options select.
struct DeadLetterChoice {
    /// The most operands: the numbers that one request to the daemon may have, and a word.
    static let operandsMax = pageLength + 1
    static let options: [Option] = [
        .onlyHandler, .onlyRoute, .onlyOutcome, .onlyProvider, .app.meaning("only dead letters for this app"), .query,
        .since, .until,
        .deadLetterLimit,
    ]

    /// The most numbers in one request to the daemon.
    private static let pageLength = ControlRequest.Operation.requestsMax

    private let named: [SequenceNumber]
    private var filter = DeadLetterFilter()
    /// The query that the requests must match, too; `nil`: none.
    private let query: PushQuery?
    /// The most requests to select; `nil`: no limit.
    private let limit: Int?
    private let isFiltered: Bool

    /// - Parameters:
    ///   - numbers: the numbers from the command line.
    ///   - mayBeAll: whether the command allows `--limit all`.
    init(_ arguments: Arguments, numbers: [SequenceNumber], mayBeAll: Bool) throws(Failure) {
        named = numbers
        query = try arguments.query()
        let window = try arguments.window()
        (filter.since, filter.until) = (window.since, window.until)
        filter.handler = arguments[.onlyHandler]
        filter.route = arguments[.onlyRoute]
        filter.outcome = arguments.word(.onlyOutcome, Outcome.self)
        filter.provider = arguments[.onlyProvider]
        filter.app = arguments[.app]
        limit = try Self.limit(arguments, mayBeAll: mayBeAll)
        isFiltered = Self.options.contains(where: arguments.has)
        guard !isFiltered || named.isEmpty else {
            throw arguments.usageFailure("give either numbers or options that choose dead letters")
        }
    }

    private static func limit(_ arguments: Arguments, mayBeAll: Bool) throws(Failure) -> Int? {
        guard let text = arguments[.deadLetterLimit] else { return 100 }
        if text == "all", mayBeAll { return nil }
        guard let limit = Int(text), (1...pageLength).contains(limit) else {
            let all = mayBeAll ? ", or all" : ""
            throw arguments.usageFailure("--limit \(text): a number from 1 to \(pageLength)\(all)")
        }
        return limit
    }

    /// Parses numbers of requests, and drops repetitions.
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

    /// Requires a number or an option, because a command without any would affect more than the user meant.
    func requireSelection(_ arguments: Arguments, toDo what: String) throws(Failure) {
        guard named.isEmpty, !isFiltered else { return }
        throw arguments.usageFailure(
            "\(what) needs numbers of requests, or an option such as --handler; --since 2020-01-01 chooses all")
    }

    /// Whether the command line has numbers, and so no filter options.
    var isNamed: Bool { !named.isEmpty }

    /// Whether `--limit all` selects every match.
    var isEverything: Bool { limit == nil }

    /// The numbers of the requests, newest first if options select them: at most those that can be listed.
    func numbers(_ session: Session) throws(Failure) -> [SequenceNumber] {
        guard named.isEmpty else { return named }
        return try session.reading { ledger throws(StoreError) in
            try find(filter, limit: limit ?? Self.pageLength, in: ledger)
        }
    }

    /// The numbers of the selected requests with dead letters.
    private func find(
        _ filter: DeadLetterFilter, limit: Int, oldestFirst: Bool = false, in ledger: LedgerReader
    ) throws(StoreError) -> [SequenceNumber] {
        guard let query else { return try ledger.deadLetters(filter, limit: limit, oldestFirst: oldestFirst) }
        var (filter, found) = (filter, [SequenceNumber]())
        while found.count < limit {
            let page = try ledger.deadLetters(filter, limit: Self.pageLength, oldestFirst: oldestFirst)
            guard let last = page.last else { break }
            let matches = try query.matching(Set(page), in: ledger)
            found += page.filter(matches.contains)
            if oldestFirst { filter.after = last } else { filter.through = SequenceNumber(last.value - 1) }
        }
        return Array(found.prefix(limit))
    }

    /// The number of the selected requests with dead letters.
    private func countChosen(_ filter: DeadLetterFilter, in ledger: LedgerReader) throws(StoreError) -> Int {
        guard query != nil else { return try ledger.countOfDeadLetters(filter) }
        return try find(filter, limit: .max, in: ledger).count
    }

    /// Passes the selected numbers to `body`, oldest first: all of them page by page, otherwise at once. Prints how
    /// many the options select, and how many are left.
    ///
    /// Excludes dead letters that are newer than the start, such as a replay that failed again.
    ///
    /// - Parameters:
    ///   - done: the past participle for the message: `replayed`.
    ///   - body: works on the numbers, and returns how many it did.
    /// - Returns: whether any request was selected.
    func take(
        _ session: Session, done: String, _ body: ([SequenceNumber]) throws(Failure) -> Int
    ) throws(Failure) -> Bool {
        guard named.isEmpty else {
            _ = try body(named)
            return true
        }
        let ledger = try session.ledger()
        var filter = filter
        let (last, matching) = try Session.reading { () throws(StoreError) in
            (try ledger.highestSequenceNumber(), try countChosen(filter, in: ledger))
        }
        filter.through = last
        var count = 0
        defer { if count < matching { printRest(count, of: matching, done, session) } }
        while true {
            let page = try Session.reading { () throws(StoreError) in
                try find(filter, limit: limit ?? Self.pageLength, oldestFirst: isEverything, in: ledger)
            }
            guard let highest = page.max() else { return filter.after != nil }
            count += try body(page.sorted())
            guard isEverything else { return true }
            filter.after = highest
        }
    }

    private func printRest(_ count: Int, of matching: Int, _ done: String, _ session: Session) {
        let left = matching - count
        let advice = limit.map { $0 < matching ? " (--limit); --limit all takes them all" : "" } ?? ""
        session.output.note(
            "\(count) of \(described(matching)) \(count == 1 ? "was" : "were") \(done), "
                + "\(left) \(left == 1 ? "is" : "are") left\(advice)")
    }

    /// The number of requests, with the words for the selection.
    private func described(_ count: Int) -> String {
        let isAny = filter == DeadLetterFilter() && query == nil
        return counted(count, "request") + (isAny ? " with dead letters" : " that the options choose")
    }

    /// Lists the selected dead letters.
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
            // A list below the limit is complete.
            named.isEmpty && numbers.count >= limit ?? Self.pageLength ? try countChosen(filter, in: ledger) : nil
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
        guard !rows.isEmpty else { return session.printNoDeadLetters() }
        session.output.print(Text.columns([["SEQ", "ACCEPTED", "OUTCOME", "HANDLER", "APP", "REASON"]] + rows))
        if let matching, matching > numbers.count {
            let limited = isEverything ? "" : " (--limit)"
            session.output.note("the \(numbers.count) newest are listed\(limited), of \(described(matching))")
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
            if let result = invocation.result { writer.members(of: result, at: invocation.callback) }
            let attempts = story.attempts.filter { $0.id == invocation.id }
            writer.member(
                "attempts", array: { list in attempts.forEach { attempt in list.object { $0.members(of: attempt) } } })
            writer.member("request", raw: story.request.body)
        }
    }
}
