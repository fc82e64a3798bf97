/// The directories of configuration, state and sockets, by the same rules for the daemon and for `pushctl`.
public struct Directories: Hashable, Sendable {
    /// The directories of the configuration by precedence: a file in one hides files of its name in the later ones.
    public var configuration: [String]
    /// The directory of the ledger.
    public var state: String
    /// The directory of the sockets.
    public var runtime: String

    /// The directory of `pushctl dev` that has all of them; `nil`: they were named, or are those of the service.
    public let development: String?

    /// The name of a directory of `pushctl dev`.
    public static let developmentName = ".pushrouter"

    /// The default directory of the configuration. It alone may be missing.
    public static let standardConfiguration = "/etc/pushrouterd"

    /// The directory of the installed service's sockets.
    public static let standardRuntime = "/run/pushrouterd"

    /// The directory of the installed gateway's authority.
    public static let standardGateway = "/var/lib/pushrouter-gateway"

    /// The installed gateway's socket for questions about its state.
    public static let standardGatewaySocket = "/run/pushrouter-gateway.sock"

    /// Resolves the three directories.
    ///
    /// - Parameters:
    ///   - configuration: `--config`; the only directory of the configuration if given.
    ///   - state: `--state`.
    ///   - runtime: `--runtime`.
    ///   - environment: looks up a variable; systemd sets `CONFIGURATION_DIRECTORY` and its siblings.
    ///   - development: finds a directory of `pushctl dev`, which has all three; asked if none of them is named.
    public init(
        configuration: String? = nil, state: String? = nil, runtime: String? = nil,
        environment: (String) -> String?, development: () -> String? = { nil }
    ) {
        // systemd separates several directories by colons; the first one belongs to the service.
        let variables = Self.variables.map { environment($0)?.split(separator: ":").first.map(String.init) }
        let named = [configuration, state, runtime] + variables
        self.development = named.allSatisfy { $0 == nil } ? development() : nil
        if let configuration = configuration ?? self.development.map({ "\($0)/config" }) {
            self.configuration = [configuration]
        } else {
            self.configuration = [
                variables[0] ?? Self.standardConfiguration, Self.standardRuntime, "/usr/lib/pushrouterd",
            ]
        }
        let root = self.development
        self.state = state ?? variables[1] ?? root.map { "\($0)/state" } ?? "/var/lib/pushrouterd"
        self.runtime = runtime ?? variables[2] ?? root.map { "\($0)/run" } ?? Self.standardRuntime
    }

    /// The directories in one directory of `pushctl dev`.
    public init(development root: String) { self.init(environment: { _ in nil }, development: { root }) }

    /// The variables of systemd for configuration, state and sockets.
    private static let variables = ["CONFIGURATION_DIRECTORY", "STATE_DIRECTORY", "RUNTIME_DIRECTORY"]

    /// The variables that name these directories for another program.
    public var environment: [(name: String, value: String)] {
        zip(Self.variables, [configuration[0], state, runtime]).map { ($0, $1) }
    }

    /// The directory of the gateway's authority.
    public var gateway: String { development.map { "\($0)/gateway" } ?? Self.standardGateway }

    /// The gateway's socket for questions about its state.
    public var gatewaySocket: String { development == nil ? Self.standardGatewaySocket : runtime + "/gateway.sock" }

    /// The socket of producers.
    public var injectSocket: String { runtime + "/inject.sock" }

    /// The socket for reading and administration.
    public var controlSocket: String { runtime + "/control.sock" }

    /// The socket for reading only.
    public var readSocket: String { runtime + "/read.sock" }
}
