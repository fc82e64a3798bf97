import EventLoop
import PushModel
import PushRouting
import Store

/// Answers readers when the ledger has all that was acknowledged before they asked; or says what is missing when the time
/// that they give is up.
final class LedgerSync {
    private struct Waiting {
        var client: ControlClient
        /// The last batch that the ledger must have.
        var number: UInt64
        /// When the client is answered whatever the ledger has, in monotonic nanoseconds.
        var due: Int64
    }

    private let pipeline: CommitPipeline
    private let committer: Committer
    private let stateID: UUID128
    private var applied: UInt64
    /// Whether the ledger cannot be written for now, so that to wait for it is no use.
    private var isStalled = false
    private var waiting: [Waiting] = []
    private var timer: TimerSource?

    /// - Parameters:
    ///   - loop: the loop, for the time that readers give.
    ///   - pipeline: says which batch is the last.
    ///   - committer: brings the ledger up to it.
    ///   - stateID: the id of the state directory.
    init(loop: EventLoop, pipeline: CommitPipeline, committer: Committer, stateID: UUID128) throws {
        self.pipeline = pipeline
        self.committer = committer
        self.stateID = stateID
        applied = committer.lastNumber
        timer = try TimerSource(loop: loop) { [unowned self] in answerWhoIsDue() }
    }

    /// Answers a client once the ledger has everything up to now, at most after so long.
    func answer(_ client: ControlClient, timeout: Duration) {
        let number = pipeline.lastGrowingNumber
        guard applied < number else { return answer(client, isComplete: true) }
        guard timeout > .zero, !isStalled else { return answer(client, isComplete: false) }
        committer.hurry(through: number)
        let due = EventLoop.nowNanoseconds + timeout.nanoseconds
        waiting.append(Waiting(client: client, number: number, due: due))
        arm()
    }

    /// The ledger has everything up to a batch.
    func applied(through number: UInt64) {
        applied = number
        guard !waiting.isEmpty else { return }
        for reader in waiting where reader.number <= number { answer(reader.client, isComplete: true) }
        waiting.removeAll { $0.number <= number }
        arm()
    }

    /// The ledger cannot be written for now: nobody waits for it.
    func ledgerStalled() {
        isStalled = true
        answerAll()
    }

    /// The ledger is written again.
    func ledgerResumed() { isStalled = false }

    /// The daemon is to end: nobody waits any longer.
    func stop() { answerAll() }

    private func answerAll() {
        for reader in waiting { answer(reader.client, isComplete: false) }
        waiting = []
        arm()
    }

    private func answerWhoIsDue() {
        let now = EventLoop.nowNanoseconds
        for reader in waiting where reader.due <= now { answer(reader.client, isComplete: false) }
        waiting.removeAll { $0.due <= now }
        arm()
    }

    private func arm() {
        if let next = waiting.map(\.due).min() { timer?.arm(at: next) } else { timer?.disarm() }
    }

    private func answer(_ client: ControlClient, isComplete: Bool) {
        let status = committer.status
        let synced = Synced(
            state: stateID, isComplete: isComplete, batchesBehind: isComplete ? 0 : max(1, status.batchesBehind),
            bytesBehind: isComplete ? 0 : status.bytesBehind)
        client.reply(Reply.synced(synced, id: client.id))
    }
}
