import PushModel
import PushRouting

/// A client that waits for the outcomes of one request.
///
/// A request that comes again while the first is on its way to the disk is answered after it, and outcomes may be
/// known before: they are held back until the reply is sent.
final class OutcomeWait {
    /// How many outcomes are still to come.
    private(set) var remaining: Int

    private let session: ClientSession
    private let id: String?
    private var isReplied = false
    private var held: [UInt8] = []

    /// - Parameters:
    ///   - session: who waits; it is not let go before it has all outcomes.
    ///   - id: the request's id, for the lines.
    ///   - outcomes: how many there are to be told.
    init(_ session: ClientSession, id: String?, outcomes: Int) {
        self.session = session
        self.id = id
        remaining = outcomes
        session.outcomesAwaited += outcomes
    }

    /// Tells one outcome, or holds it back.
    func tell(_ invocation: InvocationRecord, _ result: InvocationResult) {
        remaining -= 1
        session.outcomesAwaited -= 1
        let line = Reply.outcome(invocation, result, id: id)
        if isReplied { session.send(line) } else { held += line }
    }

    /// The reply is sent: so is what was held back, and what comes from now on.
    func release() {
        isReplied = true
        if !held.isEmpty { session.send(held) }
        held = []
    }
}
