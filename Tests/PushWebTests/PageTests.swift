import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import PushViews

@Suite("The page's answers", .timeLimit(.minutes(30)))
struct PageTests {
    private static let pages = WebRoute.all.filter { $0.method == "GET" && $0.kind == .page }

    private func path(_ route: WebRoute) -> String {
        "/" + route.path.map { $0 == WebRoute.number ? "1" : $0 }.joined(separator: "/")
    }

    @Test("answers each page, and shows the texts of payloads as texts")
    func pages() {
        let scene = DeskScene()
        let hostile = #"<script>alert(1)</script> \" onmouseover=alert(1) \u001b[31m \u202e"#
        scene.source.stories = [
            DeskScene.story(1, payload: #"{"data":{"_ab":"true","cid":"<b>","t":"\#(hostile)","a":"<img src=x>"}}"#)
        ]
        for route in Self.pages {
            let response = scene.get(path(route))
            #expect(response.status == 200, "\(route.pattern): \(response.text)")
            #expect(route.path.last == "scenario" || response.text.contains("<h1"), "\(route.pattern)")
            for forbidden in ["<script>alert", "<img src=x", "\u{1B}", "\u{202E}", "\" onmouseover"]
            where route.path.last != "scenario" {
                #expect(!response.text.contains(forbidden), "\(route.pattern): \(forbidden)")
            }
        }
        #expect(scene.get("/push/1").text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
    }

    @Test("says which request is gone, which is to come, and which page there is not")
    func missing() {
        let scene = DeskScene()
        scene.source.stories = [DeskScene.story(5)]
        #expect(scene.get("/push/4").status == 410 && scene.get("/push/6").status == 404)
        #expect(scene.get("/push/06").status == 404 && scene.get("/api/pushes/x").status == 404)
        #expect(scene.get("/nothing").status == 404 && scene.post("/report").status == 405)
        #expect(
            scene.get("/?query=ap:x").status == 400 && scene.get("/?query=ap:x").text.contains("did you mean app:?"))
        scene.source.problem = SourceError("the disk is away")
        #expect(scene.get("/api/pushes").status == 503 && scene.get("/").text.contains("The disk is away."))
    }

    @Test("does nothing for a user who may not, and shows no button for it")
    func readsOnly() {
        let scene = DeskScene()
        scene.source.stories = [DeskScene.story(1)]
        (scene.daemon.mayInject, scene.daemon.mayControl) = (false, false)
        for route in WebRoute.all where route.right != nil && route.method == "POST" {
            let response = scene.post(path(route), route.kind == .api ? "{}" : "form=x")
            #expect(response.status == 403, "\(route.pattern)")
        }
        #expect(scene.daemon.lines.isEmpty && scene.daemon.asked.isEmpty && scene.notes.isEmpty)
        let page = scene.get("/push/1").text
        #expect(!page.contains("/push/1/tap") && page.contains("only reads, as pushrouter-web (uid 995)"))
    }

    @Test("asks the daemon for what a person does, and notes who asked")
    func acts() {
        let scene = DeskScene()
        scene.source.stories = [DeskScene.story(1)]
        let place = #""platform":"android","app":"shop","device":"pixel""#
        let asked: [(String, String, String)] = [
            ("/push/1/tap", "", #"{"op":"interact","kind":"opened","message":1,\#(place)}"#),
            ("/push/1/dismiss", "", #"{"op":"interact","kind":"dismissed","message":1,\#(place)}"#),
            (
                "/push/1/button", "action=0&text=on+my+way",
                #"{"op":"interact","kind":"action","message":1,\#(place),"action":"0","text":"on my way"}"#
            ),
            (
                "/api/session", #"{"device":"pixel","kind":"start","app":"shop"}"#,
                #"{"op":"session","kind":"start","app":"shop","device":"pixel"}"#
            ),
            (
                "/devices", "device=pixel&platform=android&state=force_stopped&locked=true",
                #"{"op":"device","device":"pixel","platform":"android","state":"force_stopped","locked":true}"#
            ),
            (
                "/push/1/send", "state=foreground",
                #"{"op":"deliver",\#(place),"external_id":"anna","state":"foreground","#
                    + #""payload":{"data":{"_ab":"true","cid":"spring","t":"Sale","a":"Today"}}}"#
            ),
            (
                "/api/pushes/1/send", #"{"payload":{"data":{"a":1}}}"#,
                #"{"op":"deliver",\#(place),"external_id":"anna","payload":{"data":{"a":1}}}"#
            ),
        ]
        for (path, body, line) in asked {
            let response = scene.post(path, body)
            #expect(response.status == 200 || response.status == 303, "\(path): \(response.text)")
            #expect(scene.daemon.lines.last == line, "\(path)")
        }
        #expect(scene.notes.count == asked.count && scene.notes[0].contains("127.0.0.1 asks for /push/{seq}/tap"))
        #expect(scene.post("/push/1/send", "payload=nonsense").status == 400)
        #expect(scene.post("/push/1/button", "text=x").status == 400 && scene.post("/session", "kind=x").status == 400)
        scene.daemon.reply = #"{"ok":false,"error":{"code":"unavailable","message":"b leads"}}"#
        let refused = scene.post("/push/1/tap")
        #expect(refused.status == 422 && refused.text.contains("B leads."))
    }

    @Test("replays and drops dead letters that were chosen")
    func deadLetters() {
        let scene = DeskScene()
        #expect(
            scene.post("/deadletters/replay", "requests=1&requests=2").readable.contains(
                "1 request replayed, 1 refused"))
        #expect(scene.daemon.asked.last == .replay([SequenceNumber(1), SequenceNumber(2)]))
        _ = scene.post("/deadletters/replay", "requests=5&requests=4")
        #expect(scene.daemon.asked.last == .replay([SequenceNumber(4), SequenceNumber(5)]), "the oldest first")
        #expect(scene.post("/deadletters/purge", "requests=3").header("Location") == "/deadletters")
        #expect(scene.daemon.asked.last == .purge([SequenceNumber(3)]))
        #expect(scene.post("/deadletters/purge", "").status == 400)
        #expect(scene.post("/push/1/replay").header("Location") == "/push/9")
        #expect(scene.post("/api/deadletters/purge", #"{"requests":[4]}"#).status == 200)
    }

    @Test("sends a push again into the state that its device has now, unless the form says another")
    func stateOfDevice() {
        let scene = DeskScene()
        scene.source.stories = [DeskScene.story(1)]
        var state = DeviceState()
        (state.state, state.locked) = (.forceStopped, true)
        scene.source.known = [
            KnownDevice(
                number: SequenceNumber(1), key: DeviceKey(app: "shop", device: "pixel"), platform: .android,
                externalID: nil, detail: DeviceDetail(state: state))
        ]
        _ = scene.post("/push/1/send")
        #expect(scene.daemon.lines.last?.contains(#""state":"force_stopped","locked":true"#) == true)
        _ = scene.post("/push/1/send", "state=foreground&locked=false")
        #expect(scene.daemon.lines.last?.contains(#""state":"foreground","locked":false"#) == true)
    }

    @Test("lists for programs, and says where the list goes on")
    func lists() throws {
        let scene = DeskScene()
        scene.source.stories = (1...5).map { DeskScene.story($0) }
        func numbers(_ target: String) throws -> [Int64?] {
            try JSONDocument(scanning: scene.get(target).body).root["pushes"]?.elements.map { $0["seq"]?.int64 } ?? []
        }
        #expect(try numbers("/api/pushes?limit=2") == [5, 4] && numbers("/api/pushes?before=3") == [2, 1])
        #expect(try numbers("/api/pushes?after=4") == [5] && numbers("/api/pushes?query=device:x").isEmpty)
        for wrong in ["limit=0", "limit=501", "limit=x", "wait=2min", "wait=x", "before=-1", "query=a:b"] {
            #expect(scene.get("/api/pushes?\(wrong)").status == 400, "\(wrong)")
        }
        #expect(try JSONDocument(scanning: scene.get("/api/pushes/3").body).root["story"]?["seq"]?.int64 == 3)
    }

    @Test("explains a push by the configuration that decided it, and says since when and whether it is in force")
    func explainsByDeciding() throws {
        let scene = DeskScene()
        var story = DeskScene.story()
        let (then, now) = (ConfigurationID(digestOf: [1]), ConfigurationID(digestOf: [2]))
        func decided(by id: ConfigurationID, isInForce: Bool) -> String {
            story.configuration = DecidingConfiguration(
                ConfigurationPeriod(first: SequenceNumber(1), id: id, since: DeskScene.now), isInForce: isInForce)
            scene.source.stories = [story]
            return scene.get("/push/1").readable
        }
        var table = Settings().routing
        table.mode = .relay
        scene.configurations.earlier = [UsedConfiguration(id: then, table: table, limits: JSONLimits())]
        scene.configurations.current.id = now
        let old = decided(by: then, isInForce: false)
        #expect(old.contains("Decided by the configuration \(then) , in force from "), "\(old)")
        #expect(old.contains("Another one is in force now.") && old.contains("relay mode"), "\(old)")
        let today = decided(by: now, isInForce: true)
        #expect(today.contains("It is still in force.") && today.contains("device mode"), "\(today)")
        scene.configurations.earlier = []
        let gone = decided(by: then, isInForce: false)
        #expect(gone.contains("It cannot be had any more") && gone.contains("As the configuration decides today."))

        var next = Settings().routing
        next.mode = .relay
        scene.configurations.next = UsedConfiguration(id: then, since: DeskScene.now, table: next, limits: JSONLimits())
        let answer = scene.post("/api/explain", #"{"payload":{"data":{"a":"b"}},"platform":"android"}"#)
        let object = try JSONDocument(scanning: answer.body).root
        #expect(object["mode"]?.string == "relay" && object["configuration"]?["id"]?.string == then.description)
        #expect(object["configuration"]?["since"]?.string == DeskScene.now.rfc3339)
        let page = scene.post("/explain", "platform=android&payload=%7B%22data%22%3A%7B%7D%7D").readable
        #expect(page.contains("By the configuration \(then) , in force since "), "\(page)")
    }

    /// Pushes of Braze's that the system showed without Braze's SDK, by the configurations that decided them: Braze is no
    /// provider of `none`.
    private func lost(_ scene: DeskScene, by ids: [ConfigurationID], none: ConfigurationID) {
        var table = Settings().routing
        table.detection = DetectionSettings(providers: [])
        scene.configurations.earlier = [UsedConfiguration(id: none, table: table, limits: JSONLimits())]
        scene.source.stories = ids.enumerated().map { index, id in
            var story = DeskScene.story(Int64(index + 1), outcome: .shownBySystem)
            story.invocations[0].result?.reasonCode = .brazeLost
            story.configuration = DecidingConfiguration(
                ConfigurationPeriod(first: story.request.seq, id: id, since: DeskScene.now), isInForce: false)
            return story
        }
    }

    @Test("lists and streams each push by the configuration that decided it, which it asks for once")
    func listsByDeciding() throws {
        let scene = DeskScene()
        let (then, now) = (ConfigurationID(digestOf: [1]), ConfigurationID(digestOf: [2]))
        scene.configurations.current.id = now
        lost(scene, by: [then, now, then], none: then)
        let pushes = try JSONDocument(scanning: scene.get("/api/pushes").body).root["pushes"]?.elements ?? []
        #expect(pushes.map { $0["campaign"]?.string } == [nil, "spring", nil])
        #expect(scene.configurations.pastCount == 2)

        var feeds = LiveFeeds(scene.desk)
        for number in 1...2 as ClosedRange<UInt64> {
            feeds.add(
                WebSubscription(
                    query: try PushQuery(number == 1 ? "" : "campaign:spring", now: DeskScene.now),
                    position: SourcePosition(last: SequenceNumber(0), event: 0), sendsRows: false, after: nil,
                    isWaiting: false), as: number)
        }
        let counts = feeds.poll().map { number, output in
            guard case .part(let bytes) = output else { return 0 }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { $0 == "event: push" }.count
        }
        #expect(counts.sorted() == [1, 3])
        #expect(scene.configurations.pastCount == 4, "one reading of a push is for all who listen")
    }

    @Test("shows a handler its input as at the call: a wait before it costs a budget of relay mode alone")
    func input() {
        let scene = DeskScene()
        scene.configurations.current.table.handlers["crm"] = Handler(name: "crm", kind: .journal)
        var story = DeskScene.story(
            payload: #"{"data":{"a":"b"}}"#, outcome: .handled, handler: "crm", provider: nil)
        story.invocations[0].result?.queue = .seconds(2)
        for (mode, rest, end) in [
            (DispatchMode.device, 9000, "2025-10-09T08:53:31Z"), (.relay, 7000, "2025-10-09T08:53:29Z"),
        ] {
            story.request.mode = mode
            scene.source.stories = [story]
            let page = scene.get("/push/1").readable
            #expect(page.contains("Input of handler crm"), "\(page)")
            #expect(page.contains("&quot;remaining_ms&quot;: \(rest)"), "\(mode): \(page)")
            #expect(page.contains("&quot;at&quot;: &quot;\(end)&quot;"), "\(mode): \(page)")
            let box = mode == .relay ? "0%" : "18.18%"
            #expect(scene.get("/push/1").text.contains(#"<rect class="box" x="\#(box)" "#), "\(mode)")
        }
    }

    @Test("lists the senders of the newest 1,000 pushes")
    func senders() {
        let scene = DeskScene()
        scene.source.stories = (1...1001 as ClosedRange<Int64>).map { seq in
            var story = DeskScene.story(seq)
            let client = seq == 1 ? "oldest/1" : "newer/2"
            story.request.body = Array(#"{"op":"deliver","payload":{},"sender":{"client":"\#(client)"}}"#.utf8)
            return story
        }
        let page = scene.get("/senders").readable
        #expect(page.contains("newer/2") && !page.contains("oldest/1"), "\(page)")
    }

    @Test("explains a payload, or says what is wrong with it")
    func explains() {
        let scene = DeskScene()
        let good = scene.post("/explain", "platform=android&payload=%7B%22_ab%22%3A%22true%22%7D")
        #expect(good.status == 200 && good.text.contains("A Braze push"))
        #expect(scene.post("/explain", "platform=android&payload=x").readable.contains("There is no payload in this"))
        #expect(scene.post("/api/explain", #"{"payload":{"aps":{}},"platform":"ios"}"#).status == 200)
        #expect(scene.post("/api/explain", "{}").status == 400)
        // Unless the person chooses, the payload says the platform, and Braze's instance is a choice.
        let apple = "payload=%7B%22aps%22%3A%7B%22alert%22%3A%22x%22%7D%2C%22ab%22%3A%7B%22c%22%3A%22s%22%7D%7D"
        #expect(scene.post("/explain", "platform=&\(apple)").readable.contains("iOS, app in state"))
        let braze = "payload=%7B%22_ab%22%3A%22true%22%7D"
        #expect(scene.post("/explain", "platform=&\(braze)").readable.contains("Android, app in state"))
        #expect(
            scene.post("/explain", "platform=&sdk=nil&\(apple)").readable.contains(
                "lost: the app has no Braze instance"))
        // A line of a log, and the send body of a service, as people paste them.
        let line = "D%2FX%3A+Message+data+payload%3A+%7B_ab%3Dtrue%2C+t%3DHi%2C+a%3DThere%7D"
        #expect(scene.post("/explain", "platform=android&payload=\(line)").text.contains("A Braze push"))
        let body = "%7B%22app_id%22%3A%22x%22%2C%22contents%22%3A%7B%22en%22%3A%22Hi%22%7D%7D"
        let refused = scene.post("/explain", "platform=android&payload=\(body)").readable
        #expect(refused.contains("This is a send body for OneSignal"), "\(refused)")
        #expect(scene.daemon.lines.isEmpty)
    }

    @Test("shows a push as a person reads it")
    func snapshot() {
        let scene = DeskScene()
        scene.source.stories = [
            DeskScene.story(1),
            DeskScene.story(2, outcome: .timedOut, handler: "crm", provider: nil, total: .seconds(9)),
        ]
        let braze = scene.get("/push/1").readable
        #expect(
            braze.contains(
                "Sale Braze has it. A tap: direct open of campaign spring. Received"), "\(braze)")
        #expect(braze.contains("data._ab is exactly &quot;true&quot;: the payload is Braze&#39;s"), "\(braze)")
        let late = scene.get("/push/2").readable
        #expect(
            late.contains(
                "Late. Handler crm was not finished after 9 s, and was stopped."), "\(late)")
        #expect(late.contains("crm ran 9 s budget: 9 s from the call"), "\(late)")
        let row = scene.get("/").readable
        #expect(row.contains("Timed out crm · 9 s"), "\(row)")
        var erased = DeskScene.story(3)
        erased.request.body = Array("{}".utf8)
        scene.source.stories.append(erased)
        #expect(scene.get("/push/3").readable.contains("Erased. The payload and the person&#39;s data are deleted."))
    }

    @Test("describes each address of the API, and no other")
    func openAPI() throws {
        let root = try JSONDocument(scanning: DeskScene().get("/api/openapi.json").body).root
        let routes = WebRoute.all.filter { $0.kind == .api || $0.kind == .stream }
        #expect(Set(root["paths"]?.members.map(\.key) ?? []) == Set(routes.map(\.pattern)))
        for route in routes {
            let operation = try #require(root["paths"]?[route.pattern]?[route.method.lowercased()], "\(route.pattern)")
            let names = (operation["parameters"]?.elements ?? []).compactMap { $0["name"]?.string }
            let schema = operation["requestBody"]?["content"]?["application/json"]?["schema"]
            let fields = schema?["properties"]?.members.map(\.key) ?? []
            for parameter in route.parameters {
                #expect((route.method == "GET" ? names : fields).contains(parameter.name), "\(route.pattern)")
            }
        }
        let members = root["components"]?["schemas"]?["Push"]?["properties"]?.members.map(\.key)
        #expect(members == PushMember.allCases.map(\.rawValue))
    }

    @Test("lists every word of the query language, and leads to the addresses for programs")
    func help() {
        let text = DeskScene().get("/help").text
        for word in QueryWord.allCases { #expect(text.contains("<code>\(word.rawValue):</code>")) }
        #expect(text.contains("href=\"/api/openapi.json\""))
    }
}

@Suite("Live feeds", .timeLimit(.minutes(30)))
struct FeedTests {
    private func subscription(_ scene: DeskScene, _ target: String) throws -> WebSubscription {
        switch scene.desk.answer(try #require(DeskScene.request("GET", target))) {
        case .stream(let subscription), .wait(let subscription, _): return subscription
        case .response(let response), .cleared(_, let response): throw Answered(text: response.text)
        }
    }

    struct Answered: Error { let text: String }

    @Test("read nothing while nothing is committed, and once for all at one place")
    func readings() throws {
        let scene = DeskScene()
        var feeds = LiveFeeds(scene.desk)
        for number in 0..<3 { feeds.add(try subscription(scene, "/events"), as: UInt64(number)) }
        #expect(feeds.poll().isEmpty)
        let before = scene.source.readings
        for _ in 0..<10 { #expect(feeds.poll().isEmpty) }
        #expect(scene.source.readings == before)
        scene.source.stories = [DeskScene.story(1)]
        scene.source.change += 1
        #expect(feeds.poll().count == 3 && scene.source.readings == before + 1)
    }

    @Test("send each push's present state, with the position behind the last one")
    func events() throws {
        let scene = DeskScene()
        var feeds = LiveFeeds(scene.desk)
        feeds.add(try subscription(scene, "/events?query=device:pixel"), as: 1)
        feeds.add(try subscription(scene, "/events?rows=1"), as: 2)
        scene.source.stories = [DeskScene.story(1), DeskScene.story(2)]
        scene.source.change += 1
        // Behind the rows come the counts of the searches.
        let outputs = Dictionary(feeds.poll().map { ($0.number, $0.output) }, uniquingKeysWith: { first, _ in first })
        guard case .part(let json)? = outputs[1], case .part(let rows)? = outputs[2] else {
            Issue.record("\(outputs)")
            return
        }
        let events = String(decoding: json, as: UTF8.self).split(separator: "\n\n")
        #expect(events.count == 2 && events[0].hasPrefix("event: push\ndata: {\"seq\":1,"))
        #expect(events[1].hasPrefix("id: 2.0\nevent: push\ndata: {\"seq\":2,"))
        #expect(
            String(decoding: rows, as: UTF8.self).split(separator: "\n\n").allSatisfy {
                $0.contains("data: <li id=\"p")
            })
    }

    @Test("end a wait with the first match behind its number")
    func waits() throws {
        let scene = DeskScene()
        scene.source.stories = [DeskScene.story(1)]
        var feeds = LiveFeeds(scene.desk)
        #expect(throws: Answered.self) { try subscription(scene, "/api/pushes?wait=10s") }
        feeds.add(try subscription(scene, "/api/pushes?after=2&wait=10s"), as: 1)
        scene.source.stories.append(DeskScene.story(2))
        scene.source.change += 1
        #expect(feeds.poll().isEmpty && !feeds.isEmpty)
        scene.source.stories.append(DeskScene.story(3))
        scene.source.change += 1
        guard case .answer(let response)? = feeds.poll().first?.output else { Issue.record("no answer"); return }
        #expect(response.text.contains("\"seq\":3") && !response.text.contains("\"seq\":2,") && feeds.isEmpty)
    }

    @Test("go on at the position of the header, and refuse one that is none")
    func positions() throws {
        let scene = DeskScene()
        #expect(try subscription(scene, "/events?position=7.3").position.description == "7.3")
        #expect(scene.get("/events?position=x").status == 400)
    }
}
