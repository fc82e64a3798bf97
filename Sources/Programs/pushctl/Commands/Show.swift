import PushModel
import PushRouter
import PushViews
import Store

extension Command {
    static let show = Command(
        name: "show", summary: "show everything about one request",
        description: [
            """
            Prints the ledger's record of the request with the number SEQ: its producer and its time, the request as \
            the daemon received it, each invocation with its steps and their times: the acceptance, the wait and the \
            invocations ahead, each attempt with its answer and the end of the handler's standard error, and the \
            outcome; the analytics events that it caused, such as a later open, and its custom data with the state of \
            each entry. It works with or without a daemon.
            """,
            """
            For a delivery it prints the owner and the reasons, as "explain" does, by the configuration that decided the \
            delivery, and says since when that was in force and whether it still is. If that configuration cannot be \
            read, or the delivery is older than the record of configurations, it explains by the files as they are.
            """,
        ],
        operands: Operands(usage: "SEQ", count: 1...1),
        options: [.fullTokens, .utc, .json],
        examples: [Example(line: "pushctl show 41", meaning: "the request that inject called seq 41")]
    ) { arguments, session throws(Failure) in
        let operand = arguments.operands[0]
        guard let number = Int64(operand), number > 0 else {
            throw arguments.usageFailure("SEQ is a number, such as 41; \"pushctl inject\" and the CSV report print it")
        }
        return try session.show(SequenceNumber(number), arguments)
    }
}

extension Session {
    /// Reads the story of a request.
    ///
    /// - Throws: when the ledger has no such request, with the reason.
    func story(of number: SequenceNumber) throws(Failure) -> RequestStory {
        let (story, last) = try reading { ledger throws(StoreError) in
            var story = try ledger.story(of: number)
            if let peer = story?.request.peer { story?.producer = try ledger.producer(peer.uid) }
            return (story, try ledger.highestSequenceNumber())
        }
        guard let story else {
            let reason = number > last ? "the last one is \(last)" : "it is older than Retention=, or was refused"
            throw Failure(.no, "the ledger has no request \(number): \(reason)")
        }
        return story
    }

    /// Prints the story of a request.
    func show(_ number: SequenceNumber, _ arguments: Arguments) throws(Failure) -> ExitStatus {
        let story = try story(of: number)
        let explained = explanation(of: story, in: arguments.zone)
        let shown = story.showingTokens(arguments)
        if arguments.has(.json) {
            let reasons = explained.map { Array(#","explanation":"#.utf8) + $0.explanation.json } ?? []
            output.write(document: shown.json.dropLast() + reasons + Array("}".utf8))
        } else {
            output.print(folding: shown.lines(in: arguments.zone) + (explained?.lines ?? []))
        }
        return .done
    }
}
