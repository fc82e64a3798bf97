import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("The page of one push", .timeLimit(.minutes(30)))
struct SnapshotTests {
    /// The text between the tags of the main part, white space folded.
    private func shown(_ story: RequestStory) throws -> String {
        let scene = Scene([story])
        (scene.daemon.mayInject, scene.daemon.mayControl) = (false, false)
        let page = try scene.get("/push/\(story.request.seq)")
        try #require(page.status == 200)
        let main = try #require(page.text.split(separator: "<main id=\"main\">").last)
        var (text, isInTag) = ("", false)
        for character in try #require(main.split(separator: "</main>").first) {
            switch character {
            case "<":
                isInTag = true
                text.append(" ")
            case ">": isInTag = false
            default: if !isInTag { text.append(character) }
            }
        }
        for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
            text = text.split(separator: entity, omittingEmptySubsequences: false).joined(separator: character)
        }
        return text.split { $0.isWhitespace }.joined(separator: " ")
    }

    private static let facts =
        "Received 2026-11-24 12:00:00.000 UTC App com.example.shop Device pixel-1 User anna Platform Android "
        + "App was background"

    /// Whether a text has parts in this order.
    private func expect(_ text: String, _ parts: [String], _ place: SourceLocation = #_sourceLocation) {
        var rest = text[...]
        for part in parts {
            guard let found = rest.firstRange(of: part) else {
                Issue.record("\"\(part)\" is missing in, or comes too early in: \(text)", sourceLocation: place)
                return
            }
            rest = rest[found.upperBound...]
        }
    }

    @Test("tells of a Braze push: the picture, the answer, the facts, the path, and why")
    func handed() throws {
        expect(
            try shown(Sample.handed()),
            [
                "Android, pixel-1 the SDK shows it S com.example.shop · now Spring sale All must go",
                "Pushes / #41 Spring sale Braze has it. Its campaign is spring. A tap: direct open of campaign spring.",
                Self.facts, "Provider Braze Campaign spring", "Save as one HTML file", "--app-state background",
                "Its path Sender uid 1000 pid 4242 Decision Braze onMessageReceived Outcome Braze has it",
                "Why As the configuration decides today. A Braze push, visible, campaign spring; counts for influenced opens.",
                #"data._ab is exactly "true": the payload is Braze's"#,
                "data has both t and a, title and body: Braze's SDK shows a notification",
                "What runs onMessageReceived -> tracker of opens",
                "braze: the SDK's own test; source: braze-android-sdk",
                "Payload As JSON",
                "local.pushnotification.Received", "Request and answer Received line \(Sample.braze)",
            ])
    }

    @Test("tells of a push that a handler had in time, with its budget")
    func handled() throws {
        expect(
            try shown(Sample.handled()),
            [
                "if your code shows it", "The system shows nothing by itself: this text is in the data.",
                "News In time. Handler crm took 1.2 s of its 9 s.", Self.facts,
                "Decision your push onMessageReceived Handler crm 1.2 s of 9 s Outcome Handled after 1.2 s",
                "crm ran 1.2 s budget: 9 s from the call",
                "onMessageReceived: handled, handler crm by route 50-crm",
                "0 ms accepted 0 ms handler crm started 1200 ms handled",
            ])
    }

    @Test("tells of a push whose handler missed the deadline, with what it wrote")
    func timedOut() throws {
        var story = Sample.handled(41, .timedOut)
        story.attempts = [
            AttemptRecord(
                id: InvocationID(seq: SequenceNumber(41), n: 0), route: "50-crm", handler: "crm", asked: .zero,
                started: .milliseconds(3), ended: .milliseconds(1200), answer: .timedOut,
                output: ErrorOutput(Array("cannot reach <crm>\nat once\n".utf8)))
        ]
        expect(
            try shown(story),
            [
                "News Late. Handler crm was not finished after 9 s, and was stopped.", "Outcome Timed out",
                "0 ms accepted 3 ms handler crm started 1200 ms not finished at the deadline, killed 1200 ms timed_out",
                "crm wrote to standard error: cannot reach <crm> at once",
            ])
    }

    @Test("shows the wait apart from the call, which alone costs of the budget in device mode")
    func waited() throws {
        var story = Sample.handled()
        story.invocations[0].result?.queue = .seconds(26)
        story.invocations[0].result?.ahead = 3
        expect(
            try shown(story),
            [
                "In time. Handler crm took 1.2 s of its 9 s. Before that it waited 26 s behind 3 others.",
                "Lane waited 26 s 3 ahead on this device", "waited 26 s: costs none of the budget",
            ])
    }

    @Test("a page, its style and its scripts stay small")
    func budgets() throws {
        #expect(WebAsset.style.body.count <= 20 << 10)
        #expect(WebAsset.keys.body.count + WebAsset.live.body.count <= 8 << 10)
        let scene = Scene((1...60).map { Sample.apart($0, Sample.handed($0)) })
        let list = try scene.get("/").text
        #expect(list.utf8.count <= 60 << 10 && list.contains("id=\"p11\"") && !list.contains("id=\"p10\""))
        // The payload stands in it four times: as JSON, in its line, and in two commands.
        let payload = #"{"messageId":"m41","data":{"_ab":"true","cid":"spring","t":"Spring sale","a":"All must go"}}"#
        #expect(try scene.get("/push/41").text.utf8.count <= 12 << 10 + 4 * 2 * payload.utf8.count)
    }

    @Test(
        "says who shows it: the system, an SDK, the app's code, or nobody",
        arguments: [
            (Platform.android, #"{"data":{"_ab":"true","t":"Hi","a":"There"}}"#, "sdk"),
            (.android, #"{"data":{"title":"Hi","body":"There"}}"#, "app"),
            (.android, #"{"notification":{"title":"Hi"},"data":{"_ab":"true"}}"#, "system"),
            (.android, #"{"data":{"_ab":"true","sync":"1"}}"#, "nobody"), (.ios, #"{"aps":{"alert":"Hi"}}"#, "system"),
            (.ios, #"{"aps":{"content-available":1}}"#, "nobody"),
            (.web, #"{"cid":"spring","t":"Hi","a":"There","img":"https://x.example/i.png"}"#, "sdk"),
        ])
    func shower(_ platform: Platform, _ payload: String, _ by: String) throws {
        var story = Sample.handed()
        story.request.platform = platform
        story.request.body = Array(#"{"op":"deliver","platform":"\#(platform.rawValue)","payload":\#(payload)}"#.utf8)
        let shown = try #require(PushFacts(story).shown)
        #expect(shown.by.rawValue == by, "\(shown)")
        #expect((shown.content == nil) == (by == "nobody"))
        if platform == .web { #expect(shown.content?.title == "Hi" && shown.content?.image != nil) }
    }

    @Test("a file of it has its style within, and nothing to press or to load")
    func file() throws {
        let scene = Scene([Sample.handed()])
        let file = try scene.get("/push/41/file")
        #expect(file.header("Content-Disposition") == "attachment; filename=\"push-41.html\"")
        #expect(file.text.contains("<style>") && file.text.contains("Spring sale"))
        for other in ["<form", "<button", "<script", "href=\"/assets", "src="] {
            #expect(!file.text.contains(other), "\(other)")
        }
    }

    @Test("says of an erased push that it is erased, and has nothing to be sent again")
    func erased() throws {
        var story = Sample.handed()
        story.request.body = Array("{}".utf8)
        (story.request.device, story.request.externalID, story.request.id) = (nil, nil, nil)
        story.request.messageID = nil
        story.events = []
        let text = try shown(story)
        expect(text, ["/ #41 Erased Erased. The payload and the person's data are deleted."])
        #expect(!text.contains("curl") && !text.contains("Payload") && !text.contains("Device"))
        // Also for those who may act.
        #expect(try !Scene([story]).get("/push/41").text.contains("method=\"post\""))
    }

    @Test("says of a push in flight that it is, and of one that never was that there is none")
    func others() throws {
        #expect(try shown(Sample.handled(41, nil)).contains("Running. Handler crm has 9 s."))
        #expect(try Scene().get("/push/41").text.contains("There is no request 41; the last one is 0."))
    }
}
