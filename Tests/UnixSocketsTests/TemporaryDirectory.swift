import Glibc

@testable import LinuxSystem

/// A directory for one test; it is removed with its contents.
final class TemporaryDirectory {
    let path: String

    init() {
        var template = Array("/tmp/pushrouterd-sockets.XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil)
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    deinit { remove() }

    /// Removes the directory, for a test that ends its process.
    func remove() {
        for name in entries() + [SocketBinding.lockName] { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// The names in it, sorted, without the permanent lock.
    func entries() -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if ![".", "..", SocketBinding.lockName].contains(name) { names.append(name) }
        }
        return names.sorted()
    }
}
