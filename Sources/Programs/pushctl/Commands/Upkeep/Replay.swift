import Glibc
import PushModel
import PushViews
import Store

extension Command {
    static let replay = Command(
        name: "replay", summary: "accept the dead letters of relay mode again",
        description: [
            """
            Makes the daemon accept dead letters again: each gets a new number and a new deadline, for the same app, \
            device and user, and only its unsuccessful invocations run again. The new request is marked as a replay of \
            the old one, which then is no longer a dead letter. "replay_of" and PUSH_REPLAY_OF tell a handler of the \
            replay.
            """,
            """
            SEQ are numbers of requests. Instead, options choose at most --limit (100) dead letters, and standard \
            error gives the number of the remaining ones. --dry-run prints the chosen dead letters and replays none: \
            begin with --dry-run. The tracker and the tracks got the request when it first came, so a replay counts no \
            push twice. "pushctl deadletters" lists the dead letters. The exit status is 1 when a request was refused.
            """,
            """
            --limit all replays all, the oldest first, in pages of 1000, and waits while the daemon has no room for \
            more. A replay that fails again is not replayed again. With --json it prints an object for each answer of \
            the daemon: a request that one answer refuses as "overloaded" comes again in a later answer.
            """,
            """
            --wait ends when every outcome of the replays is known, and prints each outcome, an unsuccessful one with \
            the standard error of the handler; with --json as "tail --json" prints it. With --fail as well the exit \
            status is 1 when an outcome is neither handled nor handed_to_tracker. --wait reads the ledger, as the \
            options that choose dead letters do.
            """,
        ],
        operands: Operands(usage: "[SEQ...]", count: 0...DeadLetterChoice.operandsMax),
        options: DeadLetterChoice.options + [.listOnly, .wait, .fail, .fullTokens, .utc, .json],
        examples: [
            Example(
                line: "pushctl replay --handler crm --since -1h --dry-run",
                meaning: "list the dead letters of the last hour"),
            Example(line: "pushctl replay --handler crm --since -1h", meaning: "replay them, 100 requests at most"),
            Example(line: "pushctl replay --handler crm --since -1h --limit all", meaning: "replay all of them"),
            Example(
                line: "pushctl replay 41 42 --wait", meaning: "replay two requests, and print their outcomes"),
        ]
    ) { arguments, session throws(Failure) in
        try Exchange.check(arguments)
        let numbers = try DeadLetterChoice.numbers(arguments.operands[...], arguments)
        let choice = try DeadLetterChoice(arguments, numbers: numbers, mayBeAll: true)
        try choice.requireSelection(arguments, toDo: "replay")
        if arguments.has(.listOnly) { return try choice.list(arguments, session) }
        var replay = Replay(session, printsJSON: arguments.has(.json), mayWait: choice.isEverything)
        let isAny = try choice.take(session, done: "replayed") { page throws(Failure) in
            let count = try replay.run(page)
            if arguments.has(.wait) { try replay.waitForOutcomes() }
            return count
        }
        guard isAny else { return session.printNoDeadLetters() }
        return replay.hasRefusals || arguments.has(.fail) && replay.hasBadEnds ? .no : .done
    }
}

/// Replays requests, and prints the results.
private struct Replay {
    /// The pause before the daemon is asked again, in milliseconds.
    private static let pauses: ClosedRange<Int64> = 50...5000

    private let session: Session
    private let printsJSON: Bool
    /// Whether to retry while the daemon is overloaded.
    private let mayWait: Bool
    private var hasNotedWaiting = false
    /// Whether a request was refused for good.
    private(set) var hasRefusals = false
    /// Whether an outcome was no success.
    private(set) var hasBadEnds = false
    /// The new requests whose outcomes were not waited for yet.
    private var replayed: [SequenceNumber] = []

    init(_ session: Session, printsJSON: Bool, mayWait: Bool) {
        self.session = session
        self.printsJSON = printsJSON
        self.mayWait = mayWait
    }

    /// Replays requests, at most as many as one request may name.
    ///
    /// - Returns: how many were replayed.
    mutating func run(_ numbers: [SequenceNumber]) throws(Failure) -> Int {
        var (numbers, count) = (numbers, 0)
        while true {
            let reply = try session.control(.replay(numbers))
            printReplays(of: reply)
            count += reply["replayed"]?.count ?? 0
            replayed += reply["replayed"]?.elements.compactMap { $0["seq"]?.int64 }.map { SequenceNumber($0) } ?? []
            let refused = reply["refused"]?.elements ?? []
            let later = refused.filter { mayWait && $0.isOverloaded }
            for refusal in refused where !(mayWait && refusal.isOverloaded) {
                hasRefusals = true
                session.output.note(
                    "\(refusal["of"]?.int64 ?? 0) not replayed: \(refusal["reason"]?.string ?? "")")
            }
            session.output.flush()
            numbers = later.compactMap { $0["of"]?.int64 }.map { SequenceNumber($0) }
            guard !numbers.isEmpty else { return count }
            wait(later.compactMap { $0["retry_after_ms"]?.int64 }.max() ?? 1000)
        }
    }

    private func printReplays(of reply: JSONNode) {
        guard !printsJSON else { return session.output.write(document: Array(reply.rawBytes)) }
        for replay in reply["replayed"]?.elements ?? [] {
            session.output.print("\(replay["of"]?.int64 ?? 0) replayed as \(replay["seq"]?.int64 ?? 0)\n")
        }
    }

    /// Waits for the outcomes of the new requests, and prints each.
    mutating func waitForOutcomes() throws(Failure) {
        var pending = Set(exchange(&replayed, with: []))
        guard let first = pending.min(), let last = pending.max() else { return }
        let follower = Follower()
        let ledger = try session.ledger()
        var printed: Set<InvocationID> = []
        while true {
            var inFlight: Set<SequenceNumber> = []
            var seen: Set<SequenceNumber> = []
            var ended: [(row: LedgerRow, invocation: InvocationRecord, result: InvocationResult)] = []
            try ledger.eachRow(after: SequenceNumber(first.value - 1), through: last) { row in
                guard pending.contains(row.seq), let invocation = row.invocation else { return }
                seen.insert(row.seq)
                guard let result = invocation.result else {
                    inFlight.insert(row.seq)
                    return
                }
                if printed.insert(invocation.id).inserted { ended.append((row, invocation, result)) }
            }
            for end in ended { printOutcome(end.row, end.invocation, end.result) }
            session.output.flush()
            pending.subtract(seen.subtracting(inFlight))
            guard !pending.isEmpty, follower.wait() else { return }
        }
    }

    private mutating func printOutcome(_ row: LedgerRow, _ invocation: InvocationRecord, _ result: InvocationResult) {
        if !result.outcome.isDone, !invocation.isObserver { hasBadEnds = true }
        guard !printsJSON else {
            return session.output.write(line: FollowedLine.json(row, invocation, result))
        }
        session.output.print(
            OutcomeText.line(
                seq: row.seq, callback: invocation.callback.rawValue, handler: invocation.handler,
                isObserver: invocation.isObserver, outcome: result.outcome.rawValue,
                milliseconds: result.total.milliseconds, reason: result.reason))
        if !result.outcome.isDone { session.output.print(session.outputs(of: invocation.id)) }
    }

    private mutating func wait(_ milliseconds: Int64) {
        if !hasNotedWaiting {
            hasNotedWaiting = true
            session.output.note("the daemon has no room for more replays now; waiting until it has room")
        }
        let pause = min(max(milliseconds, Self.pauses.lowerBound), Self.pauses.upperBound)
        usleep(UInt32(pause) * 1000)
    }
}

extension JSONNode {
    /// Whether the daemon refused the request because it is overloaded.
    fileprivate var isOverloaded: Bool { self["code"]?.string == ProtocolError.Code.overloaded.rawValue }
}
