import Glibc
public import PushRouting

/// The program behind `http` handlers, where it is a child and no service.
public enum HTTPProgramFile {
    /// Its name.
    public static let name = "pushrouter-http"

    /// Where it is looked for, the first place first: beside the program that runs, then where it is installed.
    public static var places: [String] {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        var places = ["/usr/sbin/\(name)", "/usr/local/sbin/\(name)"]
        if length > 0 {
            let own = String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if let end = own.lastIndex(of: "/") { places.insert("\(own[..<end])/\(name)", at: 0) }
        }
        return places
    }

    /// The command that starts it as a child.
    ///
    /// - Parameters:
    ///   - directories: where configuration is read, the strongest first.
    ///   - isRequired: whether the first was asked for by name, so that nothing else is read.
    /// - Returns: `nil` when it is not installed.
    public static func command(configuration directories: [String], isRequired: Bool) -> Handler.Command? {
        guard let path = places.first(where: { access($0, X_OK) == 0 }), var first = directories.first else {
            return nil
        }
        // It runs in another directory.
        if !first.hasPrefix("/"), let current = getcwd(nil, 0) {
            first = "\(String(cString: current))/\(first)"
            free(current)
        }
        var environment = isRequired ? [:] : ["CONFIGURATION_DIRECTORY": first]
        // What curl goes by, and where the service's credentials are.
        for variable in ["https_proxy", "no_proxy", "CREDENTIALS_DIRECTORY"] {
            if let value = getenv(variable) { environment[variable] = String(cString: value) }
        }
        return Handler.Command(
            arguments: [path, "--child"] + (isRequired ? ["--config", first] : []), environment: environment)
    }
}
