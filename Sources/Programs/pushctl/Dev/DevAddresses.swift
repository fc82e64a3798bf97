import Glibc
import LinuxSystem
import PushModel
import PushSettings

/// The addresses of a run of `pushctl dev`, and the variables that lead other programs to it.
struct DevAddresses {
    /// `http://127.0.0.1:18080`
    let page: String
    /// `http://127.0.0.1:18443`
    let gateway: String
    let directories: Directories
    /// The variables that make clients of FCM and APNs use the gateway.
    let ofClients: [ClientVariables.Variable]

    /// - Parameters:
    ///   - page: the address and port of the page.
    ///   - gateway: the address and port of the gateway.
    ///   - directories: the directories of the run.
    init(page: String, gateway: String, _ directories: Directories) {
        self.page = "http://\(page)"
        self.gateway = "http://\(gateway)"
        self.directories = directories
        let authority = "\(directories.gateway)/ca.pem"
        // The gateway writes bundle.pem if the system has authorities.
        let bundle = "\(directories.gateway)/bundle.pem"
        ofClients = ClientVariables.all(
            bundle: access(bundle, R_OK) == 0 ? bundle : authority, authority: authority, proxy: gateway,
            environment: Output.environment)
    }

    /// All variables: also the one of the directory, and the address of the page.
    var environment: [ClientVariables.Variable] {
        ofClients + [(Directories.developmentVariable, directories.development ?? ""), ("PUSHROUTER_PAGE", page)]
    }

    /// The addresses for programs: one object on one line, without its line feed.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("page", page)
            writer.member("gateway", gateway)
            writer.member("configuration", directories.configuration[0])
            writer.member("state", directories.state)
            writer.member("runtime", directories.runtime)
            writer.member(
                "environment", object: { object in environment.forEach { object.member($0.name, $0.value) } })
        }
        return writer.bytes
    }

    // MARK: For other commands

    /// The file that a run keeps its addresses in.
    static func file(in directories: Directories) -> String { "\(directories.runtime)/addresses.json" }

    /// The address and port of the gateway of a run; `nil` if the directories are not those of `pushctl dev`.
    ///
    /// - Throws: a failure if there is no run now.
    static func gateway(in directories: Directories) throws(Failure) -> String? {
        guard let root = directories.development else { return nil }
        guard let bytes = (try? SmallFile.read(file(in: directories))) ?? nil,
            let gateway = (try? JSONDocument(scanning: bytes))?.root["gateway"]?.string
        else {
            let command = DevDirectory.start(of: directories.controlSocket) ?? "pushctl dev"
            throw Failure(.unavailable, "no gateway runs in \(root): start it with \"\(command)\"")
        }
        return String(gateway.dropFirst("http://".count))
    }
}
