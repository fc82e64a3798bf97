import LinuxSystem
import PushModel
import Store
import Synchronization

/// Applies the shared log to this node's ledger on its own thread, and takes the lease when its owner has not renewed
/// it for the lease's time.
final class ChainFollower: Sendable {
    /// The reports of the thread.
    enum News: Sendable {
        /// Another node leads, in this term; `nil`: no node does.
        case leader(String?, term: Int64)
        /// The node has no ledger yet, and makes it from this snapshot.
        case fetches(Snapshot)
        /// The engine answers, its database is the fleet's, and the copy is a prefix of the chain; told once.
        case follows
        /// The copy has all that there is for the first time.
        case current
        /// The engine does not answer; reported once for each outage.
        case away(StoreError)
        /// The engine answers again.
        case answers
        /// No node leads, and the engine has no standby for which a lease would be safe; reported once for each time.
        case unprotected(StoreError)
        /// This machine's clock is wrong, or right again.
        case clock(ClockWatch.Change)
        /// An erasure is complete.
        case erased
        /// The rest of an erasure waits; reported once for each wait.
        case erasureWaits(StoreError)
        /// This node has the lease. The thread has ended.
        case took(Term)
        /// The ledger is not a prefix of the shared log. The thread has ended.
        case forked(StoreError)
        /// The ledger cannot be written, or the database is another fleet's. The thread has ended.
        case failed(StoreError)
    }

    /// A term that this node took.
    struct Term: Sendable {
        var epoch: Int64
        /// When this node sent the statement that took the lease, on `CLOCK_BOOTTIME`.
        var sentAt: Instant
        /// Whether the last leader was lost; otherwise it released the lease.
        var isAfterLoss: Bool
        var clocks: BootClocks
        /// The last reading of the engine's clock.
        var clock: ClockReading
        var identity: ShardIdentity
    }

    /// How long the thread waits between two readings.
    private static let pause: Duration = .milliseconds(50)
    /// How long the thread waits while the leader hands over to this node.
    private static let shortPause: Duration = .milliseconds(5)
    /// How long the thread waits after the database did not answer.
    private static let retryPause: Duration = .milliseconds(200)
    /// How often the thread syncs the ledger and reports its last batch to the engine, in nanoseconds.
    private static let noteInterval: Int64 = 1_000_000_000

    private let engine: any ShardEngine
    private let node: NodeIncarnation
    private let directory: String
    private let lease: Duration
    /// The highest version of batches that it reads.
    private let reads: Int
    private let post: @Sendable (News) -> Void
    private let isStopping = Monitor(false)
    private let seen: Mutex<(engine: EngineWatch, copy: NodeStatus.Copy)>

    /// - Parameters:
    ///   - engine: the session of this thread.
    ///   - node: this process.
    ///   - directory: the state directory, which this process has locked.
    ///   - lease: the time that a lease lasts.
    ///   - reads: the highest version of batches that it reads.
    ///   - post: called on the thread with each report.
    init(
        _ engine: any ShardEngine, node: NodeIncarnation, directory: String, lease: Duration,
        reads: Int = ChainBatch.currentVersion, post: @escaping @Sendable (News) -> Void
    ) {
        (self.engine, self.node, self.directory) = (engine, node, directory)
        (self.lease, self.reads, self.post) = (lease, reads, post)
        let now = SystemClock.monotonicNanoseconds
        seen = Mutex((EngineWatch(at: now), NodeStatus.Copy(state: nil, batchesBehind: 0, completeAt: now)))
    }

    /// The state of the engine and of the ledger; on any thread.
    var progress: (engine: EngineWatch, copy: NodeStatus.Copy) { seen.withLock(\.self) }

    /// Asks the thread to end.
    func stop() { isStopping.update { $0 = true } }

    /// The body of the thread.
    func run() {
        guard let identity = retryingUntilReachable({ () throws(EngineProblem) in try engine.identity() }) else {
            return
        }
        do throws(StoreError) {
            guard try fetch(identity) else { return }
            let copy = try LedgerCopy(directory: directory, of: identity, reads: reads)
            let end = try follow(copy, identity)
            try copy.sync()
            if let end { post(.took(end)) }
        } catch {
            post(error.kind == .forked ? .forked(error) : .failed(error))
        }
    }

    /// Fetches a ledger if there is none.
    ///
    /// - Returns: `false` if `stop` was called.
    private func fetch(_ identity: ShardIdentity) throws(StoreError) -> Bool {
        try FleetMark.join(identity, in: directory)
        var fetch = SnapshotFetch(
            from: engine, into: directory, of: identity, isStopped: { [self] in pause(.zero) },
            onBegin: { [self] in post(.fetches($0)) })
        var isReported = false
        repeat {
            do throws(StoreError) {
                let continues = try fetch.run()
                if isReported { post(.answers) }
                return continues
            } catch let error where error.kind == .engineAway {
                noteUnreachable()
                if !isReported { post(.away(error)) }
                isReported = true
            }
        } while !pause(Self.retryPause)
        return false
    }

    private func follow(_ copy: LedgerCopy, _ identity: ShardIdentity) throws(StoreError) -> Term? {
        var (clocks, watch) = (BootClocks(), LeaseWatch(length: lease))
        var (leader, isCurrent, isAway): (String??, Bool, Bool) = (nil, false, false)
        var follows = false
        var term: Int64 = 0
        var notedAt: Int64 = .min
        var (isNext, isWaiting, isUnprotected) = (false, false, false)
        var (clock, clockWatch): (ClockReading?, ClockWatch) = (nil, ClockWatch())
        while !pause(
            isAway || isUnprotected ? Self.retryPause : !isCurrent ? .zero : isNext ? Self.shortPause : Self.pause)
        {
            do throws(StoreError) {
                let row = try mappingProblem { () throws(EngineProblem) in try engine.lease() }
                watch.observe(row, answeredAt: Self.bootTime)
                isNext = row.successor == node.node
                // Without a standby the leader could not renew its lease either. Once a standby is back, it renews the
                // same lease, and this node may no longer take it: reports the leader again.
                let isRenewed = isUnprotected && watch.claimableRow(at: Self.bootTime, by: node.node) == nil
                if leader != .some(row.owner?.node) || term != row.epoch || isRenewed {
                    (leader, term) = (.some(row.owner?.node), row.epoch)
                    isUnprotected = false
                    post(.leader(row.owner?.node, term: row.epoch))
                }
                let count = try copy.catchUp(from: engine, clocks: &clocks)
                note(copy, identity, isUnprotected: isUnprotected)
                if isAway { post(.answers) }
                isAway = false
                if !follows { post(.follows) }
                follows = true
                if count == 0, !isCurrent { post(.current) }
                isCurrent = isCurrent || count == 0
                let isNoteDue = try reportPosition(copy, &notedAt, &clock)
                if isNoteDue, let clock, let change = clockWatch.read(clock) { post(.clock(change)) }
                let toTake = watch.claimableRow(at: Self.bootTime, by: node.node)
                // Housekeeping may take long, and a node that takes the lease must not wait for it.
                if isNoteDue, isCurrent, toTake == nil { try runMaintenance(copy, &isWaiting) }
                guard count == 0, let clock, let row = toTake else { continue }
                let taken = Self.bootTime
                if let epoch = try mappingProblem({ () throws(EngineProblem) in try engine.take(row, for: node) }) {
                    return Term(
                        epoch: epoch, sentAt: taken, isAfterLoss: row.owner != nil, clocks: clocks, clock: clock,
                        identity: identity)
                }
            } catch let error where error.kind == .unprotected {
                if !isUnprotected { post(.unprotected(error)) }
                isUnprotected = true
            } catch let error where error.kind == .engineAway || error.kind == .newerSchema {
                // A node with an older program continues once it is upgraded, and cannot lead until then.
                watch.noteUnreachable()
                noteUnreachable()
                if !isAway { post(.away(error)) }
                isAway = true
                if error.kind == .newerSchema { _ = try? reportPosition(copy, &notedAt, &clock) }
            }
        }
        return nil
    }

    /// Syncs the ledger and reports its last batch to the engine, once in `noteInterval`.
    ///
    /// - Parameter clock: the reading of the engine's clock, which comes with the engine's answer.
    /// - Returns: whether it was time for that.
    private func reportPosition(
        _ copy: LedgerCopy, _ notedAt: inout Int64, _ clock: inout ClockReading?
    ) throws(StoreError) -> Bool {
        let now = SystemClock.monotonicNanoseconds
        guard notedAt == .min || now - notedAt >= Self.noteInterval else { return false }
        try copy.sync()
        let (number, sentAt) = (copy.number, Self.bootTime)
        let wall = try mappingProblem { () throws(EngineProblem) in
            try engine.note(node, applied: number, reads: reads, program: pushrouterdVersion)
        }
        clock = ClockReading(wall, sentAt: sentAt, answeredAt: Self.bootTime, machine: WallClock.ofMachine)
        notedAt = now
        return true
    }

    private func runMaintenance(_ copy: LedgerCopy, _ isWaiting: inout Bool) throws(StoreError) {
        switch try copy.runMaintenance() {
        case .done: break
        case .erased:
            isWaiting = false
            post(.erased)
        case .waits(let error):
            if !isWaiting { post(.erasureWaits(error)) }
            isWaiting = true
        }
    }

    private func note(_ copy: LedgerCopy, _ identity: ShardIdentity, isUnprotected: Bool) {
        let now = SystemClock.monotonicNanoseconds
        let behind = copy.tail - min(copy.tail, copy.number)
        seen.withLock { seen in
            if isUnprotected { seen.engine.isUnprotected(since: now, at: now) } else { seen.engine.confirmed(at: now) }
            (seen.copy.state, seen.copy.batchesBehind) = (identity.state, behind)
            if behind == 0 { seen.copy.completeAt = now }
        }
    }

    private func noteUnreachable() {
        let now = SystemClock.monotonicNanoseconds
        seen.withLock { $0.engine.noteUnreachable(since: now) }
    }

    /// Retries until the engine answers, and the database has all that the shard needs. In a database that this node
    /// has never been in, a missing part counts as missing for good.
    ///
    /// - Returns: `nil` after `stop`, or if the database is none for this node, which was reported.
    private func retryingUntilReachable<Value>(_ ask: () throws(EngineProblem) -> Value) -> Value? {
        var isReported = false
        repeat {
            do throws(EngineProblem) {
                let value = try ask()
                if isReported { post(.answers) }
                return value
            } catch {
                var failure = StoreError(error)
                if error.kind == .lacking, !hasBeenInDatabase { failure.kind = .otherFormat }
                guard failure.kind == .engineAway || failure.kind == .newerSchema else {
                    post(.failed(failure))
                    return nil
                }
                noteUnreachable()
                if !isReported { post(.away(failure)) }
                isReported = true
            }
        } while !pause(Self.retryPause)
        return nil
    }

    /// Whether the ledger is a copy of a fleet's. An unreadable mark counts as a mark, and ends the follower later.
    private var hasBeenInDatabase: Bool {
        do throws(StoreError) {
            return try FleetMark.read(in: directory) != nil
        } catch {
            return true
        }
    }

    /// - Returns: whether the thread is to end.
    private func pause(_ time: Duration) -> Bool {
        if time == .zero { return isStopping.withLock(\.self) }
        return isStopping.wait(atMost: time) { $0 ? true : nil } ?? false
    }

    private static var bootTime: Instant { Instant(nanoseconds: SystemClock.bootNanoseconds) }
}
