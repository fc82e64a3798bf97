import Glibc
import LinuxSystem

/// A file that is replaced by rename(2), so that its readers get either the old text or the new one.
struct TextFile {
    /// The path of the file.
    var path: String

    /// Writes the file, without a sync: after a crash the next write comes soon.
    ///
    /// - Throws: the error of a system call.
    func replace(with text: String) throws(SystemError) {
        // The temporary name does not end in .prom, so that no collector reads the file.
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
        // Sets the mode despite the umask: any user may read the file.
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
