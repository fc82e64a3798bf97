import Glibc
import LinuxSystem
import PushRouting
public import PushSettings

extension ConfigurationSources {
    /// What only the system can tell of a configuration that is right in itself; warnings, each for people.
    ///
    /// - Parameters:
    ///   - settings: what was loaded from it.
    ///   - directories: where it was read.
    public func systemWarnings(of settings: Settings, directories: [String]) -> [Diagnostic] {
        var warnings: [Diagnostic] = []
        if isStandIn {
            let message = "no configuration is installed: the shipped handlers and the route to the journal stand in"
            warnings.append(Diagnostic(.warning, file: directories.joined(separator: ", "), message: message))
        }
        for handler in settings.routing.handlers.values.sorted(by: { $0.name < $1.name }) {
            guard let program = handler.kind.command?.arguments.first, access(program, X_OK) != 0 else { continue }
            let reason = errorText(errno)
            let file = handlers.first { $0.path.hasSuffix("/\(handler.name).handler") }?.path ?? handler.name
            let message = "Exec=\(program): cannot be run as it is: \(reason)"
            warnings.append(Diagnostic(.warning, file: file, message: message))
        }
        for handler in settings.routing.handlers.values.sorted(by: { $0.name < $1.name }) {
            guard let endpoint = handler.kind.endpoint else { continue }
            let file = handlers.first { $0.path.hasSuffix("/\(handler.name).handler") }?.path ?? handler.name
            warnings += endpoint.systemWarnings.map { Diagnostic(.warning, file: file, message: $0) }
        }
        return warnings + userWarnings(of: settings)
    }

    /// Users of handlers that the system does not have.
    private func userWarnings(of settings: Settings) -> [Diagnostic] {
        settings.routing.handlers.values.sorted { $0.name < $1.name }.compactMap { handler in
            guard let user = handler.kind.command?.confinement.user else { return nil }
            if UInt32(user).map({ getpwuid($0) != nil }) ?? (getpwnam(user) != nil) { return nil }
            let file = handlers.first { $0.path.hasSuffix("/\(handler.name).handler") }?.path ?? handler.name
            return Diagnostic(.warning, file: file, message: "User=\(user): there is no such user")
        }
    }

    /// What is wrong with the file of the API key, as far as this user may see it: the forwarder would refuse it.
    ///
    /// - Parameter settings: what was loaded from it.
    public func keyFileWarnings(of settings: Settings) -> [Diagnostic] {
        guard let path = settings.keyFileInUse else { return [] }
        var status = stat()
        let message: String
        if stat(path, &status) != 0 {
            // A directory that only the forwarder may enter is no mistake.
            guard errno != EACCES else { return [] }
            message = "KeyFile=\(path): \(errorText(errno)); the forwarder does not start without it"
        } else if status.st_mode & 0o077 != 0 {
            let mode = String(status.st_mode & 0o777, radix: 8)
            message =
                "KeyFile=\(path): its mode is \(mode), so others may read the key; the forwarder refuses it: chmod 600 \(path)"
        } else {
            return []
        }
        return [
            Diagnostic(.warning, file: main.last { $0.names("KeyFile") }?.path ?? "pushrouterd.conf", message: message)
        ]
    }
}

extension HTTPEndpoint {
    /// What pushrouter-http would find wrong, as far as this user may see it.
    fileprivate var systemWarnings: [String] {
        var warnings: [String] = []
        if serviceSocket == nil, !HTTPProgramFile.places.contains(where: { access($0, X_OK) == 0 }) {
            warnings.append(
                "Type=http: pushrouter-http is not installed: it is in none of "
                    + HTTPProgramFile.places.joined(separator: ", "))
        }
        if let authorityFile, access(authorityFile, R_OK) != 0, errno != EACCES {
            warnings.append("CAFile=\(authorityFile): \(errorText(errno)); no server would be trusted")
        }
        for (key, place) in [("SecretFile", secretFile), ("BearerFile", bearerFile)] {
            // Only the service knows where its credentials are.
            guard let place, place.hasPrefix("/") else { continue }
            var status = stat()
            if stat(place, &status) != 0 {
                // A directory that only the service may enter is no mistake.
                if errno != EACCES {
                    warnings.append("\(key)=\(place): \(errorText(errno)); nothing is sent without it")
                }
            } else if status.st_mode & 0o077 != 0 {
                let mode = String(status.st_mode & 0o777, radix: 8)
                warnings.append(
                    "\(key)=\(place): its mode is \(mode), so others may read the secret; pushrouter-http refuses it: "
                        + "chmod 600 \(place)")
            }
        }
        return warnings
    }
}

extension ConfigurationFile {
    /// Whether a line of it sets this key.
    fileprivate func names(_ key: String) -> Bool {
        bytes.split(separator: UInt8(ascii: "\n")).contains { $0.starts(with: "\(key)=".utf8) }
    }
}
