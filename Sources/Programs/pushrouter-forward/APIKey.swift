import Glibc
import HTTPClient
import LinuxSystem
import SettingsFiles

/// Reads the API key: one line of visible ASCII. No message repeats any of it.
enum APIKey {
    /// The longest that is taken for a key.
    private static let maximumLength = 4096

    /// Reads it.
    ///
    /// - Parameters:
    ///   - path: its file.
    ///   - isPrivate: whether only the file's owner may have access; what systemd puts into the credentials directory needs
    ///     no such check: nobody else gets into that, and its access list shows as rights of the group.
    /// - Throws: what is wrong with the file, and what to do.
    static func read(_ path: String, isPrivate: Bool) throws(StartFailure) -> Secret {
        // A pipe would keep the program waiting; it is refused below.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else {
            let reason = errorText(errno)
            throw StartFailure("cannot read the API key: \(path): \(reason)", exitStatus: StartFailure.configuration)
        }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw StartFailure(
                "cannot read the API key: \(path) is not a regular file", exitStatus: StartFailure.configuration)
        }
        guard !isPrivate || facts.st_mode & 0o077 == 0 else {
            throw StartFailure(
                "the file with the API key may be read by others: chmod 600 \(path), and make a new key if somebody read it",
                exitStatus: StartFailure.permission)
        }
        return try Secret(capacity: maximumLength + 1) { memory throws(StartFailure) in
            let count = Glibc.read(descriptor, memory.baseAddress, memory.count)
            guard count >= 0 else {
                let reason = errorText(errno)
                throw StartFailure(
                    "cannot read the API key: \(path): \(reason)", exitStatus: StartFailure.configuration)
            }
            return try trim(memory, count, path)
        }
    }

    /// Moves the key to the front, without the white space around it.
    ///
    /// - Returns: its length.
    private static func trim(
        _ memory: UnsafeMutableRawBufferPointer, _ count: Int, _ path: String
    ) throws(StartFailure) -> Int {
        func wrong(_ what: String) -> StartFailure {
            StartFailure("the file with the API key, \(path), \(what)", exitStatus: StartFailure.configuration)
        }
        guard count <= maximumLength else { throw wrong("is longer than \(maximumLength) bytes: it is not a key") }
        let isSpace = { (byte: UInt8) in [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
        guard let first = memory[..<count].firstIndex(where: { !isSpace($0) }),
            let last = memory[..<count].lastIndex(where: { !isSpace($0) })
        else { throw wrong("is empty") }
        guard memory[first...last].allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw wrong("has more than one word, or characters that no key has: it must have the key alone")
        }
        memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[first...last]))
        return last - first + 1
    }
}
