import CChecksum
import Glibc
import LinuxSystem
import PushModel

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
    /// The same while a file is written: some rows lie between.
    private static let pacedSteps: Int32 = 200

    /// Copies the ledger of a state directory as it is now, with `VACUUM INTO`, beside a running daemon. The file is
    /// not synced.
    ///
    /// - Parameters:
    ///   - directory: the state directory.
    ///   - path: the file to write; an existing file is replaced.
    ///   - rate: how many bytes of the file are written in a second, at most.
    ///   - isStopped: asked from time to time.
    /// - Throws: `missing`, errors of the disk and of SQLite, and any error after a stop. The file is removed then.
    static func make(
        ofLedgerIn directory: String, at path: String, rate: Int = .max, isStopped: @escaping () -> Bool
    ) throws(StoreError) {
        unlink(path)
        guard let file = FileDescriptor(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)) else {
            throw StoreError.system("open", path, errno: errno)
        }
        let pace = WritingPace(of: file, rate: rate)
        do throws(StoreError) {
            let reader = try LedgerReader(directory: directory)
            var copy = try reader.database.prepare("VACUUM INTO ?1")
            copy.bind(path.hasPrefix("/") ? path : "./" + path, at: 1)
            try reader.database.withProgressHandler({ pace.wait(unless: isStopped) }, every: Self.pacedSteps) {
                () throws(StoreError) in try copy.run()
            }
        } catch {
            unlink(path)
            var error = error
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
        schema = try Schema.check(database)
        try database.withProgressHandler(isStopped, every: Self.steps) { () throws(StoreError) in
            try database.requireIntegrity("integrity_check")
        }
        position = try Schema.logPosition(database)
        state = try Schema.stateIdentity(database)
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
