import Glibc
import LinuxSystem
import PushModel
import PushSettings

/// The unit of the daemon, as the service manager knows it.
enum ServiceUnit {
    /// Its name.
    static let name = "pushrouterd.service"

    /// Whether systemd runs this machine.
    static var hasManager: Bool { access("/run/systemd/system", F_OK) == 0 }

    /// Properties of the unit, a line `NAME=VALUE` each.
    ///
    /// - Returns: `nil` where no service manager answers.
    static func properties(_ names: [String]) -> String? {
        guard hasManager,
            let output = ShellCommand.output(
                of: "systemctl show \(name) --property=\(names.joined(separator: ",")) 2>/dev/null"),
            output.status == 0
        else { return nil }
        return output.text
    }

    /// The properties of the unit that a run by `systemd-run` gets: its user and its rights.
    static let sandbox = [
        "User", "Group", "SupplementaryGroups", "UMask", "NoNewPrivileges", "CapabilityBoundingSet",
        "AmbientCapabilities", "ProtectSystem", "ProtectHome", "ProtectClock", "ProtectHostname", "ProtectKernelLogs",
        "ProtectKernelModules", "ProtectKernelTunables", "ProtectProc", "ProcSubset", "PrivateTmp", "PrivateDevices",
        "PrivateMounts", "PrivateUsers", "DevicePolicy", "PrivateNetwork", "IPAddressDeny", "IPAddressAllow",
        "RestrictAddressFamilies", "RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID", "LockPersonality",
        "MemoryDenyWriteExecute", "RemoveIPC", "KeyringMode", "SystemCallArchitectures", "SystemCallErrorNumber",
        "SystemCallFilter", "ReadOnlyPaths", "ReadWritePaths", "InaccessiblePaths", "MemoryMax", "TasksMax",
        "LimitNOFILE",
    ]
}

extension Session {
    /// The rights of handlers in the service: the daemon's own word, else the unit's where the daemon does not run.
    ///
    /// - Parameter status: what the daemon says, where it was asked already.
    /// - Returns: `nil` where neither is known.
    func serviceFacts(status: JSONNode? = nil) -> ServiceFacts? {
        let said =
            status ?? HealthProbe.status(directories.readSocket).1
            ?? HealthProbe.status(directories.controlSocket).1
        if let sandbox = said?["sandbox"] { return ServiceFacts(status: sandbox) }
        // Another directory is another daemon's, and the unit says nothing of that.
        guard directories.runtime == Directories(environment: { _ in nil }).runtime else { return nil }
        return ServiceUnit.properties(ServiceFacts.properties).flatMap { ServiceFacts(properties: $0) }
    }
}
