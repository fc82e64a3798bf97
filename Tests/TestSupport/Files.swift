import Glibc

/// Returns the text of `errno`.
func systemReason() -> String { String(cString: strerror(errno)) }

/// Writes a file, replacing its contents; traps on an error.
///
/// - Parameters:
///   - text: all of its contents.
///   - path: its absolute path.
public func writeFile(_ text: String, to path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    precondition(file >= 0, "cannot create \(path): \(systemReason())")
    defer { close(file) }
    let bytes = Array(text.utf8)
    precondition(write(file, bytes, bytes.count) == bytes.count, "cannot write \(path): \(systemReason())")
}

/// Returns the bytes of a file, also of `/proc`; `nil` if it cannot be opened or read.
///
/// - Parameter path: its absolute path.
public func readFile(_ path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = read(file, &chunk, chunk.count)
        guard count > 0 else { return count == 0 ? bytes : nil }
        bytes += chunk[..<count]
    }
}

/// Returns the names in a directory, sorted, without those that begin with a dot; traps on an error.
///
/// - Parameter path: its absolute path.
public func names(in path: String) -> [String] {
    guard let directory = opendir(path) else { preconditionFailure("cannot open \(path): \(systemReason())") }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
}

/// Returns the first descriptor that is readable or at end-of-file; `nil` at the timeout.
public func waitUntilReadable(_ descriptors: [Int32], milliseconds: Int32) -> Int32? {
    var requests = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while true {
        let count = poll(&requests, nfds_t(requests.count), milliseconds)
        if count >= 0 || errno != EINTR { return requests.first { $0.revents != 0 }?.fd }
    }
}
