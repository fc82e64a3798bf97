import Testing

@testable import PushModel
@testable import PushViews

@Suite("A push in a sentence, and in JSON", .timeLimit(.minutes(30)))
struct SentenceTests {
    private func sentence(_ story: RequestStory) -> String { PushSummary(PushFacts(story)).sentence }

    /// Returns the sentences for an outcome. A new outcome needs words here.
    private func words(_ outcome: Outcome) -> String {
        switch outcome {
        case .handedToTracker: "Braze has it."
        case .handled: "In time. Handler crm took 1 s of its 9 s."
        case .failed: "Failed. Handler crm failed after 1 s. Because."
        case .timedOut: "Late. Handler crm was not finished after 9 s, and was stopped."
        case .expired: "Late. Handler crm was not started before its deadline of 9 s."
        case .unrouted: "No handler took it. No route matches the callback onMessageReceived."
        case .duplicate: "Dropped as a duplicate. Because."
        case .shownBySystem: "The system showed it. Because."
        case .notWoken: "The app was not woken. Because."
        case .swallowed: "Taken in without a callback. Because."
        case .ownReceiver: "Onesignal's own receiver took it. Because."
        case .sdkNotReady: "Lost: no Braze instance was ready. Because."
        }
    }

    @Test("the sentences about a push say its outcome", arguments: Outcome.allCases)
    func outcomes(_ outcome: Outcome) {
        #expect(sentence(Story.story(nil, [Story.invocation(outcome)])) == words(outcome))
    }

    @Test("say what the system showed in Braze's place, what the gateway refused, and what a push waited for")
    func others() {
        var shown = Story.invocation(.shownBySystem, handler: nil, code: .brazeLost)
        shown.callback = .none
        #expect(
            sentence(Story.story(nil, [shown]))
                == "Braze never saw it. The system showed it, and a tap on it is lost.")
        let push = AnalyticsEvent.Push(campaignID: "spring", messageID: nil)
        let button = AnalyticsEvent.Button(id: "later", action: nil)
        #expect(
            sentence(Story.story(nil, [shown], events: [Story.event(.open(push, button: button))]))
                .hasSuffix(" It was opened (direct, button later)."))
        #expect(
            sentence(Story.story(nil, [shown], events: [Story.event(.influencedOpen(push))]))
                .hasSuffix(" A session counts as its influenced open."))
        #expect(sentence(Story.story(nil, [])) == "Taken in. The request led to no invocation.")
        let refused = Story.story(
            #"{"op":"deliver","payload":{},"sender":{"answer":400,"reason":"BadTopic","cause":"no such app"}}"#,
            [Story.invocation(.swallowed, handler: nil, provider: nil, code: .refusedSend)])
        #expect(sentence(refused) == "The gateway refused it. Because. No such app.")
        var late = Story.invocation(.timedOut)
        late.result?.queue = .seconds(17)
        late.result?.ahead = 3
        late.result?.waitedFor = Predecessor(
            id: InvocationID(seq: SequenceNumber(23), n: 0), handler: "crm", took: .seconds(7))
        #expect(
            sentence(Story.story(nil, [late]))
                .hasSuffix("Before that it waited 17 s behind 3 others; the longest was #23, 7 s."))
    }

    @Test("say a wait from half a second on, and only before a call", arguments: [(499, false), (500, true)])
    func wait(milliseconds: Int64, isSaid: Bool) {
        var push = Story.invocation(.handled)
        push.result?.queue = .milliseconds(milliseconds)
        push.result?.exec = .milliseconds(1)
        #expect(sentence(Story.story(nil, [push])).contains("Before that it waited \(milliseconds) ms.") == isSaid)
        push.result?.exec = .zero
        #expect(!sentence(Story.story(nil, [push])).contains("waited"))
    }

    @Test("tells of a publish, of one without a count, of an erased one, and of what is no push")
    func operations() {
        var publish = Story.story(#"{"op":"publish","topic":"news","payload":{}}"#, [])
        publish.request.operation = .publish
        #expect(
            sentence(publish) == "Published. It is for topic news."
                && PushSummary(PushFacts(publish)).title == "topic news")
        publish.fanOut = FanOut(
            seq: publish.request.seq, members: 5, progress: FanOut.Progress(made: 3, leftOut: 1), devices: [])
        #expect(
            sentence(publish)
                == "Under way. It is for topic news, 5 devices: 3 deliveries made, 1 left out, 1 to come.")
        publish.fanOut?.progress.made = 4
        #expect(sentence(publish) == "Published. It is for topic news, 5 devices: 4 deliveries made, 1 left out.")
        publish.fanOut?.members = 0
        #expect(sentence(publish) == "Nobody is subscribed. It is for topic news.")
        publish.request.body = Array("{}".utf8)
        #expect(sentence(publish) == "Erased. The payload and the person's data are deleted.")
        for operation in [PushModel.Operation.session, .log, .topic, .device] {
            var story = Story.story(#"{"op":"x"}"#, [])
            story.request.operation = operation
            #expect(
                sentence(story) == "Taken in. It is a request \(operation.rawValue) of com.example.shop on pixel-1.")
        }
    }

    @Test("does without a payload, and with a line that cannot be read")
    func withoutPayload() throws {
        for body in [#"{"op":"deliver"}"#, #"{"op":"deliver","payload":7}"#, "{", "", "\u{FF}"] {
            let facts = PushFacts(Story.story(body))
            let push = PushSummary(facts)
            #expect(push.title.isEmpty && facts.content == nil && facts.sender == nil, "\(body)")
            #expect(try JSONDocument(scanning: push.json).root["title"]?.string == "")
            #expect(try !PushQuery("has:notification", now: Story.now).matches(facts))
        }
    }

    @Test("keeps the empty lines of a text, and shows a tab as four spaces")
    func lines() { #expect("a\n\n\tb\r\nc\n".shownLines == ["a", "", "    b", "c", ""]) }

    @Test("has exactly the declared members in JSON, each of its type, in their order, whatever the story has")
    func members() throws {
        var publish = Story.story(#"{"op":"publish","topic":"news","payload":{}}"#, [])
        publish.request.operation = .publish
        let stories =
            Outcome.allCases.map { Story.story(nil, [Story.invocation($0)]) }
            + [Story.story(nil, []), Story.story("{}"), Story.story(nil, [Story.invocation(nil)]), publish]
        for story in stories {
            let root = try JSONDocument(scanning: PushSummary(PushFacts(story)).json).root
            #expect(root.members.map(\.key) == PushMember.allCases.map(\.rawValue))
            for member in PushMember.allCases {
                let kind = try #require(root[member.rawValue]).kind
                let expected: JSONNode.Kind =
                    ["string": .string, "boolean": .bool, "object": .object][member.type] ?? .number
                #expect(kind == expected || member.isOptional && kind == .null, "\(member)")
            }
        }
    }
}

@Suite("The query language, its finer points", .timeLimit(.minutes(30)))
struct QueryDetailTests {
    private func query(_ text: String) throws -> PushQuery { try PushQuery(text, now: Story.now) }

    private func finds(_ text: String, _ body: String) throws -> Bool {
        try query(text).matches(PushFacts(Story.story(body)))
    }

    @Test("finds free text in any case of letters, and other letters as they were written")
    func text() throws {
        let body = #"{"op":"deliver","payload":{"data":{"title":"Grüße aus École: AB  c"}}}"#
        for text in ["grüße", "GRüßE", "\"aus École\"", "École", "cole", "\"ab  C\""] {
            #expect(try finds(text, body), "\(text)")
        }
        #expect(try !finds("grusse", body) && !finds("\"ab c\"", body) && !finds("-grüße", body))
    }

    @Test("means the same when its own text is read again")
    func again() throws {
        for text in ["\"a  b\" -app:\"x, y\"", "device:a,b  before:2025-01-01T10:00:00Z", "-\"-1\" is:dead"] {
            let first = try query(text)
            let second = try query(first.text)
            #expect(first.terms.count == second.terms.count && second.text == first.text)
            #expect("\(first.terms)" == "\(second.terms)", "\(first.text)")
        }
    }

    @Test("matches values case by case, with patterns, and with commas and colons in quotation marks")
    func values() throws {
        func finds(_ text: String, _ device: String) throws -> Bool {
            var story = Story.story()
            story.request.device = device
            return try query(text).matches(PushFacts(story))
        }
        #expect(try finds("device:pixel-[1-3]", "pixel-2") && !finds("device:pixel-[1-3]", "pixel-4"))
        #expect(try !finds("device:PIXEL-1", "pixel-1") && !finds("device:pixel", "pixel-1"))
        #expect(try finds("device:\"a,b\"", "a,b") && !finds("device:a,b", "a,b"))
        #expect(try finds("device:a:b", "a:b") && finds("device:\"a b\",c", "c"))
        #expect(try finds("device:none,pixel-*", "pixel-1") && !finds("-device:none,pixel-*", "pixel-1"))
    }

    @Test("counts times, sizes and spans from the right side of their bounds")
    func bounds() throws {
        var story = Story.story(nil, [Story.invocation(.handled, total: .seconds(5))])
        func finds(_ text: String) throws -> Bool { try query(text).matches(PushFacts(story)) }
        story.request.body = Array(repeating: 0x20, count: 2048)
        #expect(try finds("larger:2047") && !finds("larger:2k") && finds("-larger:2k") && !finds("larger:1m"))
        #expect(try !finds("slower:5s") && finds("slower:4999ms"))
        #expect(try finds("after:now") && !finds("before:now"))
        story.request.acceptedAt.wall = WallTime(milliseconds: Story.now.milliseconds - 3_600_000)
        #expect(try finds("after:-1h") && !finds("before:-1h") && finds("before:-59min") && !finds("after:-3599s"))
    }

    @Test("is as strict about numbers as about words")
    func badNumbers() {
        for text in [
            "larger:-1", "larger:k", "larger:2kk", "larger:99999999999999999999", "slower:", "slower:-1s",
            "after:-99999999h", "before:2025-02-30", "after:1,2", "App:a", "is:DEAD", "outcome:handled,nothing",
        ] {
            #expect(throws: QueryError.self, "\(text)") { try query(text) }
        }
    }
}
