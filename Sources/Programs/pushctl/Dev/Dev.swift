import Glibc
import LinuxSystem
import PushModel
import PushSettings
import PushViews

extension Command {
    static let dev = Command(
        name: "dev", summary: "run a daemon, a gateway and the page below one directory",
        description: [
            """
            Starts pushrouterd, pushrouter-gateway and pushrouter-web as your user, beside a running service. Ctrl-C, \
            SIGTERM or the end of one of the three programs ends the command and all of them. The command prints the \
            address of the page, which already has a first push, and the variables that point firebase-admin and \
            aioapns at the gateway.
            """,
            """
            Everything is below DIR (./.pushrouter): config, state (the ledger), run (the sockets) and gateway (its \
            certificates). The first run makes a small configuration there, which is yours from then on: a handler \
            "received" takes every push without a known provider. A second run continues with the files of the first. \
            Only one run at a time uses a directory.
            """,
            """
            The page is at port 18080 of 127.0.0.1 and the gateway at 18443, or at one of the next 20 ports if another \
            program uses that one. Only programs of this machine reach these ports. The logs of the three programs go \
            to standard error, with times of this machine's zone.
            """,
            """
            The exit status is 0 after Ctrl-C or SIGTERM; 69 when one of the programs ended, another run uses the \
            directory, or a port is in use; and the status of a program that does not start. The three programs end \
            even when pushctl is killed; then the directory of --temporary stays.
            """,
        ],
        operands: .none,
        options: [.devDirectory, .devTemporary, .devPort, .devGatewayPort, .utc],
        examples: [
            Example(line: "pushctl dev", meaning: "until Ctrl-C, with the files of the last run"),
            Example(line: "pushctl dev --temporary", meaning: "in a directory that is removed at the end"),
            Example(line: "pushctl dev --port 0 --gateway-port 0", meaning: "at free ports"),
        ]
    ) { arguments, session throws(Failure) in
        try Dev(arguments).run(session.output)
    }
}

extension Option {
    fileprivate static let devDirectory = Option(
        "directory", .directory, "keep everything below this directory (./\(DevDirectory.standard))")
    fileprivate static let devTemporary = Option(
        "temporary", .none, "use a new directory, and remove it at the end")
    fileprivate static let devPort = Option(
        "port", .text("PORT"), "the page's port: this one alone; 0: any (18080 and the next 20)")
    fileprivate static let devGatewayPort = Option(
        "gateway-port", .text("PORT"), "the gateway's port: this one alone; 0: any (18443 and the next 20)")
}

/// The parameters of `pushctl dev`, and its run.
private struct Dev {
    /// `EX_CANTCREAT`: the exit status of a program that cannot listen.
    private static let cannotListen: Int32 = 73
    /// How long a reply of the daemon may take, in milliseconds.
    private static let answerLimit = 10_000

    private let directory: String?
    private let pagePort: DevPort
    private let gatewayPort: DevPort
    private let isUTC: Bool
    private let zone: LocalZone

    init(_ arguments: Arguments) throws(Failure) {
        for option in [Option.configuration, .stateDirectory, .runtime] where arguments.has(option) {
            throw arguments.usageFailure("--\(option.name): dev keeps all files in one directory: use --directory DIR")
        }
        guard !arguments.has(.devDirectory) || !arguments.has(.devTemporary) else {
            throw arguments.usageFailure("--directory and --temporary exclude each other")
        }
        directory = arguments.has(.devTemporary) ? nil : arguments[.devDirectory] ?? DevDirectory.standard
        pagePort = try arguments.port(.devPort) ?? .ofPage
        gatewayPort = try arguments.port(.devGatewayPort) ?? .ofGateway
        isUTC = arguments.has(.utc)
        zone = arguments.zone
    }

    func run(_ output: Output) throws(Failure) -> ExitStatus {
        // Opens descriptors 0 to 2, so that no pipe to a program becomes this program's standard output.
        StandardDescriptors.open()
        let programs = try DevPaths()
        // Before the directory is made: a signal in between would leave it behind.
        SignalSource.block(DevRun.signals)
        let directory = try DevDirectory(directory)
        var failure: Failure?
        do throws(Failure) {
            try directory.fill()
            let run = try DevRun(notifications: directory.notifySocket, DevLog(zone: zone))
            // A closed standard output ends the run as Ctrl-C does.
            output.beforeExit = {
                run.stop()
                _ = directory.end()
            }
            defer {
                output.beforeExit = {}
                run.stop()
            }
            try start(programs, in: directory, run, output)
            try run.wait()
        } catch {
            failure = error
        }
        if !directory.end() { output.note("cannot remove all of \(directory.path)") }
        if let failure { throw failure }
        return .done
    }

    /// Starts the programs, one after the other, and prints their addresses; stops early if a person ends the run.
    private func start(
        _ programs: DevPaths, in directory: DevDirectory, _ run: DevRun, _ output: Output
    ) throws(Failure) {
        let places = ["--config", directory.configuration, "--runtime", directory.runtime]
        // SIGTERM, because the daemon then ends the processes of its handlers, too.
        let daemon = try run.start(
            programs.daemon, "pushrouterd", places + ["--state", directory.state], deathSignal: SIGTERM)
        switch daemon {
        case .ready: break
        case .stopRequested: return
        case .ended(let program): throw program.failure
        }
        if !directory.hasFirstPush {
            try sendFirstPush(to: directory)
            try directory.noteFirstPush()
        }
        let gatewayPlaces = places + ["--state", directory.gateway, "--listen"]
        let gateway = try listening(gatewayPort, .devGatewayPort) { address throws(Failure) in
            // The page asks for the gateway's state at the second address.
            let words = gatewayPlaces + ["\(address),unix:\(directory.gatewaySocket)"]
            return try run.start(programs.gateway, "pushrouter-gateway", words, deathSignal: SIGKILL)
        }
        // Without --gateway the page would ask the gateway of the installed service.
        let pagePlaces =
            places + ["--state", directory.state, "--gateway", directory.gatewaySocket] + (isUTC ? ["--utc"] : [])
            + ["--listen"]
        let page = try listening(pagePort, .devPort) { address throws(Failure) in
            try run.start(programs.page, "pushrouter-web", pagePlaces + [address], deathSignal: SIGKILL)
        }
        if let page, let gateway { printAddresses(page: page, gateway: gateway, directory, output) }
    }

    /// Starts a program at a free port. If another program takes the port in between, tries the next.
    ///
    /// - Parameters:
    ///   - ports: the ports to try.
    ///   - option: the option that sets them.
    ///   - start: starts the program at an address.
    /// - Returns: the address; `nil`: a person ended the run.
    private func listening(
        _ ports: DevPort, _ option: Option, _ start: (String) throws(Failure) -> DevRun.Start
    ) throws(Failure) -> String? {
        var failure = ports.taken(option)
        for candidate in ports.candidates {
            guard let port = try DevPort.free(candidate) else { continue }
            let address = "127.0.0.1:\(port)"
            switch try start(address) {
            case .ready: return address
            case .stopRequested: return nil
            case .ended(let program):
                failure = program.failure
                guard program.end == .exited(Self.cannotListen), !ports.isExact else { throw failure }
            }
        }
        throw failure
    }

    private func sendFirstPush(to directory: DevDirectory) throws(Failure) {
        let socket = directory.injectSocket
        let line: [UInt8]?
        do throws(DaemonError) {
            let connection = try DaemonConnection(socket, timeoutMilliseconds: Self.answerLimit)
            try connection.send(Array(DevFirstPush.line.utf8))
            line = try connection.receiveLine(timeoutMilliseconds: Self.answerLimit)
        } catch {
            throw Failure(error, socket)
        }
        let reply = line.flatMap { try? JSONDocument(scanning: $0) }?.root
        guard reply?["ok"]?.bool == true else {
            throw Failure(.no, "the first push: \(reply?.refusal ?? "the daemon closed the connection")")
        }
        // The page reads the ledger: the push must be there when the page's address is printed.
        let control = try? DaemonConnection(directory.controlSocket, timeoutMilliseconds: Self.answerLimit)
        _ = try? control?.ask(.sync(timeout: .seconds(5)), timeoutMilliseconds: 2 * Self.answerLimit)
    }

    /// Prints the addresses. A person copies these lines, so they are not folded.
    private func printAddresses(page: String, gateway: String, _ directory: DevDirectory, _ output: Output) {
        let authority = "\(directory.gateway)/ca.pem"
        // The gateway writes bundle.pem if the system has authorities.
        let bundle = "\(directory.gateway)/bundle.pem"
        let exports = ClientVariables.exports(
            bundle: access(bundle, R_OK) == 0 ? bundle : authority, authority: authority, proxy: gateway)
        let body = #"{"message":{"token":"pixel","data":{"title":"Hello","body":"From curl"}}}"#
        let text = """
            The page: http://\(page)/

            These variables make firebase-admin, aioapns and other clients send to the gateway:

            \(exports)
            By curl:  curl http://\(gateway)/v1/projects/demo/messages:send -d '\(body)'
            A file:   pushctl --runtime \(inShell(directory.runtime)) inject --app org.example.demo --device pixel FILE

            Ctrl-C ends the programs\(directory.isTemporary ? " and removes" : "; the next run goes on with") \
            \(directory.path)

            """
        output.write(text.showingControlsInLines().utf8)
        output.flush()
    }

    /// A path, quoted for a shell.
    private func inShell(_ path: String) -> String {
        "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

extension Arguments {
    /// The port in an option; `nil` if the option is missing.
    fileprivate func port(_ option: Option) throws(Failure) -> DevPort? {
        guard let text = self[option] else { return nil }
        guard let port = DevPort(text) else {
            throw usageFailure("--\(option.name) \(text): a port from 1 to 65535, or 0 for any that is free")
        }
        return port
    }
}

/// The paths of the programs.
private struct DevPaths {
    let daemon: String
    let gateway: String
    let page: String

    /// Looks beside this program, and then in the package's directories.
    init() throws(Failure) {
        var directories = ["/usr/sbin", "/usr/bin"]
        if let own = realpath("/proc/self/exe", nil) {
            let path = String(cString: own)
            free(own)
            directories.insert(String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)), at: 0)
        }
        daemon = try Self.find("pushrouterd", in: directories)
        gateway = try Self.find("pushrouter-gateway", in: directories)
        page = try Self.find("pushrouter-web", in: directories)
    }

    private static func find(_ name: String, in directories: [String]) throws(Failure) -> String {
        for directory in directories where access("\(directory)/\(name)", X_OK) == 0 { return "\(directory)/\(name)" }
        throw Failure(.noInput, "there is no program \(name) in \(directories.joined(separator: ", "))")
    }
}
