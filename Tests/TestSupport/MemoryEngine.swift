import Glibc
public import PushModel
import Synchronization

/// A fleet engine in memory: one database, with sessions that several nodes use from their threads.
public final class MemoryEngine: ShardEngine {
    /// The failure of the next append or confirmation.
    public enum Failure: Sendable {
        /// The batch is not written, and no answer comes.
        case unknown
        /// The batch is written, and a promotion may lose it.
        case uncertain
        /// The batch is written, and no answer comes.
        case committedButUnknown
    }

    struct Contents {
        /// The batches, numbered without a gap; never empty.
        var batches: [(batch: ChainBatch, at: Instant)]
        var trimmedBytes: Int64 = 0
        var snapshots: [WrittenSnapshot] = []
        var lease = LeaseRow(owner: nil, epoch: 0, renewals: 0)
        var copies: [String: UInt64] = [:]
        var acts: [OrderedAct] = []
        var seen: [String: Instant] = [:]
        var reads: [String: Int] = [:]
        var clock = Instant(nanoseconds: 0)
        var wall: @Sendable () -> WallTime = { WallTime(milliseconds: Int64(time(nil)) * 1000) }
        /// The number of times the lease was read.
        var readings = 0
        /// Whether the engine refuses a lease, because no standby would have it.
        var hasNoStandby = false

        var first: UInt64 { batches[0].batch.reference.number }

        /// The lease row with the lowest version that the copies read.
        var row: LeaseRow {
            var row = lease
            row.leastReader = reads.values.min()
            return row
        }

        var tail: ChainTail {
            let last = batches[batches.count - 1].batch
            return ChainTail(last.reference, epoch: last.epoch)
        }
    }

    final class Database: Sendable {
        let identity: ShardIdentity
        let contents: Mutex<Contents>

        init(_ identity: ShardIdentity) {
            self.identity = identity
            let zero = UUID128(high: 0, low: 0)
            let start = ChainBatch(
                reference: .start, previous: zero, epoch: 0, boot: zero, handedOver: Instant(nanoseconds: 0), bytes: [])
            contents = Mutex(Contents(batches: [(start, Instant(nanoseconds: 0))]))
        }
    }

    private struct Knobs {
        var failures: [Failure] = []
        var isAway = false
        var callsLeft: Int?
        var endsNoCommit = false
        var lacks: String?
    }

    let database: Database
    private let knobs = Mutex(Knobs())

    private init(_ database: Database) { self.database = database }

    /// Makes a new database with a session.
    public convenience init(
        fleet: UUID128 = UUID128(high: 1, low: 1), state: UUID128 = UUID128(high: 2, low: 2)
    ) { self.init(Database(ShardIdentity(fleet: fleet, state: state))) }

    /// Makes a database that continues another one, with a session.
    public convenience init(fleet: UUID128 = UUID128(high: 1, low: 1), _ start: ChainStart, part: (Int) -> [UInt8]?) {
        self.init(Database(ShardIdentity(fleet: fleet, state: start.state)))
        database.contents.withLock { contents in
            contents.batches = [(start.batch, contents.clock)]
            guard let snapshot = start.snapshot else { return }
            var written = WrittenSnapshot(claim: SnapshotClaim(id: snapshot.id, node: "init", moves: 0))
            for number in 0..<snapshot.parts { written.parts[number] = part(number) }
            written.finished = (snapshot, contents.clock)
            contents.snapshots = [written]
        }
    }

    /// Returns another session of the same database, with failures of its own.
    public func session() -> MemoryEngine { MemoryEngine(database) }

    // MARK: What tests set and see

    /// The ledger id, common to all copies.
    public var state: UUID128 { database.identity.state }

    /// Makes the next appends and confirmations of this session fail, in this order.
    public func failNext(_ failures: Failure...) { knobs.withLock { $0.failures += failures } }

    /// Whether this session cannot reach the database.
    public var isAway: Bool {
        get { knobs.withLock { $0.isAway } }
        set { knobs.withLock { $0.isAway = newValue } }
    }

    /// Makes this session lose the database after so many calls; appends and confirmations do not count.
    public func goAway(after calls: Int) { knobs.withLock { $0.callsLeft = calls } }

    /// Whether this session answers queries but completes no commit.
    public var endsNoCommit: Bool {
        get { knobs.withLock { $0.endsNoCommit } }
        set { knobs.withLock { $0.endsNoCommit = newValue } }
    }

    /// The things that this session needs and the database lacks; `nil`: none.
    public var lacks: String? {
        get { knobs.withLock { $0.lacks } }
        set { knobs.withLock { $0.lacks = newValue } }
    }

    /// The clock of the database, which gives the ages of batches.
    public var clock: Instant {
        get { database.contents.withLock { $0.clock } }
        set { database.contents.withLock { $0.clock = newValue } }
    }

    /// Sets the wall clock of the database; the default is this machine's.
    public func setWall(_ wall: @escaping @Sendable () -> WallTime) {
        database.contents.withLock { $0.wall = wall }
    }

    /// Promotes a standby that has the chain up to this number.
    public func promote(with number: UInt64) {
        database.contents.withLock { $0.batches.removeAll { $0.batch.reference.number > number } }
    }

    /// The number of times that all sessions read the lease.
    public var readings: Int { database.contents.withLock { $0.readings } }

    /// Whether the engine refuses a lease, because no standby would have it.
    public var hasNoStandby: Bool {
        get { database.contents.withLock(\.hasNoStandby) }
        set { database.contents.withLock { $0.hasNoStandby = newValue } }
    }

    /// Changes the lease row by a person's order.
    public func order(_ change: (inout LeaseRow) -> Void) { database.contents.withLock { change(&$0.lease) } }

    /// Notes an act, as a person's order does.
    public func order(_ act: AuditRecord) {
        database.contents.withLock { contents in
            contents.acts.append(OrderedAct(number: (contents.acts.last?.number ?? 0) + 1, act))
        }
    }

    /// The chain from its first batch: batch 0, unless batches were deleted.
    public var chain: [ChainBatch] { database.contents.withLock { $0.batches.map(\.batch) } }

    /// The last batch of each node's copy, by the node's name.
    public var copies: [String: UInt64] { database.contents.withLock { $0.copies } }

    // MARK: The engine

    public func identity() throws(EngineProblem) -> ShardIdentity {
        try read { _ in database.identity }
    }

    public func append(_ batch: ChainBatch) -> AppendResult {
        write { contents in
            guard contents.tail.admits(batch.reference, after: batch.previous, epoch: batch.epoch) else { return false }
            contents.batches.append((batch, contents.clock))
            return true
        }
    }

    public func confirm(_ reference: BatchReference) -> AppendResult {
        write { $0.tail.reference == reference }
    }

    public func absentStandby() throws(EngineProblem) -> String? {
        try read { $0.hasNoStandby } ? "the standby is away" : nil
    }

    public func tail() throws(EngineProblem) -> ChainTail { try read { $0.tail } }

    public func batches(from number: UInt64, atMost count: Int) throws(EngineProblem) -> [StoredBatch] {
        try read { contents in
            contents.batches.drop { $0.batch.reference.number < number }.prefix(count).map {
                StoredBatch(batch: $0.batch, age: contents.clock - $0.at)
            }
        }
    }

    public func lease() throws(EngineProblem) -> LeaseRow {
        try read { contents in
            contents.readings += 1
            return contents.row
        }
    }

    public func renew(_ owner: NodeIncarnation, epoch: Int64) throws(EngineProblem) -> LeaseRenewal? {
        if endsNoCommit { throw Self.away }
        return try read { contents in
            guard contents.lease.owner == owner, contents.lease.epoch == epoch else { return nil }
            contents.lease.renewals += 1
            return LeaseRenewal(contents.row, wall: contents.wall())
        }
    }

    public func take(_ seen: LeaseRow, for owner: NodeIncarnation) throws(EngineProblem) -> Int64? {
        if try read({ $0.hasNoStandby }) { throw EngineProblem(.unprotected, message: "no standby is connected") }
        return try read { contents in
            guard contents.lease.withoutOrders == seen.withoutOrders else { return nil }
            let epoch = max(contents.lease.epoch, contents.tail.epoch) + 1
            contents.lease = LeaseRow(
                owner: owner, epoch: epoch, renewals: contents.lease.renewals + 1, drained: contents.lease.drained)
            return epoch
        }
    }

    public func acts(after number: Int64) throws(EngineProblem) -> [OrderedAct] {
        try read { contents in
            contents.acts.removeAll { $0.number <= number }
            return contents.acts
        }
    }

    public func release(_ owner: NodeIncarnation, epoch: Int64) throws(EngineProblem) {
        try read { contents in
            guard contents.lease.owner == owner, contents.lease.epoch == epoch else { return }
            contents.lease.owner = nil
            contents.lease.renewals += 1
        }
    }

    @discardableResult
    public func note(
        _ owner: NodeIncarnation, applied number: UInt64, reads version: Int, program: String
    ) throws(EngineProblem) -> WallTime {
        try read { contents in
            (contents.copies[owner.node], contents.reads[owner.node]) = (number, version)
            contents.seen[owner.node] = contents.clock
            return contents.wall()
        }
    }

    func read<Result>(_ body: (inout Contents) -> Result) throws(EngineProblem) -> Result {
        let isAway = knobs.withLock { knobs in
            if let left = knobs.callsLeft {
                knobs.callsLeft = max(0, left - 1)
                knobs.isAway = knobs.isAway || left == 0
            }
            return knobs.isAway
        }
        if isAway { throw Self.away }
        if let lacks { throw EngineProblem(.lacking, code: "42P01", message: lacks) }
        return database.contents.withLock { body(&$0) }
    }

    private func write(_ body: (inout Contents) -> Bool) -> AppendResult {
        let (failure, isAway) = knobs.withLock { knobs in
            (knobs.isAway || knobs.failures.isEmpty ? nil : knobs.failures.removeFirst(), knobs.isAway)
        }
        if isAway || endsNoCommit || failure == .unknown { return .unknown(Self.away) }
        if let lacks { return .unknown(EngineProblem(.lacking, code: "42501", message: lacks)) }
        guard database.contents.withLock({ body(&$0) }) else { return .conflict }
        switch failure {
        case .uncertain: return .uncertain("the wait for the standby was cancelled")
        case .committedButUnknown: return .unknown(Self.away)
        case .unknown, nil: return .committed
        }
    }

    private static let away = EngineProblem(.unreachable, message: "the connection is lost")
}

extension ChainTail {
    /// Returns whether an engine inserts a batch after this one (compare-and-append).
    ///
    /// - Parameter previous: the id of the batch that the writer continues.
    public func admits(_ batch: BatchReference, after previous: UUID128, epoch batchEpoch: Int64) -> Bool {
        batch.number == reference.number + 1 && previous == reference.id && epoch <= batchEpoch
    }
}
