import Glibc
import LinuxSystem
public import PushModel

/// The ledger of one machine, as the beginning of a chain. The value holds the directory's lock, which keeps daemons
/// out.
public struct FirstLedger: ~Copyable {
    /// The first batch of the chain and its snapshot.
    public let start: ChainStart
    private let directory: StateDirectory
    private let path: String
    private let file: FileDescriptor

    /// Brings a ledger up to date from its log, and makes a copy of it with one more batch, the chain's first. Changes
    /// nothing else of the ledger.
    ///
    /// - Parameters:
    ///   - path: the state directory.
    ///   - boot: this machine's boot.
    ///   - now: the current time.
    ///   - name: returns the name of a user of this machine; `nil` if it cannot be found now.
    /// - Throws: `missing`, `inUse`, `logDamaged`, `failed` for a missing name, and errors of the ledger and the disk.
    public init(
        in path: String, boot: UUID128, at now: WallTime, name: (UInt32) -> String?
    ) throws(StoreError) {
        let ledger = path + "/ledger.db"
        guard access(ledger, F_OK) == 0 || errno != ENOENT else {
            throw StoreError(.missing, message: "there is no ledger", context: ledger)
        }
        let lock = try StateDirectory(path: path)
        let draft = path + "/first.db"
        let start = try Self.make(draft, ofLedgerIn: path, boot: boot, at: now, name)
        guard let file = FileDescriptor(open(draft, O_RDONLY | O_CLOEXEC)) else {
            throw StoreError.system("open", draft, errno: errno)
        }
        (self.start, self.path) = (start, draft)
        self.file = file
        directory = lock
    }

    deinit { unlink(path) }

    /// Returns a part of the snapshot; `nil` if it cannot be read.
    public borrowing func part(_ part: Int) -> [UInt8]? { Self.part(part, of: start.snapshot, in: file.rawValue) }

    /// Marks the ledger as a copy of a fleet's from now on.
    public borrowing func join(fleet: UUID128) throws(StoreError) {
        try FleetMark(fleet: fleet).write(in: directory.path)
    }

    private static func make(
        _ draft: String, ofLedgerIn path: String, boot: UUID128, at now: WallTime,
        _ name: (UInt32) -> String?
    ) throws(StoreError) -> ChainStart {
        let (state, position, last) = try bringUpToDate(path)
        let producers = try newProducers(path, name)
        let id = UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
        let reference = BatchReference(number: position.number + 1, id: id)
        let buffer = RowBuffer(headroom: BatchHeader.length)
        for producer in producers { buffer.append(.producer(producer)) }
        let checksum = BatchHeader(
            number: reference.number, previousChecksum: position.checksum, rowsLength: buffer.byteCount, released: 0,
            lastSequence: last, writtenAt: now, id: id
        ).write(to: buffer)
        let batch = ChainBatch(
            reference: reference, previous: BatchReference.start.id, epoch: 0, boot: boot,
            handedOver: Instant(nanoseconds: SystemClock.monotonicNanoseconds),
            bytes: Array(buffer.memory[..<buffer.end]))

        try SnapshotFile.make(ofLedgerIn: path, at: draft) { false }
        do throws(StoreError) {
            try add(producers, to: draft)
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

    /// Applies the rows of the first batch.
    private static func add(_ producers: [Producer], to draft: String) throws(StoreError) {
        let database = try Database(path: draft, access: .readWrite)
        var insert = try database.prepare(Producer.table.insertion())
        for producer in producers {
            insert.bind(Int64(producer.number), at: 1)
            insert.bind(producer.name, at: 2)
            try insert.run()
        }
    }

    /// Returns the producers of a ledger that have no number yet: on one machine each is a user id.
    private static func newProducers(
        _ path: String, _ name: (UInt32) -> String?
    ) throws(StoreError) -> [Producer] {
        let reader = try LedgerReader(directory: path)
        var numbers = ProducerNumbers(try reader.producers())
        let users = try reader.database.prepare(
            """
            SELECT DISTINCT uid FROM request_rows WHERE id IS NOT NULL AND uid NOT IN (SELECT uid FROM producers)
            ORDER BY uid
            """)
        var producers: [Producer] = []
        while try users.step() {
            let user: UInt32 = try users.value(0)
            guard let name = name(user) else {
                throw StoreError(.failed, message: "the name of uid \(user) cannot be looked up now", context: path)
            }
            // If two ids have one name, the lower id gets it.
            guard let producer = numbers.add(numbers[name] == nil ? name : "uid:\(user)", user: user) else { break }
            producers.append(producer)
        }
        return producers
    }

    /// Applies the rest of the log to the ledger, and copies the whole WAL to the synced database.
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
