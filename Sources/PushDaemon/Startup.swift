import Glibc
import HandlerProcess
public import LinuxSystem
public import PushModel
import PushRouter
public import PushSettings
public import Store
import Synchronization

/// The options of the daemon's start.
public struct DaemonOptions: Sendable {
    /// The directories of configuration, state and sockets.
    public var directories: Directories
    /// Whether the command line named the configuration directory, so that it must exist.
    public var isConfigurationRequired: Bool

    /// Joins the parts.
    public init(directories: Directories, isConfigurationRequired: Bool) {
        self.directories = directories
        self.isConfigurationRequired = isConfigurationRequired
    }
}

/// Runs the daemon on the calling thread, the process's first and only one, until a signal stops it.
///
/// - Returns: the exit status.
/// - Throws: `StartFailure` when it cannot start.
public func runDaemon(_ options: DaemonOptions) throws(StartFailure) -> Int32 {
    try withDaemonProcess(options) { process in
        guard process.settings.store.shared.database == nil else {
            throw StartFailure(
                "[Store] Log= names a database that machines share: start pushrouterd-fleet, of the package of that name",
                exitStatus: StartFailure.configuration)
        }
        let made = try retryWhileDiskIsFull(process) { try process.daemon(in: try process.stateDirectory()) }
        // A signal came while the start waited for room: no request was accepted, so the exit status is 0.
        guard let daemon = made else { return 0 }
        let status = try daemon.run()
        withExtendedLifetime(daemon) {}
        return status
    }
}

/// A daemon's process before it opens its state directory.
final class DaemonProcess {
    let options: DaemonOptions
    /// A node that follows reads them again.
    var settings: Settings
    let journal: JournalWriter
    let boot: UUID128
    private(set) var configuration: Configuration
    /// The configuration in force; `nil` before the state directory is locked.
    private var inForce: ConfigurationInForce?
    /// The mistake of the configuration that was read last; `nil` without one.
    private var configurationProblem: String?
    /// The reason for which the configuration in force is not kept.
    private var unkeptProblem: String?
    private let descriptorLimit: UInt64?
    private var containment: Containment?

    init(
        _ options: DaemonOptions, configuration: Configuration, settings: Settings, mistake: StartFailure?,
        journal: JournalWriter, descriptorLimit: UInt64?
    ) throws {
        self.options = options
        self.configuration = configuration
        self.settings = settings
        configurationProblem = mistake.map { $0.lines.joined(separator: "\n") }
        self.journal = journal
        self.descriptorLimit = descriptorLimit
        boot = try bootID()
    }

    /// Locks the state directory, and keeps the configuration there; waits for a daemon that is just ending.
    func stateDirectory() throws -> StateDirectory {
        let path = options.directories.state
        let state = try retrying(while: { if case .inUse = ($0 as StoreError).kind { true } else { false } }) {
            () throws(StoreError) in try StateDirectory(path: path)
        }
        try keepConfiguration()
        return state
    }

    /// The state of the configuration, for the daemon or the standby.
    ///
    /// - Precondition: the state directory was locked.
    var configurationState: ConfigurationState {
        get {
            guard let inForce else {
                preconditionFailure("the configuration is kept once the state directory is locked")
            }
            let problems = [configurationProblem, unkeptProblem].compactMap(\.self)
            return ConfigurationState(
                inForce: inForce, problem: problems.isEmpty ? nil : problems.joined(separator: "\n"))
        }
        set {
            configuration.note(newValue.inForce)
            (inForce, configurationProblem, unkeptProblem) = (newValue.inForce, newValue.problem, nil)
        }
    }

    /// Keeps the configuration, unless it is kept; without room the start goes on.
    private func keepConfiguration() throws(StartFailure) {
        guard !configuration.isKept else { return }
        let isFirst = inForce == nil
        let kept = try configuration.keepStarted(at: Moment.now().wall)
        inForce = kept.inForce
        if isFirst, let mistake = configurationProblem {
            let message =
                "the configuration has a mistake: the start goes on with the last good one, \(kept.inForce.id), in force "
                + "since \(kept.inForce.since.rfc3339)"
            for line in mistake.split(separator: "\n") + [message[...]] {
                journal.log(JournalEntry(.error, String(line), messageID: .reloadFailed))
            }
        }
        unkeptProblem = kept.problem
        guard isFirst, let problem = kept.problem else { return }
        journal.log(JournalEntry(.error, problem, messageID: .reloadFailed))
    }

    /// Opens the ledger, and restores what an earlier run left.
    ///
    /// - Parameter leadership: the shared log that the daemon writes; `nil`: the log is its own.
    func daemon(in state: consuming StateDirectory, leadership: Leadership? = nil) throws -> Daemon {
        // Only once: `available` moves this process into a cgroup.
        let kept = containment ?? .available()
        containment = kept
        if leadership == nil, let mark = try FleetMark.leave(state.path) {
            journal.log(
                JournalEntry(
                    .warning,
                    "the ledger was a copy of fleet \(mark.fleet), and is one machine's own from now on: no machine of that "
                        + "fleet gets its later requests"))
        }
        let parts = try Parts(
            directories: options.directories, configuration: configuration, settings: settings, state: state,
            boot: boot, descriptorLimit: descriptorLimit, containment: kept, journal: journal, leadership: leadership)
        return try Daemon(parts, settings: settings, configuration: configurationState)
    }
}

/// Prepares the process for a daemon, and turns each error into a `StartFailure`.
///
/// - Parameter body: runs the daemon; returns the exit status.
func withDaemonProcess(
    _ options: DaemonOptions, _ body: (DaemonProcess) throws -> Int32
) throws(StartFailure) -> Int32 {
    // Before any thread exists: each thread inherits the mask, and only the loop takes signals.
    SignalSource.block([SIGTERM, SIGINT, SIGHUP, SIGCHLD])
    signal(SIGPIPE, SIG_IGN)
    // With SIGXFSZ ignored, a write beyond RLIMIT_FSIZE fails with EFBIG, and the daemon waits as for a full disk.
    signal(SIGXFSZ, SIG_IGN)
    let descriptorLimit = raiseDescriptorLimit()
    // Before any allocation: memory that a flood took goes back to the system.
    FreedMemory.returnAtOnce()
    var configuration = Configuration(
        directories: options.directories.configuration, state: options.directories.state,
        isRequired: options.isConfigurationRequired, service: .ofThisProcess())
    let (settings, warnings, mistake) = try configuration.start()
    do {
        let journal = try JournalWriter(capacity: settings.journal.queueMax)
        // A stalled journal must not keep the daemon from ending.
        defer { journal.stop(timeoutMilliseconds: 2000) }
        for warning in warnings + (mistake?.warnings ?? []) { journal.log(JournalEntry(.warning, warning)) }
        try createRuntimeDirectory(options.directories.runtime)
        return try body(
            DaemonProcess(
                options, configuration: configuration, settings: settings, mistake: mistake, journal: journal,
                descriptorLimit: descriptorLimit))
    } catch let error as StartFailure {
        throw error
    } catch let error as EngineProblem {
        throw StartFailure("[Store] Log=: \(error)", exitStatus: StartFailure.configuration)
    } catch let error as StoreError {
        throw StartFailure(error.description, exitStatus: error.exitStatus)
    } catch let error as ListenError {
        throw StartFailure(error.description, exitStatus: StartFailure.cannotCreate)
    } catch {
        throw StartFailure("\(error)", exitStatus: StartFailure.system)
    }
}

/// Retries while the disk is full, so that nobody has to start the daemon again once there is room.
///
/// - Returns: the value; `nil` after a signal to stop.
private func retryWhileDiskIsFull<Value>(
    _ process: DaemonProcess, _ make: () throws -> Value
) throws -> Value? {
    var isReported = false
    while true {
        do {
            return try make()
        } catch let error as StoreError where error.kind == .noSpace {
            if !isReported {
                let room = StateDirectory.shortage(in: process.options.directories.state) ?? ""
                let message = "the start waits for room on the disk\(room): \(error)"
                process.journal.log(JournalEntry(.critical, message, messageID: .storeStalled))
                Notify.status(message)
            }
            isReported = true
            Notify.extendTimeout(seconds: 30)
            if SignalSource.take([SIGTERM, SIGINT], atMost: .milliseconds(500)) { return nil }
        }
    }
}

extension StoreError {
    /// The program's exit status for this error.
    public var exitStatus: Int32 {
        switch kind {
        case .inUse: StartFailure.unavailable
        // A restart changes nothing about these, and the service manager does not try one.
        case .otherFleet: StartFailure.configuration
        case .otherFormat where isOfDatabase: StartFailure.configuration
        default: StartFailure.inputOutput
        }
    }
}

private func createRuntimeDirectory(_ path: String) throws(StartFailure) {
    guard mkdir(path, 0o755) != 0, errno != EEXIST else { return }
    throw StartFailure(
        "cannot create the runtime directory \(path): \(errorText(errno)); give another with --runtime",
        exitStatus: StartFailure.cannotCreate)
}

/// The id of this boot: monotonic times are valid within it.
public func bootID() throws(StartFailure) -> UUID128 {
    let path = "/proc/sys/kernel/random/boot_id"
    guard let boot = machineFact(path, length: 36) else {
        throw StartFailure("cannot read \(path): \(errorText(errno))", exitStatus: StartFailure.system)
    }
    return boot
}

/// An id of this machine that a file has at its beginning; `nil` where there is none.
func machineFact(_ path: String, length: Int) -> UUID128? {
    var text = [UInt8](repeating: 0, count: length)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, read(descriptor, &text, length) == length else { return nil }
    return UUID128(String(decoding: text, as: UTF8.self))
}

/// The number of the group in a socket's settings.
func groupID(of socket: SocketSettings) throws(StartFailure) -> UInt32? {
    guard let name = socket.group else { return nil }
    if let number = UInt32(name) { return number }
    guard let entry = getgrnam(name) else {
        throw StartFailure("there is no group \(name)", exitStatus: StartFailure.configuration)
    }
    return entry.pointee.gr_gid
}

/// Kills the processes that an earlier run's handlers left, before anything is decided about those handlers.
func endLeftovers(of owner: String, _ journal: JournalWriter) {
    let left = LeftoverProcesses.kill(of: owner, patience: .seconds(2))
    guard !left.isEmpty else { return }
    let list = left.map(String.init).joined(separator: ", ")
    journal.log(JournalEntry(.error, "processes of an earlier run could not be ended: \(list)"))
}

/// Extends the service manager's timeout for a long start or stop, as long as it makes progress.
final class WorkProgress: Sendable {
    /// The extension that each report asks for, in seconds. `interval`: the nanoseconds between two reports.
    private static let extensionSeconds = 30
    /// The migration of a ledger of many gigabytes takes less than this.
    private static let longSeconds = 600
    private static let interval: Int64 = 5_000_000_000
    private let reportedAt = Mutex<Int64>(EventLoop.nowNanoseconds)

    /// Asks for `longSeconds`, before work that reports no progress. On any thread.
    func beginsLongWork() { Notify.extendTimeout(seconds: Self.longSeconds) }

    /// Asks for `extensionSeconds`. On any thread.
    static func askForTime() { Notify.extendTimeout(seconds: extensionSeconds) }

    /// Reports progress: asks for more time every `interval`. On any thread.
    func report() {
        let now = EventLoop.nowNanoseconds
        let isDue = reportedAt.withLock { reportedAt in
            guard now - reportedAt >= Self.interval else { return false }
            reportedAt = now
            return true
        }
        if isDue { Self.askForTime() }
    }
}

/// The state that the ledger has of the daemon's earlier runs.
struct RecoveredState {
    /// The tracker, which takes as long to read as all the rest. The ledger's thread reads it, through the connection
    /// that brought the ledger up to date: another connection would read the schema once more.
    typealias FutureTracker = Future<Tracker, StoreError>

    var stateID: UUID128
    var lastNumber: SequenceNumber
    var customData: CustomData
    var devices: [KnownDevice]
    var recentDeliveries: [RecentDelivery]
    /// The time of the last run's last sign of life; `nil` if there is none.
    var lastAlive: WallTime?
    /// The same by a clock that was believed.
    var lastBelieved: WallTime?
    /// The reader of the rest, the unfinished requests.
    let ledger: LedgerReader

    init(directory: String, settings: Settings) throws(StoreError) {
        let reader = try LedgerReader(directory: directory)
        ledger = reader
        stateID = reader.stateIdentity
        let highest: SequenceNumber
        (highest, devices, recentDeliveries, lastAlive, lastBelieved, customData) = try reader.snapshot {
            () throws(StoreError) in
            (
                try reader.highestSequenceNumber(), try reader.knownDevices(), try reader.recentDeliveries(),
                try reader.lastAlive(), try reader.lastBelieved(),
                try CustomData(stateID: reader.stateIdentity, rules: settings.routing.customData, ledger: reader)
            )
        }
        lastNumber = SequenceNumber(highest.value + StateDirectory.leftOut(in: directory))
    }
}

extension Tracker {
    /// Restores the tracker from the ledger's rows.
    init(reading ledger: LedgerReader, rules: TrackerRules, now: WallTime) throws(StoreError) {
        // One snapshot costs one lock; each read outside of one would cost its own.
        self = try ledger.snapshot { () throws(StoreError) in
            var tracker = Tracker(stateID: ledger.stateIdentity, rules: rules)
            try tracker.restore(from: ledger, now: now)
            return tracker
        }
    }

    private mutating func restore(from ledger: LedgerReader, now: WallTime) throws(StoreError) {
        for start in try ledger.pendingStarts() { restore(start, now: now) }
        try ledger.sessions { restore($0, now: now) }
        try ledger.sessionStarts { restore($0) }
        reserve(deliveries: min(try ledger.trackedDeliveryCount(), rules.rememberMax))
        try ledger.trackedDeliveries(newest: rules.rememberMax) { restore($0, received: $1) }
        try ledger.closedButtons(ofNewest: rules.rememberMax) { restore(closed: $1, of: $0) }
        for waiting in try ledger.heldInteractions() { restore(waiting, now: now) }
    }
}

extension CustomData {
    /// Restores the custom data from the ledger's rows.
    fileprivate init(stateID: UUID128, rules: CustomDataRules, ledger: LedgerReader) throws(StoreError) {
        self.init(stateID: stateID, rules: rules, lastNumber: try ledger.highestEntryNumber())
        try ledger.unfinishedEntries { record in
            restore(
                record.entry, record.state, claimant: record.claimant,
                by: record.state == .pending ? record.settledBy : nil)
        }
        for cause in interruptedFlushes {
            // Without a known session the entries wait for the next one.
            if let (request, event) = try ledger.sessionStart(of: cause) {
                resumeFlush(SessionStart(of: request, event))
            }
        }
        if let state = try ledger.sendingState() { restore(state) }
    }
}

extension SessionStart {
    /// The session that a request in the ledger began. The event's time has whole seconds; the request's has
    /// milliseconds.
    fileprivate init(of accepted: AcceptedRequest, _ event: AnalyticsEvent) {
        let clock = accepted.acceptedAt.wall
        self.init(
            cause: event.seq, platform: event.platform, app: event.appID, device: event.deviceID,
            externalID: event.externalUserID, at: min(Request(stored: accepted)?.at ?? clock, clock))
    }
}

extension DeliveryReference {
    /// The delivery that an accepted interaction named by its number or message id; `nil` for everything else.
    init?(_ request: Request, of accepted: SequenceNumber) {
        guard case .interact(let interact) = request.action else { return nil }
        self.init(interact, interaction: accepted)
    }
}

extension UnfinishedRequest {
    /// A request that an earlier run did not finish, with its line.
    init(reading left: UnfinishedRequest, _ ledger: LedgerReader) throws(StoreError) {
        var accepted = left.accepted
        accepted.body = try ledger.line(of: accepted.seq) ?? []
        let request = Request(stored: accepted)
        let reference = request.flatMap { DeliveryReference($0, of: accepted.seq) }
        let past = if let reference { try ledger.delivery(reference) } else { nil as RequestStory? }
        self.init(
            accepted: accepted, invocations: left.invocations, request: request, past: past.map(PastDelivery.init))
        attempts = left.attempts
    }
}

extension PastDelivery {
    /// The facts of a delivery in the ledger that an interaction needs.
    init(_ story: RequestStory) {
        var deliver: DeliverRequest?
        if case .deliver(let request) = Request(stored: story.request)?.action { deliver = request }
        self.init(accepted: story.request, provider: story.invocations.first?.provider, request: deliver)
    }
}

extension Request {
    /// A request that is in the ledger, read again; `nil` if this version cannot read it any more.
    fileprivate init?(stored accepted: AcceptedRequest) {
        // A stored request is read without limits: they may have been higher when it was accepted.
        guard let request = try? Request(acceptedLine: accepted.body) else { return nil }
        self = request
    }
}

/// The means by which the daemon finds all processes of a run, to end them.
enum Containment: Sendable {
    /// Each run has a cgroup of its own.
    case cgroups(RunCgroups)
    /// Runs have a process group, adoption by a subreaper, and a mark in the environment; the reason says why not a
    /// cgroup.
    case processGroups(reason: String)

    /// Returns cgroups if this process can have them, otherwise process groups. With cgroups this process moves within
    /// them.
    static func available() -> Containment {
        do {
            return .cgroups(try RunCgroups.takeOver())
        } catch {
            return .processGroups(reason: error.description)
        }
    }

    /// The cgroups of the runs; `nil` with process groups.
    var cgroups: RunCgroups? {
        switch self {
        case .cgroups(let cgroups): cgroups
        case .processGroups: nil
        }
    }

    /// The name in the status.
    var name: String {
        switch self {
        case .cgroups: "cgroups"
        case .processGroups: "process_groups"
        }
    }

    /// Why the runs have no cgroups.
    var reason: String? {
        switch self {
        case .cgroups: nil
        case .processGroups(let reason): reason
        }
    }
}

/// A value that one thread computes while another does other work.
final class Future<Value: Sendable, Failure: Error>: Sendable {
    private let result = Monitor<Result<Value, Failure>?>(nil)

    /// Computes the value on the calling thread. To be called once.
    func make(_ make: () throws(Failure) -> Value) {
        let made = Result(catching: make)
        result.update { $0 = made }
    }

    /// Waits until the value is computed.
    func value() throws(Failure) -> Value {
        guard let result = result.wait({ $0 }) else { preconditionFailure("a wait without a limit ends with a value") }
        return try result.get()
    }
}

/// Retries for a second while another process has a lock or a socket. After `kill -9` a child between fork and exec may
/// still have the daemon's lock and sockets, and `pushctl` has the lock while it applies a log: each lets go by itself.
///
/// - Parameters:
///   - isTaken: whether an error says that another process has it.
///   - make: takes it.
/// - Throws: the last error.
func retrying<Value: ~Copyable, Failure: Error>(
    while isTaken: (Failure) -> Bool, _ make: () throws(Failure) -> Value
) throws(Failure) -> Value {
    for _ in 0..<50 {
        do throws(Failure) {
            return try make()
        } catch {
            guard isTaken(error) else { throw error }
        }
        // 20 ms.
        poll(nil, 0, 20)
    }
    return try make()
}
