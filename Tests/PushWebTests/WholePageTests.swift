import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// All that the page shows of one scene, with its links and fields, and what its API and its buttons answer.
@Suite("The whole page", .timeLimit(.minutes(30)))
struct WholePageTests {
    /// The members of JSON, a line each.
    private static func lines(of node: JSONNode, _ path: String = "") -> [String] {
        switch node.kind {
        case .object where node.count > 0: node.members.flatMap { lines(of: $0.value, "\(path).\($0.key)") }
        case .array where node.elements.contains { $0.kind == .object }:
            node.elements.enumerated().flatMap { lines(of: $0.element, "\(path)[\($0.offset)]") }
        default: ["\(path) \(String(decoding: node.rawBytes, as: UTF8.self))"]
        }
    }

    private static func attempt(
        _ seq: Int64, _ answer: AttemptRecord.Answer, started: Int64?, ended: Int64, number: Int, reason: String? = nil,
        output: String? = nil
    ) -> AttemptRecord {
        AttemptRecord(
            id: InvocationID(seq: SequenceNumber(seq), n: 0), route: "50-crm", handler: "crm", asked: .milliseconds(1),
            started: started.map { .milliseconds($0) }, ended: .milliseconds(ended), answer: answer,
            status: answer == .rejected ? 65 : nil, retryAfter: answer == .retry ? .seconds(3) : nil, reason: reason,
            output: output.map { ErrorOutput(Array($0.utf8)) }, number: number, numberOfHandler: number)
    }

    private static func opened(_ seq: Int64) -> RequestStory {
        let push = AnalyticsEvent.Push(campaignID: "autumn", messageID: "m\(seq)")
        var story = Sample.handed(seq)
        story.events += [
            Sample.event(seq + 1, seq, .open(push, button: nil)),
            Sample.event(seq + 2, seq, .open(push, button: .init(id: "later", action: .close))),
        ]
        return story
    }

    private static func refused(_ seq: Int64) -> RequestStory {
        let body =
            #"{"op":"deliver","device":"pixel-2","platform":"ios","transport":"apns","headers":{"apns-topic":"shop"},"#
            + #""sender":{"client":"node-apn/3","account":"a@x.example","project":"p-1","team":"T1","answer":410,"#
            + #""reason":"Unregistered","path":"/3/device/x"},"payload":{"aps":{"alert":{"title":"Sale"},"badge":2}}}"#
        var story = RequestStory(request: Sample.request(seq, body))
        (story.request.platform, story.request.app, story.request.device) = (.ios, nil, "pixel-2")
        return story
    }

    /// A push that came through the gateway, and that a handler had in time.
    private static func sent(_ seq: Int64) -> RequestStory {
        var story = Sample.handled(seq)
        story.request.body = Array(
            (#"{"op":"deliver","device":"pixel-1","sender":{"client":"fire-admin/7","project":"p-2","answer":200,"times":3},"#
                + #""payload":{"data":{"title":"News","k":"v"}}}"#).utf8)
        return story
    }

    private static func scene() -> Scene {
        var late = Sample.handled(60, .timedOut)
        late.attempts = [
            attempt(60, .retry, started: 3, ended: 400, number: 1, reason: "busy"),
            attempt(60, .rejected, started: 500, ended: 1200, number: 2, reason: "no user", output: "cannot\nread"),
        ]
        var waited = Sample.handled(61)
        waited.invocations[0].result?.queue = .seconds(26)
        waited.invocations[0].result?.ahead = 3
        var dead = Sample.handled(62, .failed)
        dead.deadLetters = [
            DeadLetter(id: InvocationID(seq: SequenceNumber(62), n: 0), at: Sample.accepted, byteCount: 99)
        ]
        var web = Sample.handled(63, .unrouted)
        (web.request.platform, web.request.device, web.request.externalID) = (.web, "laptop", "berta")
        let stories: [RequestStory] =
            [Sample.handed(41), Sample.handed(42), Sample.handled(44), opened(47)]
            + Outcome.allCases.enumerated().map { Sample.handled(70 + Int64($0.offset), $0.element) }
            + [late, waited, dead, web, refused(64), sent(66), Sample.handled(65, nil), Sample.tap(90)]
        let scene = Scene(
            stories.sorted { $0.request.seq < $1.request.seq }.enumerated().map {
                Sample.apart(Int64($0.offset), $0.element)
            })
        var state = DeviceState()
        (state.state, state.locked, state.notifications, state.sdk, state.osVersion) =
            (.forceStopped, true, .denied, .missing, "14.1")
        var detail = DeviceDetail(state: state)
        detail.topics = ["news", "sport"].compactMap { TopicName(project: "p", topic: $0) }.map {
            Subscription(topic: $0, since: 17)
        }
        scene.source.known = [
            KnownDevice(
                number: SequenceNumber(41), key: DeviceKey(app: "com.example.shop", device: "pixel-1"),
                platform: .android, externalID: "anna", token: "a-push-token-of-some-length", detail: detail),
            KnownDevice(
                number: SequenceNumber(42), key: DeviceKey(app: nil, device: "laptop"), platform: .web, externalID: nil),
        ]
        scene.source.rows = stories.flatMap { story in
            story.invocations.map {
                ReportRow(
                    invocation: $0, mode: .device, platform: story.request.platform, app: story.request.app,
                    device: story.request.device, id: nil, messageID: nil, acceptedAt: story.request.acceptedAt.wall)
            }
        }
        scene.source.events = stories.flatMap(\.events)
        scene.configurations.campaignNames = ["autumn": "Autumn, all"]
        scene.daemon.status =
            #"{"ok":true,"status":{"state":"running","handlers":{"crm":{"running":2,"waiting":3,"breaker":"open"}},"#
            + #""lanes":{"waiting":5,"longest":[{"app":"shop","device":"pixel-1","waiting":4,"oldest_ms":1700},"#
            + #"{"device":"laptop","waiting":1,"oldest_ms":17}]}}}"#
        scene.daemon.gateway =
            #"{"failed_handshakes":{"unknown CA":3},"answers":{"200":9,"404 UNREGISTERED":2,"503 UNAVAILABLE":1}}"#
        return scene
    }

    private static let paths =
        [
            "/", "/?query=op%3Ainteract", "/?query=is%3Amissed", "/?query=user%3Aberta", "/?before=62",
            "/?query=zz%3A1",
            "/explain", "/explain?push=41", "/devices", "/campaigns", "/campaigns?since=-1h", "/deadletters", "/report",
            "/report?by=handler,platform", "/report?by=nothing", "/report?since=-1w&until=-1h", "/report?since=x",
            "/senders",
            "/help", "/login", "/api/pushes?limit=2", "/api/pushes?query=is%3Amissed&limit=3", "/api/pushes/60",
            "/api/pushes/64", "/api/devices", "/api/status", "/api/openapi.json",
            "/push/60/scenario", "/push/64/file", "/push/99", "/push/40",
        ] + [41, 47, 60, 61, 62, 63, 64, 65, 66, 90].map { "/push/\($0)" }

    private static func shown(_ response: WebResponse, isWhole: Bool) -> [String] {
        if let root = try? response.root { return lines(of: root) }
        guard response.header("Content-Type")?.hasPrefix("text/html") == true else {
            return response.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        }
        let main = response.text.firstRange(of: "<main").map { String(response.text[$0.lowerBound...]) }
        return shownLines(ofHTML: isWhole ? response.text : main ?? response.text)
    }

    @Test("shows of one scene what Fixtures/page/shown.txt has; with a query, what the page without it has not")
    func shown() throws {
        var found: [String] = []
        for path in Self.paths {
            let response = try Self.scene().get(path)
            found.append("==== GET \(path) \(response.status) \(response.header("Content-Type") ?? "-")")
            var plain: Set<String> = []
            if let end = path.firstIndex(of: "?"), !path.hasPrefix("/api"), end > path.startIndex {
                plain = Set(Self.shown(try Self.scene().get(String(path[..<end])), isWhole: false))
            }
            found += Self.shown(response, isWhole: path == "/").filter { !plain.contains($0) }
        }
        Fixture.expect(found, in: "page/shown.txt")
    }

    /// The targets and fields of forms, right ones and wrong ones.
    private static let forms: [(path: String, fields: [(String, String)])] = {
        let payload = #"{"data":{"_ab":"true","cid":"c","t":"Sale"}}"#
        var forms: [(path: String, fields: [(String, String)])] = [
            ("/explain", [("payload", payload), ("platform", "android")]),
            ("/explain", [("payload", payload), ("platform", "all"), ("state", "terminated")]),
            ("/explain", [("payload", "curl -d '{\"aps\":{}}' https://api.push.apple.com/3/device/x")]),
            ("/explain", [("payload", "{\"aps\":{\"alert\":\"Hi\"}"), ("as", "ios")]),
            ("/explain", [("payload", "no payload"), ("platform", "android")]),
            ("/explain", [("payload", "no payload")]), ("/explain", [("payload", "[]"), ("platform", "web")]),
            ("/explain", [("payload", payload), ("platform", "windows")]), ("/explain", []),
            ("/session", [("device", "pixel-1"), ("kind", "start"), ("app", "shop"), ("external_id", "anna")]),
            ("/session", [("device", "pixel-1"), ("kind", "pause")]), ("/session", [("kind", "start")]),
            ("/devices", [("device", "pixel-1"), ("platform", "ios"), ("state", "foreground"), ("locked", "false")]),
            ("/devices", [("device", "pixel-1"), ("locked", "maybe")]), ("/devices", [("state", "foreground")]),
            ("/deadletters/replay", [("requests", "62"), ("requests", "60")]), ("/deadletters/replay", []),
            ("/deadletters/purge", [("requests", "62")]), ("/deadletters/purge", [("requests", "0")]),
            ("/deadletters/purge", [("requests", "1")]), ("/deadletters/purge", [("requests", "x")]),
            ("/login", [("token", "wrong")]), ("/nothing", []),
        ]
        for seq in [41, 64, 90, 99] {
            for act in ["tap", "dismiss", "replay"] { forms.append(("/push/\(seq)/\(act)", [])) }
            forms.append(("/push/\(seq)/button", [("action", "yes"), ("text", "on my way")]))
            forms.append(("/push/\(seq)/button", []))
            forms.append(("/push/\(seq)/send", [("state", "terminated"), ("notifications", "denied")]))
            forms.append(("/push/\(seq)/send", [("payload", payload), ("os_version", "x")]))
        }
        return forms
    }()

    @Test("answers forms, and asks the daemon for what Fixtures/page/acts.txt has")
    func acts() throws {
        var found: [String] = []
        for (path, fields) in Self.forms {
            let scene = Self.scene()
            let own = fields + [("form", Sample.formToken)]
            let response = try scene.post(path, own)
            found.append("==== POST \(path) \(fields.map { "\($0)=\($1)" }.joined(separator: " "))")
            found.append("\(response.status) \(response.header("Location") ?? "")")
            found += scene.daemon.lines.map { "injects \($0)" }
            found += scene.daemon.orders.map { "asks \($0)" }
            found += scene.notes.lines.map { "notes \($0)" }
            guard response.status != 303 else { continue }
            let main = response.text.firstRange(of: "<main").map { String(response.text[$0.lowerBound...]) }
            found += shownLines(ofHTML: main ?? response.text)
        }
        Fixture.expect(found, in: "page/acts.txt")
    }
}
