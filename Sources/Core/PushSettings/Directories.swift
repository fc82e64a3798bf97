/// Where configuration, state and sockets are: the same rules for the daemon and for `pushctl`.
public struct Directories: Hashable, Sendable {
    /// Where configuration is read, the strongest first: a file in one hides its namesakes in the later ones.
    public var configuration: [String]
    /// Where the ledger is.
    public var state: String
    /// Where the sockets are.
    public var runtime: String

    /// Where configuration is read unless another directory is named. It alone may be missing.
    public static let standardConfiguration = "/etc/pushrouterd"

    /// The directory of the installed service's sockets.
    public static let standardRuntime = "/run/pushrouterd"

    /// Resolves the three directories.
    ///
    /// - Parameters:
    ///   - configuration: `--config`; then only that directory is read.
    ///   - state: `--state`.
    ///   - runtime: `--runtime`.
    ///   - environment: looks up a variable; systemd sets `CONFIGURATION_DIRECTORY` and its siblings.
    public init(
        configuration: String? = nil, state: String? = nil, runtime: String? = nil,
        environment: (String) -> String?
    ) {
        // systemd separates several directories by colons; the first is the service's own.
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

    /// The socket of those who read and administer.
    public var controlSocket: String { runtime + "/control.sock" }

    /// The socket of those who may only read.
    public var readSocket: String { runtime + "/read.sock" }
}
