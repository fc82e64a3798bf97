public import PushModel
public import PushRouting
public import SettingsSyntax

/// The rights that the service gives the daemon, and so its handlers: as the daemon found them at its start, or as the
/// service manager tells them of the unit.
public struct ServiceFacts: Hashable, Sendable {
    /// Whether it may become another user, with `CAP_SETUID` and `CAP_SETGID`.
    public var canChangeUser: Bool
    /// Whether it may make sockets of the internet.
    public var hasInternetSockets: Bool
    /// Whether there is a network interface besides the loopback.
    public var hasInterfaces: Bool
    /// Whether memory may be writable and executable, as a runtime needs that compiles as it goes.
    public var hasWritableCode: Bool
    /// Whether `/tmp` and `/var/tmp` are its own.
    public var hasPrivateTmp: Bool
    /// Whether the home directories are hidden.
    public var hidesHomes: Bool
    /// Whether the root file system is read-only.
    public var hasReadOnlyRoot: Bool

    /// A process without a sandbox.
    public init() {
        (canChangeUser, hasInternetSockets, hasInterfaces, hasWritableCode) = (true, true, true, true)
        (hasPrivateTmp, hidesHomes, hasReadOnlyRoot) = (false, false, false)
    }

    /// The facts by their names in `status`, in the order in which they are told.
    public static let names: [(name: String, fact: any WritableKeyPath<ServiceFacts, Bool> & Sendable)] = [
        ("change_user", \.canChangeUser), ("internet_sockets", \.hasInternetSockets),
        ("interfaces", \.hasInterfaces), ("writable_code", \.hasWritableCode), ("private_tmp", \.hasPrivateTmp),
        ("hidden_homes", \.hidesHomes), ("read_only_root", \.hasReadOnlyRoot),
    ]

    /// The facts that a daemon tells of itself.
    ///
    /// - Parameter sandbox: the member of its status; of a fact that it lacks nothing is known, and nothing is said.
    public init?(status sandbox: JSONNode) {
        guard sandbox.kind == .object else { return nil }
        self.init()
        for (name, fact) in Self.names { if let value = sandbox[name]?.bool { self[keyPath: fact] = value } }
    }

    /// The properties of a unit that ``init(properties:)`` reads.
    public static let properties = [
        "LoadState", "User", "AmbientCapabilities", "RestrictAddressFamilies", "PrivateNetwork",
        "MemoryDenyWriteExecute", "PrivateTmp", "ProtectHome", "ProtectSystem",
    ]

    /// The facts that the service manager tells of the unit, for a daemon that does not run.
    ///
    /// - Parameter properties: lines `NAME=VALUE`, as `systemctl show` prints them.
    /// - Returns: `nil` where no such unit is loaded.
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
        // "~..." are those that are refused; without a list none is.
        let families = values["RestrictAddressFamilies"] ?? ""
        hasInternetSockets =
            families.isEmpty || families == "~"
            || families.split { " ~".contains($0) }.contains("AF_INET") != families.hasPrefix("~")
        hasInterfaces = values["PrivateNetwork"] != "yes"
        hasWritableCode = values["MemoryDenyWriteExecute"] != "yes"
        hasPrivateTmp = values["PrivateTmp"] == "yes"
        hidesHomes = ["yes", "tmpfs"].contains(values["ProtectHome"] ?? "no")
        hasReadOnlyRoot = values["ProtectSystem"] == "strict"
    }

    /// The faults of handlers in the service: each of them works when a person runs it.
    ///
    /// - Parameters:
    ///   - handler: one of the configuration.
    ///   - user: the user of the daemon, by name and number: to run as that one needs nothing.
    ///   - runtime: what runs the handler's program, `/usr/bin/node`; `nil`: that is not known.
    public func problems(
        of handler: Handler, user: [String], runtime: String?
    ) -> [(severity: Diagnostic.Severity, message: String)] {
        var problems: [(severity: Diagnostic.Severity, message: String)] = []
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
        if let runtime, !hasWritableCode, Self.compilesAsItGoes(runtime) {
            problems.append(
                (
                    .warning,
                    "\(runtime) compiles as it goes, which MemoryDenyWriteExecute=yes of the service forbids: it may end "
                        + "by SIGTRAP or SIGSEGV; set MemoryDenyWriteExecute=no by systemctl edit pushrouterd, or try "
                        + "pushctl run-handler --as-service"
                ))
        }
        return problems
    }

    private static let userExample =
        "/usr/share/doc/pushrouterd/examples/pushrouterd.service.d/handler-users.conf"

    /// Whether a program is a runtime that makes machine code while it runs.
    private static func compilesAsItGoes(_ program: String) -> Bool {
        let name = program.split(separator: "/").last.map(String.init) ?? program
        return ["node", "nodejs", "deno", "bun", "java", "dotnet", "luajit", "pypy", "pypy3", "pwsh"].contains(name)
            || name.hasPrefix("php")
    }
}
