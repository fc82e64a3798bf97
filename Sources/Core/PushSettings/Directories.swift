/// The directories of configuration, state and sockets, by the same rules for the daemon and for `pushctl`.
public struct Directories: Hashable, Sendable {
    /// The directories of the configuration by precedence: a file in one hides files of its name in the later ones.
    public var configuration: [String]
    /// The directory of the ledger.
    public var state: String
    /// The directory of the sockets.
    public var runtime: String

    /// The default directory of the configuration. It alone may be missing.
    public static let standardConfiguration = "/etc/pushrouterd"

    /// The directory of the installed service's sockets.
    public static let standardRuntime = "/run/pushrouterd"

    /// Resolves the three directories.
    ///
    /// - Parameters:
    ///   - configuration: `--config`; the only directory of the configuration if given.
    ///   - state: `--state`.
    ///   - runtime: `--runtime`.
    ///   - environment: looks up a variable; systemd sets `CONFIGURATION_DIRECTORY` and its siblings.
    public init(
        configuration: String? = nil, state: String? = nil, runtime: String? = nil,
        environment: (String) -> String?
    ) {
        // systemd separates several directories by colons; the first one belongs to the service.
        func given(_ variable: String) -> String? {
            environment(variable)?.split(separator: ":").first.map(String.init)
        }
        if let configuration {
            self.configuration = [configuration]
        } else {
            self.configuration = [
                given("CONFIGURATION_DIRECTORY") ?? Self.standardConfiguration, Self.standardRuntime,
                "/usr/lib/pushrouterd",
            ]
        }
        self.state = state ?? given("STATE_DIRECTORY") ?? "/var/lib/pushrouterd"
        self.runtime = runtime ?? given("RUNTIME_DIRECTORY") ?? Self.standardRuntime
    }

    /// The socket of producers.
    public var injectSocket: String { runtime + "/inject.sock" }

    /// The socket for reading and administration.
    public var controlSocket: String { runtime + "/control.sock" }

    /// The socket for reading only.
    public var readSocket: String { runtime + "/read.sock" }
}
