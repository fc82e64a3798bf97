import HTTPClient
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

/// The directories of the configuration, which is read at the start and at each reload.
struct Configuration {
    var directories: [String]
    /// Whether the command line named the directory, so that it must exist.
    var isRequired: Bool
    /// `$CREDENTIALS_DIRECTORY`, in which systemd puts the service's credentials.
    var credentials: String?

    /// Reads and validates the main file.
    ///
    /// - Throws: a line for each error.
    func load() throws(StartFailure) -> ForwardingSettings {
        // A mistake in a handler or a route must not keep entries from being sent.
        try LoadedConfiguration(reading: directories, required: isRequired, mainOnly: true).settings.usersTrack
    }

    /// Makes the destination of requests; reads the key again.
    ///
    /// - Parameters:
    ///   - settings: the configuration.
    ///   - isCheck: whether a credential is not read: systemd hides it from the command of a reload.
    /// - Throws: `StartFailure` with the missing or wrong setting and the remedy.
    func destination(
        _ settings: ForwardingSettings, isCheck: Bool = false
    ) throws(StartFailure) -> HTTPDestination {
        guard let endpoint = settings.endpoint else {
            throw StartFailure(
                "Endpoint= in [UsersTrack] is not set: there is nothing to send to; set it to the REST endpoint of your "
                    + "instance, such as https://rest.fra-01.braze.eu", exitStatus: StartFailure.configuration)
        }
        return HTTPDestination(
            url: endpoint, headers: Self.headers,
            bearer: isCheck && settings.keyFile == nil ? nil : try apiKey(settings),
            timeoutMilliseconds: Int(settings.timeout.milliseconds), wantedHeaders: ["x-ratelimit-reset"])
    }

    /// The headers of a request, without the key's.
    static let headers = [
        "Content-Type: application/json", "Accept: application/json",
        "User-Agent: pushrouter-forward/\(pushrouterdVersion)",
    ]

    private func apiKey(_ settings: ForwardingSettings) throws(StartFailure) -> Secret {
        if let path = settings.keyFile { return try APIKey.read(path, isPrivate: true) }
        guard let credentials else {
            throw StartFailure(
                "there is no API key: name its file with KeyFile= in [UsersTrack], or give the service the systemd "
                    + "credential users-track-key (LoadCredential=)", exitStatus: StartFailure.configuration)
        }
        return try APIKey.read(credentials + "/users-track-key", isPrivate: false)
    }
}

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
