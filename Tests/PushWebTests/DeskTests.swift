import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// A push, what it says of itself, and a tap on it.
private func filledScene(_ push: RequestStory = Sample.handed()) -> Scene {
    let scene = Scene([push, Sample.tap(42)], token: "a-token-of-some-length")
    scene.source.known = [
        KnownDevice(
            number: SequenceNumber(41),
            key: DeviceKey(app: push.request.app, device: push.request.device ?? "pixel-1"), platform: .android,
            externalID: push.request.externalID, token: "a-push-token-of-some-length")
    ]
    return scene
}

@Suite("The desk of the page", .timeLimit(.minutes(30)))
struct DeskTests {
    /// `GET /push/{seq}`.
    private static let routes = WebRoute.all.map { "\($0.method) \($0.pattern)" }
    private static let acts = WebRoute.all.filter { $0.right != nil }.map { "\($0.method) \($0.pattern)" }

    private func route(_ name: String) throws -> WebRoute {
        try #require(WebRoute.all.first { "\($0.method) \($0.pattern)" == name })
    }

    /// A request that a route does not refuse, about request 41.
    private func request(_ route: WebRoute, text: String = "v") throws -> WebRequest {
        let target = "/" + route.path.map { $0 == WebRoute.number ? "41" : $0 }.joined(separator: "/")
        guard route.method == "POST" else { return try .test(route.method, target) }
        var payload = JSONWriter()
        payload.object { writer in writer.member("data", object: { $0.member("a", text) }) }
        let object = String(decoding: payload.bytes, as: UTF8.self)
        if route.kind == .form {
            return try .form(
                target,
                [
                    ("token", "a-token-of-some-length"), ("payload", object), ("action", "0"), ("kind", "start"),
                    ("device", "pixel-1"), ("state", "background"), ("requests", "41"),
                    ("app", text),
                ])
        }
        let fields = [
            "payload": object, "action": #""0""#, "kind": #""start""#, "device": #""pixel-1""#, "requests": "[41]",
        ]
        let members = fields.filter { field in route.parameters.contains { $0.name == field.key } }
        return try .test(
            "POST", target, [("X-Pushrouter", "1")],
            body: "{\(members.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ","))}")
    }

    // MARK: Routes

    @Test("the page answers each of its addresses", arguments: routes)
    func answers(_ name: String) throws {
        let route = try route(name)
        let scene = filledScene()
        let asked = try request(route)
        if case .stream = scene.desk.answer(asked), route.kind == .stream { return }
        let response = try scene.response(asked)
        switch (route.kind, route.method) {
        case (.page, _):
            #expect(response.status == 200)
            if route.path.last == "file" {
                #expect(response.header("Content-Disposition") == "attachment; filename=\"push-41.html\"")
            } else if route.path.last == "scenario" {
                #expect(response.header("Content-Disposition") == "attachment; filename=\"push-41.jsonl\"")
            } else {
                #expect(response.text.contains("<h1") && response.text.hasSuffix("</html>\n"))
                #expect(response.header("Content-Type") == "text/html; charset=utf-8")
            }
        case (.form, _): #expect([200, 303].contains(response.status), "\(response.text)")
        case (.api, _), (.stream, _):
            #expect(response.status == 200, "\(response.text)")
            #expect(response.header("Content-Type") == "application/json")
            #expect(try response.root.kind == .object && response.text.split(separator: "\n").count == 1)
        }
        #expect(response.header("Cache-Control") == "no-store")
        guard route.method == "GET" else { return }
        var head = try request(route)
        head.method = "HEAD"
        #expect(try scene.response(head).status == response.status)
    }

    @Test("has each address once, and each act under a right")
    func table() {
        #expect(Set(Self.routes).count == Self.routes.count)
        for route in WebRoute.all {
            let isAct = route.method != "GET" && route.path != ["login"] && route.path.last != "explain"
            #expect((route.right != nil) == isAct, "\(route.pattern)")
        }
    }

    @Test("shows nothing that steers a browser or a terminal as it is", arguments: routes)
    func hostileTexts(_ name: String) throws {
        let route = try route(name)
        let scene = filledScene(Sample.hostilePush())
        var status = JSONWriter()
        status.object { writer in
            writer.member("ok", true)
            writer.member(
                "status",
                object: { status in
                    status.member(
                        "lanes",
                        object: { lanes in
                            lanes.member("waiting", 1)
                            lanes.member(
                                "longest",
                                array: { list in
                                    list.object {
                                        for key in ["device", "handler", "app"] { $0.member(key, Sample.hostile) }
                                    }
                                })
                        })
                })
        }
        scene.daemon.status = String(decoding: status.bytes, as: UTF8.self)
        var gateway = JSONWriter()
        gateway.object { writer in
            writer.member("failed_handshakes", object: { $0.member(Sample.hostile, 1) })
            writer.member("answers", object: { $0.member("404 \(Sample.hostile)", 1) })
        }
        scene.daemon.gateway = String(decoding: gateway.bytes, as: UTF8.self)
        scene.source.delay = Sample.hostile
        guard case .response(let response) = scene.desk.answer(try request(route, text: Sample.hostile)) else { return }
        let text = response.text
        if response.header("Content-Type")?.hasPrefix("text/html") == true {
            #expect(!text.contains("<script>alert(1)") && !text.contains("\"onmouseover="))
        }
        if route.path.last != "scenario" {
            let steering = text.unicodeScalars.first { $0 != "\n" && $0.isSteering }
            #expect(steering == nil, "\(steering.map { String($0.value, radix: 16) } ?? "")")
        }
        for (_, value) in response.headers { #expect(!value.unicodeScalars.contains { $0.isSteering }) }
    }

    @Test("shows what was asked for as text, also where that is wrong")
    func echoes() throws {
        let scene = filledScene()
        let encoded = Sample.hostile.percentEncoded
        for target in [
            "/?query=\(encoded)", "/?query=\("app:\"<script>alert(1)</script>\"".percentEncoded)",
            "/?query=nonsense:\(encoded)", "/?before=\(encoded)", "/\(encoded)", "/push/\(encoded)",
            "/report?by=\(encoded)", "/report?since=\(encoded)", "/campaigns?until=\(encoded)",
            "/deadletters?query=\(encoded)", "/explain?payload=\(encoded)",
        ] {
            let text = try scene.get(target).text
            #expect(!text.contains("<script>alert(1)") && !text.contains("\"onmouseover="), "\(target)")
            #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.isSteering }, "\(target)")
        }
    }

    @Test("says 404, 405 and 410 of what is not there, as a page and as JSON")
    func nothing() throws {
        let scene = filledScene()
        #expect(try scene.get("/nothing").status == 404 && scene.get("/nothing").text.contains("<h1>Not found</h1>"))
        for target in ["/api/nothing", "/api/pushes/0", "/api/pushes/x", "/api/pushes/43", "/api/pushes/+41"] {
            let answer = try scene.get(target)
            #expect(try answer.status == 404 && answer.root["error"]?["message"]?.string != nil, "\(target)")
        }
        #expect(try scene.get("/push/40").status == 410 && scene.get("/api/pushes/40").status == 410)
        #expect(try scene.get("/push/41/tap").status == 405)
        #expect(try scene.get("/push/41/tap").text.contains("POST"))
        #expect(try scene.response(.form("/push/41", [])).status == 405)
        #expect(try scene.act("/api/status").status == 405)
        for asset in WebAsset.all {
            let answer = try scene.get(asset.path)
            #expect(answer.status == 200 && !answer.body.isEmpty && asset.path.hasPrefix("/assets/"))
        }
        #expect(try scene.get("/assets/page.css").status == 404)
    }

    @Test("says what is wrong with a source that cannot be read")
    func unreadable() throws {
        let scene = filledScene()
        scene.source.problem = SourceError("the ledger is on <fire>")
        let page = try scene.get("/")
        #expect(page.status == 503 && page.text.contains("The ledger is on &lt;fire&gt;."))
        let answer = try scene.get("/api/pushes")
        #expect(try answer.status == 503 && answer.root["error"]?["message"]?.string == "the ledger is on <fire>")
        scene.source.problem = nil
        scene.source.delay = "The ledger is 3 s behind"
        #expect(try scene.get("/").text.contains("The ledger is 3 s behind"))
    }

    @Test("points at the parameter that is wrong")
    func parameters() throws {
        let scene = filledScene()
        for (target, field) in [
            ("/api/pushes?query=app:a%20ap:b", "query"), ("/api/pushes?before=x", "before"),
            ("/api/pushes?after=-1", "after"), ("/api/pushes?limit=0", "limit"), ("/api/pushes?limit=501", "limit"),
            ("/api/pushes?wait=61s", "wait"), ("/api/pushes?wait=soon", "wait"), ("/api/report?since=soon", "since"),
            ("/api/campaigns?since=today&until=yesterday", "until"), ("/events?position=x", "position"),
            ("/events?query=has:wings", "query"),
        ] {
            let answer = try scene.get(target)
            #expect(try answer.status == 400 && answer.root["error"]?["field"]?.string == field, "\(target)")
        }
        #expect(try scene.get("/?query=ap:b").text.contains("did you mean app:?"))
        for (target, message) in [
            ("/api/pushes?q=device:nope", "there is no parameter q; did you mean query?"),
            ("/api/pushes?query=device:a&wiat=1s", "there is no parameter wiat; did you mean wait?"),
            ("/events?device=a", "there is no parameter device; there are query, rows, position"),
            ("/api/devices?app=a", "there is no parameter app; /api/devices takes none"),
        ] {
            let answer = try scene.get(target)
            #expect(try answer.status == 400 && answer.root["error"]?["message"]?.string == message, "\(answer.text)")
        }
        for (target, body, message) in [
            (
                "/api/explain", #"{"payload":{},"plattform":"ios"}"#,
                "there is no parameter plattform; did you mean platform?"
            ),
            ("/api/explain?platform=ios", #"{"payload":{}}"#, "put it into the JSON object of the body"),
            ("/api/pushes/41/tap", #"{"text":"a"}"#, "there is no parameter text; /api/pushes/{seq}/tap takes none"),
        ] {
            let answer = try scene.act(target, body)
            #expect(try answer.status == 400 && answer.root["error"]?["message"]?.string?.contains(message) == true)
        }
        #expect(scene.daemon.lines.isEmpty)
        #expect(try scene.get("/report?by=nothing").status == 400)
        #expect(try scene.get("/report?since=-1h&by=platform").status == 200)
    }

    // MARK: Rights

    @Test("refuses what it has no right to, does nothing, and says how it gets the right", arguments: acts)
    func rights(_ name: String) throws {
        let route = try route(name)
        let scene = filledScene()
        (scene.daemon.mayInject, scene.daemon.mayControl) = (route.right != .inject, route.right != .control)
        let answer = try scene.response(try request(route))
        #expect(answer.status == 403 && answer.text.contains(route.right == .inject ? "act-inject" : "act-control"))
        #expect(scene.daemon.lines.isEmpty && scene.daemon.orders.isEmpty && scene.notes.lines.isEmpty)
        scene.daemon.mayInject = true
        scene.daemon.mayControl = true
        _ = try scene.response(try request(route))
        #expect(scene.notes.lines.count == 1 && scene.notes.lines[0].contains(route.pattern))
    }

    @Test("shows no button for what it may not do, and names under whom it acts")
    func buttons() throws {
        var dead = Sample.handled(41, .failed)
        dead.deadLetters = [
            DeadLetter(id: InvocationID(seq: SequenceNumber(41), n: 0), at: Sample.accepted, byteCount: 1)
        ]
        let scene = filledScene(dead)
        let all = try scene.get("/push/41").text
        for act in ["tap", "dismiss", "button", "send", "replay"] {
            #expect(all.contains("/push/41/\(act)\""), "\(act)")
        }
        #expect(all.contains(Sample.formToken) && all.contains("acts as pushrouter-web (uid 995)"))
        #expect(try scene.get("/deadletters").text.contains("formaction=\"/deadletters/purge\""))
        (scene.daemon.mayInject, scene.daemon.mayControl) = (false, false)
        for target in ["/push/41", "/devices", "/deadletters"] {
            let text = try scene.get(target).text
            #expect(!text.contains("method=\"post\"") && text.contains("only reads"), "\(target)")
        }
    }

    // MARK: Acts

    @Test("writes the line of what a person does")
    func lines() throws {
        let target = #""message":41,"platform":"android","app":"com.example.shop","device":"pixel-1""#
        let scene = filledScene()
        let tapped = try scene.post("/push/41/tap")
        #expect(tapped.status == 303 && tapped.header("Location") == "/push/41")
        #expect(try scene.post("/push/41/button", [("action", "later"), ("text", "a \"b\"")]).status == 303)
        #expect(try scene.act("/api/pushes/41/dismiss", "").root["seq"]?.int64 == 77)
        #expect(try scene.act("/api/pushes/41/button", #"{"action":0}"#).status == 200)
        #expect(
            scene.daemon.lines == [
                #"{"op":"interact","kind":"opened",\#(target)}"#,
                #"{"op":"interact","kind":"action",\#(target),"action":"later","text":"a \"b\""}"#,
                #"{"op":"interact","kind":"dismissed",\#(target)}"#,
                #"{"op":"interact","kind":"action",\#(target),"action":"0"}"#,
            ])
        // The ledger has it before the page is asked for.
        #expect(scene.daemon.orders == Array(repeating: .sync(timeout: .seconds(2)), count: 4))
        #expect(try scene.post("/push/41/button").status == 400)
        #expect(try scene.act("/api/pushes/41/button").root["error"]?["field"]?.string == "action")
        #expect(try scene.post("/push/42/tap").status == 409)
        #expect(try scene.post("/push/7/tap").status == 410)
        #expect(try scene.act("/api/pushes/41/tap", "[").status == 400)
        #expect(try scene.act("/api/pushes/41/button", "[]").status == 400)
        #expect(scene.daemon.lines.count == 4)
    }

    @Test("sends a push again as it came, or with another payload or state, and never with a shortened token")
    func send() throws {
        let body =
            #"{"op":"deliver","id":"a","wait":true,"state":"foreground","locked":true,"transport":"fcm","#
            + #""payload":{"data":{"token":"a-token-of-some-length"}}}"#
        var story = Sample.handed()
        story.request.body = Array(body.utf8)
        let scene = filledScene(story)
        let head =
            #"{"op":"deliver","platform":"android","app":"com.example.shop","device":"pixel-1","external_id":"anna","#
        let sent = try scene.post("/push/41/send")
        #expect(sent.status == 303 && sent.header("Location") == "/push/77")
        _ = try scene.post(
            "/push/41/send",
            [("state", "background"), ("notifications", "denied"), ("locked", "false"), ("payload", "{\"a\":\r\n1}")])
        _ = try scene.act("/api/pushes/41/send", #"{"payload":{"b":[2]},"state":null}"#)
        #expect(
            scene.daemon.lines == [
                head + #""state":"foreground","locked":true,"transport":"fcm","#
                    + #""payload":{"data":{"token":"a-token-of-some-length"}}}"#,
                head + #""state":"background","notifications":"denied","locked":false,"transport":"fcm","#
                    + #""payload":{"a":  1}}"#,
                head + #""state":"foreground","locked":true,"transport":"fcm","payload":{"b":[2]}}"#,
            ])
        #expect(try scene.post("/push/41/send", [("payload", "{")]).status == 400)
        #expect(try scene.post("/push/42/send").status == 409 && scene.post("/push/7/send").status == 409)
        #expect(scene.daemon.lines.count == 3)
        // The page shows only the beginning of the token.
        #expect(try !scene.get("/push/41").text.contains("a-token-of-some-length"))
        let full = Scene([story], fullTokens: true)
        #expect(try full.get("/push/41").text.contains("a-token-of-some-length"))
    }

    @Test("writes the lines of sessions and of the states of devices")
    func sessionsAndDevices() throws {
        let scene = filledScene()
        let from = try scene.post(
            "/session",
            [
                ("kind", "end"), ("platform", "android"), ("app", "a"), ("device", "d"), ("external_id", "u"),
                ("from", "/push/41"),
            ])
        #expect(from.header("Location") == "/push/41")
        let foreign = try scene.post("/session", [("kind", "start"), ("device", "d"), ("from", "//evil.example")])
        #expect(foreign.header("Location") == "/push/77")
        _ = try scene.act(
            "/api/devices",
            #"{"device":"d","platform":"ios","state":"force_quit","locked":true,"notifications":"denied"}"#)
        #expect(try scene.post("/devices", [("device", "d"), ("app", "a")]).header("Location") == "/devices")
        #expect(
            scene.daemon.lines == [
                #"{"op":"session","kind":"end","platform":"android","app":"a","device":"d","external_id":"u"}"#,
                #"{"op":"session","kind":"start","device":"d"}"#,
                #"{"op":"device","device":"d","platform":"ios","state":"force_quit","notifications":"denied","#
                    + #""locked":true}"#,
                #"{"op":"device","device":"d","app":"a"}"#,
            ])
        #expect(try scene.post("/session", [("kind", "pause")]).status == 400)
        #expect(try scene.act("/api/devices").root["error"]?["field"]?.string == "device")
    }

    @Test("makes messages of what the daemon says against it")
    func daemonErrors() throws {
        let scene = filledScene()
        scene.daemon.reply =
            #"{"ok":false,"error":{"code":"invalid_value","field":"state","message":"no <state>"}}"#
        let page = try scene.post("/push/41/tap")
        #expect(page.status == 422 && page.text.contains("No &lt;state&gt;."))
        let answer = try scene.act("/api/pushes/41/tap")
        #expect(answer.status == 422)
        #expect(try answer.root["error"]?["message"]?.string == "no <state>")
        #expect(try answer.root["error"]?["field"]?.string == "state")
        scene.daemon.problem = WebProblem(503, "the daemon does not answer")
        #expect(try scene.post("/push/41/tap").status == 503)
        #expect(try scene.act("/api/deadletters/purge", #"{"requests":[41]}"#).status == 503)
        #expect(try scene.get("/api/status").status == 503)
        // Pages that show more than the daemon's word do without it.
        let report = try scene.get("/report")
        #expect(report.status == 200 && report.text.contains("The daemon does not answer."))
    }

    // MARK: Dead letters

    @Test("orders replays and purges of what was chosen, and shows before what would be done")
    func deadLetters() throws {
        let scene = filledScene()
        let replay = try scene.post("/push/41/replay")
        #expect(replay.status == 303 && replay.header("Location") == "/push/78")
        let chosen = [("requests", "41"), ("requests", "7"), ("requests", "x"), ("requests", "-3")]
        #expect(scene.daemon.orders == [.replay([SequenceNumber(41)])])
        scene.daemon.replayed =
            #"{"ok":true,"replayed":[{"of":41,"seq":78}],"refused":[{"of":7,"reason":"it is <gone>"}]}"#
        let done = try scene.post("/deadletters/replay", chosen)
        #expect(done.text.contains("1 request replayed, 1 refused.") && done.text.contains("it is &lt;gone&gt;"))
        #expect(try scene.post("/deadletters/purge", chosen).header("Location") == "/deadletters")
        #expect(try scene.act("/api/deadletters/replay", #"{"requests":[41]}"#).root["replayed"]?.count == 1)
        #expect(try scene.act("/api/deadletters/purge", #"{"requests":[41,7]}"#).status == 200)
        let both = [SequenceNumber(7), SequenceNumber(41)]
        #expect(
            scene.daemon.orders.dropFirst() == [
                .replay(both), .purge(both), .replay([SequenceNumber(41)]), .purge(both),
            ])
        scene.daemon.replayed = #"{"ok":true,"replayed":[],"refused":[{"of":41,"reason":"it is too old"}]}"#
        let refused = try scene.act("/api/pushes/41/replay")
        #expect(refused.status == 409 && refused.text.contains("it is too old"))
    }

    @Test("refuses to act on no dead letter, on too many, and in a way that is none")
    func badChoices() throws {
        let scene = filledScene()
        let many = (1...1001).map { ("requests", "\($0)") }
        let list = "[" + (1...1001).map { "\($0)" }.joined(separator: ",") + "]"
        #expect(try scene.post("/deadletters/replay").status == 400)
        #expect(try scene.post("/deadletters/replay", many).status == 400)
        for act in ["replay", "purge"] {
            for body in ["{}", #"{"requests":[]}"#, #"{"requests":\#(list)}"#, #"{"requests":"all"}"#] {
                let answer = try scene.act("/api/deadletters/\(act)", body)
                #expect(try answer.status == 400 && answer.root["error"]?["field"]?.string == "requests")
            }
        }
        #expect(scene.daemon.orders.isEmpty)
    }

    // MARK: Reading

    @Test("gives what matches at once, and has those wait who ask for it")
    func waiting() throws {
        let scene = filledScene()
        let found = try scene.get("/api/pushes?query=device:pixel-1&wait=10s")
        #expect(try found.root["pushes"]?.elements.map { $0["seq"]?.int64 } == [41])
        #expect(try found.root["position"]?.string == "42.0" && found.root["next"]?.kind == .null)
        for target in ["/api/pushes?query=device:none&wait=10s", "/api/pushes?after=42&wait=10s"] {
            guard case .wait(let subscription, let time) = scene.desk.answer(try .test("GET", target)) else {
                throw TestFailure("\(target) does not wait")
            }
            #expect(subscription.isWaiting && time == .seconds(10))
            #expect(subscription.position.description == "42.0")
        }
        let none = try scene.get("/api/pushes?query=device:none")
        #expect(try none.root["pushes"]?.count == 0 && none.root["looked_back_to"]?.kind == .string)
    }

    @Test("has a request wait for the outcome of a push that a handler still has, unless its query names is:pending")
    func waitingForOutcomes() throws {
        let scene = Scene([Sample.handled(41, nil)])
        #expect(try scene.get("/api/pushes?query=device:pixel-1").root["pushes"]?.count == 1)
        #expect(try scene.get("/api/pushes?query=is:pending&wait=10s").root["pushes"]?.count == 1)
        guard case .wait(let subscription, _) = scene.desk.answer(try .test("GET", "/api/pushes?wait=10s")) else {
            throw TestFailure("a push without an outcome is an answer")
        }
        var feeds = LiveFeeds(scene.desk)
        feeds.add(subscription, as: 1)
        scene.source.commit(Sample.handled(42, nil))
        #expect(feeds.poll().isEmpty)
        scene.source.commit(Sample.handled(41, .failed))
        guard case .answer(let answer)? = feeds.poll().first?.output else { throw TestFailure("no answer") }
        #expect(try answer.root["pushes"]?.elements.map { $0["outcome"]?.string } == ["failed"])
    }

    @Test("lists after a DELETE only what came later, unless after= asks for more, and erases nothing")
    func clearing() throws {
        let scene = filledScene()
        let answer = scene.desk.answer(try .test("DELETE", "/api/pushes", [("X-Pushrouter", "1")]))
        guard case .cleared(let last, let response) = answer else { throw TestFailure("nothing is cleared") }
        #expect(try last.value == 42 && response.root["after"]?.int64 == 42)
        // The ledger has all that was acknowledged before.
        #expect(scene.daemon.orders == [.sync(timeout: .seconds(2))])
        scene.source.commit(Sample.handled(43))
        func numbers(_ target: String) throws -> [Int64?] {
            var request = try WebRequest.test("GET", target)
            request.clearedThrough = last
            return try scene.response(request).root["pushes"]?.elements.map { $0["seq"]?.int64 } ?? []
        }
        #expect(try numbers("/api/pushes") == [43] && numbers("/api/pushes?wait=1s") == [43])
        #expect(try numbers("/api/pushes?after=0") == [43, 41])
        #expect(try scene.get("/").text.contains("/push/41\""))
        scene.daemon.problem = WebProblem(503, "the daemon does not answer")
        #expect(try scene.response(.test("DELETE", "/api/pushes", [("X-Pushrouter", "1")])).status == 503)
    }

    @Test("goes on with older ones, in pages that lose none and give none twice")
    func pages() throws {
        let scene = Scene((1...120).map { Sample.apart($0, Sample.handed($0)) })
        var (numbers, before) = ([Int64](), Int64?.none)
        repeat {
            let more = before.map { "&before=\($0)" } ?? ""
            let root = try scene.get("/api/pushes?limit=50\(more)").root
            numbers += root["pushes"]?.elements.compactMap { $0["seq"]?.int64 } ?? []
            before = root["next"]?.int64
        } while before != nil
        #expect(numbers == (1...120).reversed())
        #expect(try scene.get("/").text.contains("before=71"))
        #expect(try scene.get("/?before=71").text.contains("id=\"p70\""))
        #expect(try !scene.get("/?before=71").text.contains("data-position"))
        // Earlier pushes do not match.
        let after = try scene.get("/api/pushes?after=118&limit=50").root
        #expect(after["pushes"]?.elements.map { $0["seq"]?.int64 } == [120, 119] && after["next"]?.kind == .null)
    }

    @Test("puts pushes alike into one row, so that a campaign hides nobody's own push")
    func alike() throws {
        var stories = (1...200).map { Sample.handed($0) }
        stories.insert(Sample.handled(100), at: 99)
        stories.remove(at: 100)
        let list = try scene(stories).get("/").text
        // Those of one minute are alike.
        #expect(list.contains("100 alike: pixel-1, pixel-1, pixel-1"))
        #expect(list.contains("59 alike") && list.contains("40 alike"))
        #expect(list.contains("id=\"p100\"") && list.contains("<b>News</b>"))
        // The row opens those that it counts, and no other.
        let numbers = (1...40).reversed().map { "\($0)" }.joined(separator: "%2C")
        #expect(list.contains("href=\"/?each=1&amp;before=41&amp;query=id%3A\(numbers)\""), "\(list)")
        let each = try scene(stories).get("/?each=1&query=campaign%3Aspring").text
        #expect(!each.contains("alike") && each.contains("id=\"p200\"") && each.contains("id=\"p199\""))
        // Two are no crowd, and one that runs joins nobody.
        let few = try scene((1...2).map { Sample.handed($0) } + (3...5).map { Sample.handled($0, nil) }).get("/").text
        #expect((1...5).allSatisfy { few.contains("id=\"p\($0)\"") } && !few.contains("alike"))
    }

    private func scene(_ stories: [RequestStory]) -> Scene { Scene(stories) }

    @Test("takes any number that a program may name")
    func numbers() throws {
        let scene = Scene((1...3).map { Sample.handed($0) })
        for parameter in ["after", "before"] {
            for number in ["0", "1", "\(Int64.max)"] {
                #expect(try scene.get("/api/pushes?limit=1&\(parameter)=\(number)").status == 200, "\(number)")
            }
            #expect(try scene.get("/api/pushes?\(parameter)=9223372036854775808").status == 400)
        }
        #expect(try scene.get("/api/pushes/\(Int64.max)").status == 404)
        for position in ["0.0.1", "\(Int64.max).\(Int64.max)", "9.4.x"] {
            // Each position gets an answer.
            let answer = scene.desk.answer(try .test("GET", "/events", [("Last-Event-ID", position)]))
            if case .wait = answer { Issue.record("\(position) waits") }
        }
    }

    @Test("goes on with the same query as it was asked with")
    func nextPages() throws {
        var dead = (1...120).map { Sample.apart($0, Sample.handled($0, .failed)) }
        for (index, story) in dead.enumerated() {
            let id = InvocationID(seq: story.request.seq, n: 0)
            dead[index].deadLetters = [DeadLetter(id: id, at: Sample.accepted, byteCount: 1)]
        }
        let scene = Scene(dead)
        let letters = try scene.get("/deadletters?query=app%3Acom.example.shop").text
        #expect(letters.contains("/deadletters?query=app%3Acom.example.shop&amp;before=21\""))
        let words = "-\"a  b\"".percentEncoded
        #expect(try scene.get("/?query=\(words)").text.contains("/?query=\(words)&amp;before=71\""))
    }

    @Test("begins a stream at the end, or where the former one ended")
    func streams() throws {
        let scene = filledScene()
        for (target, headers, position) in [
            ("/events", [], "42.0"), ("/events", [("Last-Event-ID", "7.3.5")], "7.3.5"),
            ("/events?position=8.1", [], "8.1"),
        ] as [(String, [(String, String)], String)] {
            guard case .stream(let subscription) = scene.desk.answer(try .test("GET", target, headers)) else {
                throw TestFailure("\(target) is no stream")
            }
            #expect(subscription.position.description == position && !subscription.sendsRows)
            #expect(!subscription.isWaiting)
        }
        guard case .stream(let rows) = scene.desk.answer(try .test("GET", "/events?rows=1")) else {
            throw TestFailure("this is no stream")
        }
        #expect(rows.sendsRows)
    }
}
