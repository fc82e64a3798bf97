import PushModel
import PushReporting
import Store

extension Command {
    static let deadLetters = Command(
        name: "deadletters", summary: "list, show or drop what was not done in relay mode",
        description: [
            """
            In relay mode a request is a dead letter when one of its invocations failed, timed out, expired or found no \
            route. Without an operand, and with "list", this command prints the dead letters, newest first; options choose \
            among them. "show SEQ" prints the whole story of one, with its attempts, what its handler wrote to standard \
            error, and the request as it came; of a request that has no dead letter it says so, and ends with 1. Both read \
            the ledger, with or without a daemon. In JSON "count" and "bytes" are of all dead letters, "matching" is how many \
            requests the options choose, listed or not.
            """,
            """
            "purge" drops dead letters: those with the numbers SEQ, or those that the options choose. It needs the running \
            daemon. The requests stay in the ledger as long as Retention= says. The daemon drops dead letters by itself \
            when they are older than DeadLetterRetention= or larger together than DeadLetterSizeMax=.
            """,
        ],
        operands: Operands(
            usage: "[list|show SEQ|purge [SEQ...]]", count: 0...DeadLetterChoice.operandsMax,
            words: ["list", "show", "purge"]),
        options: DeadLetterChoice.options + [.listOnly, .fullTokens, .utc, .json],
        examples: [
            Example(line: "pushctl deadletters --handler crm --since -1d", meaning: "list those of a day"),
            Example(line: "pushctl deadletters show 41", meaning: "show everything about request 41"),
            Example(line: "pushctl deadletters purge --until 2026-11-01", meaning: "drop the old ones"),
        ]
    ) { arguments, session throws(Failure) in
        switch arguments.operands.first {
        case nil, "list":
            guard arguments.operands.count <= 1 else { throw arguments.usageFailure("list takes no number") }
            return try DeadLetterChoice(arguments, numbers: []).list(arguments, session)
        case "show":
            let number = try DeadLetterChoice.numbers(arguments.operands.dropFirst(), arguments)
            guard number.count == 1 else { throw arguments.usageFailure("show takes the number of one request") }
            return try session.showDeadLetter(number[0], arguments)
        case "purge":
            let numbers = try DeadLetterChoice.numbers(arguments.operands.dropFirst(), arguments)
            let choice = try DeadLetterChoice(arguments, numbers: numbers)
            try choice.requireSome(arguments, toDo: "purge")
            let chosen = try choice.numbers(session)
            if arguments.has(.listOnly) { return try choice.list(chosen, arguments, session) }
            var letters: [SequenceNumber] = []
            try session.reading { ledger throws(StoreError) in
                for number in chosen {
                    if try ledger.story(of: number)?.deadLetters.isEmpty == false { letters.append(number) }
                }
            }
            for number in chosen where !letters.contains(number) { session.output.note("\(number) has no dead letter") }
            guard !letters.isEmpty else { return chosen.isEmpty ? session.tellOfNone() : .no }
            let reply = try session.control(.purge(letters))
            session.tellCount("purged", reply["purged"], of: reply, arguments)
            return letters.count == chosen.count ? .done : .no
        case let word?:
            throw arguments.usageFailure("\(word): must be list, show or purge")
        }
    }

    static let replay = Command(
        name: "replay", summary: "do again what was not done in relay mode",
        description: [
            """
            Makes the daemon accept dead letters again: each gets a new number and a new deadline, for the same app, device \
            and user, and only its invocations that were not done are run. The new request is marked as a replay of the \
            former one, which is a dead letter no more. A handler learns of it by "replay_of" and PUSH_REPLAY_OF.
            """,
            """
            SEQ are numbers of requests, or options choose among the dead letters; --limit bounds how many (100). \
            --dry-run prints which they are and replays nothing: begin with it. The tracker and the tracks have had the \
            request when it first came, so a replay counts no push twice. "pushctl deadletters" lists what there is. The exit \
            status is 1 when a request was refused.
            """,
        ],
        operands: Operands(usage: "[SEQ...]", count: 0...DeadLetterChoice.operandsMax),
        options: DeadLetterChoice.options + [.listOnly, .fullTokens, .utc, .json],
        examples: [
            Example(line: "pushctl replay --handler crm --since -1h --dry-run", meaning: "what would be replayed"),
            Example(line: "pushctl replay --handler crm --since -1h", meaning: "replay it"),
            Example(line: "pushctl replay 41 42", meaning: "replay two requests"),
        ]
    ) { arguments, session throws(Failure) in
        let numbers = try DeadLetterChoice.numbers(arguments.operands[...], arguments)
        let choice = try DeadLetterChoice(arguments, numbers: numbers)
        try choice.requireSome(arguments, toDo: "replay")
        let chosen = try choice.numbers(session)
        if arguments.has(.listOnly) { return try choice.list(chosen, arguments, session) }
        guard !chosen.isEmpty else { return session.tellOfNone() }
        // The oldest first, as they came.
        let reply = try session.control(.replay(chosen.sorted()))
        if arguments.has(.json) {
            session.output.write(document: Array(reply.rawBytes))
        } else {
            for replay in reply["replayed"]?.elements ?? [] {
                session.output.print("\(replay["of"]?.int64 ?? 0) replayed as \(replay["seq"]?.int64 ?? 0)\n")
            }
        }
        let refused = reply["refused"]?.elements ?? []
        for refusal in refused {
            session.output.note("\(refusal["of"]?.int64 ?? 0) not replayed: \(refusal["reason"]?.string ?? "")")
        }
        return refused.isEmpty ? .done : .no
    }
}

extension Session {
    /// Prints the story of a request that has a dead letter.
    ///
    /// - Throws: that it has none, or that there is no such request.
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

    /// Says that nothing was chosen.
    func tellOfNone() -> ExitStatus {
        output.note("no dead letter is like that")
        return .done
    }

    /// Prints what the daemon did with how many requests.
    fileprivate func tellCount(_ done: String, _ count: JSONNode?, of reply: JSONNode, _ arguments: Arguments) {
        if arguments.has(.json) {
            output.write(document: Array(reply.rawBytes))
        } else {
            output.print("\(done) \(counted(count?.int64 ?? 0, "request"))\n")
        }
    }
}
