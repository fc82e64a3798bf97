import PushModel
import PushRouter
import PushSettings
import TestSupport
import Testing

@testable import PushGateway
@testable import pushrouter_gateway

/// A desk with Node's recorded sender, and a daemon whose replies the test gives.
private struct Scene {
    var desk: GatewayDesk
    let keys: WebPushKeys
    let recorded: JSONNode
    var random = SeededGenerator(seed: 52)
    var time: Int64
    var facts = ConnectionFacts(name: "127.0.0.1 #1")
    /// The daemon's reply to a question for a device.
    var device = #"{"ok":true,"known":true,"platform":"web","app":"shop","device":"chrome"}"#
    /// The daemon's reply to a push; `nil`: it gives none.
    var reply: String? = #"{"ok":true,"seq":1}"#
    /// The lines that the daemon got.
    var lines: [JSONNode] = []

    init(_ service: GatewaySettings.WebPushService = .google, takesTokens: Bool = false) throws {
        recorded = try recording("node-web-push-3.6.7.json")
        let secret = try #require(recorded["secret"]?.string.flatMap { Base64URL.decoded($0.utf8) })
        keys = WebPushKeys(secret: secret, OpenSSLWebPush())
        time = try #require(recorded["time"]?.int64) * 1000
        var rules = DeskRules()
        rules.webPush = service
        desk = GatewayDesk(rules, injected: InjectedErrors(takesTokens: takesTokens))
        desk.webPush = keys
    }

    /// A recorded request, with other headers; an empty value removes a header.
    func request(
        _ step: String = "aes128gcm", to id: String? = nil, _ headers: [String: String] = [:], body: [UInt8]? = nil,
        method: String = "POST"
    ) throws -> GatewayRequest {
        let found = try #require(recorded["steps"]?.elements.first { $0["step"]?.string == step })
        var all = ["host": "127.0.0.1:18443"]
        for header in found["headers"]?.elements ?? [] {
            all[header.elements[0].string?.lowercased() ?? ""] = header.elements[1].string
        }
        all.merge(headers) { $1 }
        let digits = (found["body"]?.string ?? "").map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        let own = try #require(found["endpoint"]?.string?.split(separator: "/").last.map(String.init))
        return GatewayRequest(
            method: method, target: "/push/\(id ?? own)",
            headers: all.filter { !$0.value.isEmpty }.map { ($0.key, $0.value) },
            body: try body ?? #require(Base64URL.decoded(String(digits).utf8)))
    }

    mutating func answer(_ request: GatewayRequest) throws -> GatewayResponse {
        let now = GatewayDesk.Now(
            wall: WallTime(milliseconds: time), monotonic: time * 1_000_000, microseconds: time * 1000)
        var step = desk.begin(request, from: facts, at: now, using: &random)
        while case .query(let line, let exchange) = step {
            let root = try JSONDocument(scanning: Array(line.dropLast())).root
            lines.append(root)
            let answer = root["op"]?.string == "resolve" ? device : reply
            step = desk.proceed(exchange, reply: answer.map { Array($0.utf8) }, using: &random)
        }
        guard case .answer(let response, _) = step else { throw NoAnswer() }
        return response
    }

    struct NoAnswer: Error {}

    /// The JSON of an answer.
    static func json(_ response: GatewayResponse) throws -> JSONNode {
        try JSONDocument(scanning: response.body.filter { $0 != 0x0A }).root
    }
}

@Suite("The gateway as the push service of a browser")
struct WebPushDeskTests {
    @Test("takes what Node's web-push sends, in both encodings, and answers 201 only after the daemon's ok")
    func node() throws {
        for step in ["aes128gcm", "aesgcm", "without a proof", "plain text", "without a body"] {
            var scene = try Scene()
            let response = try scene.answer(try scene.request(step))
            #expect(response.status == 201, "\(step): \(String(decoding: response.body, as: UTF8.self))")
            let found = try #require(scene.recorded["steps"]?.elements.first { $0["step"]?.string == step })
            let text = found["text"]?.string ?? ""
            let line = try #require(scene.lines.last)
            #expect(line["op"]?.string == "deliver")
            #expect(line["platform"]?.string == "web" && line["app"]?.string == "shop")
            #expect(line["device"]?.string == "chrome")
            let payload = try #require(line["payload"])
            #expect(
                String(decoding: payload.compactBytes, as: UTF8.self)
                    == (text.isEmpty ? "{}" : text.hasPrefix("{") ? text : #"{"text":"\#(text)"}"#), "\(step)")
            let location = try #require(response.header("location"))
            #expect(location.hasPrefix("https://127.0.0.1:18443/m/"))
            #expect(location.hasSuffix(line["message_id"]?.string ?? "-"))
            #expect(response.header("ttl") == (step.hasPrefix("aes") ? "60" : "2419200"))
        }
    }

    @Test("keeps the sender's proof and headers with the push")
    func sender() throws {
        var scene = try Scene()
        _ = try scene.answer(try scene.request())
        let sender = try #require(scene.lines.last?["sender"])
        #expect(sender["account"]?.string == "mailto:ops@example.com")
        #expect(sender["key"]?.string == scene.recorded["sender"]?.string)
        #expect(sender["urgency"]?.string == "high" && sender["topic"]?.string == "upd")
        #expect(sender["ttl"]?.int64 == 60 && sender["answer"]?.int64 == 201)
        #expect(sender["reason"] == nil)
    }

    /// A change of a good request, with the status, the number of Mozilla and its daemon's lines.
    private static let refusals: [(name: String, headers: [String: String], status: Int, errno: Int64?)] = [
        ("no TTL", ["ttl": ""], 400, 111), ("a negative TTL", ["ttl": "-1"], 400, 114),
        ("a TTL of words", ["ttl": "soon"], 400, 114),
        ("a long topic", ["topic": String(repeating: "a", count: 33)], 400, 113),
        ("a topic of other letters", ["topic": "a.b"], 400, 113), ("an urgency", ["urgency": "urgent"], 400, nil),
        ("no proof", ["authorization": ""], 401, 109), ("a wrong scheme", ["authorization": "key=AAAA"], 403, 109),
        ("no JWT", ["authorization": "vapid k=AAAA"], 403, 109),
        ("another host", ["host": "localhost:18443"], 403, 109),
        ("another encoding", ["content-encoding": "gzip2"], 400, 110),
        ("no encoding", ["content-encoding": ""], 400, 110),
        ("aesgcm without its headers", ["content-encoding": "aesgcm"], 400, 110),
    ]

    @Test("answers each fault as the services do, and delivers nothing", arguments: refusals.indices)
    func refusal(_ index: Int) throws {
        let refusal = Self.refusals[index]
        var scene = try Scene()
        let response = try scene.answer(try scene.request("aes128gcm", refusal.headers))
        #expect(response.status == refusal.status, "\(refusal.name)")
        let json = try Scene.json(response)
        #expect(json["code"]?.int64 == Int64(refusal.status) && json["errno"]?.int64 == refusal.errno)
        #expect(json["more_info"] != nil && json["error"] != nil && json["message"] != nil)
        #expect(scene.lines.map { $0["op"]?.string } == ["resolve"])
        // The operator hears the cause, and the refused send is kept for the device.
        #expect(scene.desk.takeRemarks().count == 1)
        let kept = try JSONDocument(scanning: Array(try #require(scene.desk.takeRefusedSends().first).dropLast()))
        #expect(kept.root["device"]?.string == "chrome")
        if refusal.errno == 109 {
            var mozilla = try Scene(.mozilla)
            #expect(try mozilla.answer(try mozilla.request("aes128gcm", refusal.headers)).status == 401)
        }
    }

    @Test("refuses a proof that is late, too early, of another key or changed")
    func proofs() throws {
        for (seconds, isGood) in [(43_199, true), (43_201, false), (-43_199, true), (-43_205, false)] as [(Int64, Bool)]
        {
            var scene = try Scene()
            scene.time += seconds * 1000
            #expect(try scene.answer(try scene.request()).status == (isGood ? 201 : 403), "\(seconds)")
        }
        var scene = try Scene()
        let good = try #require(try scene.request().header("authorization"))
        let changed = good.replacing("vapid t=", ",") { $0.dropLast(2) + ($0.hasSuffix("AA") ? "BA" : "AA") }
        #expect(try scene.answer(try scene.request("aes128gcm", ["authorization": changed])).status == 403)
        // A subscription for another sender.
        let key = scene.keys.cryptography.publicKey(of: [UInt8](repeating: 3, count: 32))
        let other = scene.keys.makeID(.endpoint, for: key, using: &scene.random)
        let refused = try scene.answer(try scene.request("aes128gcm", to: other))
        #expect(refused.status == 403)
        #expect(scene.desk.takeRemarks().last?.contains("another key") == true)
    }

    @Test("asks the daemon nothing about 100,000 guessed endpoints, and tells them a few times")
    func guesses() throws {
        var scene = try Scene()
        let own = scene.keys.makeID(.endpoint, using: &scene.random)
        var guess = [UInt8](repeating: 0, count: 32)
        for number in 0..<100_000 {
            guess[number % 32] = .random(in: 0...255, using: &scene.random)
            let request = GatewayRequest(
                method: "POST", target: "/push/\(Base64URL.encoded(guess))",
                headers: [("host", "localhost"), ("ttl", "0")])
            guard try scene.answer(request).status == 404 else { throw Scene.NoAnswer() }
        }
        for id in ["", "a", own.dropLast() + "", own + "A", own + "=", String(own.reversed())] {
            #expect(try scene.answer(try scene.request(to: id)).status == 404, "\(id)")
        }
        #expect(scene.lines.isEmpty && scene.desk.takeRefusedSends().isEmpty)
        #expect(scene.desk.takeRemarks().count <= 30)
        #expect(scene.desk.refusals.counts["InvalidToken"] == 100_006)
    }

    @Test("answers 410 to the endpoint of nobody, with the time of its end in the journal")
    func ends() throws {
        for reply in [
            #"{"ok":true,"known":false,"platform":"web","device":"x","ended":"2026-11-30T01:02:03.000Z"}"#,
            #"{"ok":true,"known":false,"platform":"web","device":"x"}"#,
            #"{"ok":true,"known":true,"platform":"android","device":"pixel"}"#,
        ] {
            var scene = try Scene()
            scene.device = reply
            // An end comes before every other fault.
            let response = try scene.answer(try scene.request("aes128gcm", ["ttl": ""]))
            #expect(response.status == 410 && response.header("cache-control") == "max-age=86400")
            #expect(try Scene.json(response)["errno"]?.int64 == 106)
        }
    }

    @Test("answers 503 with a time to try again while the daemon takes nothing")
    func unavailable() throws {
        let busy = #"{"ok":false,"error":{"code":"overloaded","message":"full","retry":true,"retry_after_ms":1500}}"#
        for (device, reply, seconds) in [(nil, nil, "1"), (busy, nil, "2"), (nil, busy, "2")]
            as [(String?, String?, String)]
        {
            var scene = try Scene()
            if let device { scene.device = device }
            scene.reply = reply
            let response = try scene.answer(try scene.request())
            #expect(response.status == 503 && response.header("retry-after") == seconds)
        }
    }

    @Test("answers 413 from 4,097 bytes on, and 405 to other methods")
    func sizes() throws {
        var scene = try Scene()
        let long = [UInt8](repeating: 0x61, count: 4097)
        #expect(try scene.answer(try scene.request(body: long)).status == 413)
        #expect(try scene.answer(try scene.request(body: Array(long.dropLast()))).status == 201)
        for method in ["GET", "PUT", "DELETE"] {
            let response = try scene.answer(try scene.request(method: method))
            #expect(response.status == 405 && response.header("allow") == "POST")
        }
    }

    @Test("answers 201 to a body that no browser can read, and keeps it with the cause")
    func unreadable() throws {
        var scene = try Scene()
        var body = try scene.request().body
        body[0] ^= 1
        #expect(try scene.answer(try scene.request(body: body)).status == 201)
        let line = try #require(scene.lines.last)
        #expect(line["sender"]?["reason"]?.string == "other_keys")
        #expect(line["payload"]?["encrypted"]?.string == Base64URL.encoded(body))
        #expect(scene.desk.takeRemarks().first?.contains("other keys") == true)
        #expect(scene.desk.refusals.counts["other_keys"] == 1)
        // The daemon takes the line, and no worker starts.
        let request = try Request(line: Array(line.rawBytes))
        guard case .deliver(let deliver) = request.action else { throw Scene.NoAnswer() }
        let decision = try decide(Delivery(deliver, platform: .web))
        #expect(decision.outcome == .swallowed)
        #expect(decision.reasons.last?.code == .unreadableMessage)
    }

    @Test("withdraws its own messages, and no others")
    func withdrawal() throws {
        var scene = try Scene()
        let location = try #require(try scene.answer(try scene.request()).header("location"))
        let path = String(location.dropFirst("https://127.0.0.1:18443".count))
        func delete(_ path: String) -> GatewayRequest {
            GatewayRequest(method: "DELETE", target: path, headers: [("host", "localhost")])
        }
        #expect(try scene.answer(delete(path)).status == 204)
        #expect(try scene.answer(delete(path + "A")).status == 404)
        let endpoint = scene.keys.makeID(.endpoint, using: &scene.random)
        #expect(try scene.answer(delete("/m/\(endpoint)")).status == 404)
    }

    @Test("makes endpoints for clients on this machine alone, for one sender if its key is a point")
    func subscriptions() throws {
        var scene = try Scene()
        func ask(_ query: String) -> GatewayRequest {
            GatewayRequest(method: "POST", target: "/subscribe\(query)", headers: [("host", "localhost")])
        }
        let made = try Scene.json(try scene.answer(ask("")))
        let id = try #require(made["id"]?.string)
        #expect(scene.keys.isOwn(id, .endpoint) && id.utf8.count == 43)
        #expect(made["keys"]?["p256dh"]?.string == Base64URL.encoded(scene.keys.subscription(id).publicKey))
        let sender = try #require(scene.recorded["sender"]?.string)
        let own = try #require(try Scene.json(try scene.answer(ask("?key=\(sender)")))["id"]?.string)
        #expect(scene.keys.hasSender(own) && own != id)
        #expect(try scene.answer(ask("?key=\(sender.dropLast(3))")).status == 403)
        let noPoint = Base64URL.encoded([4] + [UInt8](repeating: 1, count: 64))
        #expect(try scene.answer(ask("?key=\(noPoint)")).status == 403)
        scene.facts.isLocal = false
        #expect(try scene.answer(ask("")).status == 404)
        #expect(scene.lines.isEmpty)
    }

    @Test("gives the errors that an endpoint names, each status of the services")
    func demanded() throws {
        var scene = try Scene(takesTokens: true)
        for name in WebPushError.names {
            let response = try scene.answer(try scene.request(to: "err-\(name)+ra"))
            #expect(String(response.status) == name && response.header("retry-after") == "1")
        }
        #expect(try scene.answer(try scene.request(to: "err-418")).status == 404)
        #expect(scene.desk.takeRemarks().last?.contains("no error on demand") == true)
        #expect(scene.lines.isEmpty)
        var rules = try Scene()
        let rule = try FaultRule(
            try JSONDocument(scanning: Array(#"{"match":{"service":"webpush"},"answer":"429","count":1}"#.utf8)).root)
        rules.desk.injected = InjectedErrors(rules: [rule])
        #expect(try rules.answer(try rules.request()).status == 429)
        #expect(try rules.answer(try rules.request()).status == 201)
    }
}

extension String {
    /// The text with the part between two texts changed.
    fileprivate func replacing(_ start: String, _ end: Character, _ change: (Substring) -> String) -> String {
        let rest = dropFirst(start.count)
        let part = rest.prefix { $0 != end }
        return start + change(part) + rest.dropFirst(part.count)
    }
}
