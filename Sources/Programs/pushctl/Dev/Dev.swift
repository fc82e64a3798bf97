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
            address of the page, which already has an example, and the variables that point firebase-admin and other \
            clients at the gateway. aioapns uses no proxy: it needs aioapns_through_proxy.py of packaging/examples/tests \
            (in the package below /usr/share/doc/pushrouterd), or the push hosts are names of this machine in \
            /etc/hosts, with --gateway-port 443.
            """,
            """
            Everything is below DIR (./.pushrouter): config, state (the ledger), run (the sockets) and gateway (its \
            certificates). The first run makes a small configuration there, which is yours from then on: a handler \
            "received" takes every push without a known provider. A changed configuration is read again within a \
            second. A second run continues with the files of the first. Only one run at a time uses a directory. All \
            commands use the ./.pushrouter of the working directory, or of the nearest directory above, by themselves.
            """,
            """
            With COMMAND, which "--" separates, the programs run until it ends. COMMAND has the variables, \
            PUSHROUTER_PAGE with the address of the page, and \(Directories.developmentVariable), by which commands find \
            DIR. Of the logs only what handlers write, warnings and errors are \
            shown. With COMMAND or --json no example is sent.
            """,
            """
            The page is at port 18080 of 127.0.0.1 and the gateway at 18443, or at one of the next 20 ports if another \
            program uses that one. Only programs of this machine reach these ports. The logs of the three programs and \
            what handlers write to standard error go to standard error, with times of this machine's zone.
            """,
            """
            The exit status is that of COMMAND, or 128 and its signal; without COMMAND 0 after Ctrl-C or SIGTERM; 69 \
            when one of the programs ended, another run uses the directory, or a port is in use; and the status of a \
            program that does not start. The three programs and COMMAND end even when pushctl is killed; then the \
            directory of --temporary stays.
            """,
        ],
        operands: Operands(usage: "[-- COMMAND...]", count: 0...Int.max),
        options: [
            .devDirectory, .devTemporary, .devPort, .devGatewayPort, .utc,
            .json.meaning("print the addresses as one line of JSON, for programs"),
        ],
        examples: [
            Example(line: "pushctl dev", meaning: "until Ctrl-C, with the files of the last run"),
            Example(line: "pushctl dev --temporary", meaning: "in a directory that is removed at the end"),
            Example(line: "pushctl dev --temporary -- pytest", meaning: "for the tests of a server, which send pushes"),
            Example(
                line: "pushctl dev --temporary --json --port 0 --gateway-port 0",
                meaning: "for a program: free ports, and a line of JSON with all addresses"),
        ]
    ) { arguments, session throws(Failure) in
        try Dev(arguments).run(session.output)
    }
}

extension Option {
    fileprivate static let devDirectory = Option(
        "directory", .directory, "keep everything below this directory (./\(Directories.developmentName))")
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
    /// The person's command with its arguments; empty without one.
    private let command: [String]
    private let printsJSON: Bool
    private let zone: LocalZone

    init(_ arguments: Arguments) throws(Failure) {
        for option in [Option.configuration, .stateDirectory, .runtime] where arguments.has(option) {
            throw arguments.usageFailure("--\(option.name): dev keeps all files in one directory: use --directory DIR")
        }
        guard !arguments.has(.devDirectory) || !arguments.has(.devTemporary) else {
            throw arguments.usageFailure("--directory and --temporary exclude each other")
        }
        directory = arguments.has(.devTemporary) ? nil : arguments[.devDirectory] ?? Directories.developmentName
        pagePort = try arguments.port(.devPort) ?? .ofPage
        gatewayPort = try arguments.port(.devGatewayPort) ?? .ofGateway
        guard pagePort != gatewayPort || !pagePort.isExact else {
            throw arguments.usageFailure("--port and --gateway-port are the same port")
        }
        command = arguments.operands
        printsJSON = arguments.has(.json)
        guard command.isEmpty || !printsJSON else {
            throw arguments.usageFailure("--json prints to standard output, which COMMAND has: leave out one of them")
        }
        zone = arguments.has(.utc) ? .utc : LocalTime.zone
    }

    func run(_ output: Output) throws(Failure) -> ExitStatus {
        // Opens descriptors 0 to 2, so that no pipe to a program becomes this program's standard output.
        StandardDescriptors.open()
        let programs = try DevPaths(command: command.first)
        // Before anything is made or starts.
        try pagePort.check(.devPort)
        try gatewayPort.check(.devGatewayPort)
        // Before the directory is made: a signal in between would leave it behind.
        SignalSource.block(DevRun.signals)
        let directory = try DevDirectory(directory)
        var failure: Failure?
        var status: Int32?
        do throws(Failure) {
            try directory.fill()
            let run = try DevRun(
                notifications: directory.notifySocket, DevLog(zone: zone, isBrief: !command.isEmpty),
                DevWatch(directory.configuration))
            // A closed standard output ends the run as Ctrl-C does.
            output.beforeExit = {
                run.stop()
                _ = directory.end()
            }
            defer {
                output.beforeExit = {}
                run.stop()
            }
            let addresses = try start(programs, in: directory, run)
            if let path = programs.command {
                status = try run.run(path, command, addresses?.environment ?? [])
            } else {
                if let addresses { tell(addresses, directory, output) }
                try run.wait()
            }
        } catch {
            failure = error
        }
        if !directory.end() { output.note("cannot remove all of \(directory.path)") }
        if let failure { throw failure }
        // A command may have any status, also one that this program does not have.
        if let status { exit(status) }
        return .done
    }

    /// Starts the programs, one after the other.
    ///
    /// - Returns: their addresses; `nil`: a person ended the run.
    private func start(
        _ programs: DevPaths, in directory: DevDirectory, _ run: DevRun
    ) throws(Failure) -> DevAddresses? {
        let directories = directory.directories
        let places = ["--config", directory.configuration, "--runtime", directories.runtime]
        // SIGTERM, because the daemon then ends the processes of its handlers, too.
        let daemon = try run.start(
            programs.daemon, "pushrouterd", places + ["--state", directories.state], deathSignal: SIGTERM)
        switch daemon {
        case .ready: break
        case .stopRequested: return nil
        case .ended(let program): throw program.failure
        }
        if !directory.hasFirstPush, command.isEmpty, !printsJSON {
            try sendFirstPush(to: directories)
            try directory.noteFirstPush()
        }
        let gatewayPlaces = places + ["--state", directories.gateway, "--listen"]
        let gateway = try listening(gatewayPort, .devGatewayPort) { address throws(Failure) in
            // The page asks for the gateway's state at the second address.
            let words = gatewayPlaces + ["\(address),unix:\(directories.gatewaySocket)"]
            return try run.start(programs.gateway, "pushrouter-gateway", words, deathSignal: SIGKILL)
        }
        // Without --gateway the page would ask the gateway of the installed service.
        let pagePlaces =
            places + ["--state", directories.state, "--gateway", directories.gatewaySocket, "--listen"]
        let page = try listening(pagePort, .devPort) { address throws(Failure) in
            try run.start(programs.page, "pushrouter-web", pagePlaces + [address], deathSignal: SIGKILL)
        }
        guard let page, let gateway else { return nil }
        let addresses = DevAddresses(page: page, gateway: gateway, directories)
        try directory.keep(addresses)
        return addresses
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

    private func sendFirstPush(to directories: Directories) throws(Failure) {
        let socket = directories.injectSocket
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
        let control = try? DaemonConnection(directories.controlSocket, timeoutMilliseconds: Self.answerLimit)
        _ = try? control?.ask(.sync(timeout: .seconds(5)), timeoutMilliseconds: 2 * Self.answerLimit)
    }

    /// Prints the addresses. A person copies these lines, so they are not folded.
    private func tell(_ addresses: DevAddresses, _ directory: DevDirectory, _ output: Output) {
        defer { output.flush() }
        guard !printsJSON else { return output.write(line: addresses.json) }
        let body = #"{"message":{"token":"pixel","data":{"title":"Hello","body":"From curl"}}}"#
        let text = """
            The page: \(addresses.page)/

            These variables make firebase-admin and other clients send to the gateway. aioapns uses no proxy: it needs
            examples/tests/aioapns_through_proxy.py, or names in /etc/hosts and --gateway-port 443.

            \(ClientVariables.exports(directory.isHere ? addresses.ofClients : addresses.environment))
            By curl:  curl \(addresses.gateway)/v1/projects/demo/messages:send -d '\(body)'
            The web:  pushctl webpush subscribe --app org.example.demo --device chrome >subscription.json
              Node:   webpush.sendNotification(require('./subscription.json'), 'Hello')
              Python: webpush(json.load(open('subscription.json')), 'Hello')
            A file:   pushctl inject --runtime \(addresses.directories.runtime.asShellWord) --app org.example.demo --device pixel FILE

            Ctrl-C ends the programs\(directory.isTemporary ? " and removes" : "; the next run goes on with") \
            \(directory.path)

            """
        output.write(text.showingControlsInLines().utf8)
        output.flush()
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
    /// The program of the person's command; `nil` without one.
    let command: String?

    /// Looks beside this program, and then in the package's directories; for a command without a slash in `PATH`.
    init(command: String?) throws(Failure) {
        var directories = ["/usr/sbin", "/usr/bin"]
        if let own = realpath("/proc/self/exe", nil) {
            let path = String(cString: own)
            free(own)
            directories.insert(String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)), at: 0)
        }
        daemon = try Self.find("pushrouterd", in: directories)
        gateway = try Self.find("pushrouter-gateway", in: directories)
        page = try Self.find("pushrouter-web", in: directories)
        guard let command, !command.contains("/") else {
            self.command = command
            return
        }
        let path = Output.environment("PATH") ?? "/usr/bin:/bin"
        self.command = try Self.find(command, in: path.split(separator: ":").map(String.init))
    }

    private static func find(_ name: String, in directories: [String]) throws(Failure) -> String {
        for directory in directories where access("\(directory)/\(name)", X_OK) == 0 { return "\(directory)/\(name)" }
        throw Failure(.noInput, "there is no program \(name) in \(directories.joined(separator: ", "))")
    }
}
