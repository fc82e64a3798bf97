import CChecksum
import Glibc
import LinuxSystem
public import PushModel

/// A ledger in one file, the content of a snapshot.
struct SnapshotFile {
    /// The place in the chain behind the ledger's last batch.
    var position: LogPosition
    /// The schema of the ledger.
    var schema: Int64
    /// The id of the ledger.
    var state: UUID128
    /// The length of the file, in bytes.
    var length: Int64

    /// The steps of SQLite's virtual machine between two calls of `isStopped`.
    private static let steps: Int32 = 50_000
    /// The steps between two calls while a file is written: some rows lie between the calls.
    private static let pacedSteps: Int32 = 200

    /// Copies the ledger of a state directory as it is now, with `VACUUM INTO`, beside a running daemon. The file is
    /// not synced.
    ///
    /// - Parameters:
    ///   - directory: the state directory.
    ///   - path: the file to write; an existing file is replaced.
    ///   - rate: how many bytes of the file are written in a second, at most, unless `pace` says otherwise.
    ///   - pace: asked for the length of the ledger's WAL, from time to time.
    ///   - isStopped: asked from time to time.
    /// - Throws: `gaveWay`, `missing`, errors of the disk and of SQLite, and any error after a stop. The file is removed
    ///   then.
    static func make(
        ofLedgerIn directory: String, at path: String, rate: Int = .max,
        pace: @escaping (_ walLength: Int) -> CopyPace = { _ in .paced }, isStopped: @escaping () -> Bool
    ) throws(StoreError) {
        unlink(path)
        guard let file = FileDescriptor(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)) else {
            throw StoreError.system("open", path, errno: errno)
        }
        let writing = WritingPace(of: file, rate: rate)
        var hasGivenWay = false
        do throws(StoreError) {
            let reader = try LedgerReader(directory: directory)
            var copy = try reader.database.prepare("VACUUM INTO ?1")
            copy.bind(path.hasPrefix("/") ? path : "./" + path, at: 1)
            let goesOn = { () -> Bool in
                switch pace(WALFile.length(in: directory)) {
                case .paced: return writing.wait(unless: isStopped)
                case .unpaced: return isStopped()
                case .givesWay:
                    hasGivenWay = true
                    return true
                }
            }
            try reader.database.withProgressHandler(goesOn, every: Self.pacedSteps) {
                () throws(StoreError) in try copy.run()
            }
        } catch {
            unlink(path)
            var error = error
            if hasGivenWay {
                error = StoreError(
                    .gaveWay, message: "the copy of the ledger ended, because the WAL cannot be emptied meanwhile",
                    context: path)
            }
            if error.kind != .missing { error.context = path }
            throw error
        }
    }

    /// Checks a whole file, and reads its facts.
    ///
    /// - Throws: `corrupt` for a damaged file or no ledger, `newerSchema` for one of a newer program; any error if it
    ///   was stopped.
    init(checking path: String, isStopped: @escaping () -> Bool) throws(StoreError) {
        let database = try Database(path: path, access: .readOnly)
        schema = try LedgerSchema.check(database)
        try database.withProgressHandler(isStopped, every: Self.steps) { () throws(StoreError) in
            try database.requireIntegrity("integrity_check")
        }
        position = try LedgerSchema.logPosition(database)
        state = try LedgerSchema.stateIdentity(database)
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw StoreError.system("stat", path, errno: errno) }
        length = Int64(facts.st_size)
    }

    /// Returns the chain's batch that is the ledger's last one.
    ///
    /// - Throws: `forked` if the chain has another batch of that number, or none; `engineAway`.
    func reference(in engine: any ShardEngine) throws(StoreError) -> BatchReference {
        let batch: ChainBatch?
        do throws(EngineProblem) {
            batch = try engine.batches(from: position.number, atMost: 1).first?.batch
        } catch {
            throw StoreError(error)
        }
        guard let batch, batch.reference.number == position.number,
            batch.bytes.withUnsafeBytes(LedgerCopy.checksum) == position.checksum
        else {
            throw StoreError(
                .forked, message: "batch \(position.number) of the ledger is not that of the chain",
                context: StoreError.engine)
        }
        return batch.reference
    }

    /// Adds a part to the checksum of the parts before it.
    static func add(_ bytes: [UInt8], to checksum: inout UInt32) {
        checksum = bytes.withUnsafeBytes { CChecksum_crc32c(checksum, $0.baseAddress, $0.count) }
    }
}

/// Makes a node's ledger from the newest snapshot that this program can read, if the node has no ledger.
public struct SnapshotFetch {
    private let engine: any ShardEngine
    private let directory: String
    private let identity: ShardIdentity
    private let isStopped: () -> Bool
    private let onBegin: (Snapshot) -> Void
    /// The snapshot of which a part could not be read, because the engine was away; the parts before it are in the draft.
    private var begun: (snapshot: Snapshot, parts: Int, checksum: UInt32)?

    /// - Parameters:
    ///   - engine: the session to read with.
    ///   - directory: the state directory, which this process has locked.
    ///   - identity: the chain.
    ///   - isStopped: called at intervals.
    ///   - onBegin: called when the fetch of a snapshot begins.
    public init(
        from engine: any ShardEngine, into directory: String, of identity: ShardIdentity,
        isStopped: @escaping () -> Bool, onBegin: @escaping (Snapshot) -> Void = { _ in }
    ) {
        (self.engine, self.directory, self.identity) = (engine, directory, identity)
        (self.isStopped, self.onBegin) = (isStopped, onBegin)
    }

    private var ledger: String { directory + "/ledger.db" }
    private var draft: String { ledger + ".fetched" }

    /// Fetches a ledger if there is none. A start that ends in between leaves a draft, which the next one replaces; a call
    /// after `engineAway` goes on with the part that is missing.
    ///
    /// - Returns: whether the node may continue; `false` if it was stopped.
    /// - Throws: `engineAway`, also if the snapshot was removed meanwhile: the same call may succeed at once.
    ///   `newerSchema` if all snapshots are of a newer program; `lost` if there are none, and the chain's beginning was
    ///   deleted; `corrupt` and `forked` if none is sound.
    public mutating func run() throws(StoreError) -> Bool {
        if begun == nil { unlink(draft) }
        try LedgerWriter.requireNotLost(ledger, in: directory)
        var facts = stat()
        if lstat(ledger, &facts) == 0, facts.st_size > 0 { return true }
        let state = try mappingProblem { () throws(EngineProblem) in try engine.snapshots() }
        var problem: StoreError?
        for stored in state.snapshots {
            let snapshot = stored.snapshot
            guard snapshot.schema <= LedgerSchema.version else {
                problem =
                    problem
                    ?? StoreError(
                        .newerSchema,
                        message:
                            "the snapshot behind batch \(snapshot.reference.number) has schema \(snapshot.schema); "
                            + "this program knows up to \(LedgerSchema.version)", context: StoreError.engine)
                continue
            }
            if begun?.snapshot != snapshot {
                begun = nil
                onBegin(snapshot)
            }
            do throws(StoreError) {
                try fetch(snapshot)
                return true
            } catch {
                if error.kind == .engineAway, !isStopped() { throw error }
                begun = nil
                unlink(draft)
                if isStopped() { return false }
                guard [.corrupt, .forked, .otherFormat].contains(error.kind) else { throw error }
                problem = problem ?? error
            }
        }
        // A chain without its beginning cannot make a ledger.
        guard state.first > 0 else { return true }
        throw problem
            ?? StoreError(
                .lost, message: "the chain begins with batch \(state.first), and there is no snapshot",
                context: StoreError.engine)
    }

    private mutating func fetch(_ snapshot: Snapshot) throws(StoreError) {
        let first = begun?.parts ?? 0
        var checksum = begun?.checksum ?? 0
        if first == 0 { unlink(draft) }
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (first == 0 ? O_CREAT | O_EXCL : 0)
        guard let file = FileDescriptor(open(draft, flags, 0o640)) else {
            throw StoreError.system("open", draft, errno: errno)
        }
        for part in first..<snapshot.parts {
            begun = (snapshot, part, checksum)
            guard !isStopped() else { throw StoreError(.failed, message: "stopped", context: draft) }
            guard let bytes = try mappingProblem({ () throws(EngineProblem) in try engine.part(part, of: snapshot.id) })
            else {
                throw StoreError(
                    .engineAway, message: "the snapshot behind batch \(snapshot.reference.number) was deleted",
                    context: StoreError.engine)
            }
            guard bytes.count == snapshot.length(ofPart: part) else { throw Self.damaged(snapshot) }
            SnapshotFile.add(bytes, to: &checksum)
            let problem = bytes.withUnsafeBytes { file.writeAll($0, at: part * Snapshot.partLength) }
            guard problem == 0 else { throw StoreError.system("write", draft, errno: problem) }
        }
        begun = (snapshot, snapshot.parts, checksum)
        guard checksum == snapshot.checksum else { throw Self.damaged(snapshot) }
        let found = try SnapshotFile(checking: draft, isStopped: isStopped)
        guard found.state == identity.state, try found.reference(in: engine) == snapshot.reference else {
            throw StoreError(
                .forked,
                message: "the snapshot behind batch \(snapshot.reference.number) is not of this chain",
                context: StoreError.engine)
        }
        guard fsync(file.rawValue) == 0 else { throw StoreError.sync(draft, errno: errno) }
        try NewLedger.removeLeftovers(of: ledger, in: directory)
        guard rename(draft, ledger) == 0 else { throw StoreError.system("rename", draft, errno: errno) }
        try LogDirectory.sync(directory)
    }

    private func mappingProblem<Value>(_ ask: () throws(EngineProblem) -> Value) throws(StoreError) -> Value {
        do throws(EngineProblem) {
            return try ask()
        } catch {
            throw StoreError(error)
        }
    }

    private static func damaged(_ snapshot: Snapshot) -> StoreError {
        StoreError(
            .corrupt, message: "the snapshot behind batch \(snapshot.reference.number) is damaged",
            context: StoreError.engine)
    }
}

/// Writes the ledger of a node as a snapshot of its shard, beside the running node. For one thread.
public struct SnapshotWriter {
    private let engine: any ShardEngine
    private let directory: String
    private let node: String
    private let rate: Int
    private let pace: (_ walLength: Int) -> CopyPace
    private let pause: (Duration) -> Bool

    /// - Parameters:
    ///   - engine: the session to write with.
    ///   - directory: the state directory.
    ///   - node: the node's name.
    ///   - rate: how many bytes a second are copied into a file, sent, and read back, at most.
    ///   - pace: how the copy into a file goes on, by the length of the ledger's WAL.
    ///   - pause: waits; returns whether to stop.
    public init(
        _ engine: any ShardEngine, directory: String, node: String, rate: Int,
        pace: @escaping (_ walLength: Int) -> CopyPace = { _ in .paced }, pause: @escaping (Duration) -> Bool
    ) {
        (self.engine, self.directory, self.node) = (engine, directory, node)
        (self.rate, self.pace, self.pause) = (rate, pace, pause)
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
    /// - Throws: `engineAway`; `gaveWay`; `forked` if the ledger's last batch is not the chain's; `corrupt` if the ledger is
    ///   damaged, or the engine returns other bytes; `missing`; errors of the disk.
    public func write(
        behind number: UInt64 = 0, replacing seen: SnapshotClaim? = nil
    ) throws(StoreError) -> Snapshot? {
        guard try LedgerSchema.logPosition(LedgerReader(directory: directory).database).number > number else {
            return nil
        }
        let id = UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
        let begun = try retrying { () throws(EngineProblem) in
            try engine.beginSnapshot(id, by: node, replacing: seen)
        }
        guard begun == true else { return nil }
        defer { unlink(path) }
        let presence = Presence { [engine, pause] in pause(.zero) || (try? engine.moveSnapshot(id)) == false }
        let file: SnapshotFile
        do throws(StoreError) {
            try SnapshotFile.make(ofLedgerIn: directory, at: path, rate: rate, pace: pace) { presence.isStopped }
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
