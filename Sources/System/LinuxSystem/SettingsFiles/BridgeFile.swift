import Glibc
public import PushRouter

/// The program of a bridge that runs as a child rather than as a service.
public enum BridgeFile {
    /// Returns the paths at which it is searched, in order: beside the running program, then in the installation
    /// directories.
    ///
    /// - Parameter program: its name.
    public static func places(of program: String) -> [String] {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        var places = ["/usr/sbin/\(program)", "/usr/local/sbin/\(program)"]
        if length > 0 {
            let own = String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if let end = own.lastIndex(of: "/") { places.insert("\(own[..<end])/\(program)", at: 0) }
        }
        return places
    }

    /// Returns the command that starts it as a child.
    ///
    /// - Parameters:
    ///   - bridge: the bridge.
    ///   - directories: the configuration directories, the strongest first.
    ///   - isRequired: whether the first directory was given by name, so that no other is read.
    ///   - kept: the daemon's kept configurations: the bridge uses the one in force, whatever the directories have.
    /// - Returns: `nil` if it is not installed.
    public static func command(
        of bridge: Bridge, configuration directories: [String], isRequired: Bool, kept: ConfigurationKeeper?
    ) -> Handler.Command? {
        guard let path = places(of: bridge.program).first(where: { access($0, X_OK) == 0 }),
            let directory = directories.first
        else {
            return nil
        }
        // Makes the path absolute, because the child runs in another directory.
        let first = absolute(directory)
        var environment = isRequired ? [:] : ["CONFIGURATION_DIRECTORY": first]
        for variable in bridge.declaration.environment + ["CREDENTIALS_DIRECTORY"] {
            if let value = getenv(variable) { environment[variable] = String(cString: value) }
        }
        return Handler.Command(
            arguments: [path, "--child"] + (isRequired ? ["--config", first] : [])
                + (kept.map { ["--kept", absolute($0.state)] } ?? []), environment: environment)
    }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        return "\(String(cString: current))/\(path)"
    }
}
