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

/// The fleet that the ledger of a state directory is a copy of: the file `fleet`.
///
/// A copy that led alone keeps the mark as `fleet.left`: no chain has the requests that it accepted since.
public struct FleetMark: Hashable, Sendable {
    /// The fleet.
    public var fleet: UUID128
    /// The database with the fleet, as far as it is known.
    public var place: DatabasePlace

    init(fleet: UUID128, place: DatabasePlace = DatabasePlace()) { (self.fleet, self.place) = (fleet, place) }

    private static let name = "fleet"
    private static let leftName = "fleet.left"

    /// Returns the mark of a directory; `nil` if its ledger is no copy of a fleet's.
    public static func read(in directory: String) throws(StoreError) -> FleetMark? {
        try read("\(directory)/\(name)")
    }

    private static func read(_ path: String) throws(StoreError) -> FleetMark? {
        guard access(path, F_OK) == 0 else {
            if errno == ENOENT { return nil }
            throw StoreError.system("open", path, errno: errno)
        }
        let text = String(decoding: SetAside.start(of: path, count: 200) ?? [], as: UTF8.self)
        var values: [Substring: Substring] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[parts[0]] = parts[1] }
        }
        guard let fleet = values["fleet"].flatMap({ UUID128(String($0)) }) else {
            throw StoreError(.corrupt, message: "the file names no fleet", context: path)
        }
        func number(_ name: Substring) -> Int64? { values[name].flatMap { Int64($0) } }
        return FleetMark(
            fleet: fleet, place: DatabasePlace(cluster: number("cluster"), database: number("database")))
    }

    /// Writes the mark; it is on the disk when this returns.
    func write(in directory: String) throws(StoreError) {
        let path = "\(directory)/\(Self.name)"
        let draft = path + ".new"
        unlink(draft)
        guard let file = FileDescriptor(open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o640)) else {
            throw StoreError.system("open", draft, errno: errno)
        }
        var text = "fleet=\(fleet)\n"
        if let cluster = place.cluster { text += "cluster=\(cluster)\n" }
        if let database = place.database { text += "database=\(database)\n" }
        let problem = Array(text.utf8).withUnsafeBytes { file.writeAll($0, at: 0) }
        guard problem == 0 else { throw StoreError.system("write", draft, errno: problem) }
        guard fsync(file.rawValue) == 0 else { throw StoreError.sync(draft, errno: errno) }
        guard rename(draft, path) == 0 else { throw StoreError.system("rename", draft, errno: errno) }
        unlink("\(directory)/\(Self.leftName)")
        try LogDirectory.sync(directory)
    }

    /// Turns the ledger of a directory into that of one machine.
    ///
    /// - Returns: the fleet that it was a copy of; `nil` if there was none.
    public static func leave(_ directory: String) throws(StoreError) -> FleetMark? {
        guard let mark = try read(in: directory) else { return nil }
        let path = "\(directory)/\(name)"
        guard rename(path, "\(directory)/\(leftName)") == 0 else {
            throw StoreError.system("rename", path, errno: errno)
        }
        try LogDirectory.sync(directory)
        return mark
    }

    /// Compares the mark of a directory with the chain in a database, and makes the mark if it is missing.
    ///
    /// - Throws: `otherFleet` if the directory's ledger is no copy of the chain, or led alone since.
    public static func join(_ identity: ShardIdentity, in directory: String) throws(StoreError) {
        if let left = try read("\(directory)/\(leftName)") {
            throw StoreError(
                .otherFleet(led: true),
                message:
                    "the ledger was a copy of fleet \(left.fleet), and led alone since: the database lacks the "
                    + "requests that it accepted", context: directory)
        }
        guard var mark = try read(in: directory) else {
            return try FleetMark(fleet: identity.fleet, place: identity.place).write(in: directory)
        }
        guard mark.fleet == identity.fleet else {
            throw StoreError(
                .otherFleet(led: false),
                message: "the ledger is a copy of fleet \(mark.fleet), and the database has fleet \(identity.fleet)",
                context: directory)
        }
        guard mark.place.admits(identity.place) else {
            throw StoreError(
                .otherFleet(led: false),
                message:
                    "the database has fleet \(identity.fleet), but is a clone or a restored copy of the former one",
                context: directory)
        }
        let known = DatabasePlace(
            cluster: mark.place.cluster ?? identity.place.cluster,
            database: mark.place.database ?? identity.place.database)
        guard known != mark.place else { return }
        mark.place = known
        try mark.write(in: directory)
    }
}
