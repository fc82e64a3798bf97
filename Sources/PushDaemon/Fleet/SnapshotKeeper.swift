import Glibc
import LinuxSystem
import PushFleet
import PushModel
import PushSettings
import Store
import Synchronization

/// Keeps the engine able to start a node from nothing, on a thread and a session of its own: it writes snapshots where
/// this node is to, and deletes what is behind them where it leads.
final class SnapshotKeeper: Sendable {
    /// What the thread tells.
    enum News: Sendable {
        /// A snapshot counts.
        case written(Snapshot)
        /// A snapshot could not be written; told once for each reason.
        case failed(StoreError)
    }

    /// How the keeper is set.
    struct Options: Sendable {
        /// How old the newest snapshot may become.
        var interval: Duration
        /// How many bytes of a snapshot are sent in a second, at most.
        var rate: Int
        /// How often the engine is asked how it is with snapshots.
        var pause: Duration = .seconds(30)
        /// How long the snapshot of another node may stand still.
        var patience: Duration = .seconds(600)

        init(interval: Duration, rate: Int) { (self.interval, self.rate) = (interval, rate) }

        init(_ settings: SharedLogSettings) {
            self.init(interval: settings.snapshotInterval, rate: settings.snapshotRate)
            pause = min(pause, interval / 4)
        }
    }

    private struct State: Sendable {
        var leads = false
        var isStopping = false
    }

    /// How many batches a transaction deletes, and how many parts of snapshots.
    private static let slice = (batches: 500, parts: 16)
    /// How long the thread waits between two slices: the leader's batches come first.
    private static let slicePause: Duration = .milliseconds(50)
    /// How many slices follow one another before the engine is asked anew.
    private static let slices = 400

    private let engine: any ShardEngine
    private let node: String
    private let directory: String
    private let options: Options
    private let tell: @Sendable (News) -> Void
    private let state = Monitor(State())

    /// - Parameters:
    ///   - engine: its session.
    ///   - node: this node's name.
    ///   - directory: the state directory.
    ///   - options: how it is set.
    ///   - tell: called on the thread with what happens.
    init(
        _ engine: any ShardEngine, node: String, directory: String, options: Options,
        tell: @escaping @Sendable (News) -> Void
    ) {
        (self.engine, self.node, self.directory) = (engine, node, directory)
        (self.options, self.tell) = (options, tell)
    }

    /// This node leads from now on.
    func lead() { state.withLock { $0.leads = true } }

    /// Has the thread end soon.
    func stop() { state.update { $0.isStopping = true } }

    /// What the thread does.
    func run() {
        SnapshotWriter.clean(directory)
        // Of this thread alone, on Linux.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        var watch = ClaimWatch(patience: options.patience)
        var told: StoreError?
        while !pause(options.pause) {
            do throws(StoreError) {
                if let snapshot = try turn(&watch) { tell(.written(snapshot)) }
                told = nil
            } catch {
                // The follower and the log tell of an engine that is away, and there may be no ledger yet.
                guard error.kind != .engineAway, error.kind != .missing, error != told else { continue }
                told = error
                tell(.failed(error))
            }
        }
    }

    /// One look at the engine, and what is to be done.
    private func turn(_ watch: inout ClaimWatch) throws(StoreError) -> Snapshot? {
        let leads = state.withLock(\.leads)
        if leads { try deleteOld() }
        let shard = try asking { () throws(EngineProblem) in try engine.snapshots() }
        let plan = SnapshotPlan(interval: options.interval)
        let mayBegin = watch.mayBegin(shard.claim, at: Instant(nanoseconds: SystemClock.bootNanoseconds))
        // What this node has begun it gave up, now or before a restart: there is one keeper of a node.
        let erasure = try LedgerReader(directory: directory).lastErasure()
        guard mayBegin || shard.claim?.node == node, plan.isDue(shard, erasure: erasure?.batch),
            plan.isWriter(shard, leads: leads, node: node)
        else { return nil }
        // Two snapshots have an erasure before both are free of what it erased, whatever came between them.
        let newest = shard.snapshots.first?.snapshot.reference.number ?? 0
        let last = plan.isDue(shard) ? newest : max(newest, 1) - 1
        return try SnapshotWriter(
            engine, directory: directory, node: node, rate: options.rate, pause: { [self] in pause($0) }
        ).write(behind: last, replacing: shard.claim)
    }

    /// Deletes what is behind the snapshots that are kept, in slices.
    private func deleteOld() throws(StoreError) {
        for _ in 0..<Self.slices {
            let batches = try asking { () throws(EngineProblem) in try engine.trim(atMost: Self.slice.batches) }
            let hasParts = try asking { () throws(EngineProblem) in
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
