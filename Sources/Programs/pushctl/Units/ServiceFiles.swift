import Glibc
import LinuxSystem
import PushModel
import PushSettings

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

    /// The faults for which the services would not start, and their warnings.
    var diagnostics: [Diagnostic] {
        var diagnostics = loadedGateway.1 + loadedWeb.1
        if let settings = gateway, let file = gatewayFiles.last {
            diagnostics += openDoors(settings.listen, settings.reasonAgainstOtherMachines, in: file)
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
