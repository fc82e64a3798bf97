import Glibc
import PushModel

extension Command {
    static let replay = Command(
        name: "replay", summary: "do again what was not done in relay mode",
        description: [
            """
            Makes the daemon accept dead letters again: each gets a new number and a new deadline, for the same app, device \
            and user, and only its invocations that were not done are run. The new request is marked as a replay of the \
            former one, which is a dead letter no more. A handler learns of it by "replay_of" and PUSH_REPLAY_OF.
            """,
            """
            SEQ are numbers of requests, or options choose among the dead letters; --limit bounds how many (100), and \
            standard error says how many are left. --dry-run prints which they are and replays nothing: begin with it. The \
            tracker and the tracks have had the request when it first came, so a replay counts no push twice. "pushctl \
            deadletters" lists what there is. The exit status is 1 when a request was refused.
            """,
            """
            --limit all replays all, the oldest first, in pages of 1000, and waits where the daemon has no room for more. A \
            replay that fails again is not taken again. --json prints an object for each answer of the daemon then: what one \
            says was refused as "overloaded" comes again in a later one.
            """,
        ],
        operands: Operands(usage: "[SEQ...]", count: 0...DeadLetterChoice.operandsMax),
        options: DeadLetterChoice.options + [.listOnly, .fullTokens, .utc, .json],
        examples: [
            Example(line: "pushctl replay --handler crm --since -1h --dry-run", meaning: "what would be replayed"),
            Example(line: "pushctl replay --handler crm --since -1h", meaning: "replay it, 100 requests at most"),
            Example(line: "pushctl replay --handler crm --since -1h --limit all", meaning: "replay it, however many"),
            Example(line: "pushctl replay 41 42", meaning: "replay two requests"),
        ]
    ) { arguments, session throws(Failure) in
        let numbers = try DeadLetterChoice.numbers(arguments.operands[...], arguments)
        let choice = try DeadLetterChoice(arguments, numbers: numbers, mayBeAll: true)
        try choice.requireSome(arguments, toDo: "replay")
        if arguments.has(.listOnly) { return try choice.list(arguments, session) }
        var replay = Replay(session, printsJSON: arguments.has(.json), mayWait: choice.isEverything)
        let isAny = try choice.take(session, done: "replayed") { page throws(Failure) in try replay.run(page) }
        guard isAny else { return session.tellOfNone() }
        return replay.hasRefusals ? .no : .done
    }
}

/// Has the daemon replay requests, and tells what it did.
private struct Replay {
    /// How long to wait before the daemon is asked again, in milliseconds.
    private static let pauses: ClosedRange<Int64> = 50...5000

    private let session: Session
    private let printsJSON: Bool
    /// Whether to wait for a daemon that has no room for more.
    private let mayWait: Bool
    private var hasToldOfWaiting = false
    /// Whether a request was refused for good.
    private(set) var hasRefusals = false

    init(_ session: Session, printsJSON: Bool, mayWait: Bool) {
        self.session = session
        self.printsJSON = printsJSON
        self.mayWait = mayWait
    }

    /// Has requests replayed, as many as one order may name.
    ///
    /// - Returns: how many were.
    mutating func run(_ numbers: [SequenceNumber]) throws(Failure) -> Int {
        var (numbers, count) = (numbers, 0)
        while true {
            let reply = try session.control(.replay(numbers))
            printReplays(of: reply)
            count += reply["replayed"]?.count ?? 0
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

    private mutating func wait(_ milliseconds: Int64) {
        if !hasToldOfWaiting {
            hasToldOfWaiting = true
            session.output.note("the daemon has no room for more now; waiting until it has")
        }
        let pause = min(max(milliseconds, Self.pauses.lowerBound), Self.pauses.upperBound)
        usleep(UInt32(pause) * 1000)
    }
}

extension JSONNode {
    /// Whether the daemon refused it because it has too much to do.
    fileprivate var isOverloaded: Bool { self["code"]?.string == ProtocolError.Code.overloaded.rawValue }
}
