import Glibc
import LinuxSystem
import PushGateway
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
    ///   - unit: the unit, by default the daemon's; or several, divided by spaces, which have a block of lines each.
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

/// The main files of the services that the daemon does not read: `gateway.conf` and `web.conf`, with their drop-ins.
struct ServiceFiles {
    private let gatewayFiles: [ConfigurationFile]
    private let webFiles: [ConfigurationFile]

    /// - Parameter directories: the directories of the configuration, the strongest first.
    /// - Throws: `UnreadableFile` for a file that exists and cannot be read.
    init(in directories: [String]) throws(UnreadableFile) {
        gatewayFiles = try ConfigurationSources.mainFiles("gateway.conf", in: directories)
        webFiles = try ConfigurationSources.mainFiles("web.conf", in: directories)
    }

    /// The settings of the gateway; `nil` without a file, or with an error in it.
    var gateway: GatewaySettings? { gatewayFiles.isEmpty ? nil : loadedGateway.0 }

    /// The settings of the page; `nil` without a file, or with an error in it.
    var web: WebSettings? { webFiles.isEmpty ? nil : loadedWeb.0 }

    private var loadedGateway: (GatewaySettings?, [Diagnostic]) {
        GatewaySettings.load(gatewayFiles.map { ($0.path, $0.bytes) })
    }

    private var loadedWeb: (WebSettings?, [Diagnostic]) { WebSettings.load(webFiles.map { ($0.path, $0.bytes) }) }

    /// The settings in force, and where they come from.
    var settingsInForce: [ConfigurationSources.FileInForce] {
        [.init("gateway.conf", gatewayFiles, Schema.gateway), .init("web.conf", webFiles, Schema.web)]
    }

    /// The mistakes in the file that `Errors=` names, as the gateway reports them.
    private static func mistakes(inErrorRules path: String) -> [Diagnostic] {
        do throws(StartFailure) {
            return FaultRule.all(in: try SmallFile.read(path), of: path).1
        } catch {
            return [Diagnostic(.warning, file: path, message: "the rules were not checked: \(error)")]
        }
    }

    /// The faults of a directory of secrets, as far as this user may see them.
    private static func faults(
        of key: String, _ directory: String?, suffix: String, in file: ConfigurationFile
    ) -> [Diagnostic] {
        func warning(_ message: String) -> Diagnostic {
            Diagnostic(.warning, file: file.path, line: file.line(of: key), message: "\(key)=\(message)")
        }
        guard let directory else { return [] }
        guard let names = try? SmallFile.names(in: directory, suffix: suffix) else {
            // EACCES is no fault: the directory may be closed to all but the gateway.
            guard access(directory + "/.", X_OK) != 0, errno != EACCES else { return [] }
            return [warning("\(directory): \(errorText(errno)); the gateway does not start without the directory")]
        }
        guard !names.isEmpty else {
            return [warning("\(directory): no file there ends in \(suffix), so the gateway knows no sender's key")]
        }
        return names.compactMap { name in
            let path = "\(directory)/\(name)"
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & 0o004 != 0 else { return nil }
            return warning("\(path): every user may read it: chmod o= \(path)")
        }
    }

    /// The faults for which the services would not start, and their warnings.
    var diagnostics: [Diagnostic] {
        var diagnostics = loadedGateway.1 + loadedWeb.1
        if let settings = gateway, let file = gatewayFiles.last {
            diagnostics += openDoors(settings.listen, settings.reasonAgainstOtherMachines, in: file)
            if let path = settings.errors { diagnostics += Self.mistakes(inErrorRules: path) }
            diagnostics += Self.faults(of: "Credentials", settings.credentials, suffix: ".json", in: file)
            diagnostics += Self.faults(of: "Keys", settings.keys, suffix: ".p8", in: file)
        }
        if let settings = web, let file = webFiles.last {
            diagnostics += openDoors(settings.listen, settings.reasonAgainstOtherMachines, in: file)
            if let name = settings.proxy, getpwnam(name) == nil {
                diagnostics.append(
                    Diagnostic(.warning, file: file.path, message: "Proxy=\(name): there is no such user"))
            }
            if let path = settings.token, access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR {
                let message = "Token=\(path): there is no such file; the page does not start without it"
                diagnostics.append(Diagnostic(.warning, file: file.path, message: message))
            }
        }
        return diagnostics
    }

    private func openDoors(_ addresses: [SocketAddress], _ reason: String?, in file: ConfigurationFile) -> [Diagnostic]
    {
        guard let reason else { return [] }
        return addresses.filter(\.isOfOtherMachines).map {
            Diagnostic(.error, file: file.path, message: "Listen=\($0): \(reason)")
        }
    }
}

/// Runs a command with the shell, and reads its output.
enum ShellCommand {
    /// The most output that is read, in bytes.
    private static let lengthMax = 1 << 20

    /// - Returns: the exit status and the output; `nil` if popen(3) failed.
    static func output(of command: String) -> (status: Int32, text: String)? {
        guard let pipe = popen(command, "re") else { return nil }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while text.count < lengthMax {
            let count = fread(&chunk, 1, chunk.count, pipe)
            guard count > 0 else { break }
            text += chunk[..<count]
        }
        let end = pclose(pipe)
        // As a shell has it: an end by a signal is no status of the program.
        let status = end & 0x7F == 0 ? end >> 8 & 0xFF : 128 + (end & 0x7F)
        return (status, String(decoding: text, as: UTF8.self))
    }
}
