import HTTPClient
import HTTPSending
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
        let key: Result<Secret, StartFailure>
        do throws(SecretFileFault) {
            key = try SecretFile.read(path, isPrivate: isPrivate, limit: maximumLength) { word(in: $0, of: path) }
        } catch {
            switch error {
            case .unreadable:
                throw StartFailure(error.description(of: "the API key"), exitStatus: StartFailure.configuration)
            case .open:
                throw StartFailure(
                    "\(error.description(of: "the API key")), and make a new key if somebody read it",
                    exitStatus: StartFailure.permission)
            case .tooLong: throw wrong(path, "is longer than \(maximumLength) bytes: it is not a key")
            }
        }
        return try key.get()
    }

    private static func wrong(_ path: String, _ what: String) -> StartFailure {
        StartFailure("the file with the API key, \(path), \(what)", exitStatus: StartFailure.configuration)
    }

    /// The key without the white space around it.
    private static func word(in text: UnsafeRawBufferPointer, of path: String) -> Result<Secret, StartFailure> {
        let isSpace = { (byte: UInt8) in [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
        else { return .failure(wrong(path, "is empty")) }
        let word = UnsafeRawBufferPointer(rebasing: text[first...last])
        guard word.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            return .failure(
                wrong(path, "has more than one word, or characters that no key has: it must have the key alone"))
        }
        return .success(
            Secret(capacity: word.count) { (memory: UnsafeMutableRawBufferPointer) -> Int in
                memory.copyMemory(from: word)
                return word.count
            })
    }
}
