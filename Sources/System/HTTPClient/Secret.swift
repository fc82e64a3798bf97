import CLinux
import Glibc
import LinuxSystem

/// A secret text whose memory is overwritten at its release. Not to be copied into arrays or strings, which are not
/// overwritten.
public final class Secret {
    private let memory: UnsafeMutableRawBufferPointer
    private let count: Int

    /// - Parameters:
    ///   - capacity: the largest number of bytes.
    ///   - fill: writes the text and returns its length; called once.
    public init<Failure: Error>(
        capacity: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        do throws(Failure) {
            count = try fill(memory)
        } catch {
            Self.dispose(of: memory)
            throw error
        }
        precondition(0...capacity ~= count, "a secret is as long as its memory at most")
        self.memory = memory
    }

    deinit { Self.dispose(of: memory) }

    /// Calls `body` with the text after a prefix, with a NUL at the end; the pointer is valid until `body` returns, and
    /// the memory is then overwritten.
    func withCString<Failure: Error>(
        after prefix: StaticString, _ body: (UnsafePointer<CChar>) throws(Failure) -> Void
    ) throws(Failure) {
        let length = prefix.utf8CodeUnitCount
        let line = UnsafeMutableRawBufferPointer.allocate(byteCount: length + count + 1, alignment: 1)
        line.initializeMemory(as: CChar.self, repeating: 0)
        defer { Self.dispose(of: line) }
        line.copyMemory(from: UnsafeRawBufferPointer(start: prefix.utf8Start, count: length))
        UnsafeMutableRawBufferPointer(rebasing: line[length...]).copyMemory(from: text)
        guard let start = line.baseAddress else { preconditionFailure("the line has at least its NUL") }
        try body(start.assumingMemoryBound(to: CChar.self))
    }

    /// Replaces each copy of the text in some bytes by asterisks.
    func mask(in bytes: inout [UInt8]) {
        guard count > 0 else { return }
        bytes.withUnsafeMutableBytes { bytes in
            var place = 0
            while place + count <= bytes.count, let start = bytes.baseAddress {
                guard let text = memory.baseAddress,
                    let found = CLinux_find(start + place, bytes.count - place, text, count)
                else { return }
                memset(found, Int32(UInt8(ascii: "*")), count)
                place = found - start + count
            }
        }
    }

    /// Calls `body` with the bytes; the pointer is valid until `body` returns.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withExtendedLifetime(self) { body(text) }
    }

    private var text: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    private static func dispose(of memory: UnsafeMutableRawBufferPointer) {
        if let start = memory.baseAddress { explicit_bzero(start, memory.count) }
        memory.deallocate()
    }
}

/// A fault of a secret's file. No message repeats a part of the secret.
public enum SecretFileFault: Error, Hashable, Sendable {
    /// The file cannot be read; the reason begins with its path.
    case unreadable(String)
    /// Other users than its owner may read the file.
    case open(path: String)
    /// The file is longer than any such secret.
    case tooLong(path: String)

    /// Returns the message for people.
    ///
    /// - Parameter what: the secret, such as "the API key".
    public func description(of what: String) -> String {
        switch self {
        case .unreadable(let reason): "cannot read \(what): \(reason)"
        case .open(let path): "the file with \(what) may be read by others: chmod 600 \(path)"
        case .tooLong(let path): "the file with \(what), \(path), is too long"
        }
    }
}

/// Reads the files of secrets.
public enum SecretFile {
    /// Reads a file into memory that is overwritten before this returns.
    ///
    /// - Parameters:
    ///   - path: the file; a pipe is refused, because a read could block the program.
    ///   - isPrivate: whether only the file's owner may have access. Files in systemd's credentials directory need no
    ///     such
    ///     check: no other user can enter that directory, and its access list appears as permissions of the group.
    ///   - limit: the longest secret, in bytes.
    ///   - body: gets the secret.
    public static func read<Result>(
        _ path: String, isPrivate: Bool, limit: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(SecretFileFault) -> Result {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable("\(path): \(errorText(errno))") }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw .unreadable("\(path) is not a regular file")
        }
        guard !isPrivate || facts.st_mode & 0o077 == 0 else { throw .open(path: path) }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: limit + 1, alignment: 1)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        defer {
            if let start = memory.baseAddress { explicit_bzero(start, memory.count) }
            memory.deallocate()
        }
        let count = retryingInterrupts { Glibc.read(descriptor, memory.baseAddress, memory.count) }
        guard count >= 0 else { throw .unreadable("\(path): \(errorText(errno))") }
        guard count <= limit else { throw .tooLong(path: path) }
        return body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<count]))
    }
}

/// Protects a process with secrets in its memory.
public enum SecretProcess {
    /// Turns off core dumps of this process, and access by debuggers of the same user. To be called before the first
    /// secret is read.
    ///
    /// - Returns: whether it succeeded; otherwise `errno` is set.
    public static func forbidCores() -> Bool {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        return CLinux_deny_dumps() == 0 && setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0
    }
}
