import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

private let activator = "/usr/bin/systemd-socket-activate"

@Suite(
    "Sockets of the service manager", .needs(program: activator, of: "systemd"))
struct InheritedSocketTests {
    private let installation = Installation()

    @Test("are served by the names of their units, and stay when the daemon ends")
    func served() throws {
        mkdir(installation.runtime, 0o755)
        let daemon = Program(product: "pushrouterd").path
        // systemd-socket-activate listens at once and starts the daemon on the first connection.
        let script = """
            \(activator) --fdname=control:inject -l \(installation.controlSocket) -l \(installation.injectSocket) \
                \(daemon) --config \(installation.configuration) --state \(installation.state) \
                --runtime \(installation.runtime) >\(installation.root)/output 2>\(installation.root)/errors &
            """
        // It keeps running after the shell ends, so no test thread has to wait for it.
        _ = Program(path: "/bin/sh").run(["-c", script])
        try waitUntil("the service manager listens") { (try? installation.injectClient()) != nil }
        #expect(try installation.injectClient().ask(Requests.deliver(waits: false)).isAccepted)
        let status = try DaemonStatus(of: installation)
        #expect(status["state"]?.string == "running")
        let process = pid_t(try status.number("pid"))
        kill(process, SIGTERM)
        try waitUntil("the daemon has ended") { kill(process, 0) != 0 }
        #expect(access(installation.injectSocket, F_OK) == 0 && access(installation.controlSocket, F_OK) == 0)
        let errors = String(decoding: readFile(installation.root + "/errors") ?? [], as: UTF8.self)
        #expect(errors.contains(#"level=debug message="inject.sock is the service manager's"#), "\(errors)")
    }

    @Test("are one for a program with one socket: with two it does not start")
    func surplus() {
        let program = "\(Program(product: "pushrouter-http").path) --config \(installation.configuration)"
        let script = "LISTEN_PID=$$ LISTEN_FDS=2 exec \(program) 3</dev/null 4</dev/null"
        let result = Program(path: "/usr/bin/timeout").run(["60", "/bin/sh", "-c", script])
        #expect(result.end == .exited(2), "\(result.end)")
        #expect(result.errors.contains("2 sockets") && result.errors.contains("with one ListenStream="))
    }
}
