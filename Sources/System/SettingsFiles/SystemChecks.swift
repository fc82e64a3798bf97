import Glibc
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
        if main.isEmpty, handlers == Self.shipped.handlers, routes == Self.shipped.routes {
            let message = "no configuration is installed: the shipped handlers and the route to the journal stand in"
            warnings.append(Diagnostic(.warning, file: directories.joined(separator: ", "), message: message))
        }
        for handler in settings.routing.handlers.values.sorted(by: { $0.name < $1.name }) {
            guard let program = handler.kind.command?.arguments.first, access(program, X_OK) != 0 else { continue }
            let reason = String(cString: strerror(errno))
            let file = handlers.first { $0.path.hasSuffix("/\(handler.name).handler") }?.path ?? handler.name
            let message = "Exec=\(program): cannot be run as it is: \(reason)"
            warnings.append(Diagnostic(.warning, file: file, message: message))
        }
        return warnings
    }
}
