import Glibc

/// Reads and writes small files as a whole: keys, certificates, rules.
public enum SmallFile {
    /// The limit for a file, in bytes; the rest is not read.
    private static let longest = 1 << 20

    /// Reads a file; `nil` if it does not exist.
    ///
    /// - Throws: if it cannot be read.
    public static func read(_ path: String) throws(StartFailure) -> [UInt8]? {
        guard let file = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC)) else {
            guard errno == ENOENT else { throw .system("open \(path)") }
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: longest)
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes { bytes in
                retryingInterrupts {
                    Glibc.read(file.rawValue, bytes.baseAddress.map { $0 + length }, bytes.count - length)
                }
            }
            guard count >= 0 else { throw .system("read \(path)") }
            if count == 0 { break }
            length += count
        }
        return Array(bytes.prefix(length))
    }

    /// Replaces a file as a whole, durably.
    ///
    /// - Parameter diskStatus: the exit status of the error where the disk failed, and not only lacks room.
    public static func replace(
        _ path: String, with bytes: [UInt8], mode: UInt32, diskStatus: Int32 = StartFailure.system
    ) throws(StartFailure) {
        let draft = "\(path).new"
        unlink(draft)
        guard let file = FileDescriptor(open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)) else {
            throw .system("create \(draft)")
        }
        let failure = bytes.withUnsafeBytes { file.writeAll($0, at: 0) }
        errno = failure
        guard failure == 0 else {
            throw .system("write \(draft)", exitStatus: failure == EIO ? diskStatus : StartFailure.system)
        }
        guard fchmod(file.rawValue, mode) == 0 else { throw .system("write \(draft)") }
        guard fsync(file.rawValue) == 0 else { throw .system("sync \(draft)", exitStatus: diskStatus) }
        guard rename(draft, path) == 0 else { throw .system("rename \(draft)") }
        let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? "."
        guard let directory = FileDescriptor(open(String(parent), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
            fsync(directory.rawValue) == 0
        else { throw .system("sync the directory of \(path)", exitStatus: diskStatus) }
    }

    /// Returns the names of the files in a directory with a suffix, sorted.
    public static func names(in path: String, suffix: String) throws(StartFailure) -> [String] {
        guard let directory = opendir(path) else { throw .system("open the directory \(path)") }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix("."), name.hasSuffix(suffix) { names.append(name) }
        }
        return names.sorted()
    }
}
