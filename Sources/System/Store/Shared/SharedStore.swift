import CLinux
import Glibc
import LinuxSystem
public import PushModel
import Synchronization

/// The engine and the term with which the leader of a shard opens its store.
///
/// One thread uses each session: the log's thread `writing`, the ledger's `reading`.
public final class SharedStore: Sendable {
    /// The chain in the database.
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
    ///   - epoch: the term of this leader.
    ///   - boot: this machine's boot.
    ///   - clocks: the clocks of the machines that wrote the chain, as this node read them while it followed.
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

    /// The insertion time of the batch before the term, on this machine's monotonic clock; `nil` in the first term.
    public var lastBatchAt: Instant? { lastBatch.withLock(\.self) }

    func learn(_ clocks: BootClocks, lastBatchAt: Instant?) {
        clockReadings.withLock { $0 = clocks }
        lastBatch.withLock { $0 = lastBatchAt }
    }

    /// Notes the versions that the copies read, from the renewed lease. On any thread.
    public func learn(_ row: LeaseRow) { leastReader.withLock { $0 = row.leastReader ?? version } }

    /// The lowest version that the copies read; `nil` until it is known. On any thread.
    public var copiesRead: Int? { leastReader.withLock(\.self) }
}

extension StoreError {
    /// - Parameter problem: the engine's error.
    public init(_ problem: EngineProblem) {
        let kind: Kind =
            switch problem.kind {
            case .unreachable, .failing, .lacking: .engineAway
            case .unprotected: .unprotected
            case .wrongDatabase: .otherFormat
            case .newer: .newerSchema
            }
        self.init(kind, message: problem.description, context: Self.engine)
    }

    /// The error after another machine took the lease.
    public static var leaseLost: StoreError {
        StoreError(.fenced, message: "another machine has taken the lease", context: engine)
    }

    /// The context of an engine's errors.
    static let engine = "the shared log"
}

/// Limits the rate at which a large file is written, and has the kernel write the file to the disk as it grows.
/// Otherwise the syncs of other threads would wait for the whole file at once.
final class WritingPace {
    /// How many bytes are sent to the disk together.
    private static let slice: Int64 = 1 << 20
    /// The longest pause between two calls of `isStopped`, in nanoseconds.
    private static let longestWait: Int64 = 100_000_000

    private let file: FileDescriptor
    private let rate: Int64
    private let startedAt = SystemClock.monotonicNanoseconds
    private var sent: Int64 = 0

    /// - Parameters:
    ///   - file: the file, empty as yet.
    ///   - rate: how many bytes it may grow by in a second.
    init(of file: consuming FileDescriptor, rate: Int) {
        self.file = file
        self.rate = Int64(max(1, rate))
    }

    /// Waits until the file may grow.
    ///
    /// - Parameter isStopped: asked from time to time.
    /// - Returns: whether to stop.
    func wait(unless isStopped: () -> Bool) -> Bool {
        var facts = stat()
        guard fstat(file.rawValue, &facts) == 0 else { return isStopped() }
        let length = Int64(facts.st_size)
        if length - sent >= Self.slice {
            // Waits for the disk here, if necessary, so that the syncs of other threads need not wait.
            _ = CLinux_write_back(file.rawValue, sent, length - sent)
            sent = length
        }
        let (seconds, rest) = length.quotientAndRemainder(dividingBy: rate)
        let due = startedAt + seconds * 1_000_000_000 + Int64(Double(rest) / Double(rate) * 1e9)
        repeat {
            if isStopped() { return true }
            let left = due - SystemClock.monotonicNanoseconds
            guard left > 0 else { return false }
            usleep(UInt32(min(left, Self.longestWait) / 1000))
        } while true
    }
}
