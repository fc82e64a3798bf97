public import PushFleet
public import PushModel
import Synchronization

/// What a leader of a shard opens its store with: the engine that has the chain, and the term that it took.
///
/// Each session is used by one thread: the log's, the ledger's.
public final class SharedStore: Sendable {
    /// The chain that the database has.
    public let identity: ShardIdentity
    /// The term.
    public let epoch: Int64
    /// The boot of this machine.
    public let boot: UUID128
    let writing: any ShardEngine
    let reading: any ShardEngine
    private let clockReadings: Mutex<BootClocks>
    private let lastBatch = Mutex<Instant?>(nil)
    /// The wall clock that batches have; `nil`: this machine's own.
    let wall: (@Sendable () -> WallTime)?
    /// The highest version of batches that this program reads and writes.
    let version: Int
    private let leastReader = Mutex<Int?>(nil)

    /// - Parameters:
    ///   - identity: the chain.
    ///   - epoch: the term that was taken.
    ///   - boot: this machine's boot.
    ///   - clocks: the clocks of the machines that wrote the chain, as a follower read them.
    ///   - writing: the session of the log's thread.
    ///   - reading: the session of the ledger's thread.
    ///   - wall: the wall clock that batches have; `nil`: this machine's own.
    ///   - version: the highest version of batches that this program reads and writes.
    public init(
        identity: ShardIdentity, epoch: Int64, boot: UUID128, clocks: BootClocks, writing: any ShardEngine,
        reading: any ShardEngine, wall: (@Sendable () -> WallTime)? = nil, version: Int = ChainBatch.currentVersion
    ) {
        (self.wall, self.version) = (wall, version)
        (self.identity, self.epoch, self.boot) = (identity, epoch, boot)
        (self.writing, self.reading) = (writing, reading)
        clockReadings = Mutex(clocks)
    }

    /// The clocks of the machines that wrote the chain, as far as it was read.
    public var clocks: BootClocks { clockReadings.withLock(\.self) }

    /// When the batch before the term was inserted, on this machine's monotonic clock; `nil`: the term is the first.
    public var lastBatchAt: Instant? { lastBatch.withLock(\.self) }

    func learn(_ clocks: BootClocks, lastBatchAt: Instant?) {
        clockReadings.withLock { $0 = clocks }
        lastBatch.withLock { $0 = lastBatchAt }
    }

    /// The lease was renewed: says what the copies read. On any thread.
    public func learn(_ row: LeaseRow) { leastReader.withLock { $0 = row.leastReader ?? version } }

    /// The lowest version that the copies read; `nil`: not known yet.
    var copiesRead: Int? { leastReader.withLock(\.self) }
}

extension StoreError {
    /// - Parameter problem: why the engine gave no answer.
    public init(_ problem: EngineProblem) {
        let kind: Kind =
            switch problem.kind {
            case .unreachable, .ill: .engineAway
            case .notOurs: .otherFormat
            case .newer: .newerSchema
            }
        self.init(kind, message: problem.description, context: Self.engine)
    }

    /// Another machine has taken the lease.
    public static var leaseLost: StoreError {
        StoreError(.fenced, message: "another machine has taken the lease", context: engine)
    }

    /// Where an engine's errors are.
    static let engine = "the shared log"
}
