import Glibc
import HTTPClient
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

/// An `http` handler of the configuration.
struct ConfiguredEndpoint: Hashable {
    var endpoint: HTTPEndpoint
    /// Whether an invocation may be posted twice.
    var isIdempotent: Bool
}

/// The directories of the configuration, which is read at the start, for each connection and at each reload.
struct Configuration {
    var directories: [String]
    /// Whether the command line named the directory, so that it must exist.
    var isRequired: Bool
    /// The configurations that the daemon keeps, for its child: the one in force counts, not the files as they are.
    var kept: ConfigurationKeeper?
    /// `$CREDENTIALS_DIRECTORY`, in which systemd puts the service's credentials.
    var credentials: String?

    /// Reads and validates all files.
    ///
    /// - Returns: the `http` handlers, by their names.
    /// - Throws: a line for each error.
    func load() throws(StartFailure) -> [String: ConfiguredEndpoint] {
        if let kept = kept?.newestFirst.first(where: { _ in true }) {
            return Self.endpoints(of: Settings.read(kept.sources).settings)
        }
        return Self.endpoints(of: try LoadedConfiguration(reading: directories, required: isRequired).settings)
    }

    /// Reads all files for a start. A mistake leaves out what it is in: the daemon may go on with an earlier
    /// configuration, and needs the handlers.
    ///
    /// - Returns: the `http` handlers, by their names, and the errors.
    func start() -> (endpoints: [String: ConfiguredEndpoint], errors: [String]) {
        do throws(StartFailure) {
            return (try load(), [])
        } catch {
            let sources =
                (try? ConfigurationSources(reading: directories, required: isRequired)) ?? ConfigurationSources()
            return (Self.endpoints(of: Settings.read(sources).settings), error.lines)
        }
    }

    private static func endpoints(of settings: Settings) -> [String: ConfiguredEndpoint] {
        settings.routing.handlers.compactMapValues { handler in
            handler.kind.endpoint.map { ConfiguredEndpoint(endpoint: $0, isIdempotent: handler.idempotent) }
        }
    }
}

/// A file with secrets, which is read again when it has changed: the next request uses the new secret.
final class WatchedSecret<Value> {
    private struct Version: Equatable {
        var device: UInt
        var node: UInt
        var size: Int
        var seconds: Int
        var nanoseconds: Int
    }

    private let path: String
    private let isPrivate: Bool
    private let what: String
    private let parse: (UnsafeRawBufferPointer) -> Result<Value, SecretProblem>
    private var version: Version?
    private var value: Value?
    /// The error of the present version of the file; reported once.
    private(set) var problem: String?

    /// The longest file, in bytes.
    private static var limit: Int { 4096 }

    /// - Parameters:
    ///   - place: the absolute path, or the name of a credential.
    ///   - what: the noun for messages.
    ///   - credentials: the directory of credentials.
    ///   - parse: makes the value from the bytes.
    init(
        _ place: String, what: String, credentials: String?,
        parse: @escaping (UnsafeRawBufferPointer) -> Result<Value, SecretProblem>
    ) {
        isPrivate = place.hasPrefix("/")
        path = isPrivate ? place : "\(credentials ?? "/run/credentials/pushrouter-http.service")/\(place)"
        self.what = what
        self.parse = parse
    }

    /// Returns the present value, or the last valid one while the file is wrong.
    ///
    /// - Parameter report: called with the error of the file, once for each error.
    func current(report: (String) -> Void) -> Value? {
        var facts = stat()
        let version =
            stat(path, &facts) == 0
            ? Version(
                device: UInt(facts.st_dev), node: UInt(facts.st_ino), size: Int(facts.st_size),
                seconds: facts.st_ctim.tv_sec, nanoseconds: facts.st_ctim.tv_nsec) : nil
        if let version, version == self.version { return value }
        let earlier = problem
        problem = nil
        do throws(SecretFileFault) {
            switch try SecretFile.read(path, isPrivate: isPrivate, limit: Self.limit, parse) {
            case .success(let read): value = read
            case .failure(let fault): problem = "\(path) \(fault.description)"
            }
        } catch {
            problem = error.description(of: what)
        }
        self.version = version
        if let problem, problem != earlier { report(problem) }
        return value
    }
}

/// An error in the contents of a secret's file; a message continues with it after the path.
struct SecretProblem: Error {
    /// The text, without any part of the secret.
    let description: String
}

extension SecretProblem {
    /// Parses the keys in a file.
    static func keys(_ text: UnsafeRawBufferPointer) -> Result<SigningKeys, SecretProblem> {
        do throws(SigningKeysFault) {
            return .success(try SigningKeys(text))
        } catch {
            return .failure(SecretProblem(description: error.description))
        }
    }

    /// Parses the token in a file: its only word.
    static func token(_ text: UnsafeRawBufferPointer) -> Result<Secret, SecretProblem> {
        let isSpace = { (byte: UInt8) in [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
        else { return .failure(SecretProblem(description: "is empty")) }
        let word = UnsafeRawBufferPointer(rebasing: text[first...last])
        guard word.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            return .failure(SecretProblem(description: "must have the token alone, one word of visible characters"))
        }
        return .success(
            Secret(capacity: word.count) { (memory: UnsafeMutableRawBufferPointer) -> Int in
                memory.copyMemory(from: word)
                return word.count
            })
    }
}
