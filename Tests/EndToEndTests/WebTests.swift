import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

/// A daemon with a page.
private final class WebScene {
    let installation: Installation
    private(set) var daemon: DaemonProcess
    private(set) var page: DaemonProcess
    private var port = 0

    /// - Parameters:
    ///   - settings: the lines of web.conf.
    ///   - mode: the mode of the daemon.
    init(_ settings: String = "", mode: String = "device") throws {
        installation = Installation("[Dispatch]\nMode=\(mode)\n")
        installation.write("web.conf", "[Web]\n\(settings)\n")
        installation.addJob("good", "exit 0")
        installation.addJob("bad", "echo broken >&2; exit 1")
        daemon = try DaemonProcess.ready(installation)
        page = Self.start(installation)
        try waitForPort()
    }

    private static func start(_ installation: Installation, _ more: [String] = []) -> DaemonProcess {
        DaemonProcess(
            installation,
            arguments: [
                "--config", installation.configuration, "--state", installation.state, "--runtime",
                installation.runtime, "--listen", "127.0.0.1:0",
            ] + more, program: "pushrouter-web")
    }

    private func waitForPort() throws {
        try page.waitForNotification("READY=1")
        let status = page.messages.flatMap(\.self).last { $0.hasPrefix("STATUS=") } ?? ""
        port = try #require(status.split(separator: ":").last.flatMap { Int($0) }, "\(status)")
    }

    func restartPage() throws {
        page.crash()
        page = Self.start(installation)
        try waitForPort()
    }

    func restartDaemon() throws {
        daemon.crash()
        daemon = try DaemonProcess.ready(installation)
    }

    /// Sends a request with curl.
    func curl(_ path: String, _ words: [String] = []) -> (status: Int, text: String) {
        let result = Program(path: "/usr/bin/curl").run(
            ["-s", "--max-time", "60", "-w", "\n%{http_code}", "http://127.0.0.1:\(port)\(path)"] + words)
        return (result.lines.last.flatMap { Int($0) } ?? 0, result.output)
    }

    func json(_ path: String, _ words: [String] = []) throws -> JSONNode {
        let answer = curl(path, words)
        try #require(answer.status == 200, "\(path): \(answer.text)")
        return try EndToEndTests.json(answer.text.split(separator: "\n").dropLast().joined(separator: "\n"))
    }

    /// Sends an action as a program does.
    func act(_ path: String, _ body: String = "{}") -> (status: Int, text: String) {
        curl(path, ["-H", "X-Pushrouter: 1", "-d", body])
    }

    /// Submits a form of a page with its token.
    func form(_ path: String, of page: String, _ fields: [String] = []) throws -> (status: Int, text: String) {
        let text = curl(page).text
        let token = try #require(text.split(separator: "name=\"form\" value=\"").dropFirst().first?.prefix(32))
        return curl(path, ["-d", "form=\(token)"] + fields.flatMap { ["-d", $0] })
    }

    func inject(_ line: String) throws {
        let client = try installation.injectClient()
        #expect(try client.ask(line).isAccepted)
    }

    /// Returns the matching pushes once there are so many.
    func pushes(_ query: String, count: Int) throws -> [JSONNode] {
        var found: [JSONNode] = []
        try waitUntil("\(count) pushes match \(query)") {
            found = try json("/api/pushes?query=\(query)")["pushes"]?.elements ?? []
            return found.count >= count
        }
        return found
    }
}

@Suite(
    "The page", .timeLimit(.minutes(30)),
    .needs(program: "/usr/bin/curl", of: "curl"))
struct WebTests {
    private static let braze = Requests.braze(message: "m1", device: "pixel", waits: false)

    @Test(
        "explains a push by the configuration that decided it, and a payload by the one in force, after reload and SIGHUP"
    )
    func explainsAfterReload() throws {
        let scene = try WebScene()
        let (installation, order) = (scene.installation, #"{"payload":{"data":{"job":"orders"}},"platform":"android"}"#)
        func route() throws -> String? {
            let answer = scene.act("/api/explain", order)
            let object = try EndToEndTests.json(answer.text.split(separator: "\n").dropLast().joined(separator: "\n"))
            return object["invocations"]?.elements.first?["route"]?.string
        }
        try scene.inject(Requests.deliver(job: "orders", waits: false))
        _ = try scene.pushes("", count: 1)
        #expect(try route() == "99-default")
        installation.addJob("orders", "exit 0")
        #expect(try Client(path: installation.controlSocket).ask(#"{"op":"reload"}"#)["reloaded"]?.bool == true)
        #expect(try route() == "50-orders")
        try scene.inject(Requests.deliver(job: "orders", waits: false))
        _ = try scene.pushes("", count: 2)
        for _ in 0..<2 {
            let (first, second) = (scene.curl("/push/1").text, scene.curl("/push/2").text)
            #expect(first.contains("Another one is in force now") && !first.contains("50-orders"), "\(first)")
            #expect(second.contains("It is still in force") && second.contains("50-orders"), "\(second)")
            scene.page.send(SIGHUP)
            try scene.page.waitForNotification("RELOADING=1")
        }
        #expect(try scene.json("/api/pushes/1")["story"]?["configuration"]?["in_force"]?.bool == false)
        // A page that starts while the files have a mistake asks the daemon.
        installation.write("routes.d/01-wrong.route", "[Route]\nHandler=nobody\n")
        try scene.restartPage()
        #expect(try route() == "50-orders")
    }

    @Test("shows incoming pushes, and answers on each of its addresses")
    func views() throws {
        let scene = try WebScene()
        try scene.inject(Self.braze)
        let push = try #require(try scene.pushes("device:pixel", count: 1).first)
        #expect(push["seq"]?.int64 == 1 && push["outcome"]?.string == "handed_to_tracker")
        #expect(push["title"]?.string == "Title" && push["campaign"]?.string == "campaign-1")
        for path in [
            "/", "/push/1", "/explain?push=1", "/explain", "/devices", "/report", "/campaigns", "/deadletters",
            "/report", "/senders", "/help", "/login",
        ] {
            let answer = scene.curl(path)
            #expect(answer.status == 200 && answer.text.contains("<h1"), "\(path): \(answer.text)")
        }
        #expect(scene.curl("/push/7").status == 404 && scene.curl("/nothing").status == 404)
        #expect(scene.curl("/?query=nonsense:x").text.contains("there is no word nonsense:"))
        #expect(try scene.json("/api/pushes/1")["story"]?["seq"]?.int64 == 1)
        #expect(try scene.json("/api/openapi.json")["paths"]?["/api/pushes"] != nil)
        #expect(try scene.page.stop() == .exited(0))
        #expect(try scene.daemon.stop() == .exited(0))
    }

    @Test("carries out actions and shows their effect at once: tap, button, dismissal, session, state, repeat")
    func acts() throws {
        let scene = try WebScene()
        try scene.inject(Self.braze)
        _ = try scene.pushes("id:1", count: 1)
        #expect(try scene.form("/push/1/tap", of: "/push/1").status == 303)
        #expect(scene.curl("/push/1").text.contains("opened (direct)"))
        #expect(scene.act("/api/pushes/1/dismiss").status == 200)
        #expect(scene.act("/api/pushes/1/button", #"{"action":"0"}"#).status == 200)
        #expect(scene.act("/api/pushes/1/button").status == 400)
        #expect(scene.act("/api/session", #"{"device":"pixel","kind":"start","platform":"android"}"#).status == 200)
        let state = #"{"device":"pixel","platform":"android","state":"force_stopped"}"#
        #expect(scene.act("/api/devices", state).status == 200)
        let sent = scene.act("/api/pushes/1/send", #"{"state":"force_stopped"}"#)
        #expect(sent.status == 200, "\(sent.text)")
        let again = try scene.pushes("outcome:not_woken", count: 1)
        #expect(again.first?["device"]?.string == "pixel")
        let campaigns = try scene.json("/api/campaigns")
        #expect(String(decoding: campaigns.rawBytes, as: UTF8.self).contains("campaign-1"))
        // A scenario made from the push holds.
        let scenario = scene.curl("/push/1/scenario")
        let file = "\(scene.installation.root)/scenario.jsonl"
        writeFile(scenario.text.split(separator: "\n").dropLast().joined(separator: "\n") + "\n", to: file)
        let result = pushctl.run(["--config", scene.installation.configuration, "test", file])
        #expect(result.end == .exited(0), "\(scenario.text)\(result.output)")
        #expect(scenario.text.contains("\"kind\":\"opened\""))
    }

    @Test("replays dead letters, one and several, and shows a dry run")
    func deadLetters() throws {
        let scene = try WebScene(mode: "relay")
        for device in ["a", "b", "c"] { try scene.inject(Requests.deliver(job: "bad", device: device, waits: false)) }
        _ = try scene.pushes("is:dead", count: 3)
        #expect(scene.curl("/deadletters").text.contains("Choose #2"))
        #expect(scene.act("/api/pushes/1/replay").status == 200)
        let done = try scene.form("/deadletters/replay", of: "/deadletters", ["requests=2", "requests=3"])
        #expect(done.text.contains("2 requests replayed, 0 refused"), "\(done.text)")
        _ = try scene.pushes("is:replay", count: 3)
        #expect(scene.curl("/report").text.contains("broken"))
        #expect(scene.act("/api/deadletters/purge", #"{"requests":[]}"#).status == 400)
        let chosen = pushctl.run([
            "--state", scene.installation.state, "--runtime", scene.installation.runtime, "deadletters", "--query",
            "device:b", "--json",
        ])
        #expect(try json(chosen.output)["dead_letters"]?.count == 1, "\(chosen.output)")
    }

    @Test("answers a waiting request with the first match, and with 204 at its timeout")
    func waits() throws {
        let scene = try WebScene()
        #expect(scene.curl("/api/pushes?query=device:pixel&wait=100ms").status == 204)
        // The first answer has the position from which later pushes count.
        let begin = try scene.json("/api/pushes")
        #expect(begin["position"]?.string == "0.0")
        let waiting = Program(path: "/bin/sh").run([
            "-c",
            """
            curl -s --max-time 60 "$1/api/pushes?query=device:pixel&wait=50s" & \
            "$2" --runtime "$3" --state "$4" inject --wait --platform android --device other "$5" >/dev/null; \
            "$2" --runtime "$3" --state "$4" inject --wait --platform android --device pixel "$5" >/dev/null; wait $!
            """, "sh", scene.address, pushctl.path, scene.installation.runtime, scene.installation.state,
            packageRoot + "/Tests/Fixtures/payloads/other/customerio-fcm.json",
        ])
        let pushes = try json(waiting.output)["pushes"]?.elements ?? []
        #expect(pushes.map { $0["device"]?.string } == ["pixel"], "\(waiting.output)")
        // Between two tests: only what comes later is listed.
        let header = ["-H", "X-Pushrouter: 1"]
        #expect(scene.curl("/api/pushes", ["-X", "DELETE"]).status == 403)
        #expect(try scene.json("/api/pushes", ["-X", "DELETE"] + header)["after"]?.int64 == 2)
        #expect(try scene.json("/api/pushes")["pushes"]?.count == 0)
        #expect(try scene.json("/api/pushes?after=0")["pushes"]?.count == 2)
    }

    @Test("streams each push's current state, and continues after a position over kill -9 of page and daemon")
    func stream() throws {
        let scene = try WebScene()
        func events(after position: String?, until device: String) throws -> [(id: String?, data: JSONNode)] {
            let header = position.map { ["-H", "Last-Event-ID: \($0)"] } ?? ["-H", "Last-Event-ID: 0.0"]
            let words = (header + ["\(scene.address)/events"]).map { "'\($0)'" }.joined(separator: " ")
            let text = Program(path: "/bin/sh").run([
                "-c",
                "curl -sN --max-time 60 \(words) | sed '/\"device\":\"\(device)\"/q'",
            ]).output
            var found: [(id: String?, data: JSONNode)] = []
            var id: String?
            for line in text.split(separator: "\n") {
                if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
                guard line.hasPrefix("data: ") else { continue }
                found.append((id, try json(line.dropFirst(6))))
                id = nil
            }
            return found
        }
        try scene.inject(Requests.deliver(job: "good", device: "one", waits: false))
        let first = try events(after: nil, until: "one")
        #expect(first.map { $0.data["seq"]?.int64 } == [1])
        let position = try #require(first.last?.id)
        try scene.restartPage()
        try scene.inject(Requests.deliver(job: "good", device: "two", waits: false))
        try scene.restartDaemon()
        try scene.inject(Requests.deliver(job: "good", device: "three", waits: false))
        let rest = try events(after: position, until: "three")
        // Pushes that were undecided at the position may come again.
        #expect(Set(rest.compactMap { $0.data["device"]?.string }).subtracting(["one"]) == ["two", "three"])
        #expect(rest.allSatisfy { $0.data["sentence"]?.string?.hasSuffix(".") ?? false })
    }

    @Test("refuses foreign hosts, forms of foreign pages, forms without a token, and programs without the header")
    func attacks() throws {
        let scene = try WebScene("Proxy=root\nHost=push.example")
        try scene.inject(Self.braze)
        _ = try scene.pushes("id:1", count: 1)
        #expect(scene.curl("/", ["-H", "Host: evil.example"]).status == 421)
        #expect(scene.curl("/", ["-H", "Host: push.example:81"]).status == 200)
        #expect(scene.curl("/push/1/tap", ["-d", "form=00000000000000000000000000000000"]).status == 403)
        for header in ["Origin: http://evil.example", "Sec-Fetch-Site: cross-site", "Origin: null"] {
            #expect(scene.curl("/api/pushes/1/tap", ["-H", "X-Pushrouter: 1", "-H", header, "-d", "{}"]).status == 403)
        }
        #expect(scene.curl("/api/pushes/1/tap", ["-d", "{}"]).status == 403)
        #expect(scene.curl("/", ["-X", "PUT"]).status == 405)
        let forged = scene.curl("/", ["-H", "X-Forwarded-User: admin"])
        #expect(forged.status == 200 && !forged.text.contains("for admin"))
        #expect(scene.curl("/", ["-D", "-"]).text.contains("default-src 'none'"))
        #expect(scene.curl("/?query=\(String(repeating: "a", count: 20_000))").status >= 400)
        #expect(scene.curl("/help").status == 200)
        #expect(try scene.json("/api/pushes?query=op:interact")["pushes"]?.count == 0)
    }

    @Test("needs a configured token, and requires one if other machines can reach it")
    func token() throws {
        let installation = Installation()
        let file = "\(installation.root)/token"
        writeFile("sixteen-characters-x\n", to: file)
        let scene = try WebScene("Token=\(file)")
        #expect(scene.curl("/api/pushes").status == 401 && scene.curl("/").status == 303)
        #expect(scene.curl("/api/pushes", ["-H", "Authorization: Bearer sixteen-characters-x"]).status == 200)
        #expect(scene.curl("/login", ["-d", "token=wrong"]).status == 403)
        let login = scene.curl("/login", ["-D", "-", "-d", "token=sixteen-characters-x"])
        let cookie = try #require(login.text.split(separator: "pushrouter=").dropFirst().first?.prefix(32))
        #expect(login.status == 303 && login.text.contains("HttpOnly; SameSite=Strict"))
        #expect(scene.curl("/", ["-b", "pushrouter=\(cookie)"]).status == 200)
        let open = Program(product: "pushrouter-web").run([
            "--config", installation.configuration, "--state", installation.state, "--runtime", installation.runtime,
            "--listen", "0.0.0.0:0",
        ])
        #expect(open.end == .exited(77) && open.errors.contains("Token="), "\(open.errors)")
    }

    @Test("still answers while clients do not read their stream, send half a request, or send nothing")
    func crowds() throws {
        let scene = try WebScene("StreamsMax=4\nConnectionsMax=64")
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        for number in 0..<40 {
            let request =
                number < 8
                ? "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n" : number < 24 ? "GET / HTTP/1.1\r\nHo" : ""
            sockets.append(try scene.connect(sending: request))
        }
        for number in 0..<20 { try scene.inject(Requests.deliver(job: "good", device: "d\(number)", waits: false)) }
        _ = try scene.pushes("device:d19", count: 1)
        // Four streams are open, and the fifth is told to come again.
        #expect(scene.curl("/events", ["--max-time", "5"]).status == 503)
        #expect(scene.curl("/push/1").status == 200)
    }

    @Test("answers at once while one client has many times as many idle connections as there are places")
    func idleConnections() throws {
        let scene = try WebScene("ConnectionsMax=16")
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        for text in ["", "GET /", "GET /api/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"] {
            for _ in 0..<60 { sockets.append(try scene.connect(sending: text)) }
            #expect(scene.curl("/", ["--max-time", "10"]).status == 200, "\(text)")
        }
    }

    @Test("reports faults in its configuration, and a daemon that does not answer")
    func problems() throws {
        let scene = try WebScene()
        try scene.inject(Self.braze)
        _ = try scene.pushes("id:1", count: 1)
        #expect(try scene.daemon.stop() == .exited(0))
        #expect(scene.curl("/push/1").status == 200)
        #expect(scene.curl("/report").text.contains("class=\"problem\""))
        let refused = scene.act("/api/pushes/1/tap")
        #expect(refused.status == 403 || refused.status == 503, "\(refused.text)")
        scene.installation.write("web.conf", "[Web]\nStreamsMax=none\n")
        let wrong = Program(product: "pushrouter-web").run([
            "--config", scene.installation.configuration, "--listen", "127.0.0.1:0",
        ])
        #expect(wrong.end == .exited(78) && wrong.errors.contains("web.conf:2"), "\(wrong.errors)")
    }
}

extension WebScene {
    /// The address of the page.
    fileprivate var address: String { "http://127.0.0.1:\(port)" }

    /// Returns a connection that has sent this text and reads nothing.
    fileprivate func connect(sending text: String) throws -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
        let bytes = Array(text.utf8)
        if !bytes.isEmpty { #expect(Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count) }
        return socket
    }
}
