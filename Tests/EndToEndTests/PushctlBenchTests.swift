import Glibc
import TestSupport
import Testing

@testable import PushModel

@Suite("pushctl bench", .timeLimit(.minutes(30)))
struct PushctlBenchTests {
    private let daemon: TestDaemon

    init() throws { daemon = try TestDaemon() }

    private func report(_ result: Program.Result) throws -> JSONNode { try json(result.output) }

    @Test("sends the requested number, each once with an id of its own, and reports the outcomes")
    func counts() throws {
        let result = daemon.pushctl(
            "bench", "--count", "700", "--connections", "3", "--pipeline", "5", "--app", "shop", "--json", "--yes")
        #expect(result.end == .exited(0), "\(result.errors)")
        let figures = try report(result)
        for member in ["requests", "accepted", "due"] { #expect(figures[member]?.int64 == 700, "\(member)") }
        for member in ["refused", "unanswered", "overdue", "stray_replies", "lost_connections", "in_flight", "missed"] {
            #expect(figures[member]?.int64 == 0, "\(member)")
        }
        #expect(figures["outcomes"]?["handled"]?.int64 == 700)
        let rows = daemon.pushctl("report", "--format", "csv").output.split(separator: "\r\n").dropFirst()
        let cells = rows.map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        #expect(Set(cells.map { $0[8] }).count == 700)
        #expect(cells.allSatisfy { $0[6] == "shop" && $0[8].hasPrefix("bench-") })
        // Another run has other ids, so no request is a repetition.
        #expect(try report(daemon.pushctl("bench", "--count", "10", "--json", "--yes"))["first_seq"]?.int64 == 701)
    }

    @Test("pushctl bench sends the payloads of its files in turn")
    func payloads() throws {
        let file = daemon.installation.root + "/payloads"
        writeFile("{\"a\":\"1\"}\n{\"op\":\"session\",\"kind\":\"start\",\"app\":\"s\",\"device\":\"d\"}\n", to: file)
        let result = daemon.pushctl("bench", file, "--count", "5", "--json", "--yes")
        try #require(result.end == .exited(0), "\(result)")
        #expect(try report(result)["outcomes"]?["handled"]?.int64 == 3)
        #expect(try json(daemon.pushctl("report", "--json").output)["requests"]?.int64 == 5)
        let wrong = [
            (#"{"op":"deliver","id":"a","payload":{}}"#, "id"),
            (#"{"op":"deliver","wait":"outcome","payload":{}}"#, "wait"),
        ]
        for (line, why) in wrong {
            writeFile(line, to: file)
            let refused = daemon.pushctl("bench", file, "--count", "1", "--yes")
            #expect(refused.end == .exited(65) && refused.errors.contains(": \(why): must not be there"), "\(refused)")
        }
    }

    @Test("with a rate sends the scheduled requests, however slow the machine is")
    func rate() throws {
        let result = daemon.pushctl("bench", "--rate", "2000", "--count", "400", "--pipeline", "1", "--json", "--yes")
        let figures = try report(result)
        #expect(figures["requests"]?.int64 == 400 && figures["accepted"]?.int64 == 400, "\(result)")
        #expect(figures["latency_from"]?.string == "meant")
        // 400 requests at 2,000 per second are scheduled over 199.5 ms, and none is sent early.
        #expect(figures["length_ms"]?.double ?? 0 >= 199.5)
    }

    @Test("counts refusals by their codes, and ends with 1")
    func refusals() throws {
        let result = daemon.pushctl(
            "bench", "-", "--count", "6", "--json", "--yes",
            input: "{\"op\":\"deliver\",\"payload\":3}\n{\"a\":\"1\"}\n")
        #expect(result.end == .exited(1), "\(result)")
        let figures = try report(result)
        #expect(figures["accepted"]?.int64 == 3 && figures["refused"]?.int64 == 3)
        #expect(figures["errors"]?["invalid_type"]?.int64 == 3)
        #expect(figures["outcomes"]?["handled"]?.int64 == 3)
    }

    @Test("without ids says that its outcomes cannot be told apart")
    func withoutIDs() throws {
        let figures = try report(daemon.pushctl("bench", "--no-ids", "--count", "3", "--json", "--yes"))
        #expect(figures["accepted"]?.int64 == 3 && figures["outcomes"]?.kind == .null)
        #expect(figures["outcomes_problem"]?.string?.contains("without ids") == true)
    }

    @Test("SIGINT ends it with the figures so far")
    func interrupted() throws {
        // The script sends the signal once the daemon has some of the requests.
        let script = """
            "$0" "$@" & pid=$!
            until [ "$("$0" $OPTIONS report --json | grep -o '"requests":[0-9]*' | cut -d: -f2)" -gt 5 ]; do :; done
            kill -INT $pid; wait $pid
            """
        let options = daemon.options
        let result = Program(path: "/bin/bash").run(
            ["-c", script, pushctl.path] + options + ["bench", "--rate", "100", "--duration", "1d", "--json", "--yes"],
            environment: ["OPTIONS": options.joined(separator: " ")])
        #expect(result.end == .exited(0), "\(result)")
        let figures = try report(result)
        let requests = try #require(figures["requests"]?.int64)
        #expect(requests > 5 && figures["accepted"]?.int64 == requests && figures["unanswered"]?.int64 == 0)
        #expect(figures["outcomes"]?["handled"]?.int64 == requests)
    }

    @Test("when the daemon ends, reports the unanswered requests and the figures so far")
    func daemonEnds() throws {
        let script = """
            "$0" "$@" & pid=$!
            until [ "$("$0" $OPTIONS report --json | grep -o '"requests":[0-9]*' | cut -d: -f2)" -gt 5 ]; do :; done
            kill -KILL $DAEMON; wait $pid
            """
        let result = Program(path: "/bin/bash").run(
            ["-c", script, pushctl.path] + daemon.options
                + ["bench", "--connections", "2", "--duration", "1d", "--json", "--yes"],
            environment: [
                "OPTIONS": daemon.options.joined(separator: " "), "DAEMON": "\(daemon.process.processID)",
            ])
        #expect(result.end == .exited(1), "\(result)")
        let figures = try report(result)
        #expect(figures["lost_connections"]?.int64 == 2 && figures["accepted"]?.int64 ?? 0 > 5)
        #expect(
            figures["requests"]?.int64 ?? -1
                == (figures["accepted"]?.int64 ?? 0) + (figures["unanswered"]?.int64 ?? 0))
    }

    @Test(
        "counts requests that were acknowledged before the other end closed, although more could not be sent",
        .needs(program: "/usr/bin/python3", of: "python3"))
    func closes() throws {
        let script = """
            import os, socket, sys
            server = socket.socket(socket.AF_UNIX); server.bind(sys.argv[1] + ".new"); server.listen(1)
            # It is there when it listens: the one connection is pushctl's.
            os.rename(sys.argv[1] + ".new", sys.argv[1])
            client, _ = server.accept()
            taken = b""
            while taken.count(b"\\n") < 2000: taken += client.recv(65536)
            for number in range(1, 2001): client.sendall(b'{"ok":true,"seq":%d}\\n' % number)
            """
        let directory = TemporaryDirectory()
        let server = try Service(["/usr/bin/python3", "-c", script, directory.path + "/inject.sock"])
        try waitUntil("the server listens") { access(directory.path + "/inject.sock", F_OK) == 0 }
        let result = pushctl.run([
            "bench", "--runtime", directory.path, "--state", directory.path, "--pipeline", "3000", "--connections", "1",
            "--count", "100000", "--no-ids", "--json", "--yes",
        ])
        withExtendedLifetime(server) {}
        #expect(result.end == .exited(1), "\(result)")
        #expect(try report(result)["accepted"]?.int64 == 2000, "\(result)")
    }

    @Test("asks before it sends real requests, but not for a daemon in a scratch directory")
    func asks() throws {
        let own = daemon.pushctl("bench", "--count", "1")
        #expect(own.end == .exited(0) && !own.errors.contains("type yes"), "\(own)")
        // The same sockets under a path that is not a scratch directory, wherever this package and its tests are.
        let elsewhere = "/proc/self/root" + daemon.installation.runtime
        func run(_ input: String, _ arguments: String..., scratch: String = "/tmp") -> Program.Result {
            let options = ["--state", daemon.installation.state, "--runtime", elsewhere]
            return pushctl.run(
                options + ["bench", "--count", "1"] + arguments, input: Array(input.utf8),
                environment: ["TMPDIR": scratch])
        }
        for answer in ["", "y\n", "no\n"] {
            let refused = run(answer)
            #expect(refused.end == .exited(1), "\(refused)")
            #expect(refused.errors.contains("type yes to send them") && refused.errors.contains("no request was sent"))
        }
        for scratch in ["", "/", "tmp"] { #expect(run("", scratch: scratch).end == .exited(1), "\(scratch)") }
        #expect(run("yes\n").output.contains("Accepted             1, "))
        #expect(run("", "--yes").output.contains("Accepted             1, "))
        #expect(run("{}", "-").end == .exited(2), "nobody can be asked on standard input")
        #expect(try json(daemon.pushctl("report", "--json").output)["requests"]?.int64 == 3)
    }

    @Test(
        "refuses options that are out of bounds",
        arguments: [
            ["--connections", "0"], ["--connections", "1001"], ["--pipeline", "x"], ["--count", "0"], ["--rate", "0"],
            ["--rate", "nan"], ["--duration", "0s"], ["--duration", "2d"],
        ])
    func usage(_ options: [String]) {
        #expect(pushctl.run(["bench"] + options).end == .exited(2))
    }
}
