import Glibc
import LinuxSystem
public import PushModel

/// Whom to erase, and up to which request and entry. It lies in the state directory from the beginning of an erasure to its
/// end, so that a start goes on with one that a crash interrupted.
public struct ErasureOrder: Hashable, Sendable {
    /// Whom.
    public var person: Person
    /// What was accepted later stays.
    public var bound: ErasureBound

    /// Joins the two.
    public init(person: Person, bound: ErasureBound) {
        self.person = person
        self.bound = bound
    }
}

extension ErasureOrder {
    static func path(in directory: String) -> String { directory + "/erasure" }

    /// The names in hexadecimal, a line each: they may have any bytes.
    private var text: String {
        var lines = ["request \(bound.request.value)", "entry \(bound.entry.value)"]
        if let user = person.externalID { lines.append("user \(hexadecimal(user))") }
        lines += person.devices.map { "device \(hexadecimal($0.text))" }.sorted()
        return (lines + ["end"]).map { $0 + "\n" }.joined()
    }

    /// Reads what `text` gives; `nil` for what was not written to its end.
    init?(_ text: String) {
        let lines = text.split(separator: "\n")
        guard lines.last == "end" else { return nil }
        self.init(
            person: Person(externalID: nil),
            bound: ErasureBound(request: SequenceNumber(0), entry: EntryNumber(0)))
        for line in lines.dropLast() {
            let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2 else { return nil }
            switch words[0] {
            case "request":
                guard let number = Int64(words[1]) else { return nil }
                bound.request = SequenceNumber(number)
            case "entry":
                guard let number = Int64(words[1]) else { return nil }
                bound.entry = EntryNumber(number)
            case "user":
                guard let user = fromHexadecimal(words[1]) else { return nil }
                person.externalID = user
            case "device":
                guard let device = fromHexadecimal(words[1]) else { return nil }
                person.devices.insert(ExactName(device))
            default: return nil
            }
        }
    }

    // MARK: The file

    /// The order that an earlier run left; `nil`: there is none, or a crash came before it was written and so before anything
    /// was erased.
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
        guard let order = ErasureOrder(String(decoding: bytes, as: UTF8.self)) else {
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
            try Self.write(Array(text.utf8), to: file, path)
            try LogDirectory.sync(directory)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Takes the order away; what it says is overwritten first.
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
        var written = 0
        while written < bytes.count {
            let number = file.rawValue
            let count = bytes.withUnsafeBytes { bytes in
                retryingInterrupts {
                    pwrite(number, bytes.baseAddress.map { $0 + written }, bytes.count - written, off_t(written))
                }
            }
            guard count > 0 else { throw StoreError.system("write", path, errno: count < 0 ? errno : EIO) }
            written += count
        }
        guard fsync(file.rawValue) == 0 else { throw StoreError.system("fsync", path, errno: errno) }
    }
}

private func hexadecimal(_ text: String) -> String {
    text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

private func fromHexadecimal(_ digits: Substring) -> String? {
    let digits = Array(digits.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
        guard let byte = UInt8(String(decoding: digits[place...place + 1], as: UTF8.self), radix: 16) else {
            return nil
        }
        bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
}
