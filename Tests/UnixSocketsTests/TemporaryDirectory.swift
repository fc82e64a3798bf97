import Glibc

/// A directory of its own for one test; what is in it goes with it.
final class TemporaryDirectory {
    let path: String

    init() {
        var template = Array("/tmp/pushrouterd-sockets.XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil)
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    deinit { remove() }

    /// Removes it, for a test that ends its process.
    func remove() {
        for name in entries() { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// The names in it, sorted.
    func entries() -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
