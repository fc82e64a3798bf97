import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("The log level", .timeLimit(.minutes(30)))
struct LogLevelTests {
    private let installation = Installation()
    private let line = #"{"op":"deliver","platform":"android","payload":{"data":{"k":"v"}}}"# + "\n"

    private func deliver(_ daemon: TestDaemon) {
        #expect(daemon.pushctl("inject", "--wait", "-", input: line).end == .exited(0))
    }

    @Test("is debug at first, and can be read and set at run time; less urgent entries are left out from then on")
    func pushctl() throws {
        let daemon = try TestDaemon(installation)
        #expect(daemon.pushctl("log-level").output == "debug\n")
        deliver(daemon)
        #expect(daemon.pushctl("log-level", "warning").output == "warning\n")
        deliver(daemon)
        #expect(daemon.pushctl("log-level", "--json").output.contains(#""level":"warning""#))
        let wrong = daemon.pushctl("log-level", "WARNING")
        #expect(wrong.errors.contains("level is one of emerg, alert, crit, err, warning") && wrong.end == .exited(2))
        #expect(daemon.pushctl("log-level", "info").output == "info\n")
        deliver(daemon)
        #expect(try daemon.process.stop() == .exited(0))
        let outcomes = daemon.process.standardError.split(separator: "\n").filter { $0.contains("push_outcome=") }
        #expect(outcomes.count == 2, "\(daemon.process.standardError)")
        #expect(daemon.process.standardError.contains("the log level is warning from now on; it was debug"))
    }

    @Test(
        "can be read and set over D-Bus", .needs(program: "/usr/bin/dbus-daemon", of: "dbus-daemon"),
        .needs(program: "/usr/bin/busctl", of: "systemd"))
    func bus() throws {
        let root = installation.root
        let address = "unix:path=\(root)/bus"
        let settings = """
            <busconfig><type>session</type><listen>\(address)</listen><policy context="default">
            <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
            </policy></busconfig>
            """
        writeFile(settings, to: "\(root)/bus.conf")
        let bus = try Service(["/usr/bin/dbus-daemon", "--config-file=\(root)/bus.conf", "--nofork", "--nopidfile"])
        defer { withExtendedLifetime(bus) {} }
        // The socket exists before the bus listens on it.
        try waitUntil("the bus listens") { SocketProbe.problem(at: "\(root)/bus") == nil }
        let process = try DaemonProcess.ready(installation, environment: ["DBUS_SYSTEM_BUS_ADDRESS=\(address)"])
        let busctl = Program(path: "/usr/bin/busctl")
        let property = ["dev.pushrouterd", "/org/freedesktop/LogControl1", "org.freedesktop.LogControl1"]
        func ask(_ verb: String, _ words: String...) -> Program.Result {
            busctl.run(["--address=\(address)", verb] + property + words)
        }
        try waitUntil("the daemon has its name") { ask("get-property", "LogLevel").output == "s \"debug\"\n" }
        #expect(ask("get-property", "SyslogIdentifier").output == "s \"pushrouterd\"\n")
        #expect(ask("get-property", "LogTarget").output == "s \"console\"\n")
        #expect(ask("set-property", "LogLevel", "s", "err").end == .exited(0))
        #expect(ask("get-property", "LogLevel").output == "s \"err\"\n")
        #expect(ask("set-property", "LogLevel", "s", "loud").errors.contains("the levels are emerg"))
        #expect(ask("set-property", "LogTarget", "s", "kmsg").end != .exited(0))
        #expect(ask("get-property", "Nothing").end != .exited(0))
        #expect(try process.stop() == .exited(0))
    }

    @Test("without a bus the daemon keeps running, and says so once")
    func noBus() throws {
        let process = try DaemonProcess.ready(
            installation, environment: ["DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(installation.root)/nowhere"])
        #expect(try process.stop() == .exited(0))
        let said = process.standardError.split(separator: "\n").filter { $0.contains("service-log-level") }
        #expect(said.count == 1, "\(process.standardError)")
    }
}
