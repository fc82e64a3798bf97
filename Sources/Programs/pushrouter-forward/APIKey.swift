import HTTPClient
import LinuxSystem
import PushSettings

/// Reads the API key: one line of visible ASCII. No message contains any part of it.
enum APIKey {
    /// The longest key.
    private static let maximumLength = 4096

    /// Reads the key's file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - isPrivate: whether only the file's owner may have access. A file of systemd's credentials directory needs no
    ///     such check: no other user gets into the directory, and the file's access list shows as rights of the group.
    /// - Throws: the error of the file, with the remedy.
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

    /// The key without white space around it.
    private static func word(in text: UnsafeRawBufferPointer, of path: String) -> Result<Secret, StartFailure> {
        let isSpace = { (byte: UInt8) in [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
        else { return .failure(wrong(path, "is empty")) }
        let word = UnsafeRawBufferPointer(rebasing: text[first...last])
        guard word.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            return .failure(
                wrong(path, "must have the key alone, one word of visible characters"))
        }
        return .success(
            Secret(capacity: word.count) { (memory: UnsafeMutableRawBufferPointer) -> Int in
                memory.copyMemory(from: word)
                return word.count
            })
    }
}
