import Glibc

/// A test's own directory under `/tmp`, removed with its contents in `deinit`.
public struct TemporaryDirectory: ~Copyable, Sendable {
    /// The absolute path, short enough for a socket address.
    public let path: String

    /// Makes the directory; traps on an error.
    public init() {
        var template = Array("/tmp/pushrouterd-test.XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil, "mkdtemp: \(String(cString: strerror(errno)))")
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    /// Removes a tree without following symbolic links; leaves files that cannot be removed.
    private static func remove(_ path: String) {
        var facts = stat()
        guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, let directory = opendir(path) else {
            unlink(path)
            return
        }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { remove("\(path)/\(name)") }
        }
        closedir(directory)
        rmdir(path)
    }
}
