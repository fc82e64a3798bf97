import TestSupport
import Testing

@testable import PushGateway
@testable import PushModel
@testable import PushRouter
@testable import PushSettings

/// Requests of each service with another value in the place of each member and header, and what the desk answers and asks
/// the daemon.
@Suite("Each member of a request to the gateway")
struct ProbedSendsTests {
    /// The error of an answer, or the headers and what the daemon was asked, without what each answer has.
    private static func answer(
        _ request: GatewayRequest, _ change: (inout DeskRules) -> Void = { _ in }
    ) -> String {
        var scene = Scene(change)
        var asked: [String] = []
        var step = scene.begin(request)
        while case .query(let line, let exchange) = step {
            let root = (try? JSONDocument(scanning: Array(line.dropLast())).root)
            let alike = ["token", "payload", "message_id", "sender", "device"]
            let members = (root?.members ?? []).filter { !alike.contains($0.key) }
            asked.append(
                members.map { "\($0.key) \(String(decoding: $0.value.rawBytes, as: UTF8.self))" }.joined(
                    separator: ", "))
            let reply = root?["op"]?.string == "resolve" ? root.flatMap(scene.device) : #"{"ok":true,"seq":41}"#
            step = scene.desk.proceed(exchange, reply: reply.map { Array($0.utf8) }, using: &scene.random)
        }
        guard case .answer(let response, let delay) = step else { return "no answer" }
        let headers = response.headers.filter { !["content-type", "apns-unique-id"].contains($0.name) }
        let text = "\(response.status) \(headers.map { "\($0.name): \($0.value)" }.joined(separator: ", "))"
        let error = response.status == 200 ? nil : try? JSONDocument(scanning: response.body).root
        return ([text + (delay == .zero ? "" : " after \(delay)"), error.map(Self.words)].compactMap(\.self) + asked)
            .joined(separator: " <= ")
    }

    /// The error's words and places, without the descriptions and the names of types.
    private static func words(of error: JSONNode) -> String {
        switch error.kind {
        case .object:
            error.members.filter { !["@type", "description", "code"].contains($0.key) }
                .map { $0.value.kind == .string ? $0.value.string ?? "" : words(of: $0.value) }.joined(separator: ", ")
        case .array: error.elements.map(words).joined(separator: "; ")
        default: String(decoding: error.rawBytes, as: UTF8.self)
        }
    }

    private static let messages = [
        #"{"message":{"token":"tok","data":{"k":"v"},"notification":{"title":"Hi","body":"b","image":"https://x.example/i"},"#
            + #""android":{"priority":"high","ttl":"60s","collapse_key":"c","restricted_package_name":"com.example.shop","#
            + #""direct_boot_ok":true,"data":{"k":"w"},"fcm_options":{"analytics_label":"l"},"notification":{"#
            + ##""channel_id":"news","color":"#aabbcc","notification_count":2,"sticky":true,"visibility":"PUBLIC","##
            + #""vibrate_timings":["1.5s"],"body_loc_args":["a"],"event_time":"2026-11-21T09:00:00Z","#
            + #""light_settings":{"color":{"red":1,"green":0.5,"blue":0},"light_on_duration":"1s"}}}},"validate_only":false}"#,
        #"{"message":{"topic":"news","apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"badge":2}}},"#
            + #""webpush":{"headers":{"TTL":"60"},"fcm_options":{"link":"https://x.example"}}}}"#,
        #"{"message":{"condition":"'a' in topics || 'b' in topics","fcm_options":{"analytics_label":"l"}}}"#,
    ]

    @Test("of a send of FCM is answered as Fixtures/gateway/fcm.txt has it")
    func fcm() {
        var found: [String] = []
        for message in Self.messages {
            found += ProbedJSON.table(message) { Self.answer(.post("/v1/projects/demo/messages:send", $0)) }
        }
        for (path, body) in [
            ("/iid/v1:batchAdd", #"{"to":"/topics/news","registration_tokens":["t1","t2"]}"#),
            ("/iid/v1:batchRemove", #"{"to":"/topics/news","registration_tokens":["t1"]}"#),
        ] {
            found += ProbedJSON.table(body, probes: ProbedJSON.values + ProbedJSON.longValues) { body in
                Self.answer(.post(path, body, headers: [(name: "host", value: "iid.googleapis.com")]))
            }
        }
        Fixture.expect(Array(found.dropFirst()), in: "gateway/fcm.txt")
    }

    private static let headers = [
        "apns-topic": "com.example.shop", "apns-id": "35597c7e-9cde-479d-b639-15bd6cbf7391", "apns-push-type": "alert",
        "apns-priority": "5", "apns-expiration": "1795541647", "apns-collapse-id": "c1", "authorization": "bearer x",
    ]
    private static let headerValues =
        [
            nil, "", "0", "1", "5", "10", "11", "-1", "x", "a b", "1795537417", "1795537418", "1795537419",
            "background",
            "voip", "alert", "com.example.shop.voip", "35597c7e-9cde-479d-b639-15bd6cbf739", "bearer", "Bearer x",
            "basic x",
        ] + [63, 64, 65].map { String(repeating: "x", count: $0) }

    @Test("and header of a send of APNs is answered as Fixtures/gateway/apns.txt has it")
    func apns() {
        let token = String(repeating: "ab12", count: 16)
        let body = #"{"aps":{"alert":"hi"}}"#
        func request(_ headers: [String: String], _ body: String, token: String = token) -> GatewayRequest {
            .post(
                "/3/device/\(token)", body,
                headers: headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
        }
        var found: [String] = []
        for rules in ["any", "strict", "any token"] {
            func answer(_ request: GatewayRequest) -> String {
                Self.answer(request) { desk in
                    if rules == "strict" { (desk.providers, desk.unknown) = (.strict, .unregistered) }
                    desk.apns.takesOnlyHexadecimalTokens = rules != "any token"
                }
            }
            for name in Self.headers.keys.sorted() {
                found.append("\(rules) \(name)")
                var answers: [(answer: String, values: [String])] = []
                for value in Self.headerValues {
                    var headers = Self.headers
                    headers[name] = value
                    let whole = answer(request(headers, body))
                    let found = value.map { $0.utf8.count > 2 ? whole.replacing($0, with: "VALUE") : whole } ?? whole
                    if let known = answers.firstIndex(where: { $0.answer == found }) {
                        answers[known].values.append(value ?? "left out")
                    } else {
                        answers.append((found, [value ?? "left out"]))
                    }
                }
                found += answers.map { "    \($0.values.joined(separator: " | "))  =>  \($0.answer)" }
            }
            for token in ["", "x", "ab1", "ab12", String(repeating: "a", count: 201)] {
                found.append("\(rules) token \(token)  =>  \(answer(request(Self.headers, body, token: token)))")
            }
            for body in ["", "x", "{", "[]", "{}", #"{"k":1}"#, #"{"aps":{}}"#, #"{"aps":null}"#] {
                found.append("\(rules) body \(body)  =>  \(answer(request(Self.headers, body)))")
            }
            for size in [4096, 4097, 5120, 5121] {
                let body = #"{"aps":{},"k":"\#(String(repeating: "x", count: size - 17))"}"#
                for type in ["alert", "voip"] {
                    var headers = Self.headers
                    headers["apns-push-type"] = type
                    if type == "voip" { headers["apns-topic"] = "com.example.shop.voip" }
                    found.append("\(rules) \(type) of \(body.utf8.count) bytes  =>  \(answer(request(headers, body)))")
                }
            }
        }
        Fixture.expect(found, in: "gateway/apns.txt")
    }

    private static let rules = [
        #"{"match":{"service":"fcm","token":"t*","topic":"n*","project":"p*"},"answer":"UNAVAILABLE","probability":20,"#
            + #""count":3,"delay_ms":500}"#,
        #"{"answer":{"status":503,"headers":{"x-a":"b"},"body":"text"}}"#,
    ]

    @Test("of a rule for errors on demand is taken or refused as Fixtures/gateway/rules.txt has it")
    func rulesOfErrors() throws {
        var found: [String] = []
        for rule in Self.rules {
            let whole = try FaultRule(JSONDocument(scanning: Array(rule.utf8)).root)
            let more = [
                "20", "100", "101", "199", "200", "599", "600", "300000", "300001", "1000000001", #""Unregistered""#,
            ]
            found += ProbedJSON.table(rule, probes: ProbedJSON.values + more.map { ($0, $0) }) { text in
                do throws(FaultRuleError) {
                    guard let root = try? JSONDocument(scanning: Array(text.utf8)).root else { return "no JSON" }
                    return "taken: \(flatDifference(from: whole, to: try FaultRule(root)))"
                } catch {
                    return "\(error.field): \(error.message)"
                }
            }
        }
        Fixture.expect(Array(found.dropFirst()), in: "gateway/rules.txt")
    }
}
