import Glibc
public import LinuxSystem
public import PushModel
public import PushSettings
import PushViews
import Store

/// The facts of a node that leads a fleet.
struct Leadership {
    /// The name of this node.
    let node: String
    /// Whether the last leader was lost; otherwise it released the lease.
    let isAfterLoss: Bool
    let store: SharedStore
    let keeper: LeaseKeeper
    let news: Mailbox<LeaseKeeper.News>
}

/// Runs a node of a fleet on the calling thread, the process's first and only one: it follows, and leads once it has
/// the lease. A process leads only once: when it loses the lease it ends, and the service manager starts it again.
///
/// - Parameters:
///   - options: the options of the daemon's start.
///   - connect: makes sessions with the engine.
/// - Returns: the exit status.
/// - Throws: `StartFailure` when it cannot start.
public func runFleetDaemon(
    _ options: DaemonOptions, connect: @escaping EngineConnector
) throws(StartFailure) -> Int32 {
    try withDaemonProcess(options) { process in
        let shared = process.settings.store.shared
        guard shared.database != nil else {
            throw StartFailure(
                "[Store] Log= names no database: give one, or start pushrouterd", exitStatus: StartFailure.configuration
            )
        }
        let node = NodeIncarnation(
            node: nodeName(shared),
            id: UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max)))
        var sockets = try Sockets(
            settings: process.settings.daemon, directories: options.directories, journal: process.journal)
        let state = try process.stateDirectory()
        removeOldCopies(in: state.path, process.journal)
        let listeners = try Listeners(&sockets)

        var running: RunningSnapshots?
        defer { running?.stop() }
        var hasMovedCopy = false
        let term: ChainFollower.Term
        following: while true {
            let standby = try Standby(
                settings: process.settings, configuration: process.configuration, state: process.configurationState,
                node: node, journal: process.journal)
            let follow = try connect(shared, node, .follow)
            let snapshots = try RunningSnapshots(
                SnapshotKeeper(
                    try connect(shared, node, .snapshot), node: node.node, directory: state.path,
                    options: SnapshotKeeper.Options(
                        shared, walLimit: Committer.Limits(logLength: process.settings.store.logLength).walLength)
                ) { [journal = process.journal] in journal.log($0.entry) })
            running = snapshots
            let end = try standby.run(in: state.path, listeners: listeners, engine: follow)
            (process.settings, process.configurationState) = (standby.settings, standby.state)
            switch end {
            case .stopped: return 0
            case .failed(let error): throw error
            case .forked(let error):
                snapshots.stop()
                process.journal.log(JournalEntry(.critical, "\(error)", messageID: .logSetAside))
                let place = try SetAside.moveCopy(in: state.path, at: Moment.now().wall)
                process.journal.log(
                    JournalEntry(.warning, "the copy was moved to \(place); this machine fetches another one"))
                // If the next copy differs, too, the service manager pauses before the next start.
                guard !hasMovedCopy else { return StartFailure.temporary }
                hasMovedCopy = true
            case .leads(let taken):
                snapshots.keeper.lead()
                // A reading of the configuration may be unfinished: the signal makes the daemon begin it again.
                if standby.isReading { kill(getpid(), SIGHUP) }
                term = taken
                break following
            }
        }

        process.journal.log(
            JournalEntry(.notice, "\(node.node) leads from term \(term.epoch) on", messageID: .leads))
        let news = try Mailbox<LeaseKeeper.News>()
        let keeper = LeaseKeeper(
            try connect(shared, node, .lease), node: node, epoch: term.epoch, lease: shared.lease,
            sentAt: term.sentAt, clock: term.clock
        ) { news.post($0) }
        // Before any other part reads the time.
        WallClock.follow { keeper.wall }
        let store = SharedStore(
            identity: term.identity, epoch: term.epoch, boot: process.boot, clocks: term.clocks,
            writing: try connect(shared, node, .log), reading: try connect(shared, node, .read),
            wall: { keeper.wall })
        let thread = try WorkerThread("lease") { keeper.run() }
        let leadership = Leadership(
            node: node.node, isAfterLoss: term.isAfterLoss, store: store, keeper: keeper, news: news)
        let end: Result<Int32, any Error>
        do {
            let daemon = try process.daemon(in: state, leadership: leadership)
            let status = try daemon.run(listeners: listeners)
            end = .success(status == 0 && daemon.handsOver ? StartFailure.temporary : status)
            withExtendedLifetime(daemon) {}
        } catch {
            end = .failure(error)
        }
        keeper.stop()
        thread.join()
        // The daemon has ended, so nothing is appended any more.
        if case .success = end { keeper.forgetActs() }
        keeper.release()
        if case .success = end, let last = try? LedgerReader(directory: options.directories.state).lastBatch() {
            keeper.note(applied: last)
        }
        if case .failure(let error as StoreError) = end, let message = error.endOfLeading {
            process.journal.log(JournalEntry(.critical, "\(error)", messageID: message))
            return StartFailure.temporary
        }
        return try end.get()
    }
}

/// How long a copy is kept that was set aside; the newest one is kept for good.
private let copyRetention: Duration = .seconds(7 * 24 * 3600)

private func removeOldCopies(in directory: String, _ journal: JournalWriter) {
    do throws(StoreError) {
        let gone = try SetAside.removeOldCopies(in: directory, olderThan: copyRetention, at: Moment.now().wall)
        guard !gone.isEmpty else { return }
        let message = "removed copies that were set aside more than 7 days ago: \(gone.joined(separator: ", "))"
        journal.log(JournalEntry(.notice, message))
    } catch {
        journal.log(JournalEntry(.warning, "a copy that was set aside could not be removed: \(error)"))
    }
}

/// A keeper of snapshots on its thread.
private final class RunningSnapshots {
    let keeper: SnapshotKeeper
    private var thread: WorkerThread?

    init(_ keeper: SnapshotKeeper) throws {
        self.keeper = keeper
        thread = try WorkerThread("snapshots") { keeper.run() }
    }

    /// Stops the thread and waits for its end.
    func stop() {
        keeper.stop()
        thread.take()?.join()
    }
}

extension SnapshotKeeper.News {
    fileprivate var entry: JournalEntry {
        switch self {
        case .written(let snapshot):
            JournalEntry(
                .info,
                "wrote a snapshot behind batch \(snapshot.reference.number) to the database: \(snapshot.length) bytes")
        case .failed(let error): JournalEntry(.error, "no snapshot was written: \(error)", messageID: .snapshotFailed)
        }
    }
}

extension StoreError {
    /// The message for a leader that ends because of the shared log, and follows after its restart; `nil`: the error is
    /// this machine's own.
    var endOfLeading: MessageID? {
        switch kind {
        case .fenced: .fenced
        // The next start compares the ledger with the shared log, and sets the ledger aside.
        case .forked: .logSetAside
        // The engine stopped answering while the term began.
        case .engineAway, .unprotected: .storeStalled
        // A newer program works in the database; this one follows once it is upgraded, or the database is as before.
        case .newerSchema where isOfDatabase: .storeStalled
        default: nil
        }
    }
}

/// The name of this machine in its fleet: `Node=` if it is set, otherwise the host name up to its first dot.
public func nodeName(_ settings: SharedLogSettings) -> String {
    if let node = settings.node { return node }
    guard let host = hostName() else { return "node" }
    return String(decoding: host.utf8.prefix { $0 != UInt8(ascii: ".") }.prefix(32), as: UTF8.self)
}

private func hostName() -> String? {
    var name = [UInt8](repeating: 0, count: 256)
    guard gethostname(&name, 255) == 0 else { return nil }
    return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
}

extension NodePlace {
    /// The place of this process.
    ///
    /// - Parameter directory: the state directory.
    public static func ofThisProcess(directory: String) -> NodePlace {
        let none = UUID128(high: 0, low: 0)
        // machine-id(5); a container may have none.
        return NodePlace(
            host: hostName() ?? "a machine without a name",
            machine: machineFact("/etc/machine-id", length: 32) ?? none, boot: (try? bootID()) ?? none,
            directory: directory)
    }
}

extension BootClocks {
    /// Returns the age of a request that another machine accepted; `nil`: that machine's clock is unknown.
    func age(of accepted: AcceptedRequest, at now: Instant) -> Duration? {
        instant(accepted.acceptedAt.monotonic, of: accepted.boot).map { max(.zero, now - $0) }
    }

    /// Translates the times of a request that another machine accepted into this machine's. If that machine's clock is
    /// unknown, the times stay, and the request has expired.
    func translate(_ accepted: inout AcceptedRequest, _ invocation: inout InvocationRecord, to boot: UUID128) {
        guard let acceptedAt = instant(accepted.acceptedAt.monotonic, of: accepted.boot) else { return }
        if let deadline = invocation.deadline { invocation.deadline = instant(deadline, of: accepted.boot) }
        accepted.acceptedAt.monotonic = acceptedAt
        accepted.boot = boot
    }
}

extension JournalEntry {
    /// The entry for this machine's clock, which a pair does not use.
    init(_ change: ClockWatch.Change) {
        switch change {
        case .off(let ahead):
            let milliseconds = abs(ahead.milliseconds)
            let seconds = "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
            self.init(
                .warning,
                "this machine's clock is \(seconds) \(ahead > .zero ? "ahead of" : "behind") the database's, whose time counts: "
                    + "set the wrong clock right")
        case .right: self.init(.notice, "this machine's clock agrees with the database's again")
        }
    }
}

/// The facts that `op: status` returns for a machine of a fleet.
struct NodeStatus: Sendable {
    /// The state of a follower's ledger.
    struct Copy: Sendable {
        /// The id of the ledger; `nil` before its first comparison with the shared log.
        var state: UUID128?
        /// The number of batches that it lacked at the last reading.
        var batchesBehind: UInt64
        /// When it last had all batches, in monotonic nanoseconds.
        var completeAt: Int64
    }

    /// The name of the machine.
    var node: String
    /// The name of the leader; `nil`: no machine leads.
    var leader: String?
    /// The leader's term.
    var term: Int64
    var engine: EngineWatch
    /// Why the database does not serve this machine; `nil`: it does, or this machine leads.
    var engineProblem: String?
    /// `nil`: this machine leads.
    var copy: Copy?

    /// - Parameter now: in monotonic nanoseconds.
    func members(_ writer: inout StatusObject, at now: Int64) {
        func age(_ time: Int64) -> Int64 { max(0, now - time) / 1_000_000 }
        writer.member("role", copy == nil ? "leader" : "follower")
        writer.member("node", node)
        writer.member("leader", leader)
        writer.member("term", term)
        writer.member("engine_answers", engine.unreachableSince == nil)
        writer.member("engine_answer_age_ms", age(engine.answeredAt))
        writer.member("engine_problem", engineProblem)
        writer.member("unprotected_ms", engine.unprotectedSince.map(age) ?? 0)
        writer.member("batches_behind", copy?.batchesBehind)
        writer.member("behind_ms", copy.map { age($0.completeAt) })
    }

    /// The whole status of a follower.
    ///
    /// - Parameters:
    ///   - mode: that of its configuration.
    ///   - configurationProblem: the error of the configuration that was read last; `nil` without one.
    ///   - start: when the process began to follow.
    func ofFollower(
        mode: DispatchMode, configurationProblem: String?, since start: Moment, processID: Int32, at now: Moment
    ) -> StatusValue {
        .object { writer in
            writer.member("version", pushrouterdVersion)
            writer.member("pid", processID)
            writer.member("mode", mode.rawValue)
            writer.member("uptime_ms", (now.monotonic - start.monotonic).milliseconds)
            writer.member("state", "following")
            writer.member("configuration_problem", configurationProblem)
            writer.member("fleet", object: { members(&$0, at: now.monotonic.nanoseconds) })
            writer.member(
                "process",
                object: {
                    $0.member("started_at_ms", start.wall.milliseconds)
                    $0.member("resident_bytes", ProcessMemory.residentBytes)
                })
        }
    }
}
