import CLinux
import Glibc
import LinuxSystem

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
