import EventLoop
import Glibc
import HandlerProcess
import JournalLog
import LinuxSystem
import PushModel
import PushProtocol
import PushRouting
import PushSettings
import Store

/// The daemon: one loop thread that orders, the router that decides, and adapters that do.
///
/// Everything here runs on the loop's thread. The other threads (the committer, the lookup, the spawn pool, the
/// journal) are reached through their adapters and answer through a mailbox.
final class Daemon {
    private enum Message: Sendable {
        case committer(CommitReport)
        case lookup(Lookup.Answer)
    }

    private let loop: EventLoop
    private let configuration: Configuration
    private var settings: Settings
    private let journal: JournalWriter
    private let mailbox: Mailbox<Message>
    private let committer: Committer
    private let lookup: Lookup
    private let conductor: Conductor
    private let intake: Intake
    private var controlDesk: ControlDesk?

    private var injectServer: LineServer?
    private var controlServer: LineServer?
    private var deadlineTimer: TimerSource?
    private var pruneTimer: TimerSource?
    private var sources: [AnyObject] = []

    private var armedFor: Instant?
    private var isStopping = false
    private var configurationProblem: String?
    private let startedAt = Moment.now()

    /// Opens the ledger of a locked state directory, recovers what an earlier run left, and listens.
    ///
    /// - Parameters:
    ///   - directories: where configuration, state and sockets are.
    ///   - configuration: how to read the configuration again.
    ///   - settings: the configuration as it is.
    ///   - state: the locked state directory.
    ///   - boot: the machine's boot id.
    ///   - journal: where entries go.
    init(
        directories: Directories, configuration: Configuration, settings: Settings,
        state: consuming StateDirectory, boot: UUID128, journal: JournalWriter
    ) throws {
        let loop = try EventLoop()
        let mailbox = try Mailbox<Message>()
        let committer = try Committer(directory: state) { mailbox.post(.committer($0)) }
        let lookup = Lookup(directory: directories.state) { mailbox.post(.lookup($0)) }
        let past = try Past(directory: directories.state, settings: settings)
        let router = Router(
            boot: boot, table: settings.routing, tracker: past.tracker, customData: past.customData,
            devices: past.devices, recentDeliveries: past.recentDeliveries, lastNumber: past.lastNumber)
        self.loop = loop
        self.configuration = configuration
        self.settings = settings
        self.journal = journal
        self.mailbox = mailbox
        self.committer = committer
        self.lookup = lookup
        conductor = Conductor(
            router: router, journal: journal, successLevel: settings.journal.successLevel,
            submitBatch: { committer.submit($0, number: $1) })
        intake = Intake(conductor: conductor, lookup: lookup, depthLimit: settings.daemon.jsonDepthMax)
        conductor.runner = try HandlerRunner(
            loop: loop, stateID: past.stateID, report: { [unowned self] in conductor.handle($0) },
            complain: { journal.log(JournalEntry(.error, $0)) })
        controlDesk = ControlDesk(
            conductor: conductor, status: { [unowned self] in status(isForwarderConnected: $0) },
            storeProblem: { [unowned self] in self.intake.storeProblem })
        try watch()
        endLeftovers(of: past.stateID)
        recover(past.unfinished)
        try listen(directories)
    }

    private func recover(_ unfinished: [UnfinishedRequest]) {
        if !unfinished.isEmpty {
            let message = "unfinished requests of an earlier run: \(unfinished.count)"
            journal.log(JournalEntry(.notice, message, messageID: .recovered))
        }
        // Even without any: the router learns what time it is, and with that when the tracker's waits end.
        conductor.recover(unfinished)
    }

    /// Runs until it is told to stop, or cannot go on.
    ///
    /// - Returns: the exit status.
    func run() throws(SystemError) -> Int32 {
        try loop.enableWatchdog()
        Notify.ready(status: statusLine)
        journal.log(JournalEntry(.info, "ready: \(statusLine)", messageID: .started))
        defer {
            lookup.stop()
            committer.stop()
        }
        // What was recovered is not to wait for the first event.
        endTurn()
        return try loop.run()
    }

    private var statusLine: String { "\(conductor.mode.rawValue) mode, \(settings.routing.routes.count) routes" }

    private func watch() throws {
        deadlineTimer = try TimerSource(loop: loop, priority: .important) { [unowned self] in
            armedFor = nil
            conductor.handle(.clock)
        }
        pruneTimer = try TimerSource(loop: loop, priority: .idle) { [unowned self] in prune() }
        pruneTimer?.arm(at: EventLoop.nowNanoseconds + Self.pruneInterval / 60)
        sources = [
            try mailbox.receive(on: loop, priority: .important) { [unowned self] in $0.forEach(take) },
            try SignalSource(loop: loop, signal: SIGTERM) { [unowned self] in stop() },
            try SignalSource(loop: loop, signal: SIGINT) { [unowned self] in stop() },
            try SignalSource(loop: loop, signal: SIGHUP) { [unowned self] in reload() },
        ]
        loop.endOfTurn = { [unowned self] in endTurn() }
    }

    private func listen(_ directories: Directories) throws {
        // In this order: who sees inject.sock can already ask control.sock.
        let control = try server(
            directories.controlSocket, settings.daemon.controlSocket, controlLimits
        ) { [unowned self] in controlDesk?.take($1, from: $0) }
        controlServer = control
        let inject = try server(
            directories.injectSocket, settings.daemon.injectSocket, injectLimits
        ) { [unowned self] in intake.take($1, from: $0) }
        injectServer = inject
        try control.start()
        try inject.start()
    }

    private func server(
        _ path: String, _ socket: SocketSettings, _ limits: LineServer.Limits,
        takeLine: @escaping (ClientSession, [UInt8]) -> Void
    ) throws -> LineServer {
        try LineServer(
            loop: loop, path: path, mode: socket.mode, group: try groupID(of: socket), limits: limits,
            takeLine: takeLine)
    }

    private var injectLimits: LineServer.Limits {
        LineServer.Limits(
            connections: settings.daemon.connectionsMax, connectionsPerPeer: settings.daemon.connectionsMaxPerPeer,
            requestLength: settings.daemon.requestLengthMax)
    }

    /// What the forwarder has to say must have room, however short the requests of producers are to be.
    private var controlLimits: LineServer.Limits {
        var limits = injectLimits
        limits.requestLength = max(limits.requestLength, ControlRequest.longestLine)
        return limits
    }

    // MARK: What other threads say

    private func take(_ message: Message) {
        switch message {
        case .committer(.committed(let number, _)):
            if intake.storeProblem != nil { journal.log(JournalEntry(.notice, "the ledger is written again")) }
            intake.storeProblem = nil
            conductor.committed(through: number)
            intake.committed()
        case .committer(.stalled(let error)):
            intake.storeProblem = "the ledger cannot be written for now: \(error)"
            journal.log(JournalEntry(.critical, "\(error)", messageID: .storeStalled))
        case .committer(.pruned(let requests)) where requests > 0:
            journal.log(JournalEntry(.info, "\(requests) requests were older than Retention= and are gone"))
        case .committer(.pruned): break
        case .committer(.failed(let error)): fail(error)
        case .lookup(let answer):
            intake.answered(answer)
        }
    }

    private func prune() {
        let retention = settings.store.retention.milliseconds
        committer.prune(olderThan: WallTime(milliseconds: Moment.now().wall.milliseconds - retention))
        pruneTimer?.arm(at: EventLoop.nowNanoseconds + Self.pruneInterval)
    }

    /// An hour, in nanoseconds.
    private static let pruneInterval: Int64 = 3_600_000_000_000

    // MARK: The turn

    private func endTurn() {
        controlDesk?.endTurn()
        conductor.endTurn()
        // Above this the clients wait, not the memory.
        let isCongested = conductor.bytesWaiting > Self.bytesWaitingLimit || intake.count > Self.admissionLimit
        injectServer?.setCongested(isCongested)
        if conductor.nextDue != armedFor {
            armedFor = conductor.nextDue
            if let due = armedFor { deadlineTimer?.arm(at: due.nanoseconds) } else { deadlineTimer?.disarm() }
        }
        injectServer?.flush()
        controlServer?.flush()
        guard isStopping, conductor.handlersRunning == 0 else { return }
        if conductor.isIdle, intake.count == 0 { loop.exit(code: 0) }
        // What a full disk keeps off it was not acknowledged, so nothing is lost by not waiting for room.
        if intake.storeProblem != nil { loop.exit(code: StartFailure.inputOutput) }
    }

    private static let bytesWaitingLimit = 64 << 20
    private static let admissionLimit = 16_384

    // MARK: Signals

    private func stop() {
        guard !isStopping else { return }
        isStopping = true
        let running = conductor.handlersRunning
        Notify.stopping(status: "finishing what runs: \(running) handlers")
        journal.log(JournalEntry(.info, "stopping, after what runs: \(running) handlers", messageID: .stopping))
        conductor.handle(.draining)
        controlDesk?.stop()
        injectServer?.stopListening()
        controlServer?.stopListening()
    }

    private func reload() {
        guard !isStopping else { return }
        Notify.reloading(nowNanoseconds: EventLoop.nowNanoseconds)
        do {
            let (settings, warnings) = try configuration.load()
            for warning in warnings { journal.log(JournalEntry(.warning, warning)) }
            self.settings = settings
            configurationProblem = nil
            intake.depthLimit = settings.daemon.jsonDepthMax
            conductor.successLevel = settings.journal.successLevel
            conductor.handle(.reconfigured(settings.routing))
            injectServer?.limits = injectLimits
            controlServer?.limits = controlLimits
            journal.log(JournalEntry(.info, "reloaded: \(statusLine)", messageID: .reloaded))
        } catch {
            configurationProblem = error.lines.joined(separator: "\n")
            for line in error.lines { journal.log(JournalEntry(.error, line, messageID: .reloadFailed)) }
        }
        Notify.ready(status: configurationProblem == nil ? statusLine : "reload failed; \(statusLine) as before")
    }

    /// The disk cannot be trusted: ends without acknowledging anything that may not be on it.
    private func fail(_ error: StoreError) {
        journal.log(JournalEntry(.critical, "\(error)"))
        loop.exit(code: StartFailure.inputOutput)
    }

    /// Ends what handlers of an earlier run left alive, before anything of theirs is decided.
    private func endLeftovers(of stateID: UUID128) {
        let left = LeftoverProcesses.kill(ofState: stateID.description, patience: .seconds(2))
        guard !left.isEmpty else { return }
        let list = left.map(String.init).joined(separator: ", ")
        journal.log(JournalEntry(.error, "processes of an earlier run could not be ended: \(list)"))
    }

    private func status(isForwarderConnected: Bool) -> Status {
        Status(
            version: pushrouterdVersion, processID: getpid(), mode: conductor.mode,
            uptime: Moment.now().monotonic - startedAt.monotonic, state: isStopping ? "stopping" : "running",
            configurationProblem: configurationProblem, storeProblem: intake.storeProblem, accepted: conductor.accepted,
            lastSeq: conductor.lastNumber.value, requestsInFlight: conductor.requestsInFlight,
            handlersRunning: conductor.handlersRunning, processes: conductor.runner?.count ?? 0,
            deliveriesTracked: conductor.deliveriesTracked, injectConnections: injectServer?.connectionCount ?? 0,
            controlConnections: controlServer?.connectionCount ?? 0, bytesWaiting: conductor.bytesWaiting,
            transactions: conductor.transactions,
            longestTurn: .nanoseconds(loop.longestTurnNanoseconds),
            customData: CustomDataStatus(
                summary: conductor.customDataSummary, sending: conductor.sending,
                isForwarderConnected: isForwarderConnected, now: Moment.now().wall))
    }
}
