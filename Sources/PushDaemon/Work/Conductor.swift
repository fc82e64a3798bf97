import JournalLog
import PushCustomData
import PushModel
import PushProtocol
import PushRouting
import PushSettings
import Store

/// How a request was accepted.
struct Accepted {
    var seq: SequenceNumber
    /// How many invocations it has.
    var invocations: Int
    /// What of it was set aside.
    var rejections: [Rejection]
}

/// Feeds the router and carries out its effects: the one place where decisions become acts.
final class Conductor {
    private var router: Router
    private let journal: JournalWriter
    private let submitBatch: ([LedgerRecord], UInt64) -> Void
    private lazy var commits = GroupCommit(submit: submitBatch, perform: { [unowned self] in perform($0) })
    private var effects: [Effect] = []
    private var waits: [SequenceNumber: [OutcomeWait]] = [:]

    /// Runs the handlers; set before anything is submitted.
    var runner: HandlerRunner?
    /// Told when a request with a producer's id is on disk.
    var onDisk: (RequestKey) -> Void = { _ in }
    /// Told when the entries of a claim are on disk as the forwarder's.
    var onClaimed: (ClaimAnswer) -> Void = { _ in }
    /// How loud a success is.
    var successLevel: JournalSettings.Level
    private(set) var accepted: Int64 = 0

    /// - Parameters:
    ///   - router: the router, before anything is recovered.
    ///   - journal: where outcomes go.
    ///   - successLevel: how loud a success is.
    ///   - submitBatch: hands records to the committer.
    init(
        router: Router, journal: JournalWriter, successLevel: JournalSettings.Level,
        submitBatch: @escaping ([LedgerRecord], UInt64) -> Void
    ) {
        self.router = router
        self.journal = journal
        self.successLevel = successLevel
        self.submitBatch = submitBatch
    }

    var mode: DispatchMode { router.mode }
    var lastNumber: SequenceNumber { router.lastNumber }
    var requestsInFlight: Int { router.requestsInFlight }
    var handlersRunning: Int { router.handlersRunning }
    var deliveriesTracked: Int { router.deliveriesTracked }
    var nextDue: Instant? { router.nextDue }
    var bytesWaiting: Int { commits.bytesWaiting }
    var transactions: UInt64 { commits.transactions }
    var customDataSummary: CustomDataSummary { router.customDataSummary }
    var hasQueuedEntries: Bool { router.hasQueuedEntries }
    var sending: SendingState? { router.sending }

    /// How many outcomes of a request are still to come.
    func invocationsInFlight(of seq: SequenceNumber) -> Int { router.invocationsInFlight(of: seq) }

    /// The delivery of which the ledger has to be asked before an interaction is submitted: one that it names, does not
    /// bring along, and the tracker does not remember, or not as far as a track may want it. `nil` for anything else.
    func unknownDelivery(of request: Request) -> DeliveryReference? {
        guard case .interact(let interact) = request.action else { return nil }
        if let seq = router.rememberedDelivery(of: interact) {
            let target = interact.target
            return router.wantsPayload(of: interact)
                ? DeliveryReference(.seq(seq), app: target.app, device: target.device) : nil
        }
        let reference = DeliveryReference(request)
        // A number that nobody has yet is no delivery's.
        if case .seq(let seq) = reference?.name, seq > router.lastNumber { return nil }
        return reference
    }

    /// Whether a delivery of that name is accepted and not on disk yet.
    func isUnderway(_ name: DeliveryReference.Name) -> Bool { commits.isUnderway(name) }

    /// Whether something waits for the disk.
    var isCommitComing: Bool { commits.isCommitComing }

    /// Whether nothing runs and nothing waits for the disk.
    var isIdle: Bool { router.handlersRunning == 0 && (runner?.count ?? 0) == 0 && commits.isIdle }

    /// Submits a request that is new.
    ///
    /// - Parameters:
    ///   - candidate: the request.
    ///   - past: the delivery that it names, if the ledger had to be asked for it and has it.
    /// - Returns: how it was accepted; `nil` when it was refused, and the client told.
    func submit(_ candidate: Admission.Candidate, past: PastDelivery?) -> Accepted? {
        let (session, request) = (candidate.session, candidate.request)
        let seq: SequenceNumber
        do {
            seq = try router.submit(request, from: session.peer, past: past, at: .now(), effects: &effects)
        } catch {
            session.reply(candidate.place, Reply.refused(ProtocolError(error, id: request.id)))
            return nil
        }
        accepted += 1
        let invocations = effects.count { effect in
            if case .record(.invocation(let row)) = effect { row.id.seq == seq } else { false }
        }
        acknowledge(candidate, seq, rejected: router.rejections, awaiting: invocations)
        carryOut()
        return Accepted(seq: seq, invocations: invocations, rejections: router.rejections)
    }

    /// Answers a request that was accepted before as it was answered then.
    ///
    /// - Parameters:
    ///   - rejected: what of it was set aside.
    ///   - rows: its invocations as far as the ledger has them.
    ///   - undecided: how many outcomes are still to come.
    func repeated(
        _ candidate: Admission.Candidate, _ seq: SequenceNumber, rejected: [Rejection], _ rows: [InvocationRecord],
        undecided: Int
    ) {
        acknowledge(
            candidate, seq, rejected: rejected, knowing: rows.filter { $0.result != nil }, awaiting: undecided)
    }

    // MARK: Custom data

    /// Has the router do what people or the forwarder want of custom data, and carries out what it decides. What a person
    /// has to see to is in the journal once it is on disk.
    @discardableResult
    func order<Result>(_ act: (inout Router, Moment, inout [Effect]) -> Result) -> Result {
        let last = router.sending
        let result = act(&router, .now(), &effects)
        for state in [EntryState.rejected, .unknown] {
            let numbers = effects.compactMap { effect -> EntryNumber? in
                guard case .record(.customData(.moved(let move))) = effect, move.state == state else { return nil }
                return move.number
            }
            if let entry = JournalEntry(numbers, became: state) { commits.append(.note(entry)) }
        }
        if let state = router.sending, let entry = JournalEntry(state, after: last?.phase) {
            commits.append(.note(entry))
        }
        carryOut()
        return result
    }

    /// The oldest entries that are to be sent, from the one after this number on.
    func queuedEntries(after number: EntryNumber, limit: Int) -> [CustomEntry] {
        router.queuedEntries(after: number, limit: limit)
    }

    /// Answers a client of `control.sock` once what was decided so far is on disk.
    func reply(to client: ControlClient, _ bytes: [UInt8]) {
        commits.append(.reply(client.session, place: client.place, bytes))
    }

    /// Does something once what was decided so far is on disk.
    func follow(_ followUp: FollowUp) { commits.append(followUp) }

    /// Tells the router what happened, and carries out what it decides.
    func handle(_ event: Event) {
        router.handle(event, at: .now(), effects: &effects)
        carryOut()
    }

    /// Takes up what an earlier run left.
    func recover(_ unfinished: [UnfinishedRequest]) {
        router.recover(unfinished, at: .now(), effects: &effects)
        carryOut()
    }

    /// A batch is on disk.
    func committed(through number: UInt64) { commits.committed(number) }

    /// The turn is over: hands what it wants written to the committer.
    func endTurn() { commits.endTurn() }

    private func acknowledge(
        _ candidate: Admission.Candidate, _ seq: SequenceNumber, rejected: [Rejection],
        knowing decided: [InvocationRecord] = [], awaiting undecided: Int
    ) {
        let (session, request) = (candidate.session, candidate.request)
        let reply = Reply.accepted(seq, id: request.id, rejected: rejected)
        commits.append(.reply(session, place: candidate.place, reply))
        if let key = candidate.key { commits.append(.onDisk(key)) }
        guard request.waitsForOutcome else { return }
        let wait = OutcomeWait(session, id: request.id, outcomes: decided.count + undecided)
        for row in decided { if let result = row.result { wait.tell(row, result) } }
        if undecided > 0 { waits[seq, default: []].append(wait) }
        commits.append(.replied(wait))
    }

    private func carryOut() {
        for effect in effects {
            switch effect {
            case .record(let record): commits.append(record)
            case .start(let run): commits.append(.start(run))
            case .decided(let end): commits.append(.decided(end))
            case .terminate(let id): runner?.terminate(id)
            case .stop(let id): runner?.stop(id)
            }
        }
        effects.removeAll(keepingCapacity: true)
    }

    private func perform(_ followUp: FollowUp) {
        switch followUp {
        case .reply(let session, let place, let bytes): session.reply(place, bytes)
        case .replied(let wait): wait.replied()
        case .onDisk(let key): onDisk(key)
        case .claimed(let answer): onClaimed(answer)
        case .note(let entry): journal.log(entry)
        case .start(let run): runner?.start(run)
        case .decided(let end):
            journal.log { [successLevel] in JournalEntry(end, successLevel: successLevel) }
            tellWaiting(end)
        }
    }

    private func tellWaiting(_ end: InvocationEnd) {
        let seq = end.invocation.id.seq
        guard var waiting = waits.removeValue(forKey: seq) else { return }
        for wait in waiting { wait.tell(end.invocation, end.result) }
        waiting.removeAll { $0.remaining == 0 }
        if !waiting.isEmpty { waits[seq] = waiting }
    }
}
