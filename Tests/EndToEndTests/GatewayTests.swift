import Glibc
import TestSupport
import Testing

@testable import PushModel

/// A daemon with a gateway on a Unix socket: concurrent test runs need no ports.
private final class GatewayScene {
    let installation = Installation()
    private(set) var daemon: DaemonProcess
    private(set) var gateway: DaemonProcess

    init(_ settings: String = "ErrorTokens=yes") throws {
        installation.addJob("good", "exit 0")
        installation.write("gateway.conf", "[Gateway]\n\(settings)\n")
        daemon = try DaemonProcess.ready(installation)
        gateway = Self.start(installation)
        try gateway.waitForNotification("READY=1")
    }

    var socket: String { "\(installation.root)/gateway.sock" }
    var authority: String { "\(installation.root)/gateway/ca.pem" }

    static func start(_ installation: Installation, listen: String? = nil) -> DaemonProcess {
        DaemonProcess(
            installation,
            arguments: [
                "--config", installation.configuration, "--state", "\(installation.root)/gateway", "--runtime",
                installation.runtime, "--listen", listen ?? "unix:\(installation.root)/gateway.sock",
            ], program: "pushrouter-gateway")
    }

    func restartDaemon() throws {
        daemon = try DaemonProcess.ready(installation)
    }

    func restartGateway() throws {
        gateway = Self.start(installation)
        try gateway.waitForNotification("READY=1")
    }

    /// Sends a request with curl.
    func curl(_ words: [String], host: String = "https://fcm.googleapis.com") -> (status: Int, text: String) {
        let result = Program(path: "/usr/bin/curl").run(
            [
                "-s", "--max-time", "60", "--unix-socket", socket, "--cacert", authority, "-w",
                "\n%{http_version} %{http_code}",
            ] + words.map { $0.hasPrefix("/") ? host + $0 : $0 })
        let status = result.lines.last?.split(separator: " ").last.flatMap { Int($0) } ?? 0
        return (status, result.output)
    }

    func send(_ token: String = "tok1", _ more: [String] = [], host: String = "https://fcm.googleapis.com") -> (
        status: Int, text: String
    ) {
        curl(
            more + [
                "/v1/projects/demo/messages:send", "-d", #"{"message":{"token":"\#(token)","data":{"job":"good"}}}"#,
            ], host: host)
    }

    /// Returns the output of `pushctl show` for a request.
    func show(_ number: Int) -> String {
        pushctl.run(["show", "\(number)", "--state", installation.state, "--runtime", installation.runtime]).output
    }
}

@Suite(
    "The gateway", .timeLimit(.minutes(30)),
    .needs(program: "/usr/bin/curl", of: "curl"))
struct GatewayTests {
    @Test(
        "takes a push of FCM over each version of HTTP, with and without TLS, and returns the id in the ledger",
        arguments: [["--http1.1"], ["--http2"]])
    func versions(_ version: [String]) throws {
        let scene = try GatewayScene()
        let answer = scene.send("tok1", version + ["-A", "fire-admin-python/7.7.0"])
        #expect(answer.status == 200, "\(answer.text)")
        let id = try #require(answer.text.split(separator: "messages/").last?.split(separator: "\"").first)
        let story = scene.show(1)
        #expect(story.contains(line: "message id", String(id)))
        #expect(story.contains(line: "client", "fire-admin-python/7.7.0"))
        #expect(story.contains(line: "project", "demo"))
        #expect(story.contains(line: "path", "/v1/projects/demo/messages:send"))
        #expect(try scene.gateway.stop() == .exited(0))
        #expect(try scene.daemon.stop() == .exited(0))
    }

    @Test("takes HTTP/2 by prior knowledge, and plain HTTP/1.1")
    func plain() throws {
        let scene = try GatewayScene()
        let knowledge = scene.send("tok1", ["--http2-prior-knowledge"], host: "http://localhost")
        #expect(knowledge.text.hasSuffix("2 200"))
        #expect(scene.send("tok1", ["--http1.1"], host: "http://localhost").text.hasSuffix("1.1 200"))
    }

    @Test("decides by the push type of APNs, and answers with the same id, byte for byte")
    func apns() throws {
        let scene = try GatewayScene()
        let id = "35597C7e-9cde-479d-b639-15bd6cbf7391"
        let answer = scene.curl(
            [
                "--http2", "-D", "-", "-H", "apns-topic: com.example.shop.voip", "-H", "apns-push-type: voip", "-H",
                "apns-id: \(id)",
                "/3/device/abcd", "-d", #"{"call":1}"#,
            ], host: "https://api.push.apple.com")
        #expect(answer.status == 200)
        #expect(answer.text.split(separator: "apns-id: \(id)").count == 2)
        #expect(scene.show(1).split(separator: "didReceiveIncomingPushWith").count > 1)
        let refused = scene.curl(
            ["--http2", "-H", "apns-topic: a", "-H", "apns-priority: 7", "/3/device/abcd", "-d", "{}"],
            host: "https://api.push.apple.com")
        #expect(refused.status == 400)
        #expect(refused.text.hasPrefix(#"{"reason":"BadPriority"}"#))
    }

    @Test("is trusted for push hosts only by its authority, and for no other host")
    func trust() throws {
        let scene = try GatewayScene()
        let other = scene.curl(["/v1/projects/demo/messages:send", "-d", "{}"], host: "https://bank.example")
        #expect(other.status == 0)
        let untrusting = Program(path: "/usr/bin/curl").run([
            "-s", "--unix-socket", scene.socket, "https://fcm.googleapis.com/leader",
        ])
        #expect(untrusting.end == .exited(60))
        // curl reports the TLS alert in its status, which people see.
        let doctor = pushctl.run(["doctor", "--client", "--gateway", scene.socket])
        #expect(doctor.end == .exited(1))
        #expect(doctor.output.split(separator: "does not trust the authority").count == 2, "\(doctor.output)")
        // The check tells a file without the authority's certificate from one that has it.
        let state = "\(scene.installation.root)/gateway"
        let looked = pushctl.run(
            ["doctor", "--client", "--gateway", scene.socket],
            environment: [
                "SSL_CERT_FILE": "\(state)/bundle.pem",
                "CURL_CA_BUNDLE": "\(scene.installation.configuration)/gateway.conf",
            ])
        #expect(looked.output.split(separator: "which lacks a certificate").count == 2, "\(looked.output)")
    }

    @Test("keeps its authority over restarts, and makes a new one for other names or for a torn file")
    func authorities() throws {
        let scene = try GatewayScene()
        let first = try #require(readFile(scene.authority))
        #expect(try scene.gateway.stop() == .exited(0))
        try scene.restartGateway()
        #expect(readFile(scene.authority) == first)
        #expect(scene.send().status == 200)
        #expect(try scene.gateway.stop() == .exited(0))
        scene.installation.write("gateway.conf", "[Gateway]\nNames=push.example 192.0.2.7\n")
        try scene.restartGateway()
        let second = try #require(readFile(scene.authority))
        #expect(second != first)
        #expect(scene.curl(["/leader"], host: "https://192.0.2.7").status == 200)
        #expect(scene.curl(["/leader"], host: "https://push.example").status == 200)
        #expect(try scene.gateway.stop() == .exited(0))
        writeFile("torn", to: "\(scene.installation.root)/gateway/ca.key")
        try scene.restartGateway()
        #expect(readFile(scene.authority) != second)
        #expect(readFile("\(scene.installation.root)/gateway/ca.key.unreadable") == Array("torn".utf8))
        #expect(scene.send().status == 200)
        let verified = pushctl.run(["verify", "--config", scene.installation.configuration])
        #expect(verified.end == .exited(0), "\(verified.output)")
        scene.installation.write("gateway.conf", "[Gateway]\nListen=0.0.0.0:443\nNames=a_b\n")
        #expect(pushctl.run(["verify", "--config", scene.installation.configuration]).end == .exited(1))
        scene.installation.write("gateway.conf", "[Gateway]\nListen=0.0.0.0:443\n")
        let open = pushctl.run(["verify", "--quiet", "--config", scene.installation.configuration])
        #expect(open.output.split(separator: "Credentials= and Provider=strict").count == 2, "\(open.output)")
    }

    @Test("ends its authority at the date of an order: both are handed out before, and the next one alone signs after")
    func rotation() throws {
        let scene = try GatewayScene()
        let state = "\(scene.installation.root)/gateway"
        func rotate(_ words: String...) -> Program.Result {
            pushctl.run(["gateway", "rotate", "--state", state] + words)
        }
        func certificates() -> [Substring] {
            String(decoding: readFile(scene.authority) ?? [], as: UTF8.self).split(
                separator: "-----END CERTIFICATE-----"
            )
            .filter { $0.contains("BEGIN") }.map { $0.drop { $0 == "\n" } }
        }
        func reload(until count: Int) throws {
            scene.gateway.send(SIGHUP)
            try waitUntil("there are \(count) certificates") { certificates().count == count }
        }
        let first = certificates()
        #expect(first.count == 1 && rotate("--end", "soon").end == .exited(2))
        let past = rotate("--end", "2000-01-01")
        #expect(past.end == .exited(2) && past.errors.contains("--end 2000-01-01 is in the past"))
        #expect(pushctl.run(["gateway", "rotate", "--state", "/nonexistent"]).end == .exited(66))
        let order = rotate()
        #expect(order.end == .exited(0) && order.output.contains("systemctl reload pushrouter-gateway"), "\(order)")
        try reload(until: 2)
        #expect(certificates().first == first.first && scene.send().status == 200)
        let told = try json(scene.curl(["/status"]).text.split(separator: "\n").first.map(String.init) ?? "")
        #expect(told["next_authority"]?.bool == true)
        let ends = try #require(told["authority_ends"]?.string.flatMap(WallTime.init(rfc3339:)))
        let days = (ends.milliseconds - WallTime(milliseconds: Int64(time(nil)) * 1000).milliseconds) / 86_400_000
        #expect((13...14).contains(days))
        let next = certificates().last
        #expect(rotate("--end", "now").end == .exited(0))
        try reload(until: 1)
        #expect(certificates().first == next && scene.send().status == 200)
        // The order was for the first authority: the next one stays.
        #expect(try scene.gateway.stop() == .exited(0))
        try scene.restartGateway()
        #expect(certificates().first == next && readFile("\(state)/rotate") == nil)
        // At once, without a next one: a key that somebody has read.
        #expect(rotate("--end", "now").end == .exited(0))
        scene.gateway.send(SIGHUP)
        try waitUntil("there is another authority") { certificates().count == 1 && certificates().first != next }
        #expect(scene.send().status == 200)
    }

    @Test("is in the metrics of pushrouter-metrics, and a gateway that was killed is not up")
    func metrics() throws {
        let scene = try GatewayScene()
        let file = "\(scene.installation.root)/push.prom"
        #expect(scene.send().status == 200)
        let exporter = DaemonProcess(
            scene.installation,
            arguments: [
                "--runtime", scene.installation.runtime, "--textfile", file, "--interval", "1", "--gateway",
                scene.socket,
            ], program: "pushrouter-metrics")
        func has(_ line: String) -> Bool {
            String(decoding: readFile(file) ?? [], as: UTF8.self).split(separator: "\n").contains { $0 == line }
        }
        try waitUntil("the answer is counted") {
            has(#"pushrouterd_gateway_answers_total{service="fcm",status="200"} 1"#)
        }
        #expect(has("pushrouterd_gateway_up 1") && has("pushrouterd_up 1"))
        #expect(has(#"pushrouterd_gateway_credentials{kind="keys"} 0"#) && has("pushrouterd_gateway_daemon_problem 0"))
        scene.gateway.crash()
        try waitUntil("the gateway is down") { has("pushrouterd_gateway_up 0") }
        #expect(has("pushrouterd_up 1"))
        #expect(try exporter.stop() == .exited(0))
    }

    @Test("returns the daemon's refusal in Google's form, with the field of the message")
    func refusals() throws {
        let scene = try GatewayScene()
        let body = #"{"message":{"token":"t","data":{"from":"x"}}}"#
        let answer = scene.curl(["/v1/projects/demo/messages:send", "-d", body])
        #expect(answer.status == 400)
        #expect(answer.text.split(separator: "INVALID_ARGUMENT").count > 1)
        #expect(scene.send("err-UNREGISTERED").status == 404)
        #expect(scene.curl(["/batch", "-d", "x"]).status == 404)
        #expect(scene.curl(["-X", "PUT", "/token"]).status == 404)
    }

    @Test("answers 503 and never 200 while the daemon does not reply, and 200 afterwards")
    func stalled() throws {
        let scene = try GatewayScene()
        #expect(scene.send().status == 200)
        scene.daemon.send(SIGSTOP)
        let answer = scene.send()
        #expect(answer.status == 503)
        #expect(answer.text.split(separator: "UNAVAILABLE").count > 1)
        scene.daemon.send(SIGCONT)
        // The daemon may have taken the earlier request; the reply was lost.
        try waitUntil("the daemon takes requests") { scene.send().status == 200 }
    }

    @Test("loses no push that it answered with 200, whichever of the two is killed")
    func crashes() throws {
        let scene = try GatewayScene()
        var told: Set<String> = []
        func sendSome() {
            for _ in 0..<5 {
                let answer = scene.send()
                guard answer.status == 200,
                    let id = answer.text.split(separator: "messages/").last?.split(separator: "\"").first
                else { continue }
                told.insert(String(id))
            }
        }
        for round in 0..<4 {
            sendSome()
            if round % 2 == 0 {
                scene.daemon.crash()
                sendSome()
                try scene.restartDaemon()
            } else {
                scene.gateway.crash()
                try scene.restartGateway()
            }
            try waitUntil("the gateway has its daemon") {
                scene.curl(["/leader"], host: "http://localhost").status == 200
            }
        }
        sendSome()
        #expect(told.count >= 15)
        let known = pushctl.run([
            "report", "--format", "csv", "--state", scene.installation.state, "--runtime", scene.installation.runtime,
        ]).output
        for id in told { #expect(known.split(separator: id).count > 1, "\(id)") }
    }

    @Test("refuses a token that its device replaced, and shows what it refused, also after a crash")
    func replacedToken() throws {
        let scene = try GatewayScene()
        let producer = try scene.installation.injectClient()
        for token in ["tok1", "tok2"] {
            let line = #"{"op":"token","token":"\#(token)","platform":"android","app":"demo","device":"pixel"}"#
            #expect(try producer.ask(line).isAccepted)
        }
        #expect(scene.send("tok1").status == 404)
        try waitUntil("the refused send has a row") { scene.show(3).contains("refused_send") }
        scene.daemon.crash()
        try scene.restartDaemon()
        try waitUntil("the gateway has its daemon") { scene.send("tok2").status == 200 }
        let again = scene.send("tok1")
        #expect(again.status == 404 && again.text.contains("UNREGISTERED"), "\(again.text)")
        #expect(scene.show(3).contains("refused_send"))
    }

    @Test("listens for other machines only with proof of identity or on purpose, and names the fault")
    func exposure() throws {
        let installation = Installation()
        installation.write("gateway.conf", "[Gateway]\n")
        let refused = GatewayScene.start(installation, listen: "0.0.0.0:0")
        #expect(try refused.waitForEnd() == .exited(77))
        #expect(refused.standardError.split(separator: "Credentials= and Provider=strict").count == 2)
        installation.write("gateway.conf", "[Gateway]\nAnyone=yes\n")
        let open = GatewayScene.start(installation, listen: "0.0.0.0:0")
        try open.waitForNotification("READY=1")
        #expect(try open.stop() == .exited(0))
        installation.write("gateway.conf", "[Gateway]\nProvider=strict\nKeys=/nonexistent\n")
        #expect(try GatewayScene.start(installation).waitForEnd() == .exited(71))
        installation.write("gateway.conf", "[Gateway]\nUnknown=maybe\n")
        let wrong = GatewayScene.start(installation)
        #expect(try wrong.waitForEnd() == .exited(78))
        #expect(wrong.standardError.split(separator: "gateway.conf:2: error: Unknown=maybe").count == 2)
        installation.write("gateway.conf", "")
        #expect(try GatewayScene.start(installation, listen: "here").waitForEnd() == .exited(2))
    }

    @Test(
        "sends a push to the device that registered the token, also after a crash, until it is unregistered"
    )
    func registry() throws {
        let scene = try GatewayScene("Unknown=unregistered")
        #expect(scene.send("tok9").status == 404)
        let producer = try scene.installation.injectClient()
        let device = #""platform":"ios","app":"shop","device":"iphone","external_id":"anna""#
        #expect(try producer.ask(#"{"op":"token","token":"tok9",\#(device)}"#).isAccepted)
        #expect(scene.send("tok9").status == 200)
        scene.daemon.crash()
        try scene.restartDaemon()
        try waitUntil("the gateway has its daemon") { scene.send("tok9").status == 200 }
        let story = scene.show(3)
        #expect(story.contains(line: "device", "iphone"))
        #expect(story.contains(line: "user", "anna"))
        #expect(story.contains(line: "platform", "ios"))
        let after = try scene.installation.injectClient()
        let answer = try after.ask(#"{"op":"resolve","id":"r","token":"tok9"}"#)
        #expect(answer["known"]?.bool == true && answer["app"]?.string == "shop" && answer["id"]?.string == "r")
        // Another device registers the token, and the first one loses it.
        #expect(try after.ask(#"{"op":"token","token":"tok9","app":"shop","device":"other"}"#).isAccepted)
        #expect(try after.ask(#"{"op":"resolve","token":"tok9"}"#)["device"]?.string == "other")
        #expect(try after.ask(#"{"op":"token","kind":"unregistered","token":"tok9"}"#).isAccepted)
        let gone = try after.ask(#"{"op":"resolve","token":"tok9","platform":"ios","app":"shop"}"#)
        #expect(gone["known"]?.bool == false && gone["device"]?.string == "tok9")
        #expect(scene.send("tok9").status == 404)
        #expect(try after.ask(#"{"op":"resolve"}"#)["error"]?["code"]?.string == "missing_key")
        #expect(try after.ask(#"{"op":"resolve","token":"t","device":"d"}"#)["error"]?["code"]?.string == "unknown_key")
    }

    @Test(
        "keeps subscriptions, and delivers to each member of a topic once, even if the daemon is killed midway"
    )
    func topics() throws {
        let scene = try GatewayScene()
        let tokens = (0..<300).map { "tok\($0)" }
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        let added = scene.curl(
            ["/iid/v1:batchAdd", "-d", #"{"to":"/topics/news","registration_tokens":[\#(list)]}"#],
            host: "https://iid.googleapis.com")
        #expect(added.status == 200, "\(added.text)")
        let message = #"{"message":{"topic":"news","data":{"job":"good"}}}"#
        let sent = scene.curl(["/v1/projects/demo/messages:send", "-d", message])
        #expect(sent.status == 200)
        scene.daemon.crash()
        try scene.restartDaemon()
        let id = try #require(sent.text.split(separator: "messages/").last?.split(separator: "\"").first)
        // The publish follows the registrations of its tokens and the request that subscribed them.
        let publish = tokens.count + 2
        try waitUntil("all deliveries are made") {
            scene.show(publish).contains(line: "reaches", "300 devices: 300 deliveries made")
        }
        let devices = try (publish + 1...publish + tokens.count).map { number in
            let story = scene.show(number)
            #expect(story.contains(line: "message id", String(id)))
            return try #require(tokens.first { story.contains(line: "device", $0) })
        }
        #expect(devices == tokens)
        let page = scene.curl(["/v1/projects/demo/registrations/tok7/topicSubscriptions"])
        #expect(page.text.split(separator: "topicSubscriptions/news").count == 2, "\(page.text)")
        let list7 = pushctl.run(["devices", "--state", scene.installation.state, "--device", "tok7", "--json"])
        #expect(list7.output.split(separator: #""topic":"news""#).count == 2, "\(list7.output)")
    }

    @Test("sends to a device in the state that pushctl device set")
    func deviceState() throws {
        let scene = try GatewayScene()
        let places = ["--state", scene.installation.state, "--runtime", scene.installation.runtime]
        let said = pushctl.run(
            ["device", "--app", "demo", "--app-state", "force_stopped", "--locked", "tok1", "--runtime", places[3]])
        #expect(said.end == .exited(0), "\(said.errors)")
        let producer = try scene.installation.injectClient()
        #expect(try producer.ask(#"{"op":"token","token":"tok1","app":"demo","device":"tok1"}"#).isAccepted)
        #expect(scene.send("tok1").status == 200)
        #expect(scene.show(3).contains(line: "state", "force_stopped"))
        let nothing = pushctl.run(["device", "tok1", "--runtime", places[3]])
        #expect(nothing.end == .exited(2) && nothing.errors.split(separator: "give at least one of").count == 2)
    }

    @Test("takes a compressed body, and refuses one that becomes too long")
    func compressed() throws {
        let scene = try GatewayScene()
        func send(_ text: String) -> Int {
            let path = "\(scene.installation.root)/body"
            writeFile(text, to: path)
            #expect(Program(path: "/usr/bin/gzip").run(["-kf", path]).end == .exited(0))
            return scene.curl([
                "/v1/projects/demo/messages:send", "-H", "content-encoding: gzip", "--data-binary", "@\(path).gz",
            ]).status
        }
        #expect(send(#"{"message":{"token":"tok1","data":{"job":"good"}}}"#) == 200)
        #expect(send(String(repeating: " ", count: 1 << 20)) == 400)
        let plain = scene.curl(["/v1/projects/demo/messages:send", "-H", "content-encoding: gzip", "-d", "{}"])
        #expect(plain.status == 400)
    }

    @Test("reloads its configuration on SIGHUP, and keeps the former one if the new one has an error")
    func reload() throws {
        let scene = try GatewayScene()
        #expect(scene.send("nobody").status == 200)
        func reread(_ text: String, _ word: String) throws {
            scene.installation.write("gateway.conf", text)
            scene.gateway.send(SIGHUP)
            try waitUntil(word) { scene.gateway.standardError.split(separator: word).count == 2 }
        }
        try reread("[Gateway]\nUnknown=unregistered\nStreamsMax=7\n", "the configuration was read again")
        #expect(scene.send("nobody").status == 404)
        #expect(
            scene.gateway.standardError.split(separator: "StreamsMax= of gateway.conf counts from the next start on")
                .count
                == 2)
        try reread("[Gateway]\nUnknown=maybe\n", "the previous configuration stays in force")
        #expect(scene.send("nobody").status == 404)
        try reread("[Gateway]\nErrors=/nonexistent\n", "/nonexistent: error: there is no such file")
        #expect(scene.send("nobody").status == 404)
        #expect(try scene.gateway.stop() == .exited(0))
    }

    @Test("prints the settings for a client")
    func commands() throws {
        let scene = try GatewayScene()
        let state = "\(scene.installation.root)/gateway"
        let own = pushctl.run(["gateway", "ca", "--state", state])
        #expect(own.outputBytes == readFile(scene.authority))
        let variables = pushctl.run(["gateway", "env", "--state", state, "--directory", scene.installation.root])
        #expect(variables.end == .exited(0), "\(variables.errors)")
        #expect(
            variables.lines.contains {
                $0.hasPrefix("export SSL_CERT_FILE='\(scene.installation.root)/bundle.pem'")
            })
        #expect(variables.lines.contains("export HTTPS_PROXY='http://127.0.0.1:18443'"))
        let here = "\(scene.installation.root)/here"
        mkdir(here, 0o700)
        let kept = pushctl(in: here, "gateway", "env", "--state", state)
        #expect(kept.lines.contains { $0.hasPrefix("export SSL_CERT_FILE='\(state)/bundle.pem'") }, "\(kept.errors)")
        #expect(names(in: here).isEmpty, "the gateway has the file already")
        #expect(readFile("\(scene.installation.root)/bundle.pem")?.count ?? 0 > own.outputBytes.count)
        #expect(pushctl.run(["gateway", "compose"]).output.split(separator: "fcm.googleapis.com").count == 2)
        let missing = pushctl.run(["gateway", "ca", "--state", "/nonexistent"])
        #expect(missing.end == .exited(66))
        #expect(missing.errors.split(separator: "makes this file at its first start").count == 2)
    }

    @Test("answers requests under way before it ends, and takes no further ones")
    func stop() throws {
        let scene = try GatewayScene()
        #expect(scene.send().status == 200)
        #expect(try scene.gateway.stop() == .exited(0))
        #expect(scene.send().status == 0)
    }

    @Test("keeps web push subscriptions over restarts by its one secret, and ends them with their device's token")
    func webPush() throws {
        let scene = try GatewayScene()
        func webpush(_ words: String...) throws -> [String] {
            let result = pushctl.run(
                ["webpush"] + words + [
                    "--runtime", scene.installation.runtime, "--state", scene.installation.state, "--address",
                    "localhost:443",
                ])
            #expect(result.end == .exited(0), "\(result.errors)")
            return result.lines
        }
        let made = try webpush("subscribe", "--app", "shop", "--device", "chrome", "--gateway", scene.socket)
        let root = try JSONDocument(scanning: Array(try #require(made.first).utf8)).root
        let endpoint = try #require(root["endpoint"]?.string)
        #expect(endpoint.hasPrefix("https://localhost/push/"))
        let path = String(endpoint.dropFirst("https://localhost".count))
        func push() -> Int {
            scene.curl(["-X", "POST", "-H", "TTL: 60", path], host: "https://localhost").status
        }
        #expect(push() == 201)
        #expect(scene.show(2).contains("chrome"))
        #expect(try scene.gateway.stop() == .exited(0))
        #expect(try scene.daemon.stop() == .exited(0))
        try scene.restartDaemon()
        try scene.restartGateway()
        #expect(push() == 201)
        #expect(try webpush("list").count == 1)
        _ = try webpush("unsubscribe", endpoint)
        #expect(push() == 410)
        #expect(try webpush("list").isEmpty)
        func refused(_ words: String...) -> Program.Result {
            pushctl.run(
                ["webpush"] + words + ["--app", "shop", "--device", "chrome"]
                    + ["--runtime", scene.installation.runtime, "--state", scene.installation.state])
        }
        let none = refused("unsubscribe")
        #expect(none.end == .exited(1) && none.errors == "pushctl: the device chrome of shop has no subscription\n")
        _ = try webpush("subscribe", "--app", "shop", "--device", "chrome", "--user", "anna", "--gateway", scene.socket)
        #expect(try webpush("list").first?.contains("anna") == true)
        _ = try webpush("unsubscribe", "--app", "shop", "--device", "chrome")
        #expect(refused("unsubscribe").end == .exited(1))
        let letters = String(repeating: "A", count: 86)
        for (key, words) in [
            ("B" + letters.dropLast() + "+", "--key: \"+\" is no character of base64url: write - for it"),
            (String(letters.prefix(43)), "--key: it has 43 characters, as a private key; a public VAPID key has 87"),
            ("", "--key: it has 0 characters; a public VAPID key has 87 characters of base64url and begins with B"),
            ("B" + letters, "--key: the gateway refuses it: "),
        ] {
            let wrong = refused("subscribe", "--key=\(key)", "--gateway", scene.socket)
            #expect(wrong.end == .exited(2) && wrong.errors.contains(words), "\(wrong.errors)")
        }
        #expect(try webpush("list").isEmpty)
        // Without its secret a gateway knows none of its endpoints, and one that others may read is no secret.
        let secret = "\(scene.installation.root)/gateway/webpush.key"
        #expect(try scene.gateway.stop() == .exited(0))
        #expect(chmod(secret, 0o644) == 0)
        let refused = GatewayScene.start(scene.installation)
        #expect(try refused.waitForEnd() == .exited(78))
        #expect(unlink(secret) == 0)
        try scene.restartGateway()
        #expect(push() == 404)
    }
}

extension String {
    /// Returns whether a line consists of a name and a value, with spaces between.
    fileprivate func contains(line name: String, _ value: String) -> Bool {
        split(separator: "\n").contains { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
            return words == "\(name) \(value)"
        }
    }
}
