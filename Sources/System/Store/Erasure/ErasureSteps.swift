import Glibc
import LinuxSystem
import PushModel

/// The steps of an erasure, one after the other on the ledger's thread, with batches between them.
///
/// The order is on the disk before the first row is removed, and is removed when no data of the person is left. After a
/// crash at any time, either nothing was done or the next start continues with the order. If machines share the log,
/// the order is a row of the log, and each ledger stores whether it was rewritten since.
struct ErasureSteps {
    private enum Step {
        /// Writes the order.
        case begin
        /// Removes the rows, or asks for an order of the chain that does.
        case rows
        /// Waits for the order in the chain.
        case ordered
        /// Rewrites the ledger, without the data in its free pages.
        case rewrite
        /// Empties the WAL, which still has the old pages.
        case emptyWAL
        /// Overwrites the segments of the log, each once it is free.
        case log
        case done
    }

    /// The pause before another look at a segment of the log that is still needed, or at an outcome, in nanoseconds.
    private static let pause: Int64 = 100_000_000

    /// The order; `nil` if the rows are removed already.
    private let order: ErasureOrder?
    private let isShared: Bool
    private var step: Step
    /// The time of the next step, in monotonic nanoseconds: 0 means at once; `nil` means after the rows are removed.
    var nextTry: Int64? = 0
    /// Whether a report has told that the erasure waits.
    var hasReportedWait = false

    /// Begins an erasure.
    init(_ order: ErasureOrder, isShared: Bool) {
        (self.order, self.isShared) = (order, isShared)
        step = isShared ? .rows : .begin
    }

    /// An erasure whose rows an order of the chain removed.
    static let afterRows = ErasureSteps()

    private init() {
        (order, isShared) = (nil, true)
        step = .rewrite
    }

    /// Continues an erasure that an earlier run left: removes any of its rows that are still there at once.
    init(goingOnWith order: ErasureOrder, _ writer: LedgerWriter) throws(StoreError) {
        var order = order
        order.takesUndecided = true
        (self.order, isShared) = (order, false)
        _ = try writer.erase(order)
        step = .rewrite
    }

    var isDone: Bool { step == .done }

    /// Notes that the order of the chain removed the rows.
    mutating func noteErasedRows() { (step, nextTry, hasReportedWait) = (.rewrite, 0, false) }

    /// Does the next step.
    ///
    /// - Parameter release: makes applied batches durable, and releases the log's segments that are no longer needed.
    /// - Returns: a report, if there is one.
    /// - Throws: the error that prevents the step; after a passing one it is tried again.
    mutating func next(
        _ writer: LedgerWriter, _ log: any BatchLog, release: () throws(StoreError) -> Void
    ) throws(StoreError) -> StoreReport? {
        switch step {
        case .begin:
            try order?.write(in: writer.directory)
            step = .rows
        case .rows:
            guard let order else { return nil }
            let begin = SystemClock.monotonicNanoseconds
            if isShared, try writer.isDecided(order) {
                (step, nextTry) = (.ordered, nil)
                return .orderDue(.erase(order))
            }
            guard !isShared, let receipt = try writer.erase(order) else {
                let now = SystemClock.monotonicNanoseconds
                nextTry = now + max(Self.pause, 10 * (now - begin))
                return nil
            }
            step = .rewrite
            // A new reason to wait is reported again.
            hasReportedWait = false
            return .erasedRows(receipt)
        case .rewrite:
            try writer.rewrite()
            step = .emptyWAL
        case .emptyWAL:
            try writer.emptyWAL()
            // Each batch of the log is now on the disk in the ledger, or still to be applied.
            log.markForErasure()
            step = .log
        case .log:
            if try log.overwriteNextPart() { return nil }
            try release()
            if log.isClean {
                if isShared { try writer.noteRewritten() } else { try ErasureOrder.remove(in: writer.directory) }
                step = .done
                return .erased
            }
            nextTry = SystemClock.monotonicNanoseconds + Self.pause
        case .ordered, .done: break
        }
        return nil
    }
}

extension ErasureOrder {
    static func path(in directory: String) -> String { directory + "/erasure" }

    private var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.member("request", bound.request.value)
            $0.member("entry", bound.entry.value)
            $0.member("user", person.externalID)
            $0.member("devices", array: { list in person.devices.map(\.text).sorted().forEach { list.string($0) } })
        }
        return writer.bytes
    }

    /// Parses the output of `bytes`; `nil` if it was not written to its end.
    private init?(_ bytes: [UInt8]) {
        guard let order = try? JSONDocument(scanning: bytes).root, let request = order["request"]?.int64,
            let entry = order["entry"]?.int64, let devices = order["devices"]?.elements.compactMap(\.string)
        else { return nil }
        self.init(
            person: Person(externalID: order["user"]?.string, devices: devices),
            bound: ErasureBound(request: SequenceNumber(request), entry: EntryNumber(entry)))
    }

    // MARK: The file

    /// Returns the order that an earlier run left; `nil` if there is none, or if a crash came before it was written,
    /// and so before any row was erased.
    static func left(in directory: String) throws(StoreError) -> ErasureOrder? {
        let path = path(in: directory)
        guard let file = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) else {
            guard errno == ENOENT else { throw StoreError.system("open", path, errno: errno) }
            return nil
        }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = block.withUnsafeMutableBytes { block in
                retryingInterrupts { read(file.rawValue, block.baseAddress, block.count) }
            }
            guard count >= 0 else { throw StoreError.system("read", path, errno: errno) }
            if count == 0 { break }
            bytes += block[..<count]
        }
        guard let order = ErasureOrder(bytes) else {
            unlink(path)
            return nil
        }
        return order
    }

    /// Writes the order; it is on the disk when this returns.
    func write(in directory: String) throws(StoreError) {
        let path = Self.path(in: directory)
        unlink(path)
        guard let file = FileDescriptor(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)) else {
            throw StoreError.system("open", path, errno: errno)
        }
        do throws(StoreError) {
            try Self.write(bytes, to: file, path)
            try LogDirectory.sync(directory)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Overwrites the order with zeros, then removes it.
    static func remove(in directory: String) throws(StoreError) {
        let path = path(in: directory)
        if let file = FileDescriptor(open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)) {
            var facts = stat()
            guard fstat(file.rawValue, &facts) == 0 else { throw StoreError.system("fstat", path, errno: errno) }
            try write([UInt8](repeating: 0, count: Int(facts.st_size)), to: file, path)
        }
        guard unlink(path) == 0 || errno == ENOENT else { throw StoreError.system("unlink", path, errno: errno) }
        try LogDirectory.sync(directory)
    }

    private static func write(_ bytes: [UInt8], to file: borrowing FileDescriptor, _ path: String) throws(StoreError) {
        let problem = bytes.withUnsafeBytes { file.writeAll($0, at: 0) }
        guard problem == 0 else { throw StoreError.system("write", path, errno: problem) }
        guard fsync(file.rawValue) == 0 else { throw StoreError.system("fsync", path, errno: errno) }
    }
}

/// The rows that an erasure removes from the ledger, or would remove.
public struct ErasureReceipt: Hashable, Sendable {
    /// Requests whose rows stay, without any data that names the person.
    public var requests = 0
    /// Analytics events.
    public var events = 0
    /// Entries of custom data.
    public var entries = 0
    /// How many of these the endpoint has accepted: it still has them.
    public var entriesSent = 0
    /// Attributes of the profile.
    public var attributes = 0
    /// Sessions, session starts, last known facts of devices, and administrative acts that name the person.
    public var states = 0
    /// The person's devices.
    public var devices = 0
    /// Requests of others that name one of these devices; they stay.
    public var othersOnDevices = 0
    /// The batch of the chain with the order, if machines share a log: this batch and earlier ones still have the
    /// person's data.
    public var batch: UInt64?

    /// An empty receipt.
    public init() {}

    /// The number of the person's rows, which the user is asked to type.
    public var rows: Int { requests + events + entries + attributes + states }

    /// The counts in the order of the output for people and programs, each with its name in JSON.
    public static var counts: [(name: String, value: WritableKeyPath<ErasureReceipt, Int>)] {
        [
            ("requests", \.requests), ("events", \.events), ("entries", \.entries), ("entries_sent", \.entriesSent),
            ("attributes", \.attributes), ("states", \.states), ("devices", \.devices),
            ("others_on_devices", \.othersOnDevices),
        ]
    }
}
