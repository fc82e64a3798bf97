import Glibc
import HTTP2
import HTTPServer
import LinuxSystem
import PushGateway
import PushModel
import PushSettings

@main
struct Program {
    static let service = ServiceProgram(
        "pushrouter-gateway", help: help, directories: ["--config", "--state", "--runtime"],
        others: ["--listen", "--generate"], flags: ["--check"])

    static func main() { service.main(run) }

    private static func run(_ arguments: ServiceArguments) throws -> Int32 {
        if let what = arguments.values["--generate"] { return try generate(what) }
        let directories = service.directories(arguments)
        let (settings, warnings) = try settings(in: directories.configuration)
        var desk = try desk(settings)
        let state =
            arguments.values["--state"] ?? ServiceProgram.environment("STATE_DIRECTORY") ?? Directories.standardGateway
        return try service.run(isCheck: arguments.flags.contains("--check")) { loop, log in
            for warning in warnings { log(JournalEntry(.warning, warning)) }
            let entrances = try Entrances(
                arguments.values["--listen"],
                Entrances.Rules(
                    program: "pushrouter-gateway", listen: settings.listen, standard: GatewaySettings.standardAddress,
                    reasonAgainstOtherMachines: settings.reasonAgainstOtherMachines))
            let certificates = try CertificateStore(directory: state, names: settings.names) {
                log(JournalEntry(.warning, $0))
            }
            desk.webPush = WebPushKeys(secret: try WebPushSecret.read(in: state), OpenSSLWebPush())
            return try Service(
                loop: loop, desk: desk, injectSocket: directories.injectSocket, certificates: certificates,
                entrances: entrances, limits: TransportLimits(settings),
                status: "serves \(entrances.names.joined(separator: ", ")), \(state)/ca.pem vouches for it", log: log,
                reread: { try reread(directories.configuration, running: settings, entrances) })
        }
    }

    /// Makes the desk of a configuration: reads the senders' keys and the rules of errors on demand.
    private static func desk(_ settings: GatewaySettings) throws(StartFailure) -> GatewayDesk {
        let keys = try SenderKeys(credentials: settings.credentials, keys: settings.keys)
        let rules = try settings.errors.map(errorRules) ?? []
        let injected = InjectedErrors(takesTokens: settings.errorTokens, rules: rules)
        var desk = GatewayDesk(settings.rules, injected: injected) { keys.verdict(on: $0, of: $1) }
        desk.credentials = keys.counts
        return desk
    }

    /// Reads the configuration again.
    ///
    /// - Parameter running: the configuration of the start.
    /// - Returns: the desk of the new configuration, and the warnings about it.
    /// - Throws: the errors of the configuration: then the old one stays.
    private static func reread(
        _ directories: [String], running: GatewaySettings, _ entrances: Entrances
    ) throws(StartFailure) -> (GatewayDesk, [String]) {
        var (settings, remarks) = try settings(in: directories)
        if entrances.areOfOtherMachines, let reason = settings.reasonAgainstOtherMachines {
            throw StartFailure(reason, exitStatus: StartFailure.configuration)
        }
        let late = settings.keysForNextStart(from: running)
        if !late.isEmpty {
            remarks.append(
                late.map { "\($0)=" }.joined(separator: ", ") + " of gateway.conf counts from the next start on")
        }
        return (try desk(settings), remarks)
    }

    /// Prints the input of packaging/generate.sh: the shipped gateway.conf, and the list of its keys for the manual
    /// page.
    private static func generate(_ what: String) throws(StartFailure) -> Int32 {
        switch what {
        case "conf":
            print(
                """
                # The configuration of pushrouter-gateway. The entries show the defaults; to change one, take the # away here or,
                # better, write it into a file of your own, gateway.conf.d/50-local.conf, section header included.
                # pushrouter-gateway(8) says more of each entry. The gateway reads the file at its start, and on SIGHUP.

                """ + ConfigurationTexts.entries(of: Schema.gateway.keys), terminator: "")
        case "parts":
            let part = ConfigurationTexts.part("[Gateway]", Schema.gateway.keys)
            print(".\\\" begin \(part.name) (packaging/generate.sh)\n\(part.text).\\\" end")
        default: throw service.usageFailure("--generate \(what): conf or parts")
        }
        return 0
    }

    private static func settings(in directories: [String]) throws(StartFailure) -> (GatewaySettings, [String]) {
        let files: [ConfigurationFile]
        do {
            files = try ConfigurationSources.mainFiles("gateway.conf", in: directories)
        } catch {
            throw StartFailure("cannot read the configuration: \(error)", exitStatus: StartFailure.configuration)
        }
        let (settings, diagnostics) = GatewaySettings.load(files.map { ($0.path, $0.bytes) })
        guard let settings else {
            throw StartFailure(
                lines: diagnostics.map(\.description), exitStatus: StartFailure.configuration)
        }
        return (settings, diagnostics.map(\.description))
    }

    private static func errorRules(_ path: String) throws(StartFailure) -> [FaultRule] {
        let (rules, mistakes) = FaultRule.all(in: try SmallFile.read(path), of: path)
        guard mistakes.isEmpty else {
            throw StartFailure(lines: mistakes.map(\.description), exitStatus: StartFailure.configuration)
        }
        return rules
    }

    private static let help = """
        usage: pushrouter-gateway [--config DIR] [--state DIR] [--runtime DIR]
                                  [--listen ADDRESS:PORT|unix:PATH,...] [--check]

        Takes the requests that clients send to FCM, APNs and browsers' push services, over
        HTTP/2 and HTTP/1.1 with TLS or without, hands each push to pushrouterd, and gives
        the answers that Google, Apple and Mozilla would give. Runs in the foreground.

          --listen ADDRESS:PORT|unix:PATH,...
                          listen there, in place of Listen= in gateway.conf
                          (default: \(GatewaySettings.standardAddress)). With sockets of the service
                          manager (systemd.socket(5)) leave it out
          --config DIR    read gateway.conf from DIR only
                          (default: $CONFIGURATION_DIRECTORY or /etc/pushrouterd,
                          then /run/pushrouterd and /usr/lib/pushrouterd)
          --state DIR     keep the certificate authority and the secret of web push in DIR
                          (default: $STATE_DIRECTORY or \(Directories.standardGateway))
          --runtime DIR   find the daemon's inject.sock in DIR
                          (default: $RUNTIME_DIRECTORY or /run/pushrouterd)
          --check         check what a reload reads: exit 0, or as a start that fails
          --help          print this
          --version       print the version

        A client trusts it by ca.pem in the state directory, which vouches for the hosts of
        FCM and APNs, localhost and Names= alone; "pushctl gateway env" prints the variables
        that make a client use it.

        On SIGTERM it answers the requests under way, and exits 0. On SIGHUP it reads
        gateway.conf, the keys of senders and Errors= again; after an error in them the
        previous ones stay in force.

        Exit status: 0 stopped by a signal, 2 usage, 71 the system refused something,
        73 it cannot listen on the address, 77 other machines could send without a proof,
        78 the configuration is wrong.
        """
}

extension TransportLimits {
    /// The limits in the configuration.
    init(_ settings: GatewaySettings) {
        connections = settings.connectionsMax
        idle = settings.idleTimeout.nanoseconds
        http2.streams = UInt32(settings.streamsMax)
        http2.bodyBytes = settings.bodySizeMax
        http1.bodyBytes = settings.bodySizeMax
        http1.connections = UInt32(settings.connectionsMax)
        http1.idleSeconds = UInt32(clamping: settings.idleTimeout.milliseconds / 1000)
    }
}
