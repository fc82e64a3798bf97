import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("A mistake in the configuration", .timeLimit(.minutes(30)))
struct LastGoodConfigurationTests {
    private let installation = Installation()

    private func addMistake() { installation.write("routes.d/10-wrong.route", "[Match]\n[Route]\nHandler=nobody\n") }

    @Test("leaves a restarted daemon with the last good one, and status, metrics, doctor and journal say so")
    func restart() throws {
        installation.addJob("job", "exit 0")
        let first = try DaemonProcess.ready(installation)
        #expect(try installation.injectClient().outcome(of: Requests.deliver(job: "job")).outcome == "handled")
        #expect(try first.stop() == .exited(0))
        addMistake()

        let daemon = try DaemonProcess.ready(installation)
        #expect(
            daemon.messages.last?.contains("STATUS=configuration failed, still as before: device mode, 2 routes")
                == true)
        #expect(try installation.injectClient().outcome(of: Requests.deliver(job: "job")).outcome == "handled")
        let problem = try DaemonStatus(of: installation)["configuration_problem"]?.string ?? ""
        #expect(problem.contains("10-wrong.route:3: error: Handler=nobody"), "\(problem)")
        func pushctl(_ words: String...) -> Program.Result {
            EndToEndTests.pushctl.run(
                words + [
                    "--config", installation.configuration, "--state", installation.state, "--runtime",
                    installation.runtime,
                ])
        }
        #expect(pushctl("status", "--format", "prometheus").output.contains("pushrouterd_configuration_problem 1"))
        let doctor = pushctl("doctor").output
        #expect(doctor.contains("the last good configuration is in force, not the one on disk"), "\(doctor)")
        let verify = pushctl("verify")
        #expect(verify.end == .exited(1) && verify.output.contains("10-wrong.route"), "\(verify.output)")
        try waitUntil("the journal says it") {
            daemon.standardError.contains("the configuration has a mistake: the start goes on with the last good one, ")
        }
        #expect(daemon.standardError.contains("10-wrong.route:3: error: Handler=nobody"))

        unlink(installation.configuration + "/routes.d/10-wrong.route")
        #expect(pushctl("reload").end == .exited(0))
        #expect(try DaemonStatus(of: installation)["configuration_problem"]?.kind == .null)
        #expect(daemon.messages.last?.contains("STATUS=device mode, 2 routes") == true)
    }

    @Test("leaves http handlers with the last good one as well")
    func bridge() throws {
        // Nobody listens there: the bridge says that the server refuses.
        installation.write("handlers.d/post.handler", "[Handler]\nType=http\nURL=http://127.0.0.1:9/\n")
        installation.addRoute("50-post", to: "post", match: "Data=job post")
        let first = try DaemonProcess.ready(installation)
        let before = try installation.injectClient().outcome(of: Requests.deliver(job: "post"))
        #expect(before.outcome == "failed" && before["reason"]?.string?.contains("127.0.0.1") == true, "\(before)")
        #expect(try first.stop() == .exited(0))
        addMistake()
        let daemon = try DaemonProcess.ready(installation)
        let after = try installation.injectClient().outcome(of: Requests.deliver(job: "post"))
        #expect(after.outcome == before.outcome && after["reason"]?.string == before["reason"]?.string, "\(after)")
        withExtendedLifetime(daemon) {}
    }

    @Test(
        "ends no service that is started by its sockets",
        .needs(program: "/usr/bin/systemd-socket-activate", of: "systemd"))
    func activated() throws {
        let first = try DaemonProcess.ready(installation)
        #expect(try first.stop() == .exited(0))
        addMistake()
        let daemon = Program(product: "pushrouterd").path
        let script = """
            /usr/bin/systemd-socket-activate --fdname=control:inject -l \(installation.controlSocket) \
                -l \(installation.injectSocket) \(daemon) --config \(installation.configuration) \
                --state \(installation.state) --runtime \(installation.runtime) \
                >\(installation.root)/output 2>\(installation.root)/errors &
            """
        _ = Program(path: "/bin/sh").run(["-c", script])
        try waitUntil("the service manager listens") { (try? installation.injectClient()) != nil }
        #expect(try installation.injectClient().ask(Requests.deliver(waits: false)).isAccepted)
        let status = try DaemonStatus(of: installation)
        #expect(status["configuration_problem"]?.string?.contains("10-wrong.route") == true)
        let process = pid_t(try status.number("pid"))
        kill(process, SIGTERM)
        try waitUntil("the daemon has ended") { kill(process, 0) != 0 }
    }

    @Test("show explains a push by the configuration that decided it, after any number of others")
    func show() throws {
        let daemon = try DaemonProcess.ready(installation)
        #expect(try installation.injectClient().outcome(of: Requests.deliver(job: "late")).outcome == "handled")
        installation.addJob("late", "exit 0")
        let control = try Client(path: installation.controlSocket)
        #expect(try control.ask(#"{"op":"reload"}"#)["reloaded"]?.bool == true)
        #expect(try installation.injectClient().outcome(of: Requests.deliver(job: "late")).outcome == "handled")
        func show(_ seq: Int, _ words: String...) -> String {
            pushctl.run(
                [
                    "show", "\(seq)", "--config", installation.configuration, "--state", installation.state,
                    "--runtime",
                    installation.runtime,
                ] + words
            ).output
        }
        let first = show(1)
        #expect(first.contains("\nOwner and reasons\n  Decided by the configuration "), "\(first)")
        #expect(first.contains("Another one is in force now."), "\(first)")
        #expect(first.contains("by route 99-default") || first.contains("by 99-default"), "\(first)")
        #expect(!first.contains("50-late"), "\(first)")
        let second = show(2)
        #expect(second.contains("It is still in force.") && second.contains("50-late"), "\(second)")
        let object = try json(show(1, "--json"))
        #expect(object["configuration"]?["in_force"]?.bool == false)
        #expect(object["configuration"]?["id"]?.string?.utf8.count == 16)
        #expect(object["explanation"]?["provider"]?.kind == .null)
        #expect(try daemon.stop() == .exited(0))
        // Without a daemon the kept files tell.
        #expect(show(1) == first)
    }

    @Test("read.sock tells configurations without secrets, also one that was in force before")
    func questions() throws {
        installation.write("pushrouterd.conf", "# s3cret1\n[Deadline]\nBudget=8s\n")
        installation.addHandler("crm", "Exec=/bin/true s3cret2\nEnvironment=KEY=s3cret3")
        installation.addRoute("10-crm", to: "crm")
        let daemon = try DaemonProcess.ready(installation)
        let reader = try Client(path: installation.readSocket)
        let first = try reader.ask(#"{"op":"configuration","id":"a"}"#)
        #expect(first.id == "a" && first["in_force"]?.bool == true)
        let files = try #require(first["files"]?.string)
        #expect(files.contains("Budget=8s") && files.contains("10-crm.route") && !files.contains("s3cret"), "\(files)")
        installation.write("pushrouterd.conf", "[Deadline]\nBudget=7s\n")
        #expect(try Client(path: installation.controlSocket).ask(#"{"op":"reload"}"#)["reloaded"]?.bool == true)
        let id = try #require(first["configuration"]?.string)
        let again = try reader.ask(#"{"op":"configuration","configuration":"\#(id)"}"#)
        #expect(again["files"]?.string == files && again["in_force"]?.bool == false)
        #expect(again["since"]?.string == first["since"]?.string)
        let unknown = try reader.ask(#"{"op":"configuration","configuration":"0123456789ABCDEF"}"#)
        #expect(unknown.errorMessage == "the configuration 0123456789ABCDEF is not kept here")
        #expect(try reader.ask(#"{"op":"configuration","configuration":"x"}"#).errorCode == "invalid_value")
        withExtendedLifetime(daemon) {}
    }
}
