public import PushModel

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

    /// The variable that names a directory of `pushctl dev`.
    public static let developmentVariable = "PUSHROUTER_DIRECTORY"

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

    /// The directory of the backups of `pushrouterd-backup.timer`.
    public static let standardBackups = "/var/lib/pushrouterd-backup"

    /// Resolves the three directories.
    ///
    /// - Parameters:
    ///   - configuration: `--config`; the only directory of the configuration if given.
    ///   - state: `--state`.
    ///   - runtime: `--runtime`.
    ///   - environment: looks up a variable; systemd sets `CONFIGURATION_DIRECTORY` and its siblings, and `pushctl dev`
    ///     ``developmentVariable`` for its command.
    ///   - development: finds a directory of `pushctl dev`, which has all three; asked if nothing is named.
    public init(
        configuration: String? = nil, state: String? = nil, runtime: String? = nil,
        environment: (String) -> String?, development: () -> String? = { nil }
    ) {
        // systemd separates several directories by colons; the first one belongs to the service.
        let variables = ["CONFIGURATION_DIRECTORY", "STATE_DIRECTORY", "RUNTIME_DIRECTORY"].map { name in
            environment(name)?.split(separator: ":").first.map(String.init)
        }
        if configuration != nil || state != nil || runtime != nil {
            self.development = nil
        } else if let root = environment(Self.developmentVariable), !root.isEmpty {
            self.development = root
        } else {
            self.development = variables.allSatisfy { $0 == nil } ? development() : nil
        }
        let root = self.development
        if let configuration = configuration ?? root.map({ "\($0)/config" }) {
            self.configuration = [configuration]
        } else {
            self.configuration = [
                variables[0] ?? Self.standardConfiguration, Self.standardRuntime, "/usr/lib/pushrouterd",
            ]
        }
        self.state = state ?? root.map { "\($0)/state" } ?? variables[1] ?? "/var/lib/pushrouterd"
        self.runtime = runtime ?? root.map { "\($0)/run" } ?? variables[2] ?? Self.standardRuntime
    }

    /// The directories in one directory of `pushctl dev`.
    public init(development root: String) { self.init(environment: { _ in nil }, development: { root }) }

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

/// The names of backups in a directory with rotation: those in the order of time are in the order of names.
public enum BackupName {
    private static let prefix = "pushrouterd-"
    /// The end of the names.
    public static let suffix = ".db"

    /// Returns the name of a backup: `pushrouterd-2026-11-30T020000Z.db`.
    ///
    /// - Parameter time: the time in RFC 3339, in UTC.
    public static func name(at time: String) -> String { prefix + time.prefix(19).filter { $0 != ":" } + "Z" + suffix }

    /// Whether a name is that of a whole backup. A file gets its name when it is complete and checked.
    public static func isWhole(_ name: String) -> Bool {
        name.utf8.count == self.name(at: "2026-11-30T02:00:00").utf8.count && name.hasPrefix(prefix)
            && name.hasSuffix(suffix)
    }

    /// When a whole backup was made, by its name: a copy of the file has another time. `nil` for other names.
    public static func time(of name: String) -> WallTime? {
        guard isWhole(name) else { return nil }
        let time = name.dropFirst(prefix.count).dropLast(suffix.count)
        let (hour, rest) = (time.prefix(13), time.dropFirst(13))
        return WallTime(rfc3339: "\(hour):\(rest.prefix(2)):\(rest.dropFirst(2))")
    }

    /// Whether a name is that of a backup which a killed command left incomplete.
    public static func isPartial(_ name: String) -> Bool {
        let words = name.split(separator: ".")
        return words.count == 3 && words[2].hasPrefix("partial-") && isWhole("\(words[0]).\(words[1])")
    }
}
