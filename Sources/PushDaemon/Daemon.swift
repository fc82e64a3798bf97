import EventLoop
import Glibc
import HandlerRuns
import JournalLog
import LinuxSystem
import PushModel
import PushRouting
import PushSettings
import PushTracking
import SettingsFiles
import Store

/// The daemon: one loop thread that orders, the router that decides, and adapters that do.
///
/// Everything here runs on the loop's thread. The other threads (the log's, the ledger's, the look-ups', the readers of
/// large requests, those that start handlers, the journal's) are reached through their adapters and answer through a
/// mailbox.
final class Daemon {
    private enum Message: Sendable {
        case store(StoreReport)
        case answer(LedgerAnswers.Answer)
        case largeRequest(token: UInt64, LargeRequestReader.Result)
        case metrics(token: UInt64, line: [UInt8])
        case configuration(Result<(settings: Settings, warnings: [String]), StartFailure>)
    }

    let loop: EventLoop
    let configuration: ConfigurationReader
    /// The rights of handlers in the service.
    let service: ServiceFacts
    var settings: Settings
    let journal: JournalWriter
    private let mailbox: Mailbox<Message>
    let committer: Committer
    private let desk: LedgerDesk
    private let largeRequests: LargeRequestReader
    let health: StoreHealth
    let commitWatch: CommitWatch
    let refusals: RefusalLog
    let runner: HandlerRunner
    let containment: Containment
    private let loader: RunLoader
    let pipeline: CommitPipeline
    let processor: Processor
    let inject: InjectServer
    private let ledgerSync: LedgerSync
    private let deadLetters: DeadLetterService
    private let erasures: ErasureService
    let pruning: LedgerPruning
    private let gaps: GapRecorder
    private let logLevels: LogLevels
    private let metrics: MetricsService
    private(set) var control: ControlServer?

    /// What people do with the notifications that it shows.
    private var ownRequests: OwnRequests?
    private(set) var injectClients: LineServer?
    private(set) var controlClients: LineServer?
    private(set) var readClients: LineServer?
    private var deadlineTimer: TimerSource?
    /// Ends the wait of a large request, of a batch that is held back, or of somebody who gave the ledger so long.
    private var turnTimer: TimerSource?
    private var timers: [RepeatingTimer] = []
    private var stopTimer: TimerSource?
    private var dueSource: DeferSource?
    private var sources: [AnyObject] = []

    private var armedFor: Instant?
    private(set) var isStopping = false
    /// When clients have had the time to take their last replies, in monotonic nanoseconds.
    private var lastRepliesDue: Int64?
    var configurationProblem: String?
    /// The readings of the configuration.
    var reloads = Reloads()
    let startedAt = Moment.now()

    /// Opens the ledger of a locked state directory, recovers what an earlier run left, and listens.
    ///
    /// - Parameters:
    ///   - directories: where configuration, state and sockets are.
    ///   - configuration: how to read the configuration again.
    ///   - settings: the configuration as it is.
    ///   - state: the locked state directory.
    ///   - boot: the machine's boot id.
    ///   - descriptorLimit: the soft limit of open files that handlers get.
    ///   - containment: how the processes of handlers are kept together.
    ///   - journal: where entries go.
    init(
        directories: Directories, configuration: Configuration, settings: Settings,
        state: consuming StateDirectory, boot: UUID128, descriptorLimit: UInt64?, containment: Containment,
        journal: JournalWriter
    ) throws {
        self.settings = settings
        self.journal = journal
        self.containment = containment
        service = configuration.service
        loop = try EventLoop()
        let mailbox = try Mailbox<Message>()
        self.mailbox = mailbox
        self.configuration = ConfigurationReader(configuration) { mailbox.post(.configuration($0)) }
        let progress = WorkProgress()
        let tracker = RecoveredState.TrackerInBackground()
        let rules = settings.routing.tracking
        let place = state.place
        committer = try Committer(
            directory: state, limits: Committer.Limits(logLength: settings.store.logSizeMax),
            onMigration: { progress.beginsLongWork() }, onProgress: { progress.goesOn() },
            onRecovered: { ledger in
                tracker.make { () throws(StoreError) in
                    try Tracker(reading: ledger, rules: rules, now: Moment.now().wall)
                }
            },
            onReport: { mailbox.post(.store($0)) })
        desk = LedgerDesk(committer, directory: directories.state) { mailbox.post(.answer($0)) }
        largeRequests = LargeRequestReader { mailbox.post(.largeRequest(token: $0, $1)) }
        health = try StoreHealth(loop: loop, journal: journal, slowCommit: settings.store.slowCommit)
        refusals = RefusalLog(journal: journal)
        let recovered = try RecoveredState(directory: directories.state, settings: settings)
        // A copy of the directory has the same id, and the handlers of its daemon are none of ours.
        let owner = "\(recovered.stateID)@\(place)"
        runner = try HandlerRunner(
            loop: loop, owner: owner, descriptorLimit: descriptorLimit,
            cgroups: containment.cgroups,
            httpCommand: HTTPProgramFile.command(
                configuration: configuration.directories, isRequired: configuration.isRequired),
            log: { journal.log($0) })
        commitWatch = try CommitWatch(journal: journal, slowCommit: settings.store.slowCommit)
        pipeline = CommitPipeline(committer, lastSequence: recovered.lastNumber, watch: commitWatch)
        let router = Router(
            boot: boot, table: settings.routing,
            tracker: Tracker(stateID: recovered.stateID, rules: settings.routing.tracking),
            customData: recovered.customData,
            devices: recovered.devices, recentDeliveries: recovered.recentDeliveries,
            lastNumber: recovered.lastNumber)
        loader = RunLoader(pipeline: pipeline, desk: desk, reader: largeRequests)
        let clockSteps = ClockSteps(
            wall: Moment.now().wall, boot: SystemClock.bootNanoseconds, lastAlive: recovered.lastBelieved,
            isSynchronised: { SystemClock.isSynchronised })
        processor = Processor(
            router: router, pipeline: pipeline, runner: runner, loader: loader, journal: journal,
            successLevel: settings.journal.successLevel, clock: { .now() },
            isBelieved: { clockSteps.isBelieved(wall: $0, boot: SystemClock.bootNanoseconds) })
        inject = InjectServer(
            processor: processor, pipeline: pipeline, committer: committer, desk: desk,
            reader: largeRequests, health: health, refusals: refusals,
            limits: settings.daemon.jsonLimits)
        ledgerSync = LedgerSync(pipeline: pipeline, committer: committer, desk: desk, stateID: recovered.stateID)
        deadLetters = DeadLetterService(processor: processor, pipeline: pipeline, desk: desk)
        logLevels = LogLevels(loop: loop, journal: journal)
        pruning = LedgerPruning(committer, journal: journal, clock: clockSteps)
        erasures = ErasureService(
            processor: processor, pipeline: pipeline, committer: committer, desk: desk, journal: journal)
        gaps = GapRecorder(
            processor, lastAlive: recovered.lastAlive, lastBelieved: recovered.lastBelieved, clock: clockSteps)
        metrics = MetricsService { mailbox.post(.metrics(token: $0, line: $1)) }
        control = ControlServer(
            processor: processor, health: health, desk: desk, ledgerSync: ledgerSync, deadLetters: deadLetters,
            erasures: erasures, logLevels: logLevels, metrics: metrics, refusals: refusals, daemon: self)
        try watch()
        endLeftovers(of: owner, journal)
        try recover(recovered, tracker)
        try listen(directories)
    }

    private func recover(
        _ state: RecoveredState, _ tracker: RecoveredState.TrackerInBackground
    ) throws(StoreError) {
        if let aside = committer.recovery.setAside {
            journal.log(JournalEntry(setAside: aside))
        }
        let unfinished = try processor.recover(from: state.ledger, tracker: tracker)
        guard unfinished > 0 else { return }
        let message = "unfinished requests of an earlier run: \(unfinished)"
        journal.log(JournalEntry(.notice, message, messageID: .recovered))
    }

    /// Runs until it is told to stop, or cannot go on.
    ///
    /// - Returns: the exit status.
    func run() throws(SystemError) -> Int32 {
        let watchdog = try loop.answerWatchdog()
        defer { withExtendedLifetime(watchdog) {} }
        Notify.ready(status: statusLine)
        journal.log(JournalEntry(.info, "ready: \(statusLine)", messageID: .started))
        if let reason = containment.reason {
            let message = "handlers have no cgroups of their own, but process groups and marks: \(reason)"
            journal.log(JournalEntry(.debug, message))
        }
        logLevels.begin()
        gaps.begin()
        keepHouse()
        // What was recovered is not to wait for the first event.
        endTurn()
        let end = Result { () throws(SystemError) in try loop.run() }
        // Where the disk kept the daemon from waiting for handlers, nobody would write down what they say.
        runner.endAll()
        largeRequests.stop()
        metrics.stop()
        configuration.leave()
        desk.stop()
        let progress = WorkProgress()
        let failure = committer.stop { progress.goesOn() }
        let code = try end.get()
        // After a failure there may be outcomes that nobody was told of.
        if code == 0 { processor.endJournal(at: EventLoop.nowNanoseconds) }
        guard code == 0, let failure else { return code }
        journal.log(JournalEntry(.critical, "\(failure)"))
        return StartFailure.inputOutput
    }

    private func watch() throws {
        deadlineTimer = try TimerSource(loop: loop, priority: .important) { [unowned self] in
            armedFor = nil
            processor.handle(.clock)
        }
        // The end of the turn does the rest.
        turnTimer = try TimerSource(loop: loop) {}
        dueSource = try DeferSource(loop: loop) { [unowned self] in dueSource?.isEnabled = false }
        timers = [
            try RepeatingTimer(loop: loop, every: Self.housekeepingInterval) { [unowned self] in keepHouse() },
            try RepeatingTimer(loop: loop, after: Self.pruneInterval / 60, every: Self.pruneInterval) {
                [unowned self] in
                pruning.prune(settings.store, at: Moment.now().wall, boot: SystemClock.bootNanoseconds)
            },
        ]
        stopTimer = try TimerSource(loop: loop) { [unowned self] in loop.exit(code: 0) }
        sources = [
            try mailbox.receive(on: loop, priority: .important) { [unowned self] in $0.forEach(take) },
            try SignalSource(loop: loop, signal: SIGTERM) { [unowned self] in stop() },
            try SignalSource(loop: loop, signal: SIGINT) { [unowned self] in stop() },
            try SignalSource(loop: loop, signal: SIGHUP) { [unowned self] in reload() },
        ]
        let own = try OwnRequests(inject, loop: loop, journal: journal)
        ownRequests = own
        try runner.begin(reportingTo: { [unowned self] in processor.handle($0) }, acting: { own.submit($0) })
        runner.reconfigured(settings.routing.handlers.values)
        loader.begin(start: { [unowned self] in runner.start($0) }) { [unowned self] id, reason in
            processor.handle(.failedToStart(id, reason: reason))
        }
        loop.endOfTurn = { [unowned self] in endTurn() }
    }

    private func listen(_ directories: Directories) throws {
        var sockets = try Sockets(settings: settings.daemon, directories: directories, journal: journal)
        // In this order: who sees inject.sock can already ask the others.
        let controlClients = try LineServer(
            loop: loop, listener: try sockets.listener(.control), limits: settings.daemon.controlLimits,
            refusals: refusals
        ) { [unowned self] in control?.take($1, from: $0, on: .control) }
        self.controlClients = controlClients
        let readClients = try LineServer(
            loop: loop, listener: try sockets.listener(.read), limits: settings.daemon.readLimits,
            refusals: refusals
        ) { [unowned self] in control?.take($1, from: $0, on: .read) }
        self.readClients = readClients
        let injectClients = try LineServer(
            loop: loop, listener: try sockets.listener(.inject), limits: settings.daemon.injectLimits,
            refusals: refusals
        ) { [unowned self] in inject.take($1, from: $0) }
        self.injectClients = injectClients
        try controlClients.start()
        try readClients.start()
        try injectClients.start()
    }

    // MARK: What other threads say

    private func take(_ message: Message) {
        switch message {
        case .store(let report): take(report)
        case .answer(let answer): desk.take(answer)
        case .largeRequest(let token, let request): largeRequests.wasRead(token, request)
        case .metrics(let token, let line): metrics.wasWritten(token, line)
        case .configuration(let read): wasRead(read)
        }
    }

    private func take(_ report: StoreReport) {
        switch report {
        case .durable(let number, let duration):
            let now = EventLoop.nowNanoseconds
            if let since = health.resumed() { gaps.stalled(from: since, to: now) }
            committed(took: duration, at: now)
            pipeline.committed(number, took: duration, at: now)
        case .applied(let number): desk.applied(through: number)
        case .stalled(let error): health.stalled(error)
        case .ledgerStalled(let error):
            health.ledgerStalled(error)
            desk.ledgerStalled(error)
            erasures.ledgerStalled(error)
        case .ledgerResumed:
            health.ledgerResumed()
            desk.ledgerResumed()
        case .pruned(let requests, let deadLetters, let bySize, let remains):
            pruning.pruned(requests: requests, deadLetters: deadLetters)
            pruning.prunedBySize(requests: bySize, remains: remains, at: EventLoop.nowNanoseconds)
        case .erasedRows(let receipt): erasures.erasedRows(receipt)
        case .erasureWaits(let error): erasures.waits(error)
        case .erased: erasures.erased()
        case .failed(let error): fail(error)
        }
    }

    // MARK: The turn

    private func endTurn() {
        let now = EventLoop.nowNanoseconds
        desk.endTurn(at: now)
        ownRequests?.endTurn()
        if mayContinueWork { processor.continueWork() }
        inject.admitLarge(at: now)
        // Behind all that may bring what somebody waits for.
        control?.endTurn()
        do throws(StoreError) {
            if let commit = try pipeline.endTurn(mayWait: mayWait(at: now), at: now) {
                committed(took: commit.took, at: EventLoop.nowNanoseconds, isTold: commit.isTold)
            }
        } catch {
            return fail(error)
        }
        let isDone = processor.performDue()
        // What is left, and what came of it, is for the next turn.
        dueSource?.isEnabled =
            !isDone || pipeline.isReady || mayContinueWork || desk.hasMore || inject.large.mayGoOn(at: now)
            || ownRequests?.needsFlush == true
        let due = min(pipeline.heldUntil ?? .max, inject.large.nextDue ?? .max, desk.nextDue ?? .max)
        if due < .max { turnTimer?.arm(at: due) }
        processor.endTurn(at: now)
        health.watch(writingSince: pipeline.writingSince)
        // Above this the clients wait, not the memory.
        injectClients?.setCongested(pipeline.bytesWaiting > Self.bytesWaitingLimit)
        // A later time costs no system call: the timer fires for nothing then, once.
        if let due = processor.nextDue, armedFor.map({ due < $0 }) ?? true {
            armedFor = due
            deadlineTimer?.arm(at: due.nanoseconds)
        }
        injectClients?.flush()
        controlClients?.flush()
        readClients?.flush()
        if isStopping { exitWhenDone() }
    }

    private func committed(took duration: Duration, at now: Int64, isTold: Bool = false) {
        health.committed(took: duration, at: now, isTold: isTold)
        if duration >= health.slowCommit { gaps.stalled(from: now - duration.nanoseconds, to: now) }
    }

    private static let bytesWaitingLimit = 8 << 20

    /// Whether there is work left that the disk has room for; else its next report is waited for.
    private var mayContinueWork: Bool {
        processor.hasWorkLeft && pipeline.bytesWaiting <= Self.bytesWaitingLimit && health.problem == nil
    }

    /// Whether the loop may wait for the disk itself: not while something runs, or is due, that it would come late for.
    private func mayWait(at now: Int64) -> Bool {
        guard runner.count == 0, !isStopping else { return false }
        return processor.nextDue.map { $0.nanoseconds - now > Self.waitMargin } ?? true
    }

    /// 20 ms: what a slow disk may take, and is left to the log's thread after.
    private static let waitMargin: Int64 = 20_000_000

    private func exitWhenDone() {
        guard processor.handlersRunning == 0 else { return }
        // What a full disk keeps off it was not acknowledged, so nothing is lost by not waiting for room. A last sign of life
        // that finds none is no failure.
        if health.problem != nil { return loop.exit(code: gaps.hasEnded ? 0 : StartFailure.inputOutput) }
        guard processor.isIdle, inject.isIdle else { return }
        // Another turn writes it.
        guard !gaps.end() else {
            dueSource?.isEnabled = true
            return
        }
        // A connection is gone at once, and nothing else would tell of it.
        if runner.hasInstances { runner.endInstances() }
        guard !runner.hasInstances, !runner.endsLeftovers else { return }
        if [injectClients, controlClients, readClients].allSatisfy({ $0?.hasSentEverything != false }) {
            loop.exit(code: 0)
        } else {
            // Who does not take what it is owed cannot keep the daemon.
            let due = lastRepliesDue ?? EventLoop.nowNanoseconds + Self.lastRepliesTime
            lastRepliesDue = due
            stopTimer?.arm(at: due)
        }
    }

    /// A second, in nanoseconds.
    private static let lastRepliesTime: Int64 = 1_000_000_000

    // MARK: From time to time

    private func keepHouse() {
        let now = EventLoop.nowNanoseconds
        inject.buildFilter(at: now)
        refusals.tellWhatIsDue(at: now)
        processor.tellRejections(at: now)
        gaps.look(canWrite: health.problem == nil)
        // Who waits for the ledger is answered once it has all of the log.
        if isStopping, !inject.isIdle { WorkProgress.askForTime() }
        pruning.check(settings.store, at: Moment.now().wall, boot: SystemClock.bootNanoseconds)
        loop.beginTurnSlice()
        FreedMemory.trim()
    }

    /// Also the length of a slice of turns: the status tells of those of the last minute.
    private static let housekeepingInterval = Duration.seconds(10)

    private static let pruneInterval = Duration.seconds(3600)

    // MARK: Signals

    private func stop() {
        guard !isStopping else { return }
        isStopping = true
        let running = processor.handlersRunning
        Notify.stopping(status: "stopping: waiting for running handlers: \(running)")
        journal.log(JournalEntry(.info, "stopping: waiting for running handlers: \(running)", messageID: .stopping))
        processor.handle(.draining)
        control?.stop()
        inject.large.stop()
        injectClients?.stopListening()
        controlClients?.stopListening()
        readClients?.stopListening()
    }

    /// The disk cannot be trusted: ends without acknowledging anything that may not be on it.
    private func fail(_ error: StoreError) {
        journal.log(JournalEntry(.critical, "\(error)"))
        loop.exit(code: StartFailure.inputOutput)
    }
}
