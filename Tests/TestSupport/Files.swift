import Glibc

/// The text of the last error number.
func systemReason() -> String { String(cString: strerror(errno)) }

/// Writes a file anew; traps when it cannot.
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

/// The bytes of a file, also one of `/proc`; `nil` when it cannot be opened or read.
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

/// The names in a directory, sorted, without those that begin with a dot; traps when it cannot be read.
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

/// The first of the descriptors that has something to read, or is at its end; `nil` when the time is up.
public func waitUntilReadable(_ descriptors: [Int32], milliseconds: Int32) -> Int32? {
    var requests = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while true {
        let count = poll(&requests, nfds_t(requests.count), milliseconds)
        if count >= 0 || errno != EINTR { return requests.first { $0.revents != 0 }?.fd }
    }
}
