import Glibc
import LinuxSystem
import PushModel
import PushSettings

/// The unit of the daemon, as the service manager knows it.
enum ServiceUnit {
    /// The name of the unit.
    static let name = "pushrouterd.service"

    /// Whether systemd runs this machine (sd_booted(3)).
    static var hasManager: Bool { access("/run/systemd/system", F_OK) == 0 }

    /// Reads properties of a unit: one line `NAME=VALUE` for each.
    ///
    /// - Parameters:
    ///   - names: the properties.
    ///   - unit: the unit; by default the daemon's.
    /// - Returns: `nil` if no service manager answers.
    static func properties(_ names: [String], of unit: String = name) -> String? {
        guard hasManager,
            let output = ShellCommand.output(
                of: "systemctl show \(unit) --property=\(names.joined(separator: ",")) 2>/dev/null"),
            output.status == 0
        else { return nil }
        return output.text
    }

    /// The status that the daemon gave to the service manager last; `nil` if it gave none.
    static var status: String? {
        let name = "StatusText"
        let line = properties([name]).map { $0.prefix { $0 != "\n" } }
        guard let line, line.hasPrefix("\(name)="), line.count > name.count + 1 else { return nil }
        return String(line.dropFirst(name.count + 1))
    }

    /// The files of a unit and its drop-ins, one after the other; empty if the service manager does not know it.
    static func text(of unit: String) -> String {
        guard hasManager, let output = ShellCommand.output(of: "systemctl cat \(unit) 2>/dev/null"), output.status == 0
        else { return "" }
        return output.text
    }

    /// The properties that `systemd-run` copies from the unit: its user and its rights.
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
    /// The rights of handlers in the service: from the daemon's status, or from the unit if the daemon does not run.
    ///
    /// - Parameter status: the daemon's status, if it was read already.
    /// - Returns: `nil` if both are unknown.
    func serviceFacts(status: JSONNode? = nil) -> ServiceFacts? {
        let said =
            status ?? HealthProbe.status(directories.readSocket).1
            ?? HealthProbe.status(directories.controlSocket).1
        if let sandbox = said?["sandbox"] { return ServiceFacts(status: sandbox) }
        // With another runtime directory the daemon is another one, which the unit does not describe.
        guard directories.runtime == Directories(environment: { _ in nil }).runtime else { return nil }
        return ServiceUnit.properties(ServiceFacts.properties).flatMap { ServiceFacts(properties: $0) }
    }
}
