import Glibc
import LinuxSystem
public import PushModel

/// Makes a node's ledger from the newest snapshot that this program can read, if the node has no ledger.
public struct SnapshotFetch {
    private let engine: any ShardEngine
    private let directory: String
    private let identity: ShardIdentity
    private let isStopped: () -> Bool
    private let onBegin: (Snapshot) -> Void

    /// - Parameters:
    ///   - engine: the session to read with.
    ///   - directory: the state directory, which this process has locked.
    ///   - identity: the chain.
    ///   - isStopped: called at intervals.
    ///   - onBegin: called before each fetch of a snapshot.
    public init(
        from engine: any ShardEngine, into directory: String, of identity: ShardIdentity,
        isStopped: @escaping () -> Bool, onBegin: @escaping (Snapshot) -> Void = { _ in }
    ) {
        (self.engine, self.directory, self.identity) = (engine, directory, identity)
        (self.isStopped, self.onBegin) = (isStopped, onBegin)
    }

    private var ledger: String { directory + "/ledger.db" }
    private var draft: String { ledger + ".fetched" }

    /// Fetches a ledger if there is none. A start that ends in between leaves a draft, which the next one replaces.
    ///
    /// - Returns: whether the node may continue; `false` if it was stopped.
    /// - Throws: `engineAway`, also if the snapshot was removed meanwhile: the same call may succeed at once.
    ///   `newerSchema` if all snapshots are of a newer program; `lost` if there are none, and the chain's beginning was
    ///   deleted; `corrupt` and `forked` if none is sound.
    public func run() throws(StoreError) -> Bool {
        unlink(draft)
        try LedgerWriter.requireNotLost(ledger, in: directory)
        var facts = stat()
        if lstat(ledger, &facts) == 0, facts.st_size > 0 { return true }
        let state = try mappingProblem { () throws(EngineProblem) in try engine.snapshots() }
        var problem: StoreError?
        for stored in state.snapshots {
            let snapshot = stored.snapshot
            guard snapshot.schema <= Schema.version else {
                problem =
                    problem
                    ?? StoreError(
                        .newerSchema,
                        message:
                            "the snapshot behind batch \(snapshot.reference.number) has schema \(snapshot.schema); "
                            + "this program knows up to \(Schema.version)", context: StoreError.engine)
                continue
            }
            onBegin(snapshot)
            do throws(StoreError) {
                defer { unlink(draft) }
                try fetch(snapshot)
                return true
            } catch {
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

    private func fetch(_ snapshot: Snapshot) throws(StoreError) {
        guard let file = FileDescriptor(open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o640)) else {
            throw StoreError.system("open", draft, errno: errno)
        }
        var checksum: UInt32 = 0
        for part in 0..<snapshot.parts {
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
