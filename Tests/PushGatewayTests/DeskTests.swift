import TestSupport
import Testing

@testable import PushGateway
@testable import PushModel
@testable import PushRouter
@testable import PushSettings

/// A desk with a daemon whose replies the test gives.
struct Scene {
    var desk: GatewayDesk
    var random = SeededGenerator(seed: 7)
    var time: Int64 = 1_795_537_418_000
    var facts = ConnectionFacts(name: "127.0.0.1 #1")

    init(
        _ change: (inout DeskRules) -> Void = { _ in }, verdict: SignatureVerdict = .good,
        injected: InjectedErrors = .init()
    ) {
        var rules = DeskRules()
        change(&rules)
        desk = GatewayDesk(rules, injected: injected) { _, _ in verdict }
    }

    var now: GatewayDesk.Now {
        GatewayDesk.Now(wall: WallTime(milliseconds: time), monotonic: time * 1_000_000, microseconds: time * 1000)
    }

    mutating func begin(_ request: GatewayRequest) -> GatewayDesk.Step {
        desk.begin(request, from: facts, at: now, using: &random)
    }

    /// The line for the daemon, and the answer after its reply. ``device`` answers a question for a device.
    mutating func exchange(_ request: GatewayRequest, reply: String?) throws -> (JSONNode, GatewayResponse) {
        var step = begin(request)
        var last: JSONNode?
        while case .query(let line, let exchange) = step {
            #expect(line.last == 0x0A)
            let root = try JSONDocument(scanning: Array(line.dropLast())).root
            last = root
            let asksForDevice = root["op"]?.string == "resolve" && root["token"]?.string != "leader"
            let answer = asksForDevice ? device(root) : reply
            step = desk.proceed(exchange, reply: answer.map { Array($0.utf8) }, using: &random)
        }
        guard case .answer(let response, .zero) = step, let last else {
            throw TestFailure("the desk answers without the daemon")
        }
        return (last, response)
    }

    /// The daemon's reply about a token; by default that of a daemon without registrations.
    var device: (JSONNode) -> String? = { question in
        let app = question["app"]?.string.map { #""app":"\#($0)","# } ?? ""
        let platform = question["platform"]?.string ?? "android"
        let token = question["token"]?.string ?? ""
        return #"{"ok":true,"known":false,"platform":"\#(platform)",\#(app)"device":"\#(token)"}"#
    }

    mutating func answer(_ request: GatewayRequest) throws -> GatewayResponse {
        guard case .answer(let response, _) = begin(request) else { throw TestFailure("the desk does not answer") }
        return response
    }
}

struct TestFailure: Error {
    let text: String
    init(_ text: String) { self.text = text }
}

private let ok = #"{"ok":true,"seq":1}"#
private let send = GatewayRequest.post(
    "/v1/projects/demo/messages:send", #"{"message":{"token":"tok","data":{"a":"b"}}}"#,
    headers: [("host", "fcm.googleapis.com"), ("user-agent", "fire-admin-python/7.7.0")])

@Suite("The desk of a gateway")
struct DeskTests {
    @Test("answers 200 only after the daemon's ok, and returns the id in the line")
    func acceptance() throws {
        var scene = Scene()
        let (line, answer) = try scene.exchange(send, reply: ok)
        #expect(answer.status == 200)
        let id = try #require(line["message_id"]?.string)
        #expect(answer.text.hasSuffix("/messages/\(id)\"}"))
        #expect(id.hasPrefix("0:1795537418000000%"))
        for reply in [nil, "", "{}", #"{"ok":true}"#, #"{"seq":1,"outcome":"handled"}"#] {
            let (_, answer) = try scene.exchange(send, reply: reply)
            #expect(answer.status == 503, "\(reply ?? "no reply")")
            #expect(answer.header("retry-after") == "1")
        }
    }

    @Test("names Firebase's library as the client, and not its HTTP library")
    func client() throws {
        var scene = Scene()
        let headers = [("user-agent", "python-requests/2.34.2"), ("x-firebase-client", "fire-admin-python/7.7.0")]
        let body = #"{"message":{"token":"tok","data":{"a":"b"}}}"#
        let request = GatewayRequest.post(
            "/v1/projects/demo/messages:send", body, headers: [("host", "fcm.googleapis.com")] + headers)
        let (line, _) = try scene.exchange(request, reply: ok)
        #expect(line["sender"]?["client"]?.string == "fire-admin-python/7.7.0")
    }

    @Test("returns the daemon's retry time in whole seconds, and its field in Google's notation")
    func refusals() throws {
        var scene = Scene()
        let busy = #"{"ok":false,"error":{"code":"overloaded","message":"full","retry":true,"retry_after_ms":1500}}"#
        let (_, later) = try scene.exchange(send, reply: busy)
        #expect(later.status == 503)
        #expect(later.header("retry-after") == "2")
        let wrong =
            #"{"ok":false,"error":{"code":"invalid_payload","field":"payload.message.data.badge","message":"no","retry":false}}"#
        let (_, never) = try scene.exchange(send, reply: wrong)
        #expect(never.status == 400)
        #expect(never.text.split(separator: #""field":"message.data.badge""#).count == 2)
    }

    @Test("sends the daemon the sender and the send, with secrets shortened")
    func sender() throws {
        var scene = Scene()
        let (line, _) = try scene.exchange(send, reply: ok)
        let sender = try #require(PushSender(ofLine: line))
        #expect(sender.client == "fire-admin-python/7.7.0")
        #expect(sender.project == "demo")
        #expect(sender.connection == "127.0.0.1 #1")
        #expect(sender.path == "/v1/projects/demo/messages:send")
        #expect(sender.answer == 200)
        #expect(sender.times == nil)
        let token = String(repeating: "ab", count: 32)
        let push = GatewayRequest.post(
            "/3/device/\(token)", #"{"aps":{}}"#, headers: [("apns-topic", "com.example.shop")])
        let (apns, answer) = try scene.exchange(push, reply: ok)
        #expect(PushSender(ofLine: apns)?.path == "/3/device/abababab…abab")
        #expect(answer.header("apns-unique-id") != nil)
    }

    @Test("gives a request to APNs an id if it has none, and returns it with a refusal too")
    func madeID() throws {
        var scene = Scene()
        let push = GatewayRequest.post("/3/device/abcd", #"{"aps":{}}"#, headers: [("apns-topic", "com.example.shop")])
        let (line, answer) = try scene.exchange(push, reply: ok)
        let id = try #require(answer.header("apns-id"))
        #expect(UUID128(id) != nil && id == id.uppercased())
        #expect(line["headers"]?["apns-id"]?.string == id)
        let refused = [
            GatewayRequest.post("/3/device/abcd", "{}"), .post("/3/device/", "{}"), .post("/4/device/abcd", "{}"),
            GatewayRequest(method: "GET", target: "/3/device/abcd", headers: [("host", "api.push.apple.com")]),
            .post("/nothing", headers: [("host", "api.push.apple.com")]),
        ]
        var ids: Set = [id]
        for request in refused {
            let answer = try scene.answer(request)
            #expect(answer.text.has("reason"))
            #expect(ids.insert(try #require(answer.header("apns-id"))).inserted)
        }
        var injected = Scene(injected: InjectedErrors(takesTokens: true))
        let onDemand = GatewayRequest.post("/3/device/err-BadDeviceToken", "{}")
        #expect(try injected.answer(onDemand).header("apns-id") != nil)
        #expect(try scene.answer(.post("/v1/projects/demo/messages:send", "{}")).header("apns-id") == nil)
    }

    @Test(
        "returns apns-unique-id as Apple does, in the development environment alone, and for a host of another name",
        arguments: [
            ("api.push.apple.com", false), ("api.sandbox.push.apple.com", true),
            ("api.development.push.apple.com:443", true), ("localhost:18443", true),
        ])
    func uniqueID(_ host: String, _ hasOne: Bool) throws {
        var scene = Scene()
        let push = GatewayRequest.post(
            "/3/device/abcd", #"{"aps":{}}"#, headers: [("apns-topic", "com.example.shop"), ("host", host)])
        #expect((try scene.exchange(push, reply: ok).1.header("apns-unique-id") != nil) == hasOne)
    }

    @Test("marks the same send within a minute, and no other")
    func retries() throws {
        var scene = Scene { $0.remembered = 3 }
        func times(_ line: JSONNode) -> Int64? { PushSender(ofLine: line)?.times }
        #expect(times(try scene.exchange(send, reply: ok).0) == nil)
        scene.time += 59_000
        #expect(times(try scene.exchange(send, reply: ok).0) == 2)
        scene.time += 61_000
        #expect(times(try scene.exchange(send, reply: ok).0) == nil)
        for number in 0..<5 {
            let other = GatewayRequest.post(
                "/v1/projects/demo/messages:send", #"{"message":{"token":"t\#(number)","data":{"a":"b"}}}"#)
            #expect(times(try scene.exchange(other, reply: ok).0) == nil)
        }
        // More sends than are remembered came in between.
        #expect(times(try scene.exchange(send, reply: ok).0) == nil)
    }

    @Test("issues access tokens, and with Credentials= refuses a send without one")
    func accessTokens() throws {
        // {"alg":"RS256"} . {"iss":"push@demo","aud":"https://oauth2.googleapis.com/token","iat":1795537418,"exp":1795541018}
        let assertion =
            "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJwdXNoQGRlbW8iLCJhdWQiOiJodHRwczovL29hdXRoMi5nb29nbGVhcGlzLmNvbS90b2tlbiIsImlhdCI6MTc5NTUzNzQxOCwiZXhwIjoxNzk1NTQxMDE4fQ.AAAA"
        let ask = GatewayRequest.post(
            "/token", "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)",
            headers: [("host", "oauth2.googleapis.com")])
        var scene = Scene { $0.accounts = .strict }
        #expect(try scene.answer(send).status == 401)
        let given = try scene.answer(ask)
        #expect(given.status == 200)
        let token = try #require(JSONDocument(scanning: given.body).root["access_token"]?.string)
        func authorized(_ token: String) -> GatewayRequest {
            .post(
                "/v1/projects/demo/messages:send", #"{"message":{"token":"tok","data":{"a":"b"}}}"#,
                headers: [("authorization", "Bearer \(token)")])
        }
        let (line, answer) = try scene.exchange(authorized(token), reply: ok)
        #expect(answer.status == 200)
        #expect(PushSender(ofLine: line)?.account == "push@demo")
        #expect(try scene.answer(authorized("ya29.other")).status == 401)
        scene.time += 3_599_000
        #expect(try scene.answer(authorized(token)).status == 401)
        for (verdict, words) in [
            (SignatureVerdict.bad, "Invalid JWT Signature."), (.unknownSigner, "account not found"),
        ] {
            var strict = Scene({ $0.accounts = .strict }, verdict: verdict)
            let refused = try strict.answer(ask)
            #expect(refused.status == 400)
            #expect(refused.text.split(separator: words).count == 2)
        }
    }

    @Test("with Provider=strict refuses a push whose token is missing, old or not signed by the key")
    func providers() throws {
        // {"alg":"ES256","kid":"KEY"} . {"iss":"TEAM","iat":1795537418}
        let token = "eyJhbGciOiJFUzI1NiIsImtpZCI6IktFWSJ9.eyJpc3MiOiJURUFNIiwiaWF0IjoxNzk1NTM3NDE4fQ.AAAA"
        func push(_ token: String?) -> GatewayRequest {
            .post(
                "/3/device/abcd", #"{"aps":{"alert":"x"}}"#,
                headers: [("apns-topic", "com.example.shop")]
                    + (token.map { [("authorization", "bearer \($0)")] } ?? []))
        }
        var scene = Scene { $0.providers = .strict }
        let (line, answer) = try scene.exchange(push(token), reply: ok)
        #expect(answer.status == 200)
        #expect(PushSender(ofLine: line)?.team == "TEAM")
        #expect(PushSender(ofLine: line)?.account == "KEY")
        #expect(try scene.answer(push(nil)).text == #"{"reason":"MissingProviderToken"}"#)
        scene.time += 3_600_000
        #expect(try scene.answer(push(token)).text == #"{"reason":"ExpiredProviderToken"}"#)
        var bad = Scene({ $0.providers = .strict }, verdict: .bad)
        #expect(try bad.answer(push(token)).text == #"{"reason":"InvalidProviderToken"}"#)
    }

    @Test("a sender with a certificate and without a token sends to the certificate's topics alone")
    func certificate() throws {
        func push(_ headers: [(String, String)]) -> GatewayRequest {
            .post(
                "/3/device/abcd", #"{"aps":{"alert":"x"}}"#, headers: [("host", "api.push.apple.com")] + headers)
        }
        var scene = Scene()
        scene.facts.certificateTopics = ["com.example.shop", "com.example.other"]
        let (line, answer) = try scene.exchange(push([]), reply: ok)
        #expect(answer.status == 200 && line["headers"]?["apns-topic"]?.string == "com.example.shop")
        #expect(try scene.exchange(push([("apns-topic", "com.example.other")]), reply: ok).1.status == 200)
        let foreign = ("apns-topic", "com.example.foreign")
        #expect(try scene.answer(push([foreign])).text == #"{"reason":"TopicDisallowed"}"#)
        // A token says who sends, whatever the certificate is.
        #expect(try scene.exchange(push([foreign, ("authorization", "bearer x")]), reply: ok).1.status == 200)
    }

    @Test("sends a push to the device that registered the token")
    func registered() throws {
        var scene = Scene { $0.unknown = .unregistered }
        scene.device = { _ in
            #"{"ok":true,"known":true,"platform":"ios","app":"shop","device":"iphone","external_id":"anna"}"#
        }
        let (line, answer) = try scene.exchange(send, reply: ok)
        #expect(answer.status == 200)
        #expect(line["platform"]?.string == "ios")
        #expect(line["app"]?.string == "shop")
        #expect(line["device"]?.string == "iphone")
        #expect(line["external_id"]?.string == "anna")
    }

    @Test(
        "refuses a push over APNs to the token of another app or platform, as Apple does",
        arguments: [
            (#""platform":"ios","app":"com.example.shop""#, nil),
            (#""platform":"ios","app":"com.example.other""#, "DeviceTokenNotForTopic"),
            (#""platform":"android","app":"com.example.shop""#, "BadDeviceToken"),
        ])
    func tokenOfAnother(_ members: String, _ reason: String?) throws {
        var scene = Scene()
        scene.device = { _ in #"{"ok":true,"known":true,\#(members),"device":"phone"}"# }
        let push = GatewayRequest.post("/3/device/abcd", #"{"aps":{}}"#, headers: [("apns-topic", "com.example.shop")])
        let answer = try scene.exchange(push, reply: ok).1
        #expect(answer.status == (reason == nil ? 200 : 400))
        if let reason { #expect(answer.text == #"{"reason":"\#(reason)"}"#) }
    }

    @Test("answers UNREGISTERED for an unregistered token, if Unknown= says so, and 503 if its registration is unknown")
    func unregistered() throws {
        let push = GatewayRequest.post(
            "/3/device/abcd", #"{"aps":{}}"#, headers: [("apns-topic", "com.example.shop"), ("apns-id", "x")])
        var scene = Scene { $0.unknown = .unregistered }
        let gone = try scene.exchange(send, reply: ok).1
        #expect(gone.status == 404)
        #expect(gone.text.split(separator: "UNREGISTERED").count == 2)
        let topic = [(name: "apns-topic", value: "com.example.shop")]
        let device = GatewayRequest.post("/3/device/abcd", #"{"aps":{}}"#, headers: topic)
        #expect(try scene.exchange(device, reply: ok).1.status == 410)
        #expect(try scene.exchange(device, reply: ok).1.text.split(separator: "timestamp").count == 2)
        scene.device = { _ in nil }
        #expect(try scene.exchange(send, reply: ok).1.status == 503)
        #expect(try scene.exchange(device, reply: ok).1.status == 503)
        scene.device = { _ in
            #"{"ok":false,"error":{"code":"unavailable","message":"b leads","retry":true,"retry_after_ms":100}}"#
        }
        #expect(try scene.exchange(send, reply: ok).1.status == 503)
        #expect(try scene.answer(push).status == 400)
    }

    @Test("sends a message to a topic, or to a condition, as one publish for the project")
    func topics() throws {
        var scene = Scene()
        for to in [#""topic":"news""#, #""condition":"'a' in topics""#] {
            let request = GatewayRequest.post(
                "/v1/projects/demo/messages:send", #"{"message":{\#(to),"data":{"a":"b"}}}"#)
            let (line, answer) = try scene.exchange(request, reply: #"{"ok":true,"seq":7,"members":0}"#)
            #expect(answer.status == 200)
            let publish = try Request(line: line.rawBytes.map { $0 })
            #expect(publish.operation == .publish)
            #expect(line["project"]?.string == "demo")
            #expect(line["sender"] != nil)
            let refused =
                #"{"ok":false,"error":{"code":"invalid_value","field":"topic","message":"too many","retry":false}}"#
            #expect(try scene.exchange(request, reply: refused).1.status == 400)
        }
    }

    @Test("changes a subscription, and answers by the daemon's reply")
    func subscriptions() throws {
        var scene = Scene()
        let path = "/v1/projects/demo/registrations/tok/topicSubscriptions"
        func answer(_ method: String, _ target: String, _ reply: String) throws -> (JSONNode, GatewayResponse) {
            try scene.exchange(GatewayRequest(method: method, target: path + target), reply: reply)
        }
        func results(_ result: String) -> String { #"{"ok":true,"seq":7,"results":["\#(result)"]}"# }
        let (line, _) = try answer("POST", "?topic_name=news", results("subscribed"))
        let request = try Request(line: line.rawBytes.map { $0 })
        guard case .topic(let topic) = request.action else { throw TestFailure("no topic") }
        #expect(topic.kind == .subscribe && topic.tokens == ["tok"] && topic.unknown == .register)
        #expect(topic.topic == TopicName(project: "demo", topic: "news"))
        #expect(try answer("POST", "?topic_name=news", results("exists")).1.status == 409)
        #expect(try answer("PATCH", "/news?allow_missing=true", results("exists")).1.status == 200)
        #expect(try answer("POST", "?topic_name=news", results("unregistered")).1.status == 404)
        #expect(try answer("POST", "?topic_name=news", results("too_many_topics")).1.status == 429)
        #expect(try answer("DELETE", "/news", results("unsubscribed")).1.status == 200)
        #expect(try answer("DELETE", "/news", results("missing")).1.status == 404)
        #expect(try answer("DELETE", "/news?allow_missing=true", results("missing")).1.status == 200)
        let busy = #"{"ok":false,"error":{"code":"overloaded","message":"full","retry":true,"retry_after_ms":1500}}"#
        #expect(try answer("DELETE", "/news", busy).1.header("retry-after") == "2")
        let all =
            #"{"ok":true,"known":true,"topics":[{"topic":"news","created_at":"2026-11-24T16:23:38Z"}],"next":"news"}"#
        let (question, page) = try answer("GET", "?page_size=1", all)
        #expect(question["op"]?.string == "topics" && question["limit"]?.int64 == 1)
        #expect(page.text.hasSuffix(#""createTime":"2026-11-24T16:23:38Z"}],"nextPageToken":"news"}"#))
        #expect(try answer("GET", "/news", #"{"ok":true,"known":false,"topics":[]}"#).1.status == 404)
    }

    @Test("changes the subscriptions of many tokens for the project of the account")
    func batch() throws {
        var scene = Scene()
        let body = #"{"to":"/topics/news","registration_tokens":["a","b","c"]}"#
        let request = GatewayRequest.post(
            "/iid/v1:batchAdd", body, headers: [("host", "iid.googleapis.com"), ("access_token_auth", "true")])
        let (line, answer) = try scene.exchange(
            request, reply: #"{"ok":true,"seq":7,"results":["subscribed","unregistered","too_many_topics"]}"#)
        #expect(line["project"]?.string == TopicName.anyProject)
        #expect(line["tokens"]?.elements.compactMap(\.string) == ["a", "b", "c"])
        #expect(answer.text == #"{"results":[{},{"error":"NOT_FOUND"},{"error":"TOO_MANY_TOPICS"}]}"#)
        #expect(ServiceAccountName.project("push@demo.iam.gserviceaccount.com") == "demo")
        #expect(ServiceAccountName.project("push@example.com") == nil)
    }

    @Test("logs once a minute where Google or Apple would answer 429, and accepts the push all the same")
    func quotas() throws {
        var scene = Scene {
            $0.quotas.projectPerMinute = 3
            $0.quotas.devicePerMinute = 2
            $0.quotas.appleDevicePerMinute = 1
        }
        func sendTo(_ token: String) throws {
            let body = #"{"message":{"token":"\#(token)","data":{"a":"b"}}}"#
            let request = GatewayRequest.post("/v1/projects/demo/messages:send", body)
            #expect(try scene.exchange(request, reply: ok).1.status == 200)
        }
        for token in ["a", "a", "b"] { try sendTo(token) }
        #expect(scene.desk.takeRemarks() == [])
        try sendTo("a")
        #expect(
            scene.desk.takeRemarks() == [
                "more than 3 sends a minute for a project (demo): Google would answer 429 QUOTA_EXCEEDED"
            ])
        let ofDevice = "more than 2 sends a minute to a device (a): Google would answer 429 QUOTA_EXCEEDED"
        try sendTo("a")
        #expect(scene.desk.takeRemarks() == [ofDevice])
        try sendTo("a")
        #expect(scene.desk.takeRemarks() == [])
        #expect(scene.desk.sendsOverQuota == 3)
        scene.time += 60_000
        for _ in 0..<3 { try sendTo("a") }
        #expect(scene.desk.takeRemarks() == [ofDevice])
        let push = GatewayRequest.post("/3/device/abcd", #"{"aps":{}}"#, headers: [("apns-topic", "com.example.shop")])
        for _ in 0..<2 { #expect(try scene.exchange(push, reply: ok).1.status == 200) }
        #expect(scene.desk.takeRemarks().first?.hasSuffix("Apple would answer 429 TooManyRequests") == true)
        #expect(scene.desk.sendsOverQuota == 5)
    }

    @Test("follows new settings from the next request on, and keeps the issued access tokens valid")
    func configures() throws {
        var scene = Scene()
        #expect(try scene.exchange(send, reply: ok).1.status == 200)
        let strict = Scene { $0.unknown = .unregistered }
        scene.desk.configure(strict.desk)
        #expect(try scene.exchange(send, reply: ok).1.status == 404)
    }

    @Test("sends to a device in its registered state", arguments: [true, false])
    func deviceState(isKnown: Bool) throws {
        var scene = Scene()
        scene.device = { _ in
            #"{"ok":true,"known":\#(isKnown),"platform":"android","app":"shop","device":"pixel","state":"foreground","#
                + #""locked":true,"notifications":"denied","os_version":"14"}"#
        }
        let (line, _) = try scene.exchange(send, reply: ok)
        #expect(line["state"]?.string == "foreground" && line["locked"]?.bool == true)
        #expect(line["notifications"]?.string == "denied" && line["os_version"]?.string == "14")
    }

    @Test("asks the daemon whether it leads with a question without an effect")
    func leadership() throws {
        var scene = Scene()
        let request = GatewayRequest(method: "GET", target: "/leader")
        let leads = #"{"ok":true,"known":false,"platform":"android","device":"leader"}"#
        let follows = #"{"ok":false,"error":{"code":"unavailable","message":"b leads","retry":true},"leader":"b"}"#
        #expect(try scene.exchange(request, reply: leads).1.status == 200)
        #expect(try scene.exchange(request, reply: follows).1.text == "b leads\n")
        #expect(try scene.exchange(request, reply: nil).1.status == 503)
    }

    @Test("shows its status to this machine alone")
    func status() throws {
        var scene = Scene()
        let request = GatewayRequest(method: "GET", target: "/status")
        guard case .status = scene.begin(request) else { throw TestFailure("no status") }
        scene.facts.isLocal = false
        #expect(try scene.answer(request).status == 404)
    }

    @Test(
        "tells the cause of a refusal that APNs tells nobody",
        arguments: [
            (
                [("apns-topic", "com.x"), ("apns-push-type", "background")], #"{"aps":{}}"#,
                "400 BadPriority: apns-push-type is"
            ),
            ([("apns-topic", "com.x")], #"{"aps":"\uD83D"}"#, "400 PayloadEmpty: the payload: "),
            ([("apns-topic", "com.x")], "{\u{22}a\u{22}:1e400}", "400 PayloadEmpty: the payload: "),
        ])
    func causes(_ headers: [(String, String)], _ body: String, _ words: String) throws {
        var scene = Scene()
        let request = GatewayRequest.post("/3/device/00aa", body, headers: headers)
        #expect(try scene.answer(request).status == 400)
        let remark = try #require(scene.desk.takeRemarks().first)
        #expect(
            remark.hasPrefix("POST /3/device/00aa from 127.0.0.1 #1 was refused as APNs would, \(words)"), "\(remark)")
    }

    @Test("logs unmatched requests, at most sixteen at a time")
    func remarks() throws {
        var scene = Scene()
        for _ in 0..<40 { _ = try scene.answer(.post("/nothing", headers: [("user-agent", "x/1")])) }
        let remarks = scene.desk.takeRemarks()
        #expect(remarks.count == 16)
        #expect(
            remarks.first?.hasPrefix("POST /nothing from 127.0.0.1 #1 (x/1) was refused as Google would, 404 NOT_FOUND")
                == true)
        #expect(scene.desk.takeRemarks().isEmpty)
    }
}

@Suite("The settings of a gateway")
struct GatewaySettingsTests {
    private func load(_ text: String) -> (GatewaySettings?, [String]) {
        let (settings, diagnostics) = GatewaySettings.load([("gateway.conf", Array("[Gateway]\n\(text)\n".utf8))])
        return (settings, diagnostics.map(\.description))
    }

    @Test("have the defaults of their declarations")
    func defaults() throws {
        for key in Schema.gateway.keys where !key.standard.isEmpty && key.name != "Listen" {
            let settings = try #require(load("\(key.name)=\(key.standard)").0)
            #expect("\(settings)" == "\(GatewaySettings())", "\(key.name)=")
        }
    }

    @Test("are the rules of the desk, each in its place")
    func rules() throws {
        var settings = GatewaySettings()
        #expect(settings.rules.providers == .anybody)
        settings.provider = .strict
        (settings.projectPerMinute, settings.devicePerMinute) = (11, 12)
        (settings.devicePerHour, settings.appleDevicePerMinute) = (13, 14)
        let rules = settings.rules
        #expect(rules.providers == .strict && rules.quotas.projectPerMinute == 11)
        #expect(rules.quotas.devicePerMinute == 12 && rules.quotas.devicePerHour == 13)
        #expect(rules.quotas.appleDevicePerMinute == 14)
    }

    @Test("report an error with its place")
    func faults() {
        #expect(
            load("Provider=strict").1 == [
                "gateway.conf:2: error: Provider=strict: needs Keys=, the directory of Apple's keys (.p8)"
            ])
        for name in ["push_x", "a..b", ".a", "a.", "-a", "1.2.3", "1.2.3.256", "01.2.3.4", "a.7"] {
            #expect(load("Names=\(name)").1.count == 1, "\(name)")
        }
        #expect(load("Names=Push.Staging.example 192.0.2.7").0?.names == ["push.staging.example", "192.0.2.7"])
        // The lengths of RFC 1035.
        let longest = Array(repeating: String(repeating: "a", count: 62), count: 4).joined(separator: ".") + "."
        for (name, fits) in [
            (longest + "b", true), (longest + "bc", false), (String(repeating: "a", count: 63) + ".b", true),
            (String(repeating: "a", count: 64) + ".b", false), ("a.b", true),
        ] {
            #expect((load("Names=\(name)").0?.names == [name]) == fits, "\(name)")
        }
        // Keys that belong together may stand in several files.
        let parts = ["[Gateway]\nProvider=strict\n", "[Gateway]\nKeys=/k\n"].map { ("gateway.conf", Array($0.utf8)) }
        #expect(GatewaySettings.load(parts).0?.keys == "/k")
        #expect(
            load("Listen=8080").1.first?.hasSuffix("must be ADDRESS:PORT, such as 127.0.0.1:18443, or unix:/PATH")
                == true)
        #expect(load("Credentials=keys").1.count == 1)
    }

    @Test("allow other machines only with credentials, or with Anyone=")
    func others() throws {
        #expect(try #require(load("").0).reasonAgainstOtherMachines?.hasPrefix("other machines reach it") == true)
        #expect(try #require(load("Anyone=yes").0).reasonAgainstOtherMachines == nil)
        let proven = "Credentials=/c\nKeys=/k\nProvider=strict"
        #expect(try #require(load(proven).0).reasonAgainstOtherMachines == nil)
        #expect(try #require(load("Credentials=/c").0).reasonAgainstOtherMachines != nil)
    }

    @Test("renew certificates in time: clients get the next authority long before it signs")
    func plan() {
        let day: Int64 = 86400
        let life = AuthorityPlan.authorityDays * day
        var (present, next): (Int64?, Int64?) = (nil, nil)
        var announced: Int64?
        var changes = 0
        // Six years in steps of an hour, with every due step.
        for now in stride(from: Int64(0), to: 6 * 365 * day, by: 3600) {
            var steps = 0
            while true {
                let step = AuthorityPlan.step(present: present, next: next, now: now)
                guard step != .keep else { break }
                steps += 1
                switch step {
                case .start: present = now + life
                case .announce: (next, announced) = (now + life, now)
                case .change:
                    #expect(now - (announced ?? now) > 60 * day)
                    (present, next) = (next, nil)
                    changes += 1
                case .keep: break
                }
                #expect(steps == 1)
            }
            #expect(now == 0 || present.map { $0 > now } == true)
        }
        #expect(changes == 3)
        // After a pause: clients get the next authority in the rest of the time, and on the last day it signs.
        let ends = 100 * day
        #expect(AuthorityPlan.step(present: ends, next: nil, now: 95 * day) == .announce)
        #expect(AuthorityPlan.step(present: ends, next: 95 * day + life, now: 95 * day) == .keep)
        #expect(AuthorityPlan.step(present: ends, next: 95 * day + life, now: ends - 3600) == .change)
        #expect(AuthorityPlan.step(present: ends, next: 50 * day + life, now: ends + day) == .change)
        // A next authority that ends first is useless.
        #expect(AuthorityPlan.step(present: ends, next: ends - day, now: 20 * day) == .announce)
        #expect(AuthorityPlan.step(present: ends, next: ends - day, now: ends + day) == .start)
        // An order says when the authority ends, and which one once the gateway has seen it.
        var order = AuthorityRotation(ends: 41)
        #expect(AuthorityRotation(order.bytes) == order)
        order.authority = 97
        #expect(AuthorityRotation(order.bytes) == order && order.bytes == Array("41 97\n".utf8))
        for text in ["", "a", "1 b", "-1", "1 2 3", "99999999999999"] {
            #expect(AuthorityRotation(Array(text.utf8)) == nil, "\(text)")
        }
        #expect(AuthorityPlan.needsLeaf(ends: 30 * day, now: 21 * day))
        #expect(!AuthorityPlan.needsLeaf(ends: 30 * day, now: 19 * day))
        #expect(AuthorityPlan.leafNames(["a.example"]).contains("a.example"))
    }
}
