public import PushModel
public import PushRouter

/// The rights that the service gives the daemon and its handlers: read by the daemon at its start, or from the
/// properties of the unit.
public struct ServiceFacts: Hashable, Sendable {
    /// Whether the process may change to another user, with `CAP_SETUID` and `CAP_SETGID`.
    public var canChangeUser: Bool
    /// Whether it may create internet sockets (AF_INET, AF_INET6).
    public var hasInternetSockets: Bool
    /// Whether it has a network interface besides the loopback.
    public var hasInterfaces: Bool
    /// Whether memory may be writable and executable, which just-in-time compilers need.
    public var hasWritableCode: Bool
    /// Whether it has its own `/tmp` and `/var/tmp`.
    public var hasPrivateTmp: Bool
    /// Whether the home directories are hidden.
    public var hidesHomes: Bool
    /// Whether the root file system is read-only.
    public var hasReadOnlyRoot: Bool
    /// Whether it can find the bus of a user's session; a system service has none.
    public var hasSessionBus: Bool

    /// A process without a sandbox.
    public init() {
        (canChangeUser, hasInternetSockets, hasInterfaces, hasWritableCode) = (true, true, true, true)
        (hasPrivateTmp, hidesHomes, hasReadOnlyRoot, hasSessionBus) = (false, false, false, true)
    }

    /// The facts by their names in `status`, in the order of the output.
    public static let names: [(name: String, fact: any WritableKeyPath<ServiceFacts, Bool> & Sendable)] = [
        ("change_user", \.canChangeUser), ("internet_sockets", \.hasInternetSockets),
        ("interfaces", \.hasInterfaces), ("writable_code", \.hasWritableCode), ("private_tmp", \.hasPrivateTmp),
        ("hidden_homes", \.hidesHomes), ("read_only_root", \.hasReadOnlyRoot),
        ("session_bus", \.hasSessionBus),
    ]

    /// Reads the facts from a daemon's status.
    ///
    /// - Parameter sandbox: the member of its status; a missing fact counts as unrestricted.
    public init?(status sandbox: JSONNode) {
        guard sandbox.kind == .object else { return nil }
        self.init()
        for (name, fact) in Self.names { if let value = sandbox[name]?.bool { self[keyPath: fact] = value } }
    }

    /// The properties of a unit that ``init(properties:)`` reads.
    public static let properties = [
        "LoadState", "User", "AmbientCapabilities", "RestrictAddressFamilies", "PrivateNetwork",
        "MemoryDenyWriteExecute", "PrivateTmp", "ProtectHome", "ProtectSystem", "Environment",
    ]

    /// Reads the facts from the properties of the unit, for a daemon that does not run.
    ///
    /// - Parameter properties: lines `NAME=VALUE`, as `systemctl show` prints them.
    /// - Returns: `nil` if no such unit is loaded.
    public init?(properties text: String) {
        var values: [Substring: Substring] = [:]
        for line in text.split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            values[line[..<equals]] = line[line.index(after: equals)...]
        }
        guard values["LoadState"] == "loaded" else { return nil }
        self.init()
        let capabilities = (values["AmbientCapabilities"] ?? "").split(separator: " ")
        canChangeUser =
            ["", "root", "0"].contains(values["User"] ?? "")
            || capabilities.contains("cap_setuid") && capabilities.contains("cap_setgid")
        // A list with `~` names the forbidden families; an empty list forbids none.
        let families = values["RestrictAddressFamilies"] ?? ""
        hasInternetSockets =
            families.isEmpty || families == "~"
            || families.split { " ~".contains($0) }.contains("AF_INET") != families.hasPrefix("~")
        hasInterfaces = values["PrivateNetwork"] != "yes"
        hasWritableCode = values["MemoryDenyWriteExecute"] != "yes"
        hasPrivateTmp = values["PrivateTmp"] == "yes"
        hidesHomes = ["yes", "tmpfs"].contains(values["ProtectHome"] ?? "no")
        hasReadOnlyRoot = values["ProtectSystem"] == "strict"
        let environment = (values["Environment"] ?? "").split(separator: " ")
        hasSessionBus = Self.sessionVariables.contains { name in environment.contains { $0.hasPrefix("\(name)=") } }
    }

    /// The variables by either of which a program finds the bus of its session.
    public static let sessionVariables = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"]

    /// Returns why the service does not find a file that a person sees; `nil`: it finds it.
    ///
    /// - Parameter path: an absolute path, with its symbolic links resolved.
    public func concealment(of path: String) -> String? {
        guard hidesHomes || hasPrivateTmp else { return nil }
        let contains = { (directory: String) in path == directory || path.hasPrefix("\(directory)/") }
        if hidesHomes, let directory = ["/home", "/root", "/run/user"].first(where: contains) {
            return "the service does not see \(directory) (ProtectHome=)"
        }
        if hasPrivateTmp, let directory = ["/tmp", "/var/tmp"].first(where: contains) {
            return "the service has a \(directory) of its own (PrivateTmp=)"
        }
        return nil
    }

    /// Returns the faults of a handler that occur only in the service, not when a person runs it.
    ///
    /// - Parameters:
    ///   - handler: a handler of the configuration.
    ///   - user: the user of the daemon, by name and by number; running as this user needs no rights.
    ///   - runtime: the runtime of the handler's program, `/usr/bin/node`; `nil` if unknown.
    ///   - resolve: resolves the symbolic links of a path.
    public func problems(
        of handler: Handler, user: [String], runtime: String?, resolve: (String) -> String = { $0 }
    ) -> [(severity: Diagnostic.Severity, message: String)] {
        var problems = concealedPaths(of: handler.kind, resolve)
        if let rules = handler.kind.notificationRules, rules.bus == .session, !hasSessionBus {
            problems.append(
                (
                    .error,
                    "Type=notify: the service has no session bus: run the daemon as a service of the user, systemctl "
                        + "--user start pushrouterd, or name a bus with Bus= (pushrouterd.conf(5), NOTIFICATIONS)"
                ))
        }
        if let name = handler.kind.command?.confinement.user, !canChangeUser, !user.contains(name) {
            problems.append(
                (
                    .error,
                    "User=\(name): the service may not run programs as another user; copy "
                        + "\(Self.userExample) to /etc/systemd/system/pushrouterd.service.d/, then systemctl "
                        + "daemon-reload and systemctl restart pushrouterd"
                ))
        }
        if let bridge = handler.kind.bridge, bridge.serviceSocket == nil, let network = bridge.settings.network,
            !hasInternetSockets || !hasInterfaces && !network.isLocal
        {
            let program = bridge.program
            let wayOut = bridge.declaration.socketKey.map {
                "; set \($0.name)=/run/\(program).sock in [Daemon] and systemctl enable --now \(program).socket: see "
                    + "\(program)(8)"
            }
            problems.append(
                (
                    .error,
                    "Type=\(handler.kind.name): the service has no network, so \(network.consequence)\(wayOut ?? "")"
                ))
        }
        if let runtime, !hasWritableCode, Self.isJustInTimeCompiler(runtime) {
            problems.append(
                (
                    .warning,
                    "\(runtime) compiles at run time, which MemoryDenyWriteExecute=yes of the service forbids: it may "
                        + "end by SIGTRAP or SIGSEGV; set MemoryDenyWriteExecute=no by systemctl edit pushrouterd, or try "
                        + "pushctl run-handler --as-service"
                ))
        }
        return problems
    }

    /// The paths of a handler that the service does not see: an error for a path that the handler cannot do without, a
    /// warning for an argument of its program.
    private func concealedPaths(
        of kind: Handler.Kind, _ resolve: (String) -> String
    ) -> [(severity: Diagnostic.Severity, message: String)] {
        var places: [(key: String, path: String)] = []
        if let command = kind.command {
            if let program = command.arguments.first { places.append(("Exec", program)) }
            if let directory = command.workingDirectory { places.append(("WorkingDirectory", directory)) }
        }
        if case .socket(let path, _) = kind { places.append(("Connect", path)) }
        if case .address(let address)? = kind.notificationRules?.bus, address.hasPrefix("unix:path=") {
            places.append(("Bus", String(address.dropFirst("unix:path=".count))))
        }
        let remedy =
            "move it to a directory that the service sees, such as /usr/local/lib, or allow it by systemctl edit pushrouterd"
        let errors = places.compactMap { key, path in
            concealment(of: resolve(path)).map { (Diagnostic.Severity.error, "\(key)=\(path): \($0): \(remedy)") }
        }
        let arguments = (kind.command?.arguments.dropFirst() ?? []).filter { $0.hasPrefix("/") }
        return errors
            + arguments.compactMap { path in
                concealment(of: resolve(path)).map { (.warning, "Exec=: the argument \(path): \($0): \(remedy)") }
            }
    }

    private static let userExample =
        "/usr/share/doc/pushrouterd/examples/pushrouterd.service.d/handler-users.conf"

    /// Returns whether a program is a runtime with a just-in-time compiler.
    private static func isJustInTimeCompiler(_ program: String) -> Bool {
        let name = program.split(separator: "/").last.map(String.init) ?? program
        return ["node", "nodejs", "deno", "bun", "java", "dotnet", "luajit", "pypy", "pypy3", "pwsh"].contains(name)
            || name.hasPrefix("php")
    }
}
