import LinuxSystem
import PushSettings

/// Watches the configuration of `pushctl dev`, and says who must read it again.
///
/// It reads the files twice a second: a directory has few, and a watch of the kernel's does not see every file system.
struct DevWatch {
    /// How long to wait between two looks.
    static let interval = Duration.milliseconds(500)

    /// The files by their readers; `nil` for files that cannot be read.
    private struct Files: Equatable {
        let daemon: ConfigurationSources?
        let gateway: [ConfigurationFile]?
        let page: [ConfigurationFile]?

        init(in directory: String) {
            daemon = try? ConfigurationSources(reading: [directory], required: true)
            gateway = try? Self.gatewayFiles(in: directory)
            page = try? ConfigurationSources.mainFiles("web.conf", in: [directory])
        }

        /// The files of the gateway, and the file that `Errors=` names.
        private static func gatewayFiles(in directory: String) throws(UnreadableFile) -> [ConfigurationFile] {
            let files = try ConfigurationSources.mainFiles("gateway.conf", in: [directory])
            guard let path = GatewaySettings.load(files.map { ($0.path, $0.bytes) }).0?.errors else { return files }
            return files + [ConfigurationFile(path: path, bytes: (try? SmallFile.read(path)) ?? [])]
        }
    }

    private let directory: String
    private var inForce: Files
    private var seen: Files

    /// - Parameter directory: the configuration, as the programs are about to read it.
    init(_ directory: String) {
        self.directory = directory
        inForce = Files(in: directory)
        seen = inForce
    }

    /// Looks at the files. A change counts once a second look finds the same: an editor may still be writing.
    ///
    /// - Returns: the programs whose files have changed.
    mutating func changed() -> [String] {
        let now = Files(in: directory)
        defer { seen = now }
        guard now == seen, now != inForce else { return [] }
        defer { inForce = now }
        return (now.daemon == inForce.daemon ? [] : ["pushrouterd"])
            + (now.gateway == inForce.gateway ? [] : ["pushrouter-gateway"])
            + (now.page == inForce.page ? [] : ["pushrouter-web"])
    }
}
