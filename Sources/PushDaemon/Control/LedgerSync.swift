import LinuxSystem
import PushModel
import Store

/// Answers `op: sync` once the ledger has all that was acknowledged before the request, or, at its time limit, with
/// what is missing.
final class LedgerSync {
    /// How many syncs of a connection may wait: its next request waits with them.
    static let waitingMax = 8

    private let pipeline: CommitPipeline
    private let committer: Committer
    private let queries: LedgerQueries
    private let stateID: UUID128
    private var waitingOfSession: [ObjectIdentifier: Int] = [:]

    /// - Parameters:
    ///   - pipeline: knows the number of the last batch.
    ///   - committer: knows what the ledger lacks.
    ///   - queries: knows the last batch that the ledger has.
    ///   - stateID: the id of the state directory.
    init(pipeline: CommitPipeline, committer: Committer, queries: LedgerQueries, stateID: UUID128) {
        self.pipeline = pipeline
        self.committer = committer
        self.queries = queries
        self.stateID = stateID
    }

    /// Replies once the ledger has all batches up to now, at the latest after `timeout`.
    func answer(_ client: ControlClient, timeout: Duration) {
        let number = pipeline.lastGrowingNumber
        guard queries.applied < number, queries.stall == nil, timeout > .zero else {
            return answer(client, isComplete: queries.applied >= number)
        }
        let waiting = (waitingOfSession[ObjectIdentifier(client.session)] ?? 0) + 1
        waitingOfSession[ObjectIdentifier(client.session)] = waiting
        if waiting == Self.waitingMax { client.session.block() }
        let due = EventLoop.nowNanoseconds + timeout.nanoseconds
        queries.whenApplied(number, until: due, endsAtStop: true) { [self] isComplete in
            release(client)
            answer(client, isComplete: isComplete)
        }
    }

    /// Ends one wait of a connection, which may wait for another.
    private func release(_ client: ControlClient) {
        let session = ObjectIdentifier(client.session)
        guard let waiting = waitingOfSession[session] else { return }
        waitingOfSession[session] = waiting == 1 ? nil : waiting - 1
        guard waiting == Self.waitingMax else { return }
        client.session.unblock()
        client.session.resume()
    }

    private func answer(_ client: ControlClient, isComplete: Bool) {
        let status = committer.status
        let synced = Synced(
            state: stateID, isComplete: isComplete, batchesBehind: isComplete ? 0 : max(1, status.batchesBehind),
            bytesBehind: isComplete ? 0 : status.bytesBehind)
        client.reply(Reply.done(id: client.id, synced.write))
    }
}
