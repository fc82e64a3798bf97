import Glibc
import LinuxSystem
import PushModel

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
    /// Sessions, session starts, and last known facts of devices.
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
