import EventLoop
import PushModel
import PushRouting
import Store

/// Answers readers when the ledger has all that was acknowledged before they asked; or says what is missing when the time
/// that they give is up.
final class LedgerSync {
    /// How many of a connection's wait: what it asks beside them waits with it.
    static let waitingMax = 8
    /// How many are answered in a turn.
    static let answeredAtOnce = 256

    private let pipeline: CommitPipeline
    private let committer: Committer
    private let stateID: UUID128
    private var applied: UInt64
    /// Whether the ledger cannot be written for now, so that to wait for it is no use.
    private var isStalled = false
    private var waits = SyncWaits<ControlClient>()
    private var waitingOfSession: [ObjectIdentifier: Int] = [:]
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
        timer = try TimerSource(loop: loop) { [unowned self] in answerSome() }
    }

    /// How many wait.
    var waitingCount: Int { waits.count }

    /// Answers a client once the ledger has everything up to now, at most after so long.
    func answer(_ client: ControlClient, timeout: Duration) {
        let number = pipeline.lastGrowingNumber
        guard applied < number else { return answer(client, isComplete: true) }
        guard timeout > .zero, !isStalled else { return answer(client, isComplete: false) }
        committer.hurry(through: number)
        waits.add(client, position: number, due: EventLoop.nowNanoseconds + timeout.nanoseconds)
        let waiting = (waitingOfSession[ObjectIdentifier(client.session)] ?? 0) + 1
        waitingOfSession[ObjectIdentifier(client.session)] = waiting
        if waiting == Self.waitingMax { client.session.block() }
        arm()
    }

    /// The ledger has everything up to a batch.
    func applied(through number: UInt64) {
        applied = number
        answerSome()
    }

    /// The ledger cannot be written for now: nobody waits for it.
    func ledgerStalled() {
        isStalled = true
        answerSome()
    }

    /// The ledger is written again.
    func ledgerResumed() { isStalled = false }

    /// The daemon is to end: nobody waits any longer.
    func stop() {
        while let (client, isComplete) = waits.next(applied: applied, now: .max) {
            release(client)
            answer(client, isComplete: isComplete)
        }
        arm()
    }

    /// Answers whom the ledger has enough for and whose time is over, some in each turn.
    private func answerSome() {
        guard waits.count > 0 else { return }
        let now = EventLoop.nowNanoseconds
        var left = Self.answeredAtOnce
        while left > 0, let (client, isComplete) = waits.next(applied: applied, now: isStalled ? .max : now) {
            left -= 1
            release(client)
            answer(client, isComplete: isComplete)
        }
        arm()
    }

    private func arm() {
        if waits.isSomebodyServed(by: applied) || isStalled && waits.count > 0 {
            timer?.arm(at: EventLoop.nowNanoseconds)
        } else if let next = waits.nextDue() {
            timer?.arm(at: next)
        } else {
            timer?.disarm()
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
        client.reply(Reply.synced(synced, id: client.id))
    }
}
