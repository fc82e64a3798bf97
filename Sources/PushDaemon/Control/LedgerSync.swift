import EventLoop
import PushModel
import Store

/// Answers readers when the ledger has all that was acknowledged before they asked; or says what is missing when the time
/// that they give is up.
final class LedgerSync {
    /// How many of a connection's wait: what it asks beside them waits with it.
    static let waitingMax = 8

    private let pipeline: CommitPipeline
    private let committer: Committer
    private let desk: LedgerDesk
    private let stateID: UUID128
    private var waitingOfSession: [ObjectIdentifier: Int] = [:]

    /// - Parameters:
    ///   - pipeline: says which batch is the last.
    ///   - committer: says what the ledger lacks.
    ///   - desk: knows what it has.
    ///   - stateID: the id of the state directory.
    init(pipeline: CommitPipeline, committer: Committer, desk: LedgerDesk, stateID: UUID128) {
        self.pipeline = pipeline
        self.committer = committer
        self.desk = desk
        self.stateID = stateID
    }

    /// Answers a client once the ledger has everything up to now, at most after so long.
    func answer(_ client: ControlClient, timeout: Duration) {
        let number = pipeline.lastGrowingNumber
        guard desk.applied < number, desk.stall == nil, timeout > .zero else {
            return answer(client, isComplete: desk.applied >= number)
        }
        let waiting = (waitingOfSession[ObjectIdentifier(client.session)] ?? 0) + 1
        waitingOfSession[ObjectIdentifier(client.session)] = waiting
        if waiting == Self.waitingMax { client.session.block() }
        desk.onceApplied(number, until: EventLoop.nowNanoseconds + timeout.nanoseconds) { [self] isComplete in
            release(client)
            answer(client, isComplete: isComplete)
        }
    }

    /// One of a connection waits no more: it may ask for another.
    private func release(_ client: ControlClient) {
        let session = ObjectIdentifier(client.session)
        guard let waiting = waitingOfSession[session] else { return }
        waitingOfSession[session] = waiting == 1 ? nil : waiting - 1
        guard waiting == Self.waitingMax else { return }
        client.session.beginAgain()
        client.session.goOn()
    }

    private func answer(_ client: ControlClient, isComplete: Bool) {
        let status = committer.status
        let synced = Synced(
            state: stateID, isComplete: isComplete, batchesBehind: isComplete ? 0 : max(1, status.batchesBehind),
            bytesBehind: isComplete ? 0 : status.bytesBehind)
        client.reply(Reply.done(id: client.id, synced.write))
    }
}
