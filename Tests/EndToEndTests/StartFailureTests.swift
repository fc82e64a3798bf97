import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("A daemon that cannot start", .timeLimit(.minutes(30)))
struct StartFailureTests {
    private let installation = Installation()

    /// Starts the daemon and returns its end and its errors.
    private func failure(
        config: String? = nil, state: String? = nil, runtime: String? = nil
    ) throws -> (end: Program.End, errors: String) {
        let daemon = DaemonProcess(
            installation,
            arguments: [
                "--config", config ?? installation.configuration, "--state", state ?? installation.state,
                "--runtime", runtime ?? installation.runtime,
            ])
        let end = try daemon.waitForEnd()
        #expect(!daemon.messages.joined().contains("READY=1"))
        return (end, daemon.standardError)
    }

    @Test("names the process with the state directory, and leaves it alone")
    func stateInUse() throws {
        let daemon = try DaemonProcess.ready(installation)
        let (end, errors) = try failure(runtime: installation.root + "/run2")
        #expect(end == .exited(69))
        #expect(errors.contains("the state directory is in use by process \(daemon.processID)"), "\(errors)")
        #expect(try installation.injectClient().ask(Requests.deliver(waits: false)).isAccepted)
    }

    @Test("does not take a socket from a listening process")
    func socketInUse() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let (end, errors) = try failure(state: installation.root + "/state2")
        #expect(end == .exited(73))
        #expect(errors.contains("another process is listening on \(installation.controlSocket)"), "\(errors)")
        #expect(try installation.injectClient().ask(Requests.deliver(waits: false)).isAccepted)
    }

    @Test("does not replace a file that is not a socket")
    func notASocket() throws {
        mkdir(installation.runtime, 0o755)
        writeFile("precious", to: installation.injectSocket)
        let (end, errors) = try failure()
        #expect(end == .exited(73))
        #expect(errors.contains("\(installation.injectSocket) exists and is not a socket"), "\(errors)")
        #expect(readFile(installation.injectSocket) == Array("precious".utf8))
        #expect(access(installation.controlSocket, F_OK) != 0, "it left a socket behind")
    }

    @Test("reports a runtime directory that is too long for a socket address")
    func longRuntime() throws {
        let runtime = installation.root + "/" + String(repeating: "r", count: 100)
        let (end, errors) = try failure(runtime: runtime)
        #expect(end == .exited(73))
        #expect(errors.contains("\(runtime)/control.sock has") && errors.contains("Linux takes 1 to 107"), "\(errors)")
    }

    @Test("reports a directory that cannot be created")
    func missingParents() throws {
        let missing = installation.root + "/no/such"
        #expect(try failure(state: missing).end == .exited(74))
        #expect(try failure(state: missing).errors.contains("\(missing): its parent directory does not exist"))
        #expect(try failure(runtime: missing).end == .exited(73))
        #expect(
            try failure(runtime: missing).errors.contains("cannot create the runtime directory \(missing): No such"))
    }

    @Test("reports a state directory that is a file or not writable")
    func badState() throws {
        writeFile("", to: installation.root + "/file")
        let file = try failure(state: installation.root + "/file")
        #expect(file.end == .exited(74) && file.errors.contains("\(installation.root)/file"), "\(file.errors)")
        // No user can create files there, not even root.
        let proc = try failure(state: "/proc/self")
        #expect(proc.end == .exited(74) && proc.errors.contains("/proc/self/lock: open: "), "\(proc.errors)")
    }

    @Test("reports a ledger that is not a database")
    func badLedger() throws {
        mkdir(installation.state, 0o700)
        writeFile(String(repeating: "This is no database. ", count: 1000), to: installation.state + "/ledger.db")
        let (end, errors) = try failure()
        #expect(end == .exited(74))
        #expect(errors.contains("\(installation.state)/ledger.db") && errors.contains("not a database"), "\(errors)")
    }

    @Test("reports every fault in its configuration, with file and line")
    func badConfiguration() throws {
        installation.write("pushrouterd.conf", "[Daemon]\nRequestLengthMax=9 bananas\n[Deadline]\nBudget=10s\n")
        installation.addRoute("10-x", to: "nobody")
        let (end, errors) = try failure()
        #expect(end == .exited(78))
        let path = installation.configuration
        for start in ["pushrouterd.conf:2: ", "pushrouterd.conf:4: ", "routes.d/10-x.route:4: "] {
            #expect(errors.contains("pushrouterd: \(path)/\(start)"), "\(errors)")
        }
        #expect(access(installation.state, F_OK) != 0, "it touched the state before it knew its configuration")
    }

    @Test("a daemon whose configuration directory is missing says so and ends")
    func missingConfiguration() throws {
        let (end, errors) = try failure(config: installation.root + "/nowhere")
        #expect(end == .exited(78) && errors.contains("\(installation.root)/nowhere"), "\(errors)")
    }

    @Test(
        "the check of a service names the mistake for which a reload is refused, and needs no socket",
        arguments: [
            ("pushrouter-gateway", "gateway.conf", "[Gateway]\nUnknown="),
            ("pushrouter-web", "web.conf", "[Web]\nFullTokens="),
            ("pushrouter-http", "routes.d/1.route", "[Route]\nHandler="),
        ])
    func check(program: String, file: String, text: String) throws {
        let arguments = ["--config", installation.configuration, "--check"]
        #expect(try DaemonProcess(installation, arguments: arguments, program: program).waitForEnd() == .exited(0))
        installation.write(file, text + "maybe\n")
        let check = DaemonProcess(installation, arguments: arguments, program: program)
        #expect(try check.waitForEnd() == .exited(78))
        #expect(check.standardError.contains("\(file):2: "), "\(check.standardError)")
    }

    @Test(
        "a daemon with a wrong command line says what is wrong and ends",
        arguments: [
            (["--stat", "/x"], "there is no option --stat"), (["start"], "there is no operand start"),
            (["--state"], "--state needs a directory"), (["--state="], "--state needs a directory"),
        ])
    func usage(arguments: [String], message: String) throws {
        let daemon = DaemonProcess(installation, arguments: arguments)
        #expect(try daemon.waitForEnd() == .exited(2))
        #expect(daemon.standardError == "pushrouterd: \(message)\npushrouterd: see pushrouterd --help\n")
    }
}
