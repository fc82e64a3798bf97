import PushModel
import PushRouter

/// A client's wait for the outcomes of one request.
///
/// A request that is repeated while the first is on its way to the disk is answered after it. Its outcomes may be known
/// before that answer: the wait holds them until the reply is sent.
final class OutcomeWait {
    /// The number of outcomes still to come.
    private(set) var remaining: Int

    private let session: ClientSession
    private let id: String?
    private var isReplied = false
    private var held: [UInt8] = []

    /// - Parameters:
    ///   - session: the client; it is kept until it has all outcomes.
    ///   - id: the request's id, for the outcome lines.
    ///   - outcomes: the number of outcomes still to come.
    init(_ session: ClientSession, id: String?, outcomes: Int) {
        self.session = session
        self.id = id
        remaining = outcomes
        session.outcomesAwaited += outcomes
    }

    /// Sends one outcome line, or holds it until the reply is sent.
    func send(_ invocation: InvocationRecord, _ result: InvocationResult) {
        remaining -= 1
        session.outcomesAwaited -= 1
        let line = Reply.outcome(invocation, result, id: id)
        if isReplied { session.send(line) } else { held += line }
    }

    /// Notes that the reply is sent: sends the held lines, and from now on each line at once.
    func release() {
        isReplied = true
        if !held.isEmpty { session.send(held) }
        held = []
    }
}
