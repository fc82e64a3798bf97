import PushModel
import PushQuery
import Store

extension Command {
    static let show = Command(
        name: "show", summary: "show everything about one request",
        description: [
            """
            Prints the ledger's record of the request with the number SEQ: its producer and its time, the request as \
            it came, each invocation with its steps and their times: its acceptance, its wait and the invocation ahead \
            of it, each attempt with its answer and the end of the handler's standard error, its outcome; the \
            resulting analytics events, such as a later open, and its custom data with the state of each entry. It \
            works with or without a daemon.
            """
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
        let shown = try story(of: number).showingTokens(arguments)
        if arguments.has(.json) {
            output.write(document: shown.json)
        } else {
            output.print(folding: shown.lines(in: arguments.zone))
        }
        return .done
    }
}
