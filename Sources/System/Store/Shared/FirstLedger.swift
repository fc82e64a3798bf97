import Glibc
import LinuxSystem
public import PushFleet
public import PushModel

/// The ledger of one machine, as the beginning of a chain. No daemon has it while this value is there.
public struct FirstLedger: ~Copyable {
    /// What the chain begins with.
    public let start: ChainStart
    private let directory: StateDirectory
    private let path: String
    private let file: FileDescriptor

    /// Brings a ledger up to date from its log, and makes a copy of it behind a batch of its own. Nothing else of the ledger
    /// is changed.
    ///
    /// - Parameters:
    ///   - path: the state directory.
    ///   - boot: this machine's boot.
    ///   - now: the clock.
    /// - Throws: `missing`, `inUse`, `logDamaged`, and what opening a ledger and the disk say.
    public init(in path: String, boot: UUID128, at now: WallTime) throws(StoreError) {
        let ledger = path + "/ledger.db"
        guard access(ledger, F_OK) == 0 || errno != ENOENT else {
            throw StoreError(.missing, message: "there is no ledger", context: ledger)
        }
        let lock = try StateDirectory(path: path)
        let draft = path + "/first.db"
        let start = try Self.make(draft, ofLedgerIn: path, boot: boot, at: now)
        guard let file = FileDescriptor(open(draft, O_RDONLY | O_CLOEXEC)) else {
            throw StoreError.system("open", draft, errno: errno)
        }
        (self.start, self.path) = (start, draft)
        self.file = file
        directory = lock
    }

    deinit { unlink(path) }

    /// A part of the snapshot; `nil` when it cannot be read.
    public borrowing func part(_ part: Int) -> [UInt8]? { Self.part(part, of: start.snapshot, in: file.rawValue) }

    /// Notes that the ledger is a copy of a fleet's from now on.
    public borrowing func join(fleet: UUID128) throws(StoreError) {
        try FleetMark(fleet: fleet).write(in: directory.path)
    }

    private static func make(
        _ draft: String, ofLedgerIn path: String, boot: UUID128, at now: WallTime
    ) throws(StoreError) -> ChainStart {
        let (state, position, last) = try bringUpToDate(path)
        let id = UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
        let reference = BatchReference(number: position.number + 1, id: id)
        let buffer = RowBuffer(capacity: 0)
        let checksum = BatchHeader(
            number: reference.number, previousChecksum: position.checksum, rowsLength: 0, released: 0,
            lastSequence: last, writtenAt: now, id: id
        ).write(to: buffer)
        let batch = ChainBatch(
            reference: reference, previous: BatchReference.start.id, epoch: 0, boot: boot,
            handedOver: Instant(nanoseconds: SystemClock.monotonicNanoseconds),
            bytes: Array(buffer.memory[..<buffer.end]))

        try SnapshotFile.make(ofLedgerIn: path, at: draft) { false }
        do throws(StoreError) {
            try Database(path: draft, access: .readWrite).execute(
                """
                UPDATE log_position SET number = \(reference.number), checksum = \(checksum), segment = 0, segment_end = 0
                """)
            let found = try SnapshotFile(checking: draft) { false }
            guard let file = FileDescriptor(open(draft, O_RDONLY | O_CLOEXEC)) else {
                throw StoreError.system("open", draft, errno: errno)
            }
            var snapshot = Snapshot(
                id: UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max)), reference: reference,
                schema: found.schema, length: found.length, checksum: 0)
            for number in 0..<snapshot.parts {
                guard let bytes = part(number, of: snapshot, in: file.rawValue) else {
                    throw StoreError.system("read", draft, errno: errno)
                }
                SnapshotFile.add(bytes, to: &snapshot.checksum)
            }
            return ChainStart(state: state, batch: batch, snapshot: snapshot)
        } catch {
            unlink(draft)
            throw error
        }
    }

    /// Applies what the log has and the ledger has not, and has all of it on the disk.
    ///
    /// - Returns: the ledger's id, the place behind its last batch, and the number of its last request.
    private static func bringUpToDate(_ path: String) throws(StoreError) -> (UUID128, LogPosition, SequenceNumber) {
        let writer = try LedgerWriter(directory: path)
        if let log = try LogDirectory(reading: path, state: writer.stateID) {
            var chain = try LogChain(log.segmentsForReading())
            if let damage = try Recovery.replay(&chain, writer) {
                throw StoreError(.logDamaged, message: damage, context: log.path)
            }
        }
        try writer.emptyWAL()
        return (writer.stateID, writer.position, try writer.reader().highestSequenceNumber())
    }

    private static func part(_ part: Int, of snapshot: Snapshot?, in file: Int32) -> [UInt8]? {
        guard let snapshot, part < snapshot.parts else { return nil }
        var bytes = [UInt8](repeating: 0, count: snapshot.length(ofPart: part))
        let count = bytes.count
        let taken = retryingInterrupts { pread(file, &bytes, count, off_t(part * Snapshot.partLength)) }
        return taken == count ? bytes : nil
    }
}
