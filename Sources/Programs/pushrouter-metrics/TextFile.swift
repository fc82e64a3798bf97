import Glibc
import LinuxSystem

/// A file that is replaced as a whole: whoever reads it sees the old text or the new one.
struct TextFile {
    /// Where it is.
    var path: String

    /// Writes it. Not to be waited for until it is on disk: after a crash it is written again soon.
    ///
    /// - Throws: what the system refused.
    func replace(with text: String) throws(SystemError) {
        // The name has another end than .prom, so that a collector does not read it.
        let temporary = "\(path).\(getpid())~"
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
        guard let file = FileDescriptor(open(temporary, flags, 0o644)) else { throw failure("write", temporary) }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { bytes in
                retryingInterrupts { write(file.rawValue, bytes.baseAddress, bytes.count) }
            }
            guard count > 0 else {
                let error = failure("write", temporary)
                unlink(temporary)
                throw error
            }
            bytes = bytes.dropFirst(count)
        }
        // The umask does not decide who may read it.
        fchmod(file.rawValue, 0o644)
        guard rename(temporary, path) == 0 else {
            let error = failure("replace", path)
            unlink(temporary)
            throw error
        }
    }

    private func failure(_ step: String, _ path: String) -> SystemError {
        SystemError(operation: "\(step) \(path)", errno: errno)
    }
}
