import Glibc
import HandlerRuns
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import Store

/// The daemon: the loop's thread orders all events, the router decides, adapters do the input and output.
///
/// Everything here runs on the loop's thread.
final class Daemon {
    /// The event sources of the daemon. Each retains the daemon, so `run` drops them at its end.
    struct Sources {
        let deadline: TimerSource
        /// Fires for a large request, a batch that is held back, or a client's time limit for the ledger.
        let turn: TimerSource
        /// Starts another turn of the loop.
        let due: DeferSource
        /// Ends the wait for clients that do not read their last replies.
        let stop: TimerSource
        let others: [AnyObject]
        /// Requests of people who act on the notifications that the daemon shows.
        let own: OwnRequests
        /// Requests that bridges send beside their answers: apart from `own`, so that a flood of them delays no tap.
        let ofBridges: OwnRequests
    }

    /// The servers of the sockets.
    struct Servers {
        let inject: LineServer
        let control: LineServer
        let read: LineServer

        var all: [LineServer] { [inject, control, read] }
    }

    let parts: Parts
    var settings: Settings
    private let queries: LedgerQueries
    let pipeline: CommitPipeline
    let processor: Processor
    private let accounts: any AccountSource
    let customData: CustomDataService
    let inject: InjectServer
    let erasures: ErasureService
    let audit: Audit
    let pruning: LedgerPruning
    let gaps: GapRecorder
    /// The state of the shared log's database; unused on one machine.
    private(set) var engine = EngineWatch(at: EventLoop.nowNanoseconds)
    let control: ControlServer
    private(set) var sources: Sources?
    private(set) var servers: Servers?

    private var armedFor: Instant?
    /// When the lease ended, in monotonic nanoseconds.
    private var pastLeaseSince: Int64?
    private(set) var isStopping = false
    /// Whether it waits for running handlers before it stops, and takes requests meanwhile, which the next leader runs.
    private var isLeaving = false
    /// Whether it is to end.
    var isEnding: Bool { isStopping || isLeaving }
    /// Whether it ends because a person wants another node to lead: the next process of this node follows.
    private(set) var handsOver = false
    /// When the time for clients to read their last replies is over, in monotonic nanoseconds.
    private var lastRepliesDue: Int64?
    /// When a stop waits no longer for room.
    private var roomDue: Int64 = 0
    var configuration: ConfigurationState
    /// The counts of configuration readings.
    var reloads = Reloads()
    let startedAt = Moment.now()

    /// Connects the parts, and restores what an earlier run left unfinished.
    init(_ parts: Parts, settings: Settings, configuration: ConfigurationState) throws(StoreError) {
        var parts = parts
        let recovered = parts.takeRecovered()
        self.parts = parts
        (self.settings, self.configuration) = (settings, configuration)
        let (committer, journal, mailbox) = (parts.committer, parts.journal, parts.mailbox)
        queries = LedgerQueries(committer, directory: parts.directories.state) { mailbox.post(.answer($0)) }
        pipeline = CommitPipeline(committer, lastSequence: recovered.lastNumber, watch: parts.commitWatch)
        let router = Router(
            boot: parts.boot, epoch: parts.leadership?.store.epoch, table: settings.routing,
            tracker: Tracker(stateID: recovered.stateID, rules: settings.routing.tracking),
            customData: recovered.customData,
            devices: recovered.devices, recentDeliveries: recovered.recentDeliveries,
            lastNumber: recovered.lastNumber)
        let clockSteps = parts.clockSteps
        processor = Processor(
            router: router, pipeline: pipeline, runner: parts.runner,
            loader: RunLoader(pipeline: pipeline, queries: queries, reader: parts.largeRequests), journal: journal,
            successLevel: settings.journal.successLevel, clock: { .now() },
            isBelieved: { clockSteps.isBelieved(wall: $0, boot: SystemClock.bootNanoseconds) })
        // A ledger that belonged to a pair keeps its producers on one machine, too.
        let producers = try recovered.ledger.producers()
        accounts =
            if parts.leadership == nil, producers.isEmpty {
                UserAccounts()
            } else {
                ProducerAccounts(producers) { [processor] in processor.record(.producer($0)) }
            }
        customData = CustomDataService(processor, pipeline)
        audit = Audit(journal: journal, node: parts.leadership?.node) {
            [processor, health = parts.health, store = parts.leadership?.store] record, isTold in
            guard health.refusal == nil, store.map({ $0.copiesRead ?? 0 >= RowKind.audit.since }) ?? true else {
                return false
            }
            processor.record(.audit(record))
            if isTold { processor.follow(.note(JournalEntry(record))) }
            return true
        }
        inject = InjectServer(
            processor: processor, pipeline: pipeline, committer: committer, queries: queries,
            reader: parts.largeRequests, health: parts.health, refusals: parts.refusals, audit: audit,
            limits: settings.daemon.jsonLimits)
        inject.producers.take(settings.producers)
        pruning = LedgerPruning(committer, journal: journal, clock: clockSteps)
        erasures = ErasureService(parts.loop, processor, pipeline, committer, queries, journal, audit)
        gaps = GapRecorder(
            processor, lastAlive: recovered.lastAlive, lastBelieved: recovered.lastBelieved, clock: clockSteps,
            handover: parts.leadership.map {
                GapRecorder.Handover(
                    isAfterLoss: $0.isAfterLoss, lastBatchAt: $0.store.lastBatchAt?.nanoseconds)
            })
        control = ControlServer(
            processor: processor, customData: customData, health: parts.health, queries: queries,
            ledgerSync: LedgerSync(
                pipeline: pipeline, committer: committer, queries: queries, stateID: recovered.stateID),
            deadLetters: DeadLetterService(processor: processor, pipeline: pipeline, queries: queries),
            erasures: erasures, logLevels: parts.logLevels, metrics: parts.metrics, refusals: parts.refusals,
            audit: audit, leaseLeft: { [keeper = parts.leadership?.keeper] in keeper?.left })
        endLeftovers(of: parts.owner, journal)
        try recover(from: recovered.ledger)
    }

    private func recover(from ledger: LedgerReader) throws(StoreError) {
        if let aside = parts.committer.recovery.setAside { parts.journal.log(JournalEntry(setAside: aside)) }
        try noteConfiguration(of: ledger)
        let unfinished = try processor.recover(
            from: ledger, tracker: parts.tracker, clocks: parts.leadership?.store.clocks)
        guard unfinished > 0 else { return }
        parts.journal.log(
            JournalEntry(.notice, "unfinished requests of an earlier run: \(unfinished)", messageID: .recovered))
    }

    /// Listens, and runs until a signal stops it or an error ends it.
    ///
    /// - Parameter listeners: the sockets, if another part of the process listens on them already.
    /// - Returns: the exit status.
    func run(listeners: Listeners? = nil) throws -> Int32 {
        try watch()
        defer { (sources, servers) = (nil, nil) }
        try listen(listeners)
        let watchdog = try parts.loop.answerWatchdog()
        defer { withExtendedLifetime(watchdog) {} }
        Notify.ready(status: configuration.text(statusLine, after: "configuration"))
        parts.journal.log(JournalEntry(.info, "ready: \(statusLine)", messageID: .started))
        if let reason = parts.containment.reason {
            let message = "handlers run in process groups with marks, not in cgroups of their own: \(reason)"
            parts.journal.log(JournalEntry(.debug, message))
        }
        parts.logLevels.onBusLevel = { [audit] level in
            audit.begin(AuditRecord.Subject(.logLevel, level), from: .bus).ends()
        }
        parts.logLevels.begin()
        gaps.begin()
        runMaintenance()
        // Recovered requests do not wait for the first event.
        endTurn()
        let end = Result { () throws(SystemError) in try parts.loop.run(endOfTurn: endTurn) }
        // With a full disk the daemon did not wait for its handlers, and no log would take their outcomes.
        parts.runner.endAll()
        parts.largeRequests.stop()
        parts.metrics.stop()
        parts.configuration.leave()
        queries.stop()
        let progress = WorkProgress()
        let failure = parts.committer.stop { progress.report() }
        let code = try end.get()
        // After a failure some outcomes may have no journal entry.
        if code == 0 { processor.endJournal(at: EventLoop.nowNanoseconds) }
        guard code == 0, let failure else { return code }
        parts.journal.log(JournalEntry(.critical, "\(failure)"))
        return StartFailure.inputOutput
    }

    private func watch() throws {
        let loop = parts.loop
        let account = try accounts.ownAccount()
        let own = try OwnRequests(
            inject, loop: loop, account: account, refusals: parts.refusals, journal: parts.journal)
        let ofBridges = try OwnRequests(
            inject, loop: loop, account: account, limits: settings.daemon.ownLimits, refusals: parts.refusals,
            journal: parts.journal)
        let lease = try parts.leadership.map { leadership in
            [try leadership.news.receive(on: loop, priority: .important) { [self] in $0.forEach(take) }]
        }
        sources = Sources(
            deadline: try TimerSource(loop: loop, priority: .important) { [self] in
                armedFor = nil
                processor.handle(.clock)
            },
            // The end of the turn does the work.
            turn: try TimerSource(loop: loop) {},
            due: try DeferSource(loop: loop) { [self] in sources?.due.isEnabled = false },
            stop: try TimerSource(loop: loop) { loop.exit(code: 0) },
            others: [
                try RepeatingTimer(loop: loop, every: Self.housekeepingInterval) { [self] in runMaintenance() },
                try RepeatingTimer(loop: loop, after: Self.pruneInterval / 60, every: Self.pruneInterval) { [self] in
                    pruning.prune(settings.store, at: Moment.now().wall, boot: SystemClock.bootNanoseconds)
                },
                try parts.mailbox.receive(on: loop, priority: .important) { [self] in $0.forEach(take) },
                try SignalSource(loop: loop, signal: SIGTERM) { [self] in stop() },
                try SignalSource(loop: loop, signal: SIGINT) { [self] in stop() },
                try SignalSource(loop: loop, signal: SIGHUP) { [self] in control.reload(self) },
            ] + (lease ?? []), own: own, ofBridges: ofBridges)
        // `unowned` is safe: the daemon owns the runner, and a runner that is gone calls nothing.
        try parts.runner.begin(
            reportingTo: { [unowned self] in processor.handle($0) }, acting: { own.submit($0) },
            requesting: { ofBridges.submit($0, of: $1) })
        parts.runner.reconfigured(settings.routing.handlers.values)
        if parts.leadership == nil, settings.routing.handlers.values.contains(where: \.idempotent) {
            try StateDirectory.noteEarlyStarts(in: parts.directories.state)
            processor.startsEarly = true
        }
    }

    private func listen(_ given: Listeners?) throws {
        let (loop, refusals) = (parts.loop, parts.refusals)
        let listeners =
            try given
            ?? {
                var sockets = try Sockets(
                    settings: settings.daemon, directories: parts.directories, journal: parts.journal)
                return try Listeners(&sockets)
            }()
        let control = try LineServer(
            loop: loop, listener: listeners.control, limits: settings.daemon.controlLimits, accounts: accounts,
            refusals: refusals
        ) { [self] in self.control.take($1, from: $0, on: .control, of: self) }
        let read = try LineServer(
            loop: loop, listener: listeners.read, limits: settings.daemon.readLimits, accounts: accounts,
            refusals: refusals
        ) { [self] in self.control.take($1, from: $0, on: .read, of: self) }
        let inject = try LineServer(
            loop: loop, listener: listeners.inject, limits: settings.daemon.injectLimits, accounts: accounts,
            refusals: refusals
        ) { [self] in self.inject.take($1, from: $0) }
        servers = Servers(inject: inject, control: control, read: read)
        try control.start()
        try read.start()
        try inject.start()
    }

    // MARK: Messages of other threads

    private func take(_ message: Parts.Message) {
        switch message {
        case .store(let report): take(report)
        case .answer(let answer): queries.take(answer)
        case .largeRequest(let token, let request): parts.largeRequests.didRead(token, request)
        case .metrics(let token, let line): parts.metrics.wasWritten(token, line)
        case .configuration(let news): take(news)
        }
    }

    private func take(_ news: LeaseKeeper.News) {
        switch news {
        // The end of this turn proves that the loop runs; a loop that hung past the lease proves it only now.
        case .question: parts.leadership?.keeper.answer()
        case .renewed(let row, let outage):
            parts.leadership?.store.learn(row)
            recordConfiguration()
            let now = EventLoop.nowNanoseconds
            // A renewal does not show whether a standby has the written data.
            if outage == nil { engine.answered(at: now) } else { engine.confirmed(at: now) }
            if let outage { gaps.stalled(outage.kind, from: outage.since, to: now) }
        case .acts(let orders):
            guard let keeper = parts.leadership?.keeper, let number = audit.take(orders) else { return }
            keeper.note(acts: number, areApplied: false)
            queries.whenApplied(pipeline.lastGrowingNumber) { keeper.note(acts: number, areApplied: true) }
        case .handOver(let node): handOver(to: node)
        case .away(let problem):
            engine.noteUnreachable(since: EventLoop.nowNanoseconds)
            parts.journal.log(JournalEntry(.error, "the lease cannot be renewed: \(problem)", messageID: .storeStalled))
        case .clock(let change): parts.journal.log(JournalEntry(change))
        case .unprotected:
            let now = EventLoop.nowNanoseconds
            engine.isUnprotected(since: now, at: now)
            parts.journal.log(
                JournalEntry(
                    .error, "the database answers queries, but no commit ends: no standby has the written batches",
                    messageID: .storeStalled))
        case .lost: fail(StoreError.leaseLost)
        }
    }

    private func take(_ report: StoreReport) {
        switch report {
        case .durable(let number, let duration):
            let now = EventLoop.nowNanoseconds
            if let stall = parts.health.resumed() { gaps.stalled(stall.kind, from: stall.since, to: now) }
            engine.confirmed(at: now)
            committed(took: duration, at: now)
            pipeline.committed(number, took: duration, at: now)
        case .applied(let number): queries.applied(through: number)
        case .stalled(let error): stalled(error, at: EventLoop.nowNanoseconds)
        case .ledgerStalled(let error):
            parts.health.ledgerStalled(error)
            queries.ledgerStalled(error)
            erasures.ledgerStalled(error)
        case .ledgerResumed:
            parts.health.ledgerResumed()
            queries.ledgerResumed()
        case .pruned(let requests, let deadLetters, let deadLettersBySize, let bySize, let remains):
            pruning.pruned(requests: requests, deadLetters: deadLetters, bySize: deadLettersBySize)
            pruning.prunedBySize(requests: bySize, remains: remains, at: EventLoop.nowNanoseconds)
        // An order that comes now is for the next leader.
        case .orderDue(let order): if !isStopping { pipeline.append(order) }
        case .erasedRows(let receipt): erasures.erasedRows(receipt)
        case .erasureWaits(let error): erasures.waits(error)
        case .erased: erasures.erased()
        case .failed(let error): fail(error)
        }
    }

    // MARK: The turn

    private func endTurn() {
        let now = EventLoop.nowNanoseconds
        queries.endTurn(at: now)
        sources?.own.endTurn()
        sources?.ofBridges.endTurn()
        processor.noteRoom()
        if mayContinueWork { processor.continueWork() }
        inject.admitLarge(at: now)
        // Last, after all that may bring what a client waits for.
        customData.answerOrders()
        control.endTurn()
        processor.startEarly()
        do throws(StoreError) {
            if let commit = try pipeline.endTurn(mayWait: mayWait(at: now), at: now) {
                committed(took: commit.took, at: EventLoop.nowNanoseconds, isReported: commit.isReported)
            }
        } catch {
            return fail(error)
        }
        // Past its lease a leader starts no handler and sends no reply until the log, or a renewal, has decided.
        let isPastLease = parts.leadership?.keeper.holds == false
        // Clients wait for a late renewal; after `lateRenewal` the daemon refuses them.
        let isHeld = !refusesPastLease(isPastLease, at: now) && isPastLease
        let isDone = isPastLease || processor.performDue { control.handOver($0) }
        processor.noteRoom()
        // Work that is left, and its results, are for the next turn.
        sources?.due.isEnabled =
            !isDone || pipeline.isReady || mayContinueWork || queries.hasMore || inject.large.mayResume(at: now)
            || sources?.own.needsFlush == true || sources?.ofBridges.needsFlush == true
        let due = min(pipeline.heldUntil ?? .max, inject.large.nextDue ?? .max, queries.nextDue ?? .max)
        if due < .max { sources?.turn.arm(at: due) }
        processor.endTurn(at: now)
        parts.health.watch(writingSince: pipeline.writingSince)
        // Above the limit clients wait, so that the daemon's memory stays bounded.
        servers?.inject.setCongested(isHeld || pipeline.clientBytesWaiting > Self.bytesWaitingLimit)
        if parts.leadership != nil {
            servers?.control.setCongested(isHeld)
            servers?.read.setCongested(isHeld)
        }
        // Only an earlier deadline arms the timer: a later one costs no system call, but the timer fires once for
        // nothing.
        if let due = processor.nextDue, armedFor.map({ due < $0 }) ?? true {
            armedFor = due
            sources?.deadline.arm(at: due.nanoseconds)
        }
        servers?.inject.flush()
        servers?.control.flush()
        servers?.read.flush()
        if isLeaving, !isStopping, processor.handlersRunning == 0 { drain() }
        if isStopping { exitWhenDone() }
    }

    /// How long requests wait past the lease for its renewal before the daemon refuses them, in nanoseconds.
    private static let lateRenewal: Int64 = 1_000_000_000

    /// Whether the daemon refuses new requests, because its lease ended at least `lateRenewal` ago.
    private func refusesPastLease(_ isPastLease: Bool, at now: Int64) -> Bool {
        guard isPastLease else {
            (pastLeaseSince, parts.health.pastLease) = (nil, nil)
            return false
        }
        let since = pastLeaseSince ?? now
        pastLeaseSince = since
        guard now - since >= Self.lateRenewal else { return false }
        parts.health.pastLease = "the lease ended, and the database confirms no renewal; another machine may lead"
        return true
    }

    private func committed(took duration: Duration, at now: Int64, isReported: Bool = false) {
        parts.health.committed(took: duration, at: now, isReported: isReported)
        guard duration >= parts.health.slowCommit else { return }
        gaps.stalled(parts.leadership == nil ? .diskStalled : .engineAway, from: now - duration.nanoseconds, to: now)
    }

    private func stalled(_ error: StoreError, at now: Int64) {
        // The database did not answer for a while before the writer gave up: the outage began with the write.
        let since = parts.leadership == nil ? now : pipeline.writingSince ?? now
        switch error.kind {
        case .engineAway: engine.noteUnreachable(since: since)
        case .unprotected: engine.isUnprotected(since: since, at: now)
        default: break
        }
        if let before = parts.health.stalled(error, since: since) {
            gaps.stalled(before.kind, from: before.since, to: now)
        }
    }

    private static let bytesWaitingLimit = 8 << 20

    /// Whether work is left that the disk has room for. With a problem of the disk, the disk's next report continues
    /// it.
    private var mayContinueWork: Bool {
        processor.hasWorkLeft && pipeline.clientBytesWaiting <= Self.bytesWaitingLimit && parts.health.problem == nil
    }

    /// Whether the loop may write and sync a batch itself: not while a handler runs, or a deadline is near.
    private func mayWait(at now: Int64) -> Bool {
        guard parts.runner.count == 0, !isStopping, parts.leadership == nil else { return false }
        return processor.nextDue.map { $0.nanoseconds - now > Self.waitMargin } ?? true
    }

    /// 20 ms: a slow sync may take as long; the log's thread writes every batch that must not wait for it.
    private static let waitMargin: Int64 = 20_000_000

    private func exitWhenDone() {
        guard processor.handlersRunning == 0 else { return }
        // The daemon acknowledged no request that a full disk or a full log holds up, so it loses nothing by waiting for room
        // no longer than one more try takes. A last sign of life that finds no room is no failure.
        let now = EventLoop.nowNanoseconds
        if parts.health.findsNoRoom(at: now) {
            guard now >= roomDue else {
                sources?.turn.arm(at: roomDue)
                return
            }
            guard !gaps.hasEnded else { return parts.loop.exit(code: 0) }
            let message = "stopped without room for what is not acknowledged yet: those requests are not accepted"
            parts.journal.log(JournalEntry(.error, message))
            return parts.loop.exit(code: StartFailure.inputOutput)
        }
        guard processor.isIdle, inject.isIdle else { return }
        // Another turn writes the last sign of life.
        guard !gaps.end() else {
            sources?.due.isEnabled = true
            return
        }
        // Bridges end at once with their connection, and no event reports that.
        if parts.runner.hasInstances { parts.runner.endInstances() }
        guard !parts.runner.hasInstances, !parts.runner.endsLeftovers else { return }
        if servers?.all.allSatisfy(\.hasSentEverything) != false {
            parts.loop.exit(code: 0)
        } else {
            // A client that does not read its replies holds up the end of the daemon for `lastRepliesTime` only.
            let due = lastRepliesDue ?? EventLoop.nowNanoseconds + Self.lastRepliesTime
            lastRepliesDue = due
            sources?.stop.arm(at: due)
        }
    }

    /// One second, in nanoseconds.
    private static let lastRepliesTime: Int64 = 1_000_000_000

    /// How long a stop waits for room, in nanoseconds: the log's thread tries again within this time.
    private static let roomTime: Int64 = 1_000_000_000

    // MARK: Signals

    private func handOver(to node: String?) {
        guard !isEnding else { return }
        handsOver = true
        end("handing over to \(node ?? "any other machine")")
    }

    private func stop() {
        // A signal during a handover wins: the service manager must not start the daemon again.
        handsOver = false
        guard !isEnding else { return }
        end("stopping")
    }

    /// - Parameter reason: why, as the beginning of a sentence.
    private func end(_ reason: String) {
        let status = "\(reason): waiting for running handlers: \(processor.handlersRunning)"
        Notify.stopping(status: status)
        parts.journal.log(JournalEntry(.info, status, messageID: .stopping))
        guard parts.leadership != nil, processor.handlersRunning > 0 else { return drain() }
        isLeaving = true
        processor.handle(.handingOver)
    }

    private func drain() {
        isStopping = true
        roomDue = EventLoop.nowNanoseconds + Self.roomTime
        processor.handle(.draining)
        control.stop()
        audit.writeDue(isEnd: true)
        inject.large.stop()
        servers?.all.forEach { $0.stopListening() }
    }

    /// Ends without acknowledging anything that may not be on the disk: the disk cannot be trusted.
    func fail(_ error: StoreError) {
        let message = error.endOfLeading
        parts.journal.log(JournalEntry(.critical, "\(error)", messageID: message))
        parts.loop.exit(code: message == nil ? StartFailure.inputOutput : StartFailure.temporary)
    }
}
