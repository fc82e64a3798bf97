import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("What a fresh reader does with the page", .timeLimit(.minutes(30)))
struct ReaderTests {
    private static let token = "fcm-0123456789abcdef0123456789abcdef"

    /// A push whose payload has a token.
    private func pushWithToken() -> RequestStory {
        var story = Sample.handled()
        story.request.body = Array(
            #"{"op":"deliver","payload":{"message":{"token":"\#(Self.token)","data":{"order_id":"1018"}}}}"#.utf8)
        return story
    }

    /// A send that the gateway refused, for a token that it does not know.
    private func refusedSend() -> RequestStory {
        var story = pushWithToken()
        story.request.device = Self.token
        let body = #"{\"message\":{\"token\":\"\#(Self.token)\",\"da"#
        story.request.body = Array(#"{"op":"deliver","payload":{"body":"\#(body)"}}"#.utf8)
        story.invocations = [Sample.invocation(41, .swallowed, reason: "no such token")]
        story.invocations[0].result?.reasonCode = .refusedSend
        return story
    }

    @Test("a list reads at most 300 pushes, and goes on behind the last of them")
    func longestList() throws {
        let page = try Scene((1...310).map { Sample.handed($0) }).get("/").text
        #expect(page.contains("before=11\"") && !page.contains("before=10\""), "\(page.count)")
    }

    @Test("the address of the list names the push beside it, whose row alone is the chosen one")
    func chosen() throws {
        let scene = Scene((41...43).map { Sample.apart($0, Sample.handled($0)) })
        let newest = try scene.get("/").text
        #expect(newest.contains("href=\"/push/43\" aria-current=\"true\"") && newest.contains("/ #43</p>"))
        let other = try scene.get("/?query=device:pixel-1&push=41").text
        #expect(other.contains("href=\"/push/41\" aria-current=\"true\"") && other.contains("/ #41</p>"))
        #expect(other.split(separator: "class=\"row\"").filter { $0.prefix(60).contains("aria-current") }.count == 1)
        #expect(try scene.get("/?push=7").status == 200 && scene.get("/?push=x").status == 400)
    }

    @Test("a saved search has the number of pushes that it finds, and a sign where there are more")
    func counts() throws {
        let taps = (100...120).map { (seq: Int64) -> RequestStory in
            var tap = Sample.tap(seq)
            tap.invocations = [Sample.invocation(seq, .failed, handler: "crm")]
            return tap
        }
        let few = try Scene((1...3).map { Sample.handled($0, .failed) } + taps).get("/").text
        #expect(few.contains("Problems <b>3</b>") && !few.contains("Running <b>"))
        let many = try Scene((1...60).map { Sample.handled($0, .failed) }).get("/").text
        #expect(many.contains("Problems <b>50+</b>"))
        let ends: [Outcome] = [.notWoken, .handled, .swallowed, .failed, .duplicate, .unrouted]
        let unseen = ends.enumerated().map { Sample.handled(Int64($0.offset + 1), $0.element) }
        #expect(try Scene(unseen).get("/").text.contains("Not shown <b>3</b>"))
    }

    @Test("a report leads to the pushes that it names, and to those of a handler and of a campaign")
    func reportLinks() throws {
        let scene = Scene()
        scene.source.rows = [Outcome.timedOut, .handled].enumerated().map { number, outcome in
            ReportRow(
                invocation: Sample.invocation(Int64(41 + number), outcome, handler: "crm", exec: .seconds(1)),
                mode: .device, platform: .android, app: "shop", device: nil, id: nil, messageID: nil,
                acceptedAt: Sample.accepted)
        }
        let push = AnalyticsEvent.Push(campaignID: "spring", messageID: nil)
        scene.source.events = [Sample.event(41, 41, .received(push))]
        let report = try scene.get("/report").text
        for target in ["/push/41", "/push/42", "/?query=handler%3A%22crm%22"] {
            #expect(report.contains("href=\"\(target)\""), "\(target)")
        }
        #expect(try scene.get("/campaigns").text.contains("href=\"/?query=campaign%3A%22spring%22\""))
    }

    @Test("of the saved searches have a number: problems, refused sends, what runs, and what was not shown")
    func counted() throws {
        let push = AnalyticsEvent.Push(campaignID: "spring", messageID: "m46")
        var opened = Sample.handed(46)
        opened.events.append(Sample.event(47, 46, .open(push, button: nil)))
        var stories = [refusedSend(), opened]
        stories += [Sample.handled(42, .failed), Sample.handled(43, nil), Sample.handled(44, .notWoken)]
        let html = try Scene(stories).get("/").text
        let chips = try #require(html.firstMatch(of: /<nav class="chips"[^>]*>(.*?)<\/nav>/)).output.1
        let found = chips.matches(of: />([^<>]+?)(?: <b>(\d+)<\/b>)?<\/a>/).map {
            "\($0.output.1) \($0.output.2 ?? "-")"
        }
        #expect(
            found == ["All -", "Problems 2", "Refused sends 1", "Running 1", "Opened -", "Not shown 1"], "\(chips)")
    }

    @Test("a changed payload that is no JSON stays in its field, beside what is wrong with it")
    func editing() throws {
        let scene = Scene([Sample.handled()])
        #expect(try scene.get("/explain?push=41").text.contains("formaction=\"/push/41/send\""))
        let answer = try scene.post("/push/41/send", [("push", "41"), ("payload", "{\"half\": ")])
        #expect(answer.status == 400 && answer.text.contains("{&quot;half&quot;: </textarea>"), "\(answer.text)")
        #expect(answer.text.contains("role=\"alert\"") && scene.daemon.lines.isEmpty)
    }

    @Test("former addresses lead to the parts of the report")
    func moved() throws {
        for path in ["/lanes", "/handlers"] {
            let answer = try Scene().get(path)
            #expect(answer.status == 303 && answer.header("Location") == "/report#now")
        }
        #expect(try Scene().get("/report").text.contains("id=\"now\""))
    }

    @Test("the command names the address under which the page was asked for")
    func address() throws {
        let page = try Scene([Sample.handled()]).response(.test("GET", "/push/41", host: "[::1]:9999"))
        #expect(page.text.contains("http://[::1]:9999/api/pushes/41/send"), "\(page.text)")
    }

    @Test("commands and scenarios say that tokens in them are cut, and whole ones are not marked")
    func cutTokens() throws {
        let (cut, whole) = (Scene([pushWithToken()]), Scene([pushWithToken()], fullTokens: true))
        #expect(try cut.get("/push/41").text.contains("Push tokens are cut"))
        #expect(try cut.get("/push/41/scenario").text.hasPrefix(#"{"scenario":"push 41; its push tokens are cut""#))
        #expect(try !whole.get("/push/41").text.contains("Push tokens are cut"))
        #expect(try whole.get("/push/41/scenario").text.hasPrefix(#"{"scenario":"push 41","#))
    }

    @Test(
        "a token is nowhere whole, also not in a refused send, in whose body and in place of whose device it stands",
        arguments: ["/", "/push/41", "/push/41/file", "/push/41/scenario", "/api/pushes", "/api/pushes/41"])
    func masked(_ target: String) throws {
        for story in [pushWithToken(), refusedSend()] {
            #expect(try !Scene([story]).get(target).text.contains(Self.token), "\(target)")
        }
        #expect(try Scene([refusedSend()], fullTokens: true).get("/push/41").text.contains(Self.token))
    }

    @Test("the stream masks the token of a refused send as the list does")
    func maskedStream() throws {
        let scene = Scene()
        guard case .stream(let subscription) = scene.desk.answer(try .test("GET", "/events")) else {
            throw TestFailure("this is no stream")
        }
        var feeds = LiveFeeds(scene.desk)
        feeds.add(subscription, as: 1)
        scene.source.commit(refusedSend())
        guard case .part(let bytes)? = feeds.poll().first?.output else { throw TestFailure("nothing came") }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("\"seq\":41") && !text.contains(Self.token))
    }

    @Test("Explain repairs a fault with a remark, and reads the text of a web push once its platform is Web")
    func repairs() throws {
        let scene = Scene()
        let repaired = try scene.post(
            "/explain", [("payload", "{\"aps\":{\"alert\":{\"title\":\"Hi\"\n\"body\":\"x\"}}")])
        #expect(repaired.status == 200 && repaired.readable.contains("line 1: the comma at the end of this line is"))
        #expect(repaired.readable.contains("line 2: 1 closing bracket is missing"))
        let text = [("payload", "Your order is ready")]
        #expect(try scene.post("/explain", text).status == 400)
        let web = try scene.post("/explain", text + [("platform", "web")])
        #expect(web.status == 200 && web.readable.contains("the worker gets it by event.data.text()"))
        let empty = try scene.post("/explain", [("payload", ""), ("platform", "web")])
        #expect(empty.status == 200 && empty.readable.contains("without a body: event.data is null"))
    }

    @Test("Explain offers another platform, keeps the transport of a push, and says what an empty field lacks")
    func explaining() throws {
        let android = [("platform", "android"), ("payload", #"{"data":{"title":"Hi","body":"There"}}"#)]
        let scene = Scene()
        let page = try scene.post("/explain", android).text
        #expect(page.contains("name=\"as\" value=\"ios\">The same on iOS"))
        #expect(try scene.post("/explain", android + [("as", "ios")]).readable.contains("Why, on iOS"))
        for text in [" \n", "a,b\n1,2"] {
            let none = try scene.post("/explain", [("payload", text)])
            #expect(none.status == 400 && none.text.contains("There is no payload in this: paste a push"))
        }
        var story = Sample.handed()
        story.request.platform = .ios
        story.request.body = Array(
            (#"{"op":"deliver","transport":"apns","headers":{"apns-push-type":"background","apns-priority":"5"},"#
                + #""payload":{"aps":{"content-available":1}}}"#).utf8)
        let background = try Scene([story]).get("/explain?push=41")
        story.request.body = Array(
            (#"{"op":"deliver","transport":"apns","headers":{"apns-push-type":"alert"},"#
                + #""payload":{"aps":{"content-available":1}}}"#).utf8)
        let alert = try Scene([story]).get("/explain?push=41")
        #expect(background.status == 200 && background.readable != alert.readable, "the headers count")
        #expect(background.text.contains("<input type=\"hidden\" name=\"push\" value=\"41\">"))
    }

    @Test("a push lists the taps on it, also one that found no Braze instance, and no other push's")
    func taps() throws {
        var lost = Sample.tap(50)
        lost.invocations = [Sample.invocation(50, .sdkNotReady, provider: "braze")]
        var unmatched = Sample.tap(51, on: 42)
        unmatched.invocations = [Sample.invocation(51, .handedToTracker, provider: "braze")]
        unmatched.verdict = .unmatched
        let scene = Scene([Sample.handed(), Sample.handed(42), lost, unmatched])
        let first = try scene.get("/push/41").text
        #expect(first.contains("<a href=\"/push/50\">Tap</a>") && first.contains("Lost: no Braze instance was ready."))
        #expect(!first.contains("/push/51"))
        #expect(
            try scene.get("/push/42").text.contains("Not counted. Braze&#39;s SDK saw no such push on this device."))
        // The tap leads back, and its own verdict is no success.
        let tap = try scene.get("/push/51").text
        #expect(tap.contains("<dt>Of push</dt><dd><a href=\"/push/42\">") && !tap.contains("Braze has it"))
        #expect(tap.contains("<div class=\"verdict bad\">"), "\(tap)")
        // A dismissal counts nothing, so none is lost.
        unmatched.request.body = Array(#"{"op":"interact","kind":"dismissed","message":42,"device":"pixel-1"}"#.utf8)
        #expect(try Scene([unmatched]).get("/push/51").text.contains("<div class=\"verdict plain\">"))
    }

    @Test("a tap counts nothing of its own as opened")
    func tapIsNoPush() throws {
        var tap = Sample.tap(50)
        tap.events = [
            Sample.event(50, 41, .influencedOpen(AnalyticsEvent.Push(campaignID: "spring", messageID: "m41")))
        ]
        let list = try Scene([tap]).get("/?query=op%3Ainteract").text
        #expect(list.contains("<b>Tap</b>") && !list.contains(">opened</b>"))
    }

    @Test("Explain shows a token cut, and to send it again puts the whole one back")
    func sendingTokens() throws {
        let scene = Scene([pushWithToken()])
        let page = try scene.get("/explain?push=41").text
        #expect(!page.contains(Self.token) && page.contains(PushTokens.shortened(Self.token)))
        let changed = #"{"message":{"token":"\#(PushTokens.shortened(Self.token))","data":{"order_id":"1019"}}}"#
        #expect(try scene.post("/push/41/send", [("push", "41"), ("payload", changed)]).status == 303)
        #expect(scene.daemon.lines.count == 1 && scene.daemon.lines[0].contains(Self.token), "\(scene.daemon.lines)")
        #expect(scene.daemon.lines[0].contains("1019"))
    }

    @Test("the example without a Braze instance begins without one, and a choice has each word once")
    func examples() throws {
        let page = try Scene().get("/explain?example=no-braze-instance").text
        #expect(page.contains("<option value=\"nil\" selected>nil</option>"), "\(page)")
        let first = try Scene().get("/explain").text
        #expect(first.split(separator: ">background</option>").count == 2 && first.contains(">ready</option>"))
        #expect(first.split(separator: ">ready</option>").count == 2)
    }

    @Test("a push whose key is nearly the one of a route is no plain success")
    func near() throws {
        var story = Sample.handled()
        story.request.body = Array(#"{"op":"deliver","payload":{"data":{"orderId":"1018"}}}"#.utf8)
        let route = Route(
            name: "20-orders", match: RouteMatch(data: [.init(key: "order_id", pattern: nil)]), handler: "orders")
        let scene = Scene([story], table: RoutingTable(routes: [route], handlers: [:]))
        let page = try scene.get("/push/41").text
        #expect(
            page.contains("<div class=\"verdict warn\">") && page.contains("Route 20-orders did not match, but nearly:")
        )
        #expect(try Scene([story]).get("/push/41").text.contains("<div class=\"verdict good\">"))
        #expect(try scene.get("/").text.contains("<span class=\"how warn\">"), "the list says the same")
        #expect(try Scene([story]).get("/").text.contains("<span class=\"how good\">"))
        let api = try scene.get("/api/pushes/41").root
        #expect(api["push"]?["sentence"]?.string?.contains("Route 20-orders did not match, but nearly:") == true)
    }

    @Test("the list of problems is what its rows show in red")
    func problems() throws {
        let lost = Sample.handled(43, .shownBySystem)
        let scene = Scene([Sample.handled(), Sample.apart(1, Sample.handled(42, .failed)), Sample.apart(2, lost)])
        let all = try scene.get("/?each=1").text
        let red = all.split(separator: "<li id=").filter { $0.contains("class=\"how bad\"") }.map { $0.prefix(5) }
        let found = try scene.get("/?each=1&query=is:problem").text
        #expect(red.count == 1 && found.split(separator: "<li id=").dropFirst().map { $0.prefix(5) } == red)
        #expect(all.contains(">Problems <b>1</b></a>"), "\(all)")
    }

    @Test("an answer of Explain has a link that gives the same answer, as far as a link has room")
    func shared() throws {
        let scene = Scene()
        let fields = [
            ("platform", "android"), ("state", "terminated"), ("payload", #"{"_ab":"true","cid":"a&b \u00e9"}"#),
        ]
        let page = try scene.post("/explain", fields).text
        let end = try #require(page.split(separator: "<p><a href=\"/explain?").dropFirst().first)
        let link = try #require(end.split(separator: "\"").first).split(separator: "&amp;").joined(separator: "&")
        let same = try scene.get("/explain?\(link)").text
        func result(_ page: String) -> Substring? { page.split(separator: "<div id=\"result\"").dropFirst().first }
        #expect(result(same) == result(page) && result(page) != nil)
        let long = try scene.post(
            "/explain", [("payload", #"{"data":{"a":"\#(String(repeating: "x", count: 6000))"}}"#)])
        #expect(long.text.contains("The payload is too long for a link"))
    }

    @Test("Explain says why it leaves a platform out, and leaves no pasted payload out in silence")
    func leavesNothingOut() throws {
        let scene = Scene()
        func page(_ payload: String, _ platform: String = "") throws -> String {
            try scene.post("/explain", [("platform", platform), ("payload", payload)]).readable
        }
        #expect(try page(#"{"aps":{"alert":"A"}}"#).contains("Android is left out: it has an object aps"))
        #expect(try page(#"{"a":"b"}"#, "web").contains("iOS is left out: Web was chosen."))
        let both = try page(#"{"a":"b"}"#)
        #expect(
            both.contains("Nothing in it names a platform") && both.contains("iOS is left out: it has no object aps"))
        #expect(both.contains("Android, foreground") && both.contains("Web, terminated"))
        #expect(!both.contains("iOS, background"))
        #expect(both.contains("Why, on Android with") && both.contains("Why, on Web with"))
        let left = "This is the first of 2 payloads."
        #expect(try page("{\"_ab\":\"true\"}\n{\"_ab\":\"false\"}").contains(left))
        #expect(try page(#"[{"_ab":"true"},{"_ab":"false"}]"#).contains(left))
        #expect(try !page(#"{"_ab":"true"}"#).contains("This is the first of"))
        #expect(try !page("{\n\"_ab\":\"true\"\n}").contains("This is the first of"))
    }

    @Test("a saved file dates what is so now, and a page says which taps were not searched")
    func dated() throws {
        var story = Sample.handed()
        let id = ConfigurationID(digestOf: [1])
        story.configuration = DecidingConfiguration(
            ConfigurationPeriod(first: SequenceNumber(1), id: id, since: Sample.accepted), isInForce: true)
        let scene = Scene([story])
        scene.configurations.current.id = id
        #expect(try scene.get("/push/41").readable.contains("It is still in force."))
        let file = try scene.get("/push/41/file").readable
        #expect(!file.contains("still in force") && file.contains("when this file was made."), "\(file)")
        let taps = (42...241).map { Sample.tap(Int64($0), on: 7) }
        #expect(try !Scene([story] + taps.dropLast()).get("/push/41").readable.contains("were not searched"))
        #expect(try Scene([story] + taps).get("/push/41").readable.contains("were not searched: all of this device"))
    }

    @Test("a campaign has its name beside its id, in list, push and figures")
    func names() throws {
        let scene = Scene([Sample.handed()])
        scene.configurations.campaignNames = ["spring": "Spring <sale>"]
        #expect(try scene.get("/").text.contains("Spring &lt;sale&gt;"))
        let page = try scene.get("/push/41").readable
        #expect(
            page.contains("Its campaign is Spring <sale> (spring).") || page.contains("Spring &lt;sale&gt; (spring)"))
    }

    @Test("what is shared says what it needs: this machine, or a handler")
    func sharing() throws {
        let scene = Scene([Sample.handled()])
        #expect(try scene.get("/push/41").text.contains("The link and curl lead to this machine alone."))
        let elsewhere = try scene.response(.test("GET", "/push/41", host: "push.example.com")).text
        #expect(!elsewhere.contains("this machine alone") && elsewhere.contains("The scenario names crm:"))
        #expect(try !scene.get("/push/41/file").text.contains("<a href=\"/\">Pushes</a>"))
    }

    @Test("times are of one zone, which each page names")
    func zone() throws {
        let scene = Scene([Sample.handled()])
        #expect(try scene.get("/").text.contains("Times are of UTC"))
        #expect(try scene.get("/push/41").text.contains(">2026-11-24 12:00:00.000 UTC</time>"))
    }
}
