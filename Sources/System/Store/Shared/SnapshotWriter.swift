import Glibc
import LinuxSystem
public import PushModel

/// Writes the ledger of a node as a snapshot of its shard, beside the running node. For one thread.
public struct SnapshotWriter {
    private let engine: any ShardEngine
    private let directory: String
    private let node: String
    private let rate: Int
    private let pause: (Duration) -> Bool

    /// - Parameters:
    ///   - engine: the session to write with.
    ///   - directory: the state directory.
    ///   - node: the node's name.
    ///   - rate: how many bytes a second are copied into a file, sent, and read back, at most.
    ///   - pause: waits; returns whether to stop.
    public init(
        _ engine: any ShardEngine, directory: String, node: String, rate: Int, pause: @escaping (Duration) -> Bool
    ) {
        (self.engine, self.directory, self.node) = (engine, directory, node)
        (self.rate, self.pause) = (rate, pause)
    }

    /// The number of tries, a second apart, while the engine does not answer.
    private static let attempts = 60
    /// The interval of the writer's signs of life while it sends nothing, in nanoseconds.
    private static let moveInterval: Int64 = 5_000_000_000

    /// The file of a snapshot that is being written.
    private var path: String { Self.path(in: directory) }
    private static func path(in directory: String) -> String { directory + "/snapshot.db" }

    /// Removes the file of a writer that was killed.
    public static func clean(_ directory: String) { unlink(path(in: directory)) }

    /// Writes a snapshot, reads it back, and publishes it.
    ///
    /// - Parameters:
    ///   - number: a batch; the ledger must be behind a later one.
    ///   - seen: the claim of another writer that is to be given up.
    /// - Returns: the snapshot; `nil` if it was stopped, another node writes one, or the ledger is not past `number`.
    /// - Throws: `engineAway`; `forked` if the ledger's last batch is not the chain's; `corrupt` if the ledger is
    ///   damaged, or the engine returns other bytes; `missing`; errors of the disk.
    public func write(
        behind number: UInt64 = 0, replacing seen: SnapshotClaim? = nil
    ) throws(StoreError) -> Snapshot? {
        guard try Schema.logPosition(LedgerReader(directory: directory).database).number > number else { return nil }
        let id = UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
        let begun = try retrying { () throws(EngineProblem) in
            try engine.beginSnapshot(id, by: node, replacing: seen)
        }
        guard begun == true else { return nil }
        defer { unlink(path) }
        let presence = Presence { [engine, pause] in pause(.zero) || (try? engine.moveSnapshot(id)) == false }
        let file: SnapshotFile
        do throws(StoreError) {
            try SnapshotFile.make(ofLedgerIn: directory, at: path, rate: rate) { presence.isStopped }
            file = try SnapshotFile(checking: path) { presence.isStopped }
        } catch {
            if presence.hasStopped { return nil }
            throw error
        }
        var snapshot = Snapshot(
            id: id, reference: try file.reference(in: engine), schema: file.schema, length: file.length, checksum: 0)
        guard try send(&snapshot), try readBack(snapshot) else { return nil }
        guard try retrying({ () throws(EngineProblem) in try engine.finishSnapshot(snapshot) }) == true else {
            return nil
        }
        return snapshot
    }

    /// Sends all parts, and computes their checksum.
    ///
    /// - Returns: whether they were sent.
    private func send(_ snapshot: inout Snapshot) throws(StoreError) -> Bool {
        guard let file = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC)) else {
            throw StoreError.system("open", path, errno: errno)
        }
        let id = snapshot.id
        for part in 0..<snapshot.parts {
            var bytes = [UInt8](repeating: 0, count: snapshot.length(ofPart: part))
            let count = bytes.count
            let offset = off_t(part * Snapshot.partLength)
            let taken = retryingInterrupts { pread(file.rawValue, &bytes, count, offset) }
            guard taken >= 0 else { throw StoreError.system("read", path, errno: errno) }
            guard taken == count else {
                throw StoreError(.failed, message: "the file became shorter", context: path)
            }
            SnapshotFile.add(bytes, to: &snapshot.checksum)
            guard try retrying({ () throws(EngineProblem) in try engine.putPart(part, of: id, bytes) }) == true,
                !pause(time(of: count))
            else { return false }
        }
        return true
    }

    /// Reads all parts back.
    ///
    /// - Returns: whether all parts were read.
    private func readBack(_ snapshot: Snapshot) throws(StoreError) -> Bool {
        var checksum: UInt32 = 0
        let isMoving = Presence { [engine] in (try? engine.moveSnapshot(snapshot.id)) == false }
        for part in 0..<snapshot.parts {
            let read = try retrying { () throws(EngineProblem) in try engine.part(part, of: snapshot.id) }
            guard let read else { return false }
            guard let bytes = read else {
                // A node that gave the snapshot up may have removed its parts.
                let isMine = try retrying { () throws(EngineProblem) in try engine.moveSnapshot(snapshot.id) }
                guard isMine == true else { return false }
                throw Self.damaged(part)
            }
            guard bytes.count == snapshot.length(ofPart: part) else { throw Self.damaged(part) }
            SnapshotFile.add(bytes, to: &checksum)
            guard !isMoving.isStopped, !pause(time(of: bytes.count)) else { return false }
        }
        guard checksum == snapshot.checksum else { throw Self.damaged(nil) }
        return true
    }

    private static func damaged(_ part: Int?) -> StoreError {
        let what = part.map { "part \($0)" } ?? "a part"
        return StoreError(
            .corrupt, message: "the database returned \(what) of the snapshot with other bytes than were written",
            context: StoreError.engine)
    }

    /// Returns the time that so many bytes take at the rate.
    private func time(of bytes: Int) -> Duration { .nanoseconds(Int64(bytes) * 1_000_000_000 / Int64(max(1, rate))) }

    /// Asks the engine, with retries while it does not answer, so that parts need not be sent again.
    ///
    /// - Returns: the answer; `nil` if it was stopped.
    private func retrying<Value>(_ ask: () throws(EngineProblem) -> Value) throws(StoreError) -> Value? {
        var attempt = 1
        while true {
            do throws(EngineProblem) {
                return try ask()
            } catch {
                guard error.kind == .unreachable, attempt < Self.attempts else { throw StoreError(error) }
            }
            attempt += 1
            if pause(.seconds(1)) { return nil }
        }
    }

    /// Sends a sign of life at intervals, and learns from the answer whether to stop.
    private final class Presence {
        private let sendLifeSign: () -> Bool
        private var reportedAt = SystemClock.monotonicNanoseconds
        /// Whether the answer was to stop.
        private(set) var hasStopped = false

        /// - Parameter sendLifeSign: sends a sign of life; returns whether to stop.
        init(_ sendLifeSign: @escaping () -> Bool) { self.sendLifeSign = sendLifeSign }

        var isStopped: Bool {
            let now = SystemClock.monotonicNanoseconds
            if !hasStopped, now - reportedAt >= SnapshotWriter.moveInterval {
                reportedAt = now
                hasStopped = sendLifeSign()
            }
            return hasStopped
        }
    }
}
