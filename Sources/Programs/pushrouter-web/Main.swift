import Glibc
import HTTPServer
import LinuxSystem
import PushModel
import PushSettings
import PushViews

@main
struct Program {
    static let service = ServiceProgram(
        "pushrouter-web", help: help, directories: ["--config", "--state", "--runtime"],
        others: ["--listen", "--gateway", "--generate"], flags: ["--check", "--full-tokens"])

    static func main() { service.main(run) }

    private static func run(_ arguments: ServiceArguments) throws -> Int32 {
        if let what = arguments.values["--generate"] { return try generate(what) }
        let directories = service.directories(arguments)
        let (web, warnings) = try settings(in: directories.configuration)
        let access = WebAccess(
            hosts: web.hosts, token: try web.token.map(token), proxy: try web.proxy.map(user),
            proxyHeader: web.proxyHeader, random: random())
        return try service.run(isCheck: arguments.flags.contains("--check")) { loop, log in
            for warning in warnings { log(JournalEntry(.warning, warning)) }
            let entrances = try Entrances(
                arguments.values["--listen"],
                Entrances.Rules(
                    program: "pushrouter-web", listen: web.listen, standard: WebSettings.standardAddress,
                    reasonAgainstOtherMachines: web.reasonAgainstOtherMachines))
            let plan = WorkerPlan(
                facts: WebDesk.Facts(
                    access: access,
                    fullTokens: web.fullTokens || arguments.flags.contains("--full-tokens"),
                    actor: actor),
                directories: directories, isConfigurationRequired: arguments.values["--config"] != nil,
                gatewaySocket: arguments.values["--gateway"] ?? Directories.standardGatewaySocket,
                results: try Mailbox(), log: log)
            raiseDescriptorLimit()
            return try Service(
                loop: loop, plan: plan, entrances: entrances, connections: web.connectionsMax, streams: web.streamsMax,
                status: "serves \(entrances.names.joined(separator: ", "))", log: log)
        }
    }

    /// The user that the page acts as.
    private static var actor: String {
        let uid = geteuid()
        let name = UserName(of: uid).text(of: uid) ?? "somebody"
        return "\(name) (uid \(uid))"
    }

    private static func random() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    private static func user(_ name: String) throws(StartFailure) -> UInt32 {
        guard let entry = getpwnam(name) else {
            throw StartFailure("there is no user \(name) (Proxy=)", exitStatus: StartFailure.configuration)
        }
        return entry.pointee.pw_uid
    }

    private static func token(_ path: String) throws(StartFailure) -> String {
        guard let bytes = try SmallFile.read(path) else {
            throw StartFailure("there is no file \(path) (Token=)", exitStatus: StartFailure.configuration)
        }
        let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
        guard let text = String(validating: line, as: UTF8.self), text.count >= 16,
            text.allSatisfy({ !$0.isWhitespace })
        else {
            throw StartFailure(
                "\(path) (Token=): its first line must have at least 16 characters, without spaces",
                exitStatus: StartFailure.configuration)
        }
        return text
    }

    private static func settings(in directories: [String]) throws(StartFailure) -> (WebSettings, [String]) {
        let files: [ConfigurationFile]
        do {
            files = try ConfigurationSources.mainFiles("web.conf", in: directories)
        } catch {
            throw StartFailure("cannot read the configuration: \(error)", exitStatus: StartFailure.configuration)
        }
        let (settings, diagnostics) = WebSettings.load(files.map { ($0.path, $0.bytes) })
        guard let settings else {
            throw StartFailure(lines: diagnostics.map(\.description), exitStatus: StartFailure.configuration)
        }
        return (settings, diagnostics.map(\.description))
    }

    /// Prints the input of packaging/generate.sh: the shipped web.conf, and the parts of the manual page.
    private static func generate(_ what: String) throws(StartFailure) -> Int32 {
        switch what {
        case "conf":
            print(
                """
                # The configuration of pushrouter-web. The entries show the defaults; to change one, take the # away here or,
                # better, write it into a file of your own, web.conf.d/50-local.conf, section header included.
                # pushrouter-web(8) says more of each entry. The page reads the file at its start.

                """ + ConfigurationTexts.entries(of: Schema.web.keys), terminator: "")
        case "parts":
            let part = ConfigurationTexts.part("[Web]", Schema.web.keys)
            print(".\\\" begin \(part.name) (packaging/generate.sh)\n\(part.text).\\\" end")
            print(".\\\" begin query (packaging/generate.sh)\n\(QueryWord.manual).\\\" end")
        default: throw service.usageFailure("--generate \(what): conf or parts")
        }
        return 0
    }

    private static let help = """
        usage: pushrouter-web [--config DIR] [--state DIR] [--runtime DIR]
                              [--listen ADDRESS:PORT|unix:PATH,...] [--gateway PATH]
                              [--full-tokens] [--check]

        Serves the page, its API and the live stream: each push as it comes, whose it is
        and why, which handler had it, how much of the deadline it used, and what it counts
        as. Runs in the foreground.

          --listen ADDRESS:PORT|unix:PATH,...
                          listen there, in place of Listen= in web.conf
                          (default: \(WebSettings.standardAddress)). With sockets of the service
                          manager (systemd.socket(5)) leave it out
          --full-tokens   show push tokens whole
          --gateway PATH  the gateway's Unix socket
                          (default: \(Directories.standardGatewaySocket))
          --config DIR    read web.conf, and the routes, from DIR only
                          (default: $CONFIGURATION_DIRECTORY or /etc/pushrouterd,
                          then /run/pushrouterd and /usr/lib/pushrouterd)
          --state DIR     read the ledger in DIR
                          (default: $STATE_DIRECTORY or /var/lib/pushrouterd)
          --runtime DIR   find the daemon's sockets in DIR
                          (default: $RUNTIME_DIRECTORY or /run/pushrouterd)
          --check         check what a start reads: exit 0, or as a start that fails
          --help          print this
          --version       print the version

        The page only reads unless this user may use inject.sock (tap, send, sessions) or
        control.sock (replay).

        Exit status: 0 stopped by a signal, 2 usage, 71 the system refused something,
        73 it cannot listen on the address, 77 other machines could read without a token,
        78 web.conf is wrong.

        Explanations use the configuration that decided a push, and else the one in force, as
        the daemon has it. SIGHUP makes the page ask again; it does not read web.conf.
        """
}
