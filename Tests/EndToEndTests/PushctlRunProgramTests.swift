import Glibc
import TestSupport
import Testing

@testable import PushModel

@Suite("pushctl run-handler, with a program and with requests of the ledger", .timeLimit(.minutes(30)))
final class PushctlRunProgramTests {
    private let directory = TemporaryDirectory()

    private func program(_ script: String, mode: mode_t = 0o755) -> String {
        let path = directory.path + "/on-order"
        writeFile("#!/bin/sh\n\(script)\n", to: path)
        chmod(path, mode)
        return path
    }

    private func run(_ words: String..., payload: String = #"{"order_id":"7"}"#) -> Program.Result {
        pushctl.run(
            ["run-handler"] + words + ["--config", directory.path, "--platform", "android"], input: Array(payload.utf8))
    }

    @Test("a path with a slash is a program: it runs as an exec handler with the defaults, without a configuration")
    func withoutConfiguration() {
        let path = program(#"cat >/dev/null; echo "$PUSH_HANDLER $PUSH_CALLBACK $PWD" >&2"#)
        let result = run(path, "-")
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(
            result.output.hasPrefix(
                "standard input:1: handler on-order (exec), onMessageReceived, route run-handler, 9 s\n  got:\n"),
            "\(result.output)")
        #expect(result.output.contains(":\n    on-order onMessageReceived /\n"), "\(result.output)")
        #expect(!result.output.contains("remark"), "nobody said that a route leads to it: \(result.output)")
        // The program by a path relative to the working directory.
        let script =
            "cd \(directory.path) && exec \(pushctl.path) run-handler ./on-order --config . --platform android -"
        let relative = Program(path: "/bin/sh").run(["-c", script], input: Array("{}".utf8))
        #expect(relative.end == .exited(0), "\(relative.output)\(relative.errors)")
    }

    @Test("the payload's handling by the platform and the tracker is remarked here too")
    func remarks() {
        let path = program("exit 0")
        let shown = run(path, "-", payload: #"{"notification":{"title":"x"},"data":{"k":"v"}}"#)
        #expect(
            shown.output.contains(
                "  remark: the platform would run no callback (shown_by_system); see pushctl explain; "
                    + "the handler nevertheless runs for onMessageReceived\n"), "\(shown.output)")
        let braze = run(path, "-", payload: #"{"_ab":"true","t":"T","a":"A"}"#)
        #expect(braze.output.contains("  remark: the daemon would give this payload to the tracker, because "))
    }

    @Test("a missing or non-executable program is an error before anything runs, and so is an unknown name")
    func missing() {
        #expect(run("./gone", "-").errors == "pushctl: ./gone: No such file or directory\n")
        let plain = run(program("", mode: 0o644), "-")
        #expect(plain.end == .exited(66))
        #expect(plain.errors.hasSuffix("on-order: Permission denied; chmod +x makes the file executable\n"))
        #expect(run("on-order", "-").errors.contains("there is no handler on-order; there are none in"))
        let command = "cd \(directory.path) && exec \(pushctl.path) run-handler on-order --config . -"
        let beside = Program(path: "/bin/sh").run(["-c", command], input: Array("{}".utf8))
        #expect(beside.end == .exited(2))
        #expect(beside.errors.contains("no handler on-order; the program in this directory is ./on-order; there are"))
    }

    @Test("--seq gives the recorded payload, app, device, user, state and callback, and names the recorded outcome")
    func seq() throws {
        let installation = Installation()
        installation.addJob("work", "cat >/dev/null; exit 1")
        let daemon = try TestDaemon(installation)
        let first =
            #"{"op":"session","kind":"start","app":"shop","device":"d1","platform":"android","external_id":"anna"}"#
        let second =
            #"{"op":"deliver","id":"o-7","device":"d1","app":"shop","state":"foreground","payload":{"data":{"job":"work"}}}"#
        #expect(daemon.pushctl("inject", "--wait", "-", input: "\(first)\n\(second)\n").end == .exited(0))

        let path = program("cat")
        let result = daemon.pushctl("run-handler", path, "--seq", "2", "--json")
        #expect(result.end == .exited(0), "\(result.errors)")
        let object = try json(try #require(result.lines.first))
        #expect(object["place"]?.string == "request 2")
        let delivery = try #require(object["attempts"]?.elements.first?["input"]?["delivery"])
        #expect(delivery["id"]?.string == "o-7")
        #expect(delivery["app"]?.string == "shop")
        #expect(delivery["device"]?.string == "d1")
        #expect(delivery["external_id"]?.string == "anna", "the device's last known, which the line does not name")
        #expect(delivery["callback"]?.string == "onMessageReceived")
        let remark = try #require(object["remarks"]?.elements.first?.string)
        #expect(remark.hasPrefix("given as request 2 of "))
        #expect(
            remark.contains(
                " was: app shop, device d1, user anna, state foreground, callback onMessageReceived; work ended failed after "
            ),
            "\(remark)")
        // The configured handler, with the route of the request.
        let own = daemon.pushctl("run-handler", "work", "--seq", "2")
        #expect(own.end == .exited(1))
        #expect(own.output.hasPrefix("request 2: handler work (exec), onMessageReceived, route "), "\(own.output)")

        #expect(daemon.pushctl("run-handler", path, "--seq", "9").errors.contains("the ledger has no request 9: "))
        let session = daemon.pushctl("run-handler", path, "--seq", "1")
        #expect(session.end == .exited(65))
        #expect(session.errors.contains("request 1: only a deliver request can be given to a handler; this is session"))

        #expect(daemon.pushctl("erase", "--user", "anna", "--yes").end == .exited(0))
        let erased = daemon.pushctl("run-handler", path, "--seq", "2")
        #expect(erased.end == .exited(65))
        #expect(erased.errors.contains("request 2: \"pushctl erase\" removed its payload"), "\(erased.errors)")
    }
}
