import Glibc
import LinuxSystem
import PushModel
import PushSettings
import Store
import Synchronization

/// Writes the snapshots from which a new node starts, if this node is their writer, and deletes old batches and
/// snapshots, if this node leads. On its own thread and session.
final class SnapshotKeeper: Sendable {
    /// The reports of the thread.
    enum News: Sendable {
        /// A snapshot is complete and valid.
        case written(Snapshot)
        /// A snapshot could not be written; reported once for each reason.
        case failed(StoreError)
    }

    /// The settings of a keeper.
    struct Options: Sendable {
        /// How old the newest snapshot may become.
        var interval: Duration
        /// How many bytes of a snapshot are sent in one second, at most.
        var rate: Int
        /// How often the keeper asks the engine for the state of the snapshots.
        var pause: Duration = .seconds(30)
        /// How long another node's unfinished snapshot may make no progress before this node begins its own.
        var patience: Duration = .seconds(600)
        /// The length of the ledger's WAL at which the ledger waits for readers, in bytes.
        var walLimit: Int = .max

        init(interval: Duration, rate: Int) { (self.interval, self.rate) = (interval, rate) }

        init(_ settings: SharedLogSettings, walLimit: Int) {
            self.init(interval: settings.snapshotInterval, rate: settings.snapshotRate)
            self.walLimit = walLimit
            pause = min(pause, interval / 4)
        }
    }

    private struct State: Sendable {
        var leads = false
        var isStopping = false
    }

    /// How many batches, and how many parts of snapshots, one transaction deletes.
    private static let slice = (batches: 500, parts: 16)
    /// How long the thread waits between two transactions, so that the leader's batches come first.
    private static let slicePause: Duration = .milliseconds(50)
    /// How many transactions may follow one another before the thread looks at the snapshots again.
    private static let slices = 400

    private let engine: any ShardEngine
    private let node: String
    private let directory: String
    private let options: Options
    private let report: @Sendable (News) -> Void
    private let state = Monitor(State())

    /// - Parameters:
    ///   - engine: the session of this thread.
    ///   - node: this node's name.
    ///   - directory: the state directory.
    ///   - options: the settings.
    ///   - report: called on the thread with each report.
    init(
        _ engine: any ShardEngine, node: String, directory: String, options: Options,
        report: @escaping @Sendable (News) -> Void
    ) {
        (self.engine, self.node, self.directory) = (engine, node, directory)
        (self.options, self.report) = (options, report)
    }

    /// Notes that this node leads from now on.
    func lead() { state.withLock { $0.leads = true } }

    /// Asks the thread to end.
    func stop() { state.update { $0.isStopping = true } }

    /// The body of the thread.
    func run() {
        SnapshotWriter.clean(directory)
        // On Linux this sets the priority of the calling thread only.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        var watch = ClaimWatch(patience: options.patience)
        var reported: StoreError?
        while !pause(options.pause) {
            do throws(StoreError) {
                if let snapshot = try turn(&watch) { report(.written(snapshot)) }
                reported = nil
            } catch {
                // The follower and the log report an engine that does not answer, and there may be no ledger yet.
                guard error.kind != .engineAway, error.kind != .missing, error != reported else { continue }
                reported = error
                report(.failed(error))
            }
        }
    }

    /// Looks at the engine's snapshots once, and writes a snapshot if it is due.
    private func turn(_ watch: inout ClaimWatch) throws(StoreError) -> Snapshot? {
        let leads = state.withLock(\.leads)
        if leads { try deleteOld() }
        let shard = try mappingProblem { () throws(EngineProblem) in try engine.snapshots() }
        let plan = SnapshotPlan(interval: options.interval)
        let mayBegin = watch.mayBegin(shard.claim, at: Instant(nanoseconds: SystemClock.bootNanoseconds))
        // A claim by this node is abandoned, now or before a restart: a node has only one keeper.
        let erasure = try LedgerReader(directory: directory).lastErasure()
        guard mayBegin || shard.claim?.node == node, plan.isDue(shard, erasure: erasure?.batch),
            plan.isWriter(shard, leads: leads, node: node)
        else { return nil }
        // Once two snapshots contain an erasure, both are free of the erased person, whatever came between them.
        let newest = shard.snapshots.first?.snapshot.reference.number ?? 0
        let last = plan.isDue(shard) ? newest : max(newest, 1) - 1
        return try SnapshotWriter(
            engine, directory: directory, node: node, rate: options.rate,
            pace: { [self] length in
                CopyPace(walLength: length, walLimit: options.walLimit, leads: state.withLock(\.leads))
            }, pause: { [self] in pause($0) }
        ).write(behind: last, replacing: shard.claim)
    }

    /// Deletes batches and snapshots that are older than the kept snapshots, in slices.
    private func deleteOld() throws(StoreError) {
        for _ in 0..<Self.slices {
            let batches = try mappingProblem { () throws(EngineProblem) in try engine.trim(atMost: Self.slice.batches) }
            let hasParts = try mappingProblem { () throws(EngineProblem) in
                try engine.removeSnapshots(partsAtMost: Self.slice.parts)
            }
            guard batches > 0 || hasParts, !pause(Self.slicePause) else { return }
        }
    }

    /// - Returns: whether the thread is to end.
    private func pause(_ time: Duration) -> Bool {
        if time == .zero { return state.withLock(\.isStopping) }
        return state.wait(atMost: time) { $0.isStopping ? true : nil } ?? false
    }
}
