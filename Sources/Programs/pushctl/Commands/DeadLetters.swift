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
