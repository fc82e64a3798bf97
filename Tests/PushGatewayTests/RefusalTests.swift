import TestSupport
import Testing

@testable import PushGateway
@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("What a gateway refuses")
struct RefusalTests {
    private static let apns = GatewayRequest.post(
        "/3/device/abcd", #"{"aps":{}}"#,
        headers: [("apns-topic", "com.example.shop"), ("apns-id", "6F9619FF-8B86-D011-B42D-00CF4FC964FF")])

    private func fcm(token: String, project: String = "demo") -> GatewayRequest {
        var writer = JSONWriter()
        writer.object { body in
            body.member(
                "message",
                object: { message in
                    message.member("token", token)
                    message.member("data", object: { $0.member("a", "b") })
                })
        }
        return .post("/v1/projects/\(project)/messages:send", String(decoding: writer.bytes, as: UTF8.self))
    }

    @Test("a token that its app replaced or unregistered is gone, with the time, even if unknown tokens are accepted")
    func formerToken() throws {
        var scene = Scene()
        scene.device = { _ in
            #"{"ok":true,"known":false,"platform":"ios","device":"abcd","ended":"2026-11-24T16:23:38Z"}"#
        }
        let gone = try scene.exchange(Self.apns, reply: nil).1
        #expect(gone.status == 410)
        #expect(gone.text == #"{"reason":"Unregistered","timestamp":1795537418000}"#)
        let missing = try scene.exchange(fcm(token: "old"), reply: nil).1
        #expect(missing.status == 404 && missing.text.split(separator: "UNREGISTERED").count == 2)
        for remark in scene.desk.takeRemarks() { #expect(remark.hasSuffix("the token at 2026-11-24T16:23:38Z")) }
    }

    @Test("each refusal leaves its cause in the journal, the status and a row, at most thirty in a minute")
    func causes() throws {
        var scene = Scene()
        let wrong = GatewayRequest.post("/3/device/abcd", "{", headers: [("user-agent", "pushy")])
        for _ in 0..<100 { #expect(try scene.answer(wrong).status == 400) }
        let remarks = scene.desk.takeRemarks()
        #expect(remarks.count == 16)
        #expect(
            remarks.first
                == "POST /3/device/abcd from 127.0.0.1 #1 (pushy) was refused as APNs would, 400 MissingTopic")
        let lines = scene.desk.takeRefusedSends()
        #expect(lines.count == 30)
        guard case .deliver(let kept) = try Request(line: Array(try #require(lines.first).dropLast())).action else {
            Issue.record("the line delivers nothing")
            return
        }
        #expect(kept.refusal == .refused("400 MissingTopic"))
        #expect(kept.target.platform == .ios && kept.target.device == "abcd")
        #expect(kept.payload["body"]?.string == "{")
        var status = GatewayStatus()
        status.refusals = scene.desk.refusals
        let root = try JSONDocument(scanning: status.json.dropLast()).root
        #expect(root["refusals"]?["MissingTopic"]?.int64 == 100)
        #expect(root["last_refusals"]?.elements.count == 16)
        let last = try #require(root["last_refusals"]?.elements.first)
        #expect(last.members.map(\.key) == ["at", "client", "connection", "request", "answer", "reason", "cause"])
        #expect(last["client"]?.string == "pushy" && last["connection"]?.string == "127.0.0.1 #1")
        #expect(last["request"]?.string == "POST /3/device/abcd" && last["answer"]?.int64 == 400)
        scene.time += 60_000
        _ = try scene.answer(wrong)
        #expect(scene.desk.takeRemarks().count == 1)
    }

    @Test("the daemon's refusal of an accepted form leaves its cause, too")
    func causeOfDaemon() throws {
        var scene = Scene()
        let busy = #"{"ok":false,"error":{"code":"overloaded","message":"full","retry":true,"retry_after_ms":1500}}"#
        #expect(try scene.exchange(fcm(token: "t"), reply: busy).1.status == 503)
        #expect(try #require(scene.desk.takeRemarks().first).hasSuffix("503 UNAVAILABLE: full"))
        #expect(scene.desk.takeRefusedSends().count == 1)
    }

    @Test("an error on demand has a row and no entry of the journal")
    func onDemand() throws {
        var scene = Scene(injected: InjectedErrors(takesTokens: true))
        #expect(try scene.answer(fcm(token: "err-UNREGISTERED")).status == 404)
        #expect(scene.desk.takeRemarks().isEmpty)
        let line = try #require(scene.desk.takeRefusedSends().first)
        guard case .deliver(let kept) = try Request(line: Array(line.dropLast())).action else { return }
        #expect(kept.refusal == .refused("404 UNREGISTERED: an error on demand"))
    }

    @Test("a request that is no send has no row")
    func otherRequests() throws {
        var scene = Scene { $0.accounts = .strict }
        #expect(try scene.answer(.post("/token", "grant_type=x")).status == 400)
        #expect(try scene.answer(.post("/nothing")).status == 404)
        #expect(scene.desk.takeRefusedSends().isEmpty)
        #expect(scene.desk.takeRemarks().count == 2)
    }

    @Test("HTTP/1.1 to APNs ends as Apple's server ends it, and FCM takes it")
    func http1() throws {
        var scene = Scene()
        scene.facts.isHTTP2 = false
        let answer = try scene.answer(Self.apns)
        let frames = try #require(answer.framesForHTTP1)
        // SETTINGS without a setting, and GOAWAY with PROTOCOL_ERROR and words.
        #expect(Array(frames.prefix(9)) == [0, 0, 0, 4, 0, 0, 0, 0, 0])
        #expect(frames[12] == 7 && Array(frames[18..<26]) == [0, 0, 0, 0, 0, 0, 0, 1])
        #expect(
            String(decoding: frames.dropFirst(26), as: UTF8.self) == "Unexpected HTTP/1.x request: POST /3/device/abcd "
        )
        #expect(try scene.exchange(fcm(token: "t"), reply: #"{"ok":true,"seq":1}"#).1.status == 200)
    }

    @Test(
        "a page in a browser, and a name that is not the gateway's, reach nothing",
        arguments: [
            ([("origin", "http://evil.example")], 403), ([("sec-fetch-site", "cross-site")], 403),
            ([("host", "rebound.example:18443")], 421), ([("host", "127.0.0.1.evil.example")], 421),
            ([("sec-fetch-site", "none")], 404), ([("host", "localhost:18443")], 404), ([("host", "127.0.0.1:1")], 404),
            ([("host", "[::1]:18443")], 404), ([("host", "fcm.googleapis.com")], 404),
            ([("host", "push.example")], 404),
        ])
    func guests(_ headers: [(String, String)], _ status: Int) throws {
        var settings = GatewaySettings()
        settings.names = ["Push.Example"]
        var scene = Scene { $0 = settings.rules }
        #expect(try scene.answer(.post("/nothing", headers: headers)).status == status)
        // A Unix socket has no name that a page could use, and a load balancer asks under any name.
        var byUnix = scene
        byUnix.facts.isUnix = true
        #expect(try byUnix.answer(.post("/nothing", headers: headers)).status == (status == 421 ? 404 : status))
        let leader = GatewayRequest(method: "GET", target: "/leader", headers: headers)
        guard case .query = scene.begin(leader) else {
            #expect(status == 403)
            return
        }
    }

    @Test(
        "a token or a project that cannot be one is the sender's mistake, and a batch has it as one result",
        arguments: [String(repeating: "t", count: 4097), "a\nb", "a b", String(repeating: "t", count: 20_000)])
    func tokens(_ token: String) throws {
        var scene = Scene()
        let answer = try scene.answer(fcm(token: token))
        #expect(answer.status == 400)
        #expect(answer.text.split(separator: "not a valid FCM registration token").count == 3)
        var writer = JSONWriter()
        writer.object { body in
            body.member("to", "/topics/news")
            body.member(
                "registration_tokens",
                array: { list in
                    list.string(token)
                    list.string("b")
                })
        }
        let batch = GatewayRequest.post("/iid/v1:batchAdd", String(decoding: writer.bytes, as: UTF8.self))
        let (line, results) = try scene.exchange(batch, reply: #"{"ok":true,"seq":7,"results":["subscribed"]}"#)
        #expect(line["tokens"]?.elements.compactMap(\.string) == ["b"])
        #expect(results.text == #"{"results":[{"error":"INVALID_ARGUMENT"},{}]}"#)
        #expect(try scene.answer(fcm(token: "t", project: "a%2Fb")).status == 400)
        #expect(try scene.answer(fcm(token: "t", project: "%0d%0aX:1")).status == 400)
    }

    @Test("a token that no device registered is told of in FCM's words if it is too long for the name of a device")
    func longToken() throws {
        var scene = Scene()
        let refusal =
            #"{"ok":false,"error":{"code":"invalid_value","field":"device","message":"device is longer","retry":false}}"#
        let answer = try scene.exchange(fcm(token: String(repeating: "t", count: 300)), reply: refusal).1
        #expect(answer.status == 400)
        #expect(!answer.text.split(separator: "device").contains { $0.hasPrefix(" is longer") })
        #expect(try #require(scene.desk.takeRemarks().first).hasSuffix("register it (pushctl token)"))
    }

    @Test("a body that is too long or cannot be decompressed is refused in the form of the service")
    func bodies() throws {
        var scene = Scene()
        let long = try scene.answer(Self.apns.with(.tooLong(limit: 100)))
        #expect(long.status == 413 && long.text == #"{"reason":"PayloadTooLarge"}"# && long.header("apns-id") != nil)
        let google = try scene.answer(fcm(token: "t").with(.tooLong(limit: 100)))
        #expect(google.status == 400 && google.text.has("Message is too large. The maximum is 4K (4096 bytes)."))
        #expect(google.refusal?.cause == "the body has more than 100 bytes")
        let cut = try scene.answer(fcm(token: "t").with(.notGzip("it is cut off")))
        #expect(cut.status == 400 && cut.refusal?.cause?.hasSuffix("it is cut off") == true)
        #expect(try scene.answer(.post("/token").with(.tooLong(limit: 100))).status == 400)
        #expect(try scene.answer(.post("/iid/v1:batchAdd").with(.tooLong(limit: 100))).status == 400)
    }

    @Test("an account that sends for another project is told once")
    func otherProject() throws {
        // {"alg":"RS256"} . {"iss":"push@demo.iam.gserviceaccount.com","iat":1795537418,"exp":1795541018}
        let assertion =
            "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJwdXNoQGRlbW8uaWFtLmdzZXJ2aWNlYWNjb3VudC5jb20iLCJpYXQiOjE3OTU1Mzc0MTgsImV4cCI6MTc5NTU0MTAxOH0.AAAA"
        var scene = Scene()
        let given = try scene.answer(
            .post(
                "/token", "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"))
        let token = try #require(JSONDocument(scanning: given.body).root["access_token"]?.string)
        func send(_ project: String) throws {
            let request = GatewayRequest.post(
                "/v1/projects/\(project)/messages:send", #"{"message":{"token":"t","data":{"a":"b"}}}"#,
                headers: [("authorization", "Bearer \(token)")])
            #expect(try scene.exchange(request, reply: #"{"ok":true,"seq":1}"#).1.status == 200)
        }
        try send("demo")
        #expect(scene.desk.takeRemarks() == [])
        for _ in 0..<3 { try send("other") }
        #expect(
            scene.desk.takeRemarks() == [
                "push@demo.iam.gserviceaccount.com sends for the project other, and its own is demo: FCM answers 403 "
                    + "unless the account has a role there"
            ])
    }
}
