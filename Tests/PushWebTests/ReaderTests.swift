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

    @Test("times are of one zone, which each page names")
    func zone() throws {
        let scene = Scene([Sample.handled()])
        #expect(try scene.get("/").text.contains("Times are of UTC"))
        #expect(try scene.get("/push/41").text.contains(">2026-11-24 12:00:00.000 UTC</time>"))
    }
}
