import HandlerRuns
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import Store

/// Passes events to the router and carries out its effects: the only place where decisions become actions.
final class Processor {
    /// The slice of time for follow-ups of durable batches in a turn, in nanoseconds.
    private static let slice: Int64 = 300_000

    private(set) var router: Router
    private let pipeline: CommitPipeline
    private let runner: any HandlerRunning
    private let loader: RunLoader
    private let journal: JournalWriter
    private let clock: () -> Moment
    private let isBelieved: (WallTime) -> Bool
    private var waits: [SequenceNumber: [OutcomeWait]] = [:]
    /// How many clients may wait for the outcomes of one request: one turn answers all of them.
    private static let waitsMax = 1000
    private var successes: SuccessEntries
    /// The number of outcomes since the start, including those without a journal entry.
    private var outcomeNumber: UInt64 = 0
    private var rejections = RejectionLog()
    /// The evictions of devices.
    private(set) var evictions = EvictionLog()
    /// The warnings about payloads.
    private var warnings = WarningLog()
    /// The level of journal entries for successes.
    var successLevel: JournalSettings.Level
    /// Whether idempotent handlers start before the rows of their requests are durable.
    var startsEarly = false
    /// The runs of this turn that start before their rows are durable.
    private var early: [HandlerRun] = []
    private(set) var accepted: Int64 = 0
    private var noted: SequenceNumber

    /// - Parameters:
    ///   - router: the router, before anything is recovered.
    ///   - pipeline: makes the router's decisions durable.
    ///   - runner: runs the handlers.
    ///   - loader: reads payloads again that the router dropped from memory.
    ///   - journal: gets the outcomes.
    ///   - successLevel: the level of journal entries for successes.
    ///   - clock: reads the clocks.
    ///   - isBelieved: whether the wall clock is believed; otherwise nothing is forgotten by age.
    init(
        router: Router, pipeline: CommitPipeline, runner: any HandlerRunning, loader: RunLoader,
        journal: JournalWriter, successLevel: JournalSettings.Level, clock: @escaping () -> Moment,
        isBelieved: @escaping (WallTime) -> Bool
    ) {
        self.router = router
        noted = router.lastNumber
        self.pipeline = pipeline
        self.runner = runner
        self.loader = loader
        self.journal = journal
        self.successLevel = successLevel
        self.clock = clock
        self.isBelieved = isBelieved
        successes = SuccessEntries(now: EventLoop.nowNanoseconds)
    }

    /// The bytes of rows that wait for the disk.
    var bytesWaiting: Int { pipeline.bytesWaiting }
    var lastNumber: SequenceNumber { router.lastNumber }
    var handlersRunning: Int { router.handlersRunning }
    /// The status of each handler.
    var handlers: [HandlerStatus] { router.handlers(at: clock().monotonic) }
    /// The status of the lanes.
    var lanes: LanesStatus { router.lanes(at: clock().monotonic) }
    var nextDue: Instant? { router.checkNextDue() }
    /// The number of custom data entries that were rejected on arrival since the start.
    var rejectionCount: Int64 { rejections.count }

    /// The number of a request's outcomes that are still to come.
    func invocationsInFlight(of seq: SequenceNumber) -> Int { router.invocationsInFlight(of: seq) }

    /// The device of a token, and its state.
    func owner(ofToken token: String, presumed: Target) -> TokenOwner? {
        router.owner(ofToken: token, presumed: presumed)
    }

    /// The time at which the last device of a token gave it up.
    func end(ofToken token: String) -> WallTime? { router.end(ofToken: token) }

    /// The state that `op: device` set for a name.
    func reportedState(of device: String, app: String?) -> DeviceState { router.reportedState(of: device, app: app) }

    /// The device that registered a token last.
    func device(ofToken token: String) -> KnownDevice? { router.device(ofToken: token) }

    /// The delivery that the ledger must be asked for before an interaction is submitted; `nil` for all other requests.
    func deliveryToRead(for request: Request) -> DeliveryReference? {
        // Only interactions refer to another request.
        guard case .interact = request.action else { return nil }
        return router.deliveryToRead(for: request)
    }

    /// Reads the clocks, and tells the router whether it may forget by age.
    private func readClock() -> Moment {
        let now = clock()
        router.forgetsByAge = isBelieved(now.wall)
        return now
    }

    /// Whether no handler runs, no work is left and no row waits for the disk.
    var isIdle: Bool {
        router.handlersRunning == 0 && runner.count == 0 && !router.hasWorkLeft && pipeline.isIdle
    }

    /// Whether work is left that is too much for one turn.
    var hasWorkLeft: Bool { router.checkWorkLeft() }

    // MARK: Requests

    /// Submits a request that is new.
    ///
    /// - Parameters:
    ///   - candidate: the request.
    ///   - past: the delivery that it refers to, if the ledger was asked and has it.
    /// - Throws: the reason if it is not accepted.
    func submit(_ candidate: Candidate, past: PastDelivery?) throws(ProtocolError) {
        let (session, request) = (candidate.session, candidate.request)
        let acceptance: Acceptance
        pipeline.effects.reportsEveryOutcome = request.waitsForOutcome || successes.hasRoom
        let now = readClock()
        do {
            acceptance = try router.submit(
                request, from: session.peer, past: past, at: now, effects: &pipeline.effects)
        } catch {
            throw ProtocolError(error, id: request.id)
        }
        noteNumbers()
        acknowledge(candidate, acceptance, awaiting: acceptance.invocations)
        if acceptance.flushedUnsent > 0 {
            let cause = "the session of seq \(acceptance.seq)"
            pipeline.append(.note(JournalEntry(flushedUnsent: acceptance.flushedUnsent, by: cause)))
        }
        logRejections(acceptance.rejections)
        if let entry = evictions.note(router.deviceEvictions, at: now.monotonic.nanoseconds) {
            pipeline.append(.note(entry))
        }
        for entry in warnings.note(router.payloadWarnings, at: now.monotonic.nanoseconds) {
            pipeline.append(.note(entry))
        }
        carryOut()
        pipeline.endRequest()
    }

    /// Counts the requests that the router accepted since the last call: those of clients, and deliveries of publishes.
    private func noteNumbers() {
        accepted += router.lastNumber.value - noted.value
        noted = router.lastNumber
        pipeline.accepted(noted)
    }

    /// Whether another client may wait for the outcomes of a request.
    func mayWait(for seq: SequenceNumber) -> Bool { waits[seq].map { $0.count < Self.waitsMax } ?? true }

    /// Gives a repeated request the reply of the first one.
    ///
    /// - Parameters:
    ///   - candidate: the repeated request.
    ///   - story: the first request, as far as the ledger has it.
    ///   - undecided: the number of outcomes that are still to come.
    func `repeat`(_ candidate: Candidate, _ story: RequestStory, undecided: Int) {
        let decided = story.invocations.filter { $0.result != nil }
        acknowledge(candidate, Acceptance(story), knowing: decided, awaiting: undecided)
    }

    /// Replies to a request that was accepted now or earlier.
    private func acknowledge(
        _ candidate: Candidate, _ acceptance: Acceptance, knowing decided: [InvocationRecord] = [],
        awaiting undecided: Int
    ) {
        let (session, request, seq) = (candidate.session, candidate.request, acceptance.seq)
        pipeline.append(.reply(session, place: candidate.place, ClientReply(acceptance, to: request)))
        guard request.waitsForOutcome else { return }
        let wait = OutcomeWait(session, id: request.id, outcomes: decided.count + undecided)
        for row in decided { if let result = row.result { wait.send(row, result) } }
        if undecided > 0 { waits[seq, default: []].append(wait) }
        pipeline.append(.releaseOutcomes(wait))
    }

    // MARK: Events

    /// Passes an event to the router, and carries out its decisions.
    func handle(_ event: RouterEvent) {
        guard case .clock = event else { return pass(event) }
        runner.reportStarts(due: clock().monotonic)
        noteRoom()
        pipeline.doOwnWork { pass(event) }
    }

    private func pass(_ event: RouterEvent) {
        let now = readClock()
        router.handle(event, at: now, effects: &pipeline.effects)
        noteNumbers()
        logRejections(pipeline.effects.takeRejections())
        carryOut()
        pipeline.endRequest()
    }

    /// Continues work that was too much for one turn.
    func continueWork() { handle(.clock) }

    /// Tells the router whether it may continue its publishes; before each question for work that is left.
    func noteRoom() {
        // The question costs a lock.
        if router.hasPublishes { router.hasRoomForPublishes = pipeline.hasRoomForOwnWork }
    }

    /// Restores the unfinished requests of an earlier run, one by one; reads only what each of them needs now.
    ///
    /// - Parameters:
    ///   - ledger: the unfinished requests.
    ///   - tracker: the tracker; waited for when a request needs it, or at the end.
    /// - Returns: the number of unfinished requests.
    func recover(
        from ledger: LedgerReader, tracker: Future<Tracker, StoreError>, clocks: BootClocks? = nil
    ) throws(StoreError) -> Int {
        var count = 0
        var hasTracker = false
        func waitForTracker() throws(StoreError) {
            guard !hasTracker else { return }
            router.adopt(try tracker.value())
            hasTracker = true
        }
        var unfinished: UnfinishedRequest?
        var wantsLine = false
        let now = readClock()
        let needs = router.recoveryNeeds
        let pending = try ledger.pendingInvocationCount()
        let attempts = pending > 0 ? try ledger.pendingAttempts() : [:]
        router.reserve(invocations: pending)
        func resumeFound() throws(StoreError) {
            guard let left = unfinished else { return }
            count += 1
            if wantsLine { try waitForTracker() }
            let request = wantsLine ? try UnfinishedRequest(reading: left, ledger) : left
            router.recover([request], at: now, effects: &pipeline.effects)
            carryOut()
            pipeline.endRequest()
        }
        let boot = router.recoveryNeeds.boot
        func collect(
            _ accepted: AcceptedRequest, _ byteCount: Int, _ invocation: InvocationRecord
        ) throws(StoreError) {
            var (accepted, invocation) = (accepted, invocation)
            if accepted.boot != boot { clocks?.translate(&accepted, &invocation, to: boot) }
            if unfinished?.accepted.seq != accepted.seq {
                try resumeFound()
                unfinished = UnfinishedRequest(leaving: accepted, byteCount: byteCount, invocations: [])
                wantsLine = false
            }
            unfinished?.invocations.append(invocation)
            unfinished?.attempts[invocation.id.n] = attempts[invocation.id]
            wantsLine = wantsLine || needs.wantsLine(of: accepted, invocation, at: now)
        }
        // Counted first: usually there are no rows, and preparing the SELECT that reads them costs more than the count.
        if pending > 0 { try ledger.pendingInvocations(collect) }
        try resumeFound()
        try waitForTracker()
        router.adopt(
            try ledger.openFanOuts().compactMap { open in
                guard let request = try? Request(acceptedLine: open.request.body) else { return nil }
                let age = open.request.boot == boot ? nil : clocks?.age(of: open.request, at: now.monotonic)
                return UnfinishedFanOut(open.fanOut, of: open.request, request, age: age)
            }, at: now)
        // Even without requests: the router gets the time, and with it the end of the tracker's waits.
        router.endRecovery(at: now, effects: &pipeline.effects)
        carryOut()
        return count
    }

    // MARK: Dead letters

    /// Accepts a request with dead letters again.
    ///
    /// - Returns: its new number; it counts as accepted once the decisions up to now are on disk.
    /// - Throws: the reason if it is not accepted.
    func replay(_ request: UnfinishedRequest, from peer: Peer) throws(ProtocolError) -> SequenceNumber {
        let acceptance: Acceptance
        pipeline.effects.reportsEveryOutcome = successes.hasRoom
        let now = readClock()
        do {
            acceptance = try router.replay(request, from: peer, at: now, effects: &pipeline.effects)
        } catch {
            throw ProtocolError(error, id: nil)
        }
        noteNumbers()
        carryOut()
        pipeline.endRequest()
        return acceptance.seq
    }

    /// Writes a row without a follow-up.
    func record(_ record: LedgerRecord) {
        pipeline.effects.record(record)
        pipeline.endRequest()
    }

    /// The person with the devices known as hers, and the bound of an erasure that is ordered now.
    func bound(of person: Person) -> (Person, ErasureBound) { router.bound(of: person) }

    /// Makes the router forget a person up to a bound.
    func forget(_ person: Person, through bound: ErasureBound) throws(ForgettingRefused) {
        try router.forget(person, through: bound)
    }

    /// Calls the router for people or the forwarder, and carries out its decisions.
    ///
    /// - Parameters:
    ///   - act: calls the router.
    ///   - inspect: gets the effects before they are carried out.
    func decide<Result>(
        _ act: (inout Router, Moment, inout Effects) -> Result, _ inspect: (Effects) -> Void
    ) -> Result {
        var effects = Effects()
        let now = readClock()
        let result = act(&router, now, &effects)
        inspect(effects)
        pipeline.effects.append(effects)
        carryOut()
        return result
    }

    // MARK: Follow-ups

    /// Replies to a client of `control.sock` once the decisions up to now are on disk.
    func reply(to client: ControlClient, _ bytes: [UInt8]) {
        follow(.reply(client.session, place: client.place, .line(client.stated(bytes))))
    }

    /// Adds a follow-up of the decisions up to now.
    func follow(_ followUp: FollowUp) { pipeline.append(followUp) }

    // MARK: Effects

    private func carryOut() {
        guard !pipeline.effects.list.isEmpty else { return }
        for effect in pipeline.effects.takeList() {
            switch effect {
            case .start(let run):
                if startsEarly, run.mayStartEarly, pipeline.allowsEarlyStart(of: run.request.seq) {
                    early.append(run)
                } else {
                    pipeline.append(.effect(effect))
                }
            case .load, .decided, .breaker, .publishEnded: pipeline.append(.effect(effect))
            case .terminate(let id): runner.terminate(id)
            case .stop(let id):
                loader.stop(id)
                if let output = runner.stop(id) { pipeline.effects.record(.output(id, output)) }
                // One event may stop many runs, each with a long output.
                pipeline.endRequest()
            }
        }
    }

    /// Starts the handlers that do not wait for their rows; at the end of a turn, before its batch is written.
    func startEarly() {
        guard !early.isEmpty else { return }
        for run in exchange(&early, with: []) { runner.start(run) }
        // A turn has one early round. The loop above may have added starts: these wait for the disk.
        for run in exchange(&early, with: []) { pipeline.append(.effect(.start(run))) }
    }

    /// Does the follow-ups of durable batches, for a slice of time.
    ///
    /// - Parameter handOver: hands entries of custom data to the forwarder.
    /// - Returns: whether all are done.
    func performDue(_ handOver: (ClaimedEntries) -> Void) -> Bool {
        guard pipeline.hasDue else { return true }
        let start = EventLoop.nowNanoseconds
        var done = 0
        while let followUp = pipeline.nextDue() {
            perform(followUp, handOver)
            done += 1
            if done % 8 == 0, EventLoop.nowNanoseconds - start >= Self.slice { return !pipeline.hasDue }
        }
        return true
    }

    private func perform(_ followUp: FollowUp, _ handOver: (ClaimedEntries) -> Void) {
        switch followUp {
        case .reply(let session, let place, let reply): session.reply(place, reply)
        case .releaseOutcomes(let wait): wait.release()
        case .handOver(let entries): handOver(entries)
        case .note(let entry): journal.log(entry)
        case .effect(let effect): perform(effect)
        }
    }

    private func perform(_ effect: RouterEffect) {
        switch effect {
        case .start(let run): runner.start(run)
        case .load(let run):
            loader.load(run) { [weak self] loaded in
                switch loaded {
                case .complete(let run): self?.runner.start(run)
                case .failed(let reason): self?.handle(.failedToStart(run.invocation.id, reason: reason))
                }
            }
        case .decided(let end):
            logEnd(end)
            answerWaiting(end)
        case .breaker(let change): journal.log(JournalEntry(change))
        case .publishEnded(let end): journal.log(JournalEntry(end))
        // The end of a run does not wait for the disk: ``carryOut()`` has done it.
        case .terminate, .stop: break
        }
    }

    private func logEnd(_ end: InvocationEnd) {
        let outcome = end.result.outcome
        outcomeNumber += 1
        if !outcome.isMissed, !outcome.isFailure {
            guard successes.hasRoom else { return successes.leaveOut(1, at: EventLoop.nowNanoseconds) }
            successes.countEntry()
        }
        journal.log { [successLevel, outcomeNumber] in
            JournalEntry(end, number: outcomeNumber, successLevel: successLevel)
        }
    }

    /// Logs rejected entries of custom data, once they are on disk.
    private func logRejections(_ rejected: [Rejection]) {
        guard !rejected.isEmpty, let entry = rejections.note(rejected, at: EventLoop.nowNanoseconds) else { return }
        pipeline.append(.note(entry))
    }

    /// Logs the rejections, evictions and warnings that were gathered for long enough; from time to time.
    func logDueRejections(at now: Int64) {
        if let entry = rejections.takeDue(at: now) { journal.log(entry) }
        if let entry = evictions.note(router.deviceEvictions, at: now) ?? evictions.takeDue(at: now) {
            journal.log(entry)
        }
        for entry in warnings.takeDue(router.payloadWarnings, at: now) { journal.log(entry) }
    }

    /// Reads the clock for the journal entries of successes; at the end of a turn.
    func endTurn(at now: Int64) {
        successes.read(now)
        let unreported = pipeline.takeUnreported()
        outcomeNumber += UInt64(unreported)
        successes.leaveOut(unreported, at: now)
        if let summary = successes.summary(successLevel, at: now) { journal.log(summary) }
    }

    /// Logs the number of outcomes since the start, and of the last ones without an entry; at the daemon's end.
    func endJournal(at now: Int64) {
        endTurn(at: now)
        if let summary = successes.lastSummary(successLevel) { journal.log(summary) }
        let message = "stopped after \(counted(outcomeNumber, "outcome"))"
        journal.log(
            JournalEntry(.info, message, messageID: .stopped, fields: [.init(.outcomeNumber, outcomeNumber)]))
    }

    private func answerWaiting(_ end: InvocationEnd) {
        guard !waits.isEmpty else { return }
        let seq = end.invocation.id.seq
        guard var waiting = waits.removeValue(forKey: seq) else { return }
        for wait in waiting { wait.send(end.invocation, end.result) }
        waiting.removeAll { $0.remaining == 0 }
        if !waiting.isEmpty { waits[seq] = waiting }
    }
}
