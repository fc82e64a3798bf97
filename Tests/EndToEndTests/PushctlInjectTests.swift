import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import PushViews

@Suite("pushctl inject and open", .timeLimit(.minutes(30)))
struct PushctlInjectTests {
    private let daemon: TestDaemon

    init() throws { daemon = try TestDaemon() }

    /// Returns the request line of a delivery from the daemon.
    private func request(_ seq: Int) throws -> JSONNode {
        try #require(try json(daemon.pushctl("show", "--json", String(seq)).output)["request"])
    }

    @Test("prints for each payload that it is on disk, its number, and its source")
    func accepted() {
        let path = daemon.installation.root + "/two.ndjson"
        writeFile("{\"a\":\"1\"}\n\n{\"b\":\"2\"}\n", to: path)
        let result = daemon.pushctl("inject", path, "-", input: "{\n\"c\":\"3\"\n}\n")
        #expect(result.end == .exited(0))
        #expect(
            result.output == """
                accepted  seq 1  (\(path):1)
                accepted  seq 2  (\(path):3)
                accepted  seq 3  (standard input:1)

                """)
        writeFile("{\"a\":\"1\"}\n", to: path)
        #expect(daemon.pushctl("inject", path).output == "accepted  seq 4  (\(path))\n")
    }

    @Test("passes values on byte for byte, also of an object over many lines")
    func untouched() throws {
        let value =
            #"{"n":4503599627370497.50,"e":-0.0E+05,"s":"\u00e9\/ \" \\","t":"a  b","u":"é","x":[true,null,[],{}]}"#
        _ = daemon.pushctl("inject", "-", "--platform", "web", input: value)
        #expect(try request(1)["payload"]?.text == value)
        let spread = "{\n \"n\" : 4503599627370497.50 ,\r\n\t\"s\": \"a : { \\\" } \",\n \"x\": [ 1 , 2 ]\n}\n"
        _ = daemon.pushctl("inject", "-", "--platform", "web", input: spread)
        #expect(try request(2)["payload"]?.text == #"{"n":4503599627370497.50,"s":"a : { \" } ","x":[1,2]}"#)
    }

    @Test("puts the options into the request")
    func options() throws {
        _ = daemon.pushctl(
            "inject", "-", "--platform", "ios", "--app", "com.example.\"app\"", "--device", "d", "--external-id", "u",
            "--app-state", "foreground", "--id", "mine", input: #"{"aps":{}}"#)
        #expect(
            try request(1).text
                == #"{"op":"deliver","id":"mine","app":"com.example.\"app\"","device":"d","external_id":"u","#
                + #""state":"foreground","platform":"ios","payload":{"aps":{}}}"#)
    }

    @Test("sends a request unchanged, and only adds missing members that its op takes")
    func requests() throws {
        let whole = #"{"op":"deliver", "platform":"web","payload":{"a":1.0}}"#
        _ = daemon.pushctl("inject", "-", input: whole)
        #expect(try request(1).text == whole)
        _ = daemon.pushctl("inject", "-", "--platform", "ios", "--device", "d", input: whole)
        #expect(try request(2).text == #"{"op":"deliver","platform":"web","payload":{"a":1.0},"device":"d"}"#)
        let tap = #"{"op":"interact","kind":"opened","message":1}"#
        _ = daemon.pushctl("inject", "-", "--app-state", "foreground", "--device", "d", input: tap)
        #expect(try request(3).text == #"{"op":"interact","kind":"opened","message":1,"device":"d"}"#)
    }

    @Test("pushctl inject sends .apns files as payloads for iOS")
    func apns() throws {
        let path = daemon.installation.root + "/push.apns"
        writeFile(#"{"Simulator Target Bundle":"com.example.app","aps":{"alert":"x"}}"#, to: path)
        _ = daemon.pushctl("inject", path)
        let story = try json(daemon.pushctl("show", "1", "--json").output)
        #expect(story["platform"]?.string == "ios")
        #expect(story["app"]?.string == "com.example.app")
    }

    @Test("refuses an .apns file of a size that the simulator would refuse")
    func largeAPNs() {
        let path = daemon.installation.root + "/large.apns"
        let frame = #"{"aps":{"alert":""}}"#
        let text = { (size: Int) in
            #"{"aps":{"alert":"\#(String(repeating: "x", count: size - frame.utf8.count))"}}"#
        }
        writeFile(text(4096), to: path)
        #expect(daemon.pushctl("inject", path).end == .exited(0))
        writeFile(text(4097), to: path)
        let result = daemon.pushctl("inject", path)
        #expect(result.end == .exited(65))
        #expect(
            result.errors == """
                pushctl: \(path): payload: an .apns file may have 4096 bytes; this has 4097
                pushctl: 0 requests accepted, 1 not readable

                """)
        writeFile(text(4096) + "\n", to: path)
        #expect(daemon.pushctl("inject", path).errors == result.errors, "white space counts")
    }

    @Test("takes a payload with an object aps for iOS; a request and a text aps stay unchanged")
    func platformByPayload() throws {
        let lines = "{\"aps\":{}}\n{\"aps\":\"x\"}\n{\"op\":\"deliver\",\"payload\":{\"aps\":{}}}\n"
        #expect(daemon.pushctl("inject", "-", input: lines).errors.isEmpty)
        let platforms = try (1...3).map {
            try json(daemon.pushctl("show", "\($0)", "--json").output)["platform"]?.string
        }
        #expect(platforms == ["ios", "android", "android"])
    }

    @Test("reports requests that the daemon refuses with place, field and reason, sends the rest, and ends with 1")
    func refused() {
        let lines = "{\"a\":\"1\"}\n{\"message\":{\"token\":\"x\",\"data\":{\"badge\":1}}}\n{\"c\":\"3\"}\n"
        let result = daemon.pushctl("inject", "-", input: lines)
        #expect(result.end == .exited(1))
        #expect(result.lines == ["accepted  seq 1  (standard input:1)", "accepted  seq 2  (standard input:3)"])
        #expect(result.errors.hasPrefix("pushctl: standard input:2: refused: payload.message.data.badge: "))
        #expect(
            result.errors.hasSuffix(" (invalid_payload)\npushctl: 2 requests accepted, 1 refused by the daemon\n"))
        let object = daemon.pushctl("inject", "-", "--json", input: lines)
        #expect(object.end == .exited(1))
        #expect(object.errors.isEmpty)
        #expect(object.lines.count { $0.hasPrefix(#"{"ok":true,"#) } == 2)
        #expect(object.lines.count { $0.hasPrefix(#"{"ok":false,"#) } == 1)
    }

    @Test("sends nothing of a broken object over many lines, and everything of the other files")
    func malformedFile() throws {
        let (bad, good) = (daemon.installation.root + "/bad.json", daemon.installation.root + "/good.json")
        writeFile("{\n\"b\":}\n", to: bad)
        writeFile("{\"c\":\"3\"}", to: good)
        let result = daemon.pushctl("inject", bad, good, "/nowhere.json")
        #expect(result.end == .exited(66))
        #expect(result.errors.contains("\(bad):2:5: not JSON: "))
        #expect(result.errors.contains("/nowhere.json: No such file or directory"))
        #expect(result.errors.hasSuffix("\npushctl: 1 request accepted, 2 not readable\n"))
        #expect(result.output == "accepted  seq 1  (\(good))\n")
        #expect(try request(1)["payload"]?.text == #"{"c":"3"}"#)
    }

    @Test("reports a line that is not JSON, continues with the others, in a file and in a stream, and sums up")
    func malformedLine() {
        let lines = "{\"a\":}\n{\"b\":\"1\"}\n[]\n{\"c\":\"1\"}\n{\"message\":{\"token\":\"x\",\"data\":{\"d\":1}}}\n"
        let path = daemon.installation.root + "/lines.ndjson"
        writeFile(lines, to: path)
        for (operand, name) in [("-", "standard input"), (path, path)] {
            let result = daemon.pushctl("inject", operand, input: lines)
            #expect(result.end == .exited(65))
            #expect(result.lines.map { String($0.suffix(3)) } == [":2)", ":4)"])
            let errors = result.errors.split(separator: "\n")
            #expect(errors.contains { $0.hasPrefix("pushctl: \(name):1:6: not JSON: ") })
            #expect(errors.contains("pushctl: \(name):3: an array without a payload"))
            #expect(errors.contains { $0.hasPrefix("pushctl: \(name):5: refused: payload.message.data.d: ") })
            #expect(errors.last == "pushctl: 2 requests accepted, 1 refused by the daemon, 2 not readable")
        }
    }

    @Test("waits for every outcome with --wait")
    func waits() throws {
        let result = daemon.pushctl("inject", "-", "--wait", input: "{\"a\":\"1\"}\n{\"_ab\":\"true\"}\n")
        #expect(result.end == .exited(0))
        #expect(result.lines.count == 4)
        #expect(result.lines.contains("seq 1  onMessageReceived -> journal  handled  0 ms"))
        #expect(result.lines.contains("seq 2  onMessageReceived  handed_to_tracker  0 ms"))
        let lines = try daemon.pushctl("inject", "-", "--wait", "--json", input: #"{"a":"1"}"#).lines.map {
            try json($0)
        }
        #expect(lines.first?["ok"]?.bool == true)
        #expect(lines.last?["outcome"]?.string == "handled")
    }

    @Test("names the handler of each outcome, and prints its standard error after a failure")
    func failure() throws {
        let installation = Installation()
        installation.addJob("bad", "echo 'no such order' >&2; exit 1")
        let daemon = try TestDaemon(installation)
        let result = daemon.pushctl("inject", "-", "--wait", input: #"{"job":"bad"}"#)
        let start = "seq 1  onMessageReceived -> bad  failed  "
        #expect(result.end == .exited(0) && result.lines.contains { $0.hasPrefix(start) }, "\(result)")
        #expect(result.output.hasSuffix("  bad wrote to standard error:\n    no such order\n"), "\(result)")
        let json = daemon.pushctl("inject", "-", "--wait", "--json", input: #"{"job":"bad"}"#).lines
        #expect(json.last?.contains(#""callback":"onMessageReceived","handler":"bad","outcome":"failed""#) == true)
    }

    @Test("skips the byte order mark that some editors write at the beginning of a file")
    func byteOrderMark() {
        let path = daemon.installation.root + "/mark.json"
        for text in ["{\"a\":\"1\"}\n{\"b\":\"1\"}", "{\n\"a\":\n\"1\"}"] {
            writeFile("\u{FEFF}" + text, to: path)
            let result = daemon.pushctl("inject", path)
            #expect(result.end == .exited(0) && result.errors.isEmpty, "\(result)")
        }
        writeFile("{\"a\":\"1\"}\n\u{FEFF}{\"b\":\"1\"}\n", to: path)
        #expect(daemon.pushctl("inject", path).errors.contains("\(path):2:1: not JSON: "))
    }

    @Test("pushctl inject --wait marks the outcomes of observers' copies")
    func observers() throws {
        let installation = Installation()
        installation.addRoute("10-copy", to: "journal", match: "Platform=android", route: "Observe=yes")
        let result = try TestDaemon(installation).pushctl("inject", "-", "--wait", input: #"{"_ab":"true"}"#)
        #expect(result.lines.contains("seq 1  onMessageReceived  handed_to_tracker  0 ms"))
        #expect(
            result.lines.contains("seq 1  onMessageReceived -> journal  observer  handled  0 ms"), "\(result.lines)")
    }

    @Test("prints the number of outcomes to come, copies and repetitions included")
    func outcomesToCome() throws {
        let installation = Installation()
        installation.addRoute("10-copy", to: "journal", match: "Platform=android", route: "Observe=yes")
        let daemon = try TestDaemon(installation)
        for _ in 0..<2 {
            let lines = daemon.pushctl("inject", "-", "--wait", "--json", "--id", "a", input: #"{"_ab":"true"}"#).lines
            #expect(lines.first == #"{"ok":true,"seq":1,"id":"a","outcomes":2}"#)
            #expect(lines.count == 3)
        }
        let session = #"{"op":"session","kind":"start","platform":"ios","app":"a","device":"d"}"#
        #expect(
            daemon.pushctl("inject", "-", "--wait", "--json", input: session).output
                == "{\"ok\":true,\"seq\":2,\"outcomes\":0}\n")
        #expect(daemon.pushctl("inject", "-", "--json", input: "{}").output == "{\"ok\":true,\"seq\":3}\n")
    }

    @Test("reports with 69 outcomes that did not come because the daemon ended")
    func daemonGone() throws {
        let installation = Installation()
        installation.addJob("crash", "kill -9 $PPID")
        let daemon = try TestDaemon(installation)
        let result = daemon.pushctl("inject", "-", "--wait", input: #"{"job":"crash"}"#)
        #expect(result.end == .exited(69))
        #expect(result.output == "accepted  seq 1  (standard input:1)\n")
        #expect(result.errors.contains("before the outcomes of 1 request were known; \"pushctl show SEQ\""))
    }

    @Test("does not count the outcome of an observer's copy as the awaited one")
    func daemonGoneAfterCopy() throws {
        let installation = Installation()
        installation.addRoute("10-copy", to: "journal", match: "Platform=android", route: "Observe=yes")
        installation.addJob("crash", "kill -9 $PPID")
        let daemon = try TestDaemon(installation)
        let result = daemon.pushctl("inject", "-", "--wait", input: #"{"job":"crash"}"#)
        #expect(
            result.lines.contains("seq 1  onMessageReceived -> journal  observer  handled  0 ms"), "\(result.lines)")
        #expect(result.end == .exited(69))
    }

    @Test("sends the requests of a slow producer before it waits for more")
    func slowProducer() {
        let script = """
            mkfifo "$1/more"
            { echo '{"a":"1"}'; cat "$1/more"; } | "$0" inject - --runtime "$1/run" | {
                read -r reply
                echo "$reply"
                echo '{"b":"2"}' > "$1/more"
                cat
            }
            """
        let result = Program(path: "/bin/sh").run(["-c", script, pushctl.path, daemon.installation.root])
        #expect(result.lines == ["accepted  seq 1  (standard input:1)", "accepted  seq 2  (standard input:2)"])
    }

    @Test("reports a request that is too long, although the daemon then closes the connection")
    func tooLong() {
        let lines = "{\"a\":\"\(String(repeating: "x", count: 300_000))\"}\n"
        let result = daemon.pushctl("inject", "-", input: lines + String(repeating: lines, count: 20))
        #expect(result.errors.contains("standard input:1: refused: the request is longer than 262144 bytes"))
        #expect(result.end == .exited(69), "the others got no reply")
        #expect(daemon.pushctl("inject", "-", input: lines).end == .exited(1))
    }

    @Test("sends thousands of requests pipelined, with and without outcomes")
    func pipelined() {
        let lines = (1...3000).map { "{\"n\":\"\($0)\",\"text\":\"\(String(repeating: "x", count: 200))\"}\n" }.joined()
        let result = daemon.pushctl("inject", "-", input: lines)
        #expect(result.end == .exited(0))
        #expect(result.lines == (1...3000).map { "accepted  seq \($0)  (standard input:\($0))" })
        let waiting = daemon.pushctl("inject", "-", "--wait", input: lines)
        #expect(waiting.lines.count { $0.hasPrefix("accepted") } == 3000)
        #expect(waiting.lines.count { $0.hasSuffix("onMessageReceived -> journal  handled  0 ms") } == 3000)
    }

    @Test("accepts the same request once under one id")
    func idempotent() {
        let first = daemon.pushctl("inject", "-", "--id", "a1", input: #"{"a":"1"}"#)
        #expect(daemon.pushctl("inject", "-", "--id", "a1", input: #"{"a":"1"}"#).output == first.output)
        let other = daemon.pushctl("inject", "-", "--id", "a1", input: #"{"a":"2"}"#)
        #expect(other.end == .exited(1))
        #expect(other.errors.contains("(id_conflict)"))
    }

    @Test("opens a delivery by its number, by its message id, and by its payload")
    func open() throws {
        let payload = #"{"extras":{"_ab":"true","cid":"64b0","google.message_id":"m:1"}}"#
        _ = daemon.pushctl("inject", "-", "--device", "d", "--app", "a", input: payload)
        let first = daemon.pushctl("open", "1", "--wait", "--at", "2026-11-21T09:00:00Z")
        #expect(first.output.hasPrefix("accepted  seq 2  (open)\nseq 2  none  handed_to_tracker"))
        #expect(try request(2).text.contains(#""message":1"#))
        #expect(try request(2)["at"]?.string == "2026-11-21T09:00:00Z")
        _ = daemon.pushctl("open", "m:1", "--device", "d", "--app", "a", "--platform", "android")
        #expect(try request(3)["message"]?.text == "\"m:1\"")
        let path = daemon.installation.root + "/tap.json"
        writeFile("{\n\"cid\": \"64b0\"\n}", to: path)
        #expect(daemon.pushctl("open", "--payload", path, "--device", "d").end == .exited(0))
        #expect(try request(4)["payload"]?.text == #"{"cid":"64b0"}"#)
        let story = try json(daemon.pushctl("show", "1", "--json").output)
        let opens = story["events"]?.elements.filter { $0["event_type"]?.string?.hasSuffix(".Open") == true } ?? []
        #expect(opens.count == 1, "one open per delivery, however often it is tapped")
    }
}

@Suite("pushctl, without a daemon", .timeLimit(.minutes(30)))
struct PushctlWithoutDaemonTests {
    private func run(_ arguments: String..., in directory: String) -> Program.Result {
        pushctl.run(arguments + ["--runtime", directory], input: Array("{}".utf8))
    }

    @Test("says with 69 that the daemon is not running, which path it tried, and how to start it")
    func notRunning() {
        let directory = TemporaryDirectory()
        for (arguments, name) in [(["inject", "-"], "inject"), (["open", "1"], "inject"), (["status"], "control")] {
            let result = pushctl.run(arguments + ["--runtime", directory.path], input: Array("{}".utf8))
            #expect(result.end == .exited(69))
            #expect(
                result.errors == """
                    pushctl: pushrouterd is not running: nothing listens on \(directory.path)/\(name).sock
                    pushctl: start it with "pushrouterd --runtime \(directory.path)", or name its directory with --runtime DIR

                    """)
        }
    }

    @Test("does the same for the socket of a dead daemon")
    func staleSocket() throws {
        let daemon = try TestDaemon()
        #expect(try daemon.process.stop() == .exited(0))
        #expect(daemon.pushctl("status").end == .exited(69))
    }

    @Test("checks its input first: a faulty file is reported without a daemon")
    func wrongFile() {
        let directory = TemporaryDirectory()
        #expect(run("inject", "/nowhere.json", in: directory.path).end == .exited(66))
    }

    @Test("says with 77 that the user may not use the socket", .needsOrdinaryUser)
    func notPermittedWithoutRoot() throws {
        let daemon = try TestDaemon()
        chmod(daemon.installation.root + "/run/inject.sock", 0)
        let result = daemon.pushctl("inject", "-", input: "{}")
        #expect(result.end == .exited(77))
        // The user owns the socket, so there is no group to join.
        let socket = "\(daemon.installation.root)/run/inject.sock"
        #expect(
            result.errors == """
                pushctl: this user may not use \(socket)
                pushctl: you own \(socket), and its mode is 0: chmod u+rwX \(socket)

                """)
    }

    @Test("says with 2 that a socket's path is too long")
    func longPath() {
        let result = run("status", in: "/" + String(repeating: "x", count: 120))
        #expect(result.end == .exited(2))
        #expect(result.errors.contains("Linux takes 1 to 107"))
    }
}
