import Glibc
import LinuxSystem

/// Copies files that may be as large as a ledger.
enum FileCopy {
    /// Copies a file by its path.
    static func make(of source: String, at path: String) throws(StoreError) {
        guard let file = FileDescriptor(open(source, O_RDONLY | O_CLOEXEC)) else {
            throw StoreError.system("open", source, errno: errno)
        }
        try make(of: file.rawValue, named: source, at: path)
    }

    /// Copies a file into a new one, with the mode of a ledger.
    ///
    /// - Parameters:
    ///   - source: open for reading, at its beginning.
    ///   - name: the name of the source in messages.
    ///   - path: the new file; an existing one is replaced.
    static func make(of source: Int32, named name: String, at path: String) throws(StoreError) {
        unlink(path)
        guard let copy = FileDescriptor(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o640)) else {
            throw StoreError.system("open", path, errno: errno)
        }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { memory.deallocate() }
        var offset = 0
        while true {
            let count = retryingInterrupts { read(source, memory.baseAddress, memory.count) }
            guard count >= 0 else { throw StoreError.system("read", name, errno: errno) }
            if count == 0 { return }
            let problem = copy.writeAll(UnsafeRawBufferPointer(rebasing: memory[..<count]), at: offset)
            guard problem == 0 else { throw StoreError.system("write", path, errno: problem) }
            offset += count
        }
    }
}
