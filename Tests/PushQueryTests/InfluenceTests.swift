import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Why a push was not influenced", .timeLimit(.minutes(30)))
struct InfluenceTests {
    private static let braze = #"{"op":"deliver","payload":{"data":{"_ab":"true","cid":"spring","t":"T","a":"A"}}}"#

    /// A push of Braze's, and what began after it.
    private func facts(
        _ body: String = braze, _ session: SessionAfter? = SessionAfter.noSession, _ events: [AnalyticsEvent] = [],
        outcome: Outcome = .handedToTracker
    ) -> PushFacts {
        var story = Story.story(body, [Story.invocation(outcome, handler: nil, provider: "braze")], events: events)
        story.sessionAfter = session
        return PushFacts(story)
    }

    private func session(_ seconds: Int64, user: String? = "anna") -> SessionAfter {
        var event = Story.event(.sessionStart)
        event.time += seconds
        event.externalUserID = user
        return .began(event)
    }

    private func why(_ facts: PushFacts, _ change: (inout TrackerRules) -> Void = { _ in }) -> String? {
        var rules = TrackerRules()
        change(&rules)
        return facts.obstacleToInfluence(rules)
    }

    @Test("is told by what the push is")
    func push() {
        let silent = #"{"op":"deliver","payload":{"data":{"_ab":"true","cid":"spring"}}}"#
        let none = #"{"op":"deliver","payload":{"data":{"_ab":"true","t":"T","a":"A"}}}"#
        #expect(why(facts(none)) == "it names no campaign")
        #expect(why(facts(silent)) == "it is not displayed")
        let named = #"{"op":"deliver","app":"shop","payload":{"data":{"_ab":"true","cid":"spring","t":"T","a":"A"}}}"#
        #expect(
            why(facts(named)) { $0.appsWithoutCampaignEvents = [Glob("*shop")] } == "CampaignEventsOff= matches the app"
        )
        #expect(why(facts(outcome: .duplicate)) == "it is a repeat")
        #expect(why(PushFacts(Story.story(Self.braze))) == nil, "nobody looked for a session")
        #expect(why(facts(#"{"op":"deliver","payload":{"data":{"k":"v"}}}"#)) == nil, "it is not Braze's")
    }

    @Test("is told by the session that followed")
    func session() {
        let place = "com.example.shop on pixel-1"
        #expect(why(facts()) == "no session of \(place) began after it (the window is 30 min)")
        #expect(why(facts(Self.braze, .unknown)) == "no session of \(place) is among the 20,000 events after it")
        #expect(
            why(facts(Self.braze, session(7200)))
                == "the next session began 2 h later (the window is 30 min)")
        #expect(
            why(facts(Self.braze, session(60, user: "berta")))
                == "the session that began 1 min later is of the user berta, and the push is for anna")
        #expect(
            why(facts(Self.braze, session(60, user: nil)))
                == "the session that began 1 min later is without a user, and the push is for anna")
        #expect(
            why(facts(Self.braze, session(60))) { $0.influencedCredit = .latest }
                == "a later push has the session that began 1 min later (InfluencedCredit=latest)")
        #expect(why(facts(Self.braze, session(60)))?.contains("has not counted it: its decision is to come") == true)
    }

    @Test("is no question where an open counts")
    func opened() {
        let push = AnalyticsEvent.Push(campaignID: "spring", messageID: nil)
        #expect(why(facts(Self.braze, session(60), [Story.event(.influencedOpen(push), seq: 42)])) == nil)
        #expect(why(facts(Self.braze, session(60), [Story.event(.open(push, button: nil), seq: 42)])) == nil)
        let close = AnalyticsEvent.Button(id: "later", action: .close)
        #expect(why(facts(Self.braze, .noSession, [Story.event(.open(push, button: close), seq: 42)])) != nil)
    }
}

@Suite("A list of pushes in a terminal", .timeLimit(.minutes(30)))
struct ListingTests {
    private let loud = PushSummary(PushFacts(Story.story(nil, [Story.invocation(.failed)])))
    private let silent = PushSummary(
        PushFacts(Story.story(#"{"op":"deliver","payload":{"data":{"order_id":"=1"}}}"#)))

    @Test("has a line for each push, with the text that a person read, and problems in red")
    func lines() {
        let lines = PushListing.lines([loud, silent], in: .utc, TextStyle())
        #expect(lines.map(\.tone) == [.heading, .bad, .plain])
        #expect(
            lines[0].text.split(separator: " ").map(String.init) == [
                "Seq", "Accepted", "Push", "Device", "Became", "By",
            ])
        #expect(lines[1].text.contains("  Failed") && lines[1].text.contains("crm · 1 s"), "\(lines[1].text)")
        #expect(lines[2].text.contains("  Silent push: order_id  pixel-1  Handled  "), "\(lines[2].text)")
        let narrow = PushListing.lines([loud, silent], in: .utc, TextStyle(width: 60))
        #expect(narrow.allSatisfy { $0.text.count <= 60 } && narrow.count > 3)
    }

    @Test("has the members of the API as columns, without a formula")
    func csv() {
        #expect(PushListing.csvHeader.hasPrefix("seq,accepted_at,op,platform,app,device,external_id,id,message_id,"))
        let row = PushListing.csv(loud)
        #expect(
            row.hasPrefix("41,2025-10-09T08:53:20Z,deliver,android,com.example.shop,pixel-1,anna,order-7,m41,"),
            "\(row)")
        #expect(row.split(separator: "\r\n").count == 1 && row.hasSuffix("\r\n"))
        #expect(row.contains(",crm,50-crm,failed,not_finished_at_deadline,1000,9000,false,,,false,,0,,"), "\(row)")
    }

    @Test("is:problem is what is in red, and may have one of its outcomes alone", arguments: Outcome.allCases)
    func problems(outcome: Outcome) throws {
        let query = try PushQuery("is:problem", now: Story.now)
        for code in [ReasonCode.owner, .brazeLost, .refusedSend] {
            let facts = PushFacts(Story.story(nil, [Story.invocation(outcome, code: code)]))
            let isRed = PushSummary(facts).verdict.tone == .bad
            #expect(query.matches(facts) == isRed)
            if isRed { #expect(query.indexed[0].contains { $0.value == outcome.rawValue }, "\(outcome)") }
        }
        #expect(try PushQuery("-is:problem", now: Story.now).indexed.isEmpty)
        #expect(try PushQuery("is:problem,late", now: Story.now).indexed.isEmpty)
        #expect(try PushQuery("op:interact is:problem", now: Story.now).indexed.count == 0)
    }
}

@Suite("The answer to a session's start or end", .timeLimit(.minutes(30)))
struct SessionAnswerTests {
    private static let key = DeviceKey(app: "com.example.shop", device: "pixel-1")

    private func session(number: Int64, endedBy: Int64? = nil) -> SessionRow {
        SessionRow(
            number: SequenceNumber(number), key: Self.key, platform: .android, externalID: "anna", startedAt: Story.now,
            end: endedBy.map { .init(at: Story.now, by: SequenceNumber($0), due: Story.now) }, since: Story.now)
    }

    @Test("has in JSON the session, and what it counts for, each with its number")
    func json() throws {
        let push = AnalyticsEvent.Push(campaignID: "spring", messageID: nil)
        var influenced = Story.event(.influencedOpen(push))
        influenced.delivery = SequenceNumber(39)
        var answer = SessionAnswer(Story.story(#"{"op":"session"}"#, [], events: [influenced]))
        answer.add(session(number: 41))
        var other = Story.story(
            #"{"op":"deliver","payload":{"data":{"_ab":"true","cid":"spring"}}}"#,
            [Story.invocation(.handedToTracker, handler: nil, provider: "braze")])
        other.request.seq = SequenceNumber(40)
        answer.add(PushFacts(other), TrackerRules())
        answer.isDecided = false
        #expect(
            String(decoding: answer.json, as: UTF8.self)
                == #"{"seq":41,"session":"began","began_at":"2025-10-09T08:53:20Z","decided":false,"influenced":[39],"#
                + #""not_influenced":[{"seq":40,"why":"it is not displayed"}],"#
                + #""custom_events_waiting":{"pending":0,"queued":0,"claimed":0,"unknown":0}}"#)
    }

    @Test("names at most ten pushes that it does not influence")
    func longest() throws {
        var answer = SessionAnswer(Story.story(#"{"op":"session"}"#, []))
        answer.add(session(number: 41))
        for number in 20...31 as ClosedRange<Int64> {
            var other = Story.story(
                #"{"op":"deliver","payload":{"data":{"_ab":"true","cid":"spring"}}}"#,
                [Story.invocation(.handedToTracker, handler: nil, provider: "braze")])
            other.request.seq = SequenceNumber(number)
            answer.add(PushFacts(other), TrackerRules())
        }
        let root = try JSONDocument(scanning: answer.json).root
        #expect(root["not_influenced"]?.elements.map { $0["seq"]?.int64 } == (20...29).map { $0 })
    }

    @Test(
        "says whether a session began, goes on or ended, and that nothing changed where there is none",
        arguments: [
            (41, nil, "began", "a session began"),
            (7, nil, "continues", "continues the session of 2025-10-09 08:53:20"),
            (7, 41, "ended", "ended the session of 2025-10-09 08:53:20"),
            (7, 12, "nothing", "changed nothing: no session was open"),
            (nil, nil, "nothing", "changed nothing: no session was open"),
        ] as [(Int64?, Int64?, String, String)])
    func effects(_ number: Int64?, _ endedBy: Int64?, _ word: String, _ sentence: String) throws {
        var answer = SessionAnswer(Story.story(#"{"op":"session"}"#, []))
        if let number { answer.add(session(number: number, endedBy: endedBy)) }
        let root = try JSONDocument(scanning: answer.json).root
        #expect(root["session"]?.string == word && root["seq"]?.int64 == 41 && root["decided"]?.bool == true)
        #expect((root["began_at"]?.kind == .null) == (word == "nothing"))
        #expect(root["influenced"]?.count == 0 && root["not_influenced"]?.count == 0)
        let text = answer.text(in: .utc)
        #expect(text.hasPrefix("seq 41  \(sentence)"), "\(text)")
        #expect((answer.candidates != nil) == (word == "began"))
    }
}
