import Testing

@testable import PushModel
@testable import PushViews

/// Requests of which a query is asked.
enum Story {
    static let now = WallTime(milliseconds: 1_760_000_000_000)

    static func request(_ body: String = #"{"op":"deliver","payload":{"data":{"title":"Spring"}}}"#) -> AcceptedRequest
    {
        AcceptedRequest(
            seq: SequenceNumber(41), operation: .deliver, id: "order-7", peer: Peer(uid: 1000, gid: 100, pid: 1),
            acceptedAt: Moment(monotonic: Instant(nanoseconds: 0), wall: now), boot: UUID128(high: 1, low: 2),
            mode: .device, platform: .android, app: "com.example.shop", device: "pixel-1", externalID: "anna",
            messageID: "m41", state: .background, body: Array(body.utf8))
    }

    static func invocation(
        _ outcome: Outcome?, handler: String? = "crm", provider: String? = "onesignal", total: Duration = .seconds(1),
        n: Int = 0, code: ReasonCode = .notFinishedAtDeadline
    ) -> InvocationRecord {
        InvocationRecord(
            id: InvocationID(seq: SequenceNumber(41), n: n), callback: .onMessageReceived, provider: provider,
            route: handler.map { "50-\($0)" }, handler: handler, budget: .seconds(9), deadline: nil, started: true,
            result: outcome.map {
                InvocationResult(
                    outcome: $0, reason: "because", reasonCode: code, queue: .zero, exec: total,
                    total: total, completion: nil, decidedAt: now)
            })
    }

    static func event(_ content: AnalyticsEvent.Content, seq: Int64 = 41) -> AnalyticsEvent {
        AnalyticsEvent(
            id: UUID128(high: 1, low: 1), time: now.seconds, seq: SequenceNumber(seq), delivery: SequenceNumber(41),
            externalUserID: nil, deviceID: nil, appID: nil, platform: .android, content: content)
    }

    static func story(
        _ body: String? = nil, _ invocations: [InvocationRecord] = [invocation(.handled)],
        events: [AnalyticsEvent] = []
    ) -> RequestStory {
        RequestStory(request: body.map { request($0) } ?? request(), invocations: invocations, events: events)
    }
}

@Suite("The query language", .timeLimit(.minutes(30)))
struct QueryTests {
    private func query(_ text: String) throws(QueryError) -> PushQuery { try PushQuery(text, now: Story.now) }

    private func matches(_ text: String, _ story: RequestStory) throws -> Bool {
        try query(text).matches(PushFacts(story))
    }

    /// A story that a term matches, and one that it does not.
    private static let cases: [QueryWord: (term: String, yes: RequestStory, no: RequestStory)] = {
        let campaign = AnalyticsEvent.Push(campaignID: "spring", messageID: nil)
        let plain = Story.story()
        var cases: [QueryWord: (term: String, yes: RequestStory, no: RequestStory)] = [:]
        func changed(_ change: (inout AcceptedRequest) -> Void) -> RequestStory {
            var story = plain
            change(&story.request)
            return story
        }
        cases[.app] = ("app:com.example.*", plain, changed { $0.app = "org.other" })
        cases[.device] = ("device:pixel-?", plain, changed { $0.device = nil })
        cases[.user] = ("user:anna,bert", plain, changed { $0.externalID = "carla" })
        cases[.campaign] = ("campaign:spring", Story.story(events: [Story.event(.received(campaign))]), plain)
        cases[.id] = ("id:order-7", plain, changed { $0.id = nil })
        cases[.outcome] = ("outcome:handled", plain, Story.story(nil, [Story.invocation(.failed)]))
        cases[.handler] = ("handler:crm", plain, Story.story(nil, [Story.invocation(.handled, handler: "other")]))
        cases[.owner] = ("owner:none", Story.story(nil, [Story.invocation(.handled, provider: nil)]), plain)
        cases[.callback] = ("callback:onMessageReceived", plain, Story.story(nil, []))
        cases[.route] = ("route:50-*", plain, Story.story(nil, [Story.invocation(.handled, handler: nil)]))
        cases[.platform] = ("platform:android", plain, changed { $0.platform = .ios })
        cases[.op] = ("op:interact", changed { $0.operation = .interact }, plain)
        let sent = #"{"op":"deliver","payload":{},"sender":{"client":"fire-admin-python/7.7.0"}}"#
        cases[.client] = ("client:fire-admin*", Story.story(sent), plain)
        cases[.topic] = ("topic:news", Story.story(#"{"op":"publish","topic":"news","payload":{}}"#), plain)
        cases[.code] = ("code:not_finished_at_deadline", plain, Story.story(nil, []))
        let labelled = #"{"op":"deliver","payload":{"message":{"fcm_options":{"analytics_label":"a"}}}}"#
        cases[.label] = ("label:a", Story.story(labelled), plain)
        let order = #"{"op":"deliver","payload":{"message":{"data":{"order_id":"1018"}}}}"#
        cases[.data] = ("data.order_id:10*", Story.story(order), plain)
        cases[.has] = ("has:campaign", Story.story(events: [Story.event(.received(campaign))]), plain)
        cases[.is] = ("is:late", Story.story(nil, [Story.invocation(.timedOut)]), plain)
        cases[.before] = (
            "before:2025-10-10", changed { $0.acceptedAt.wall = WallTime(milliseconds: 0) },
            changed {
                $0.acceptedAt.wall = WallTime(milliseconds: Story.now.milliseconds + 1_000_000_000)
            }
        )
        cases[.after] = ("after:-1h", plain, changed { $0.acceptedAt.wall = WallTime(milliseconds: 0) })
        cases[.larger] = ("larger:20", plain, Story.story("{}"))
        cases[.slower] = ("slower:500ms", plain, Story.story(nil, [Story.invocation(.handled, total: .zero)]))
        return cases
    }()

    @Test(
        "has a push that each word finds and one that it does not, and takes its own example",
        arguments: QueryWord.allCases)
    func words(_ word: QueryWord) throws {
        let (term, yes, no) = try #require(Self.cases[word], "no case for \(word)")
        #expect(try matches(term, yes), "\(term)")
        #expect(try !matches(term, no), "\(term)")
        #expect(try !matches("-\(term)", yes) || word == .op, "-\(term)")
        #expect(try query(word.example).terms.count == 1)
    }

    @Test("without a term has every push, and nothing that is no push")
    func everything() throws {
        for (_, yes, no) in Self.cases.values {
            for story in [yes, no] {
                let isPush = PushFacts(story).isPush
                #expect(PushQuery.everything.matches(PushFacts(story)) == isPush)
                #expect(try matches("", story) == isPush)
            }
        }
        #expect(try !matches("", #require(Self.cases[.op]).yes))
    }

    @Test("holds all terms together, and either of two values")
    func together() throws {
        #expect(try matches("app:com.example.shop device:pixel-1 spring", Story.story()))
        #expect(try !matches("app:com.example.shop device:other", Story.story()))
        #expect(try matches("device:other,pixel-1 -is:dead", Story.story()))
        #expect(try matches("SPRING", Story.story()) && matches("\"spring\"", Story.story()))
        #expect(try matches("user:\"anna\"", Story.story()))
        // The name of a handler is in no request.
        #expect(try matches("Crm", Story.story()) && !matches("crm", Story.story(nil, [])))
        let number = Story.story(#"{"op":"deliver","payload":{"n":7,"k":{"a":"b"}}}"#)
        #expect(try matches("data.n:7", number) && !matches("data.n:8", number) && !matches("data.a:b", number))
        #expect(try query("  a   b ").text == "a b" && query("").isEverything)
    }

    @Test("looks at pushes alone, unless it names operations or an id")
    func pushesAlone() throws {
        var tap = Story.story()
        tap.request.operation = .interact
        #expect(try !matches("device:pixel-1", tap))
        #expect(try matches("device:pixel-1 op:interact,deliver", tap) && matches("id:41", tap))
    }

    @Test(
        "points at the word that is wrong, and says what is meant",
        arguments: [
            ("app:a ap:b", "ap:b", 7, "did you mean app:?"), ("outcome:timedout", "outcome:timedout", 1, "timed_out"),
            ("a \"b c", "\"b c", 3, "quotation mark"), ("before:soon", "before:soon", 1, "RFC 3339"),
            ("larger:x", "larger:x", 1, "larger:2k"), ("slower:fast", "slower:fast", 1, "slower:5s"),
            ("app:", "app:", 1, "app:com.example.shop"),
            ("data.k:", "data.k:", 1, "data.order_id:1018"), ("app:a,,b", "app:a,,b", 1, "needs a value"),
            ("https://x", "https://x", 1, "quotation marks"), ("before:1,2", "before:1,2", 1, "one value"),
            ("has:wings", "has:wings", 1, "notification"), ("\"\"", "\"\"", 1, "the query is empty"),
        ])
    func errors(_ text: String, word: String, column: Int, says: String) {
        #expect {
            try query(text)
        } throws: { error in
            let error = error as? QueryError
            return error?.word == word && error?.column == column && error?.message.contains(says) == true
        }
    }

    @Test("finds a push of Braze's that the system shows by the campaign of its payload: its open is lost")
    func lostOpen() throws {
        let body =
            #"{"op":"deliver","platform":"android","payload":{"message":{"token":"t","notification":{"title":"S"},"#
            + #""data":{"_ab":"true","cid":"spring","t":"S","a":"A"}}}}"#
        let shown = Story.invocation(.shownBySystem, handler: nil, provider: "braze", code: .brazeLost)
        #expect(try matches("campaign:spring has:campaign", Story.story(body, [shown])))
        #expect(PushFacts(Story.story(body, [shown])).losesOpen)
        // On iOS the SDK gets the tap of a push that the system shows.
        let counted = Story.invocation(.shownBySystem, handler: nil, provider: "braze")
        #expect(!PushFacts(Story.story(body, [counted])).losesOpen)
        #expect(try !matches("campaign:spring", Story.story(body, [Story.invocation(.handled)])))
    }

    @Test("is bounded in bytes and terms")
    func bounds() {
        #expect(throws: QueryError.self) { try query(String(repeating: "a", count: 4097)) }
        #expect(throws: QueryError.self) { try query(String(repeating: "a ", count: 65)) }
        #expect(throws: Never.self) { try query(String(repeating: "a ", count: 64)) }
    }

    @Test("tells since when, and which exact values, it asks for")
    func plans() throws {
        #expect(try query("after:2025-01-01 after:2025-02-01").since == WallTime(rfc3339: "2025-02-01T00:00:00Z"))
        #expect(try query("-before:2025-01-01").since != nil && query("-after:-1h").since == nil)
        #expect(try query("device:a,b outcome:failed,expired").indexed.map(\.count) == [2, 2])
        #expect(try query("device:a* -user:b platform:ios text").indexed.isEmpty)
    }
}

@Suite("A position in what comes", .timeLimit(.minutes(30)))
struct PositionTests {
    @Test("reads what it writes, and nothing else")
    func text() {
        let position = SourcePosition(
            last: SequenceNumber(9), event: 4,
            pending: [3, 8].map { InvocationID(seq: SequenceNumber($0), n: $0 == 3 ? 0 : 1) })
        #expect(position.description == "9.4.3-8_1" && SourcePosition("9.4.3-8_1") == position)
        #expect(SourcePosition("0.0") != nil)
        for text in ["", "9", "9.", "-1.0", "9.4.10", "9.4.a", "9.4.3-8.1", "9.4.0", "9.4.3_0", "9.4.3_", "9.4.3_1-3"] {
            #expect(SourcePosition(text) == nil, "\(text)")
        }
    }

    @Test("is before all that is undecided where that is too much to name")
    func many() {
        let pending = (100..<300).map { InvocationID(seq: SequenceNumber($0), n: 0) }
        #expect(SourcePosition(last: SequenceNumber(400), event: 4, pending: pending).description == "99.4")
    }
}

@Suite("A push in a line", .timeLimit(.minutes(30)))
struct SummaryTests {
    private func sentence(_ outcome: Outcome?, provider: String? = "braze", handler: String? = nil) -> String {
        let invocation = Story.invocation(outcome, handler: handler, provider: provider)
        return PushSummary(PushFacts(Story.story(nil, [invocation]))).sentence
    }

    @Test("says in a sentence what became of it, for each outcome")
    func sentences() {
        #expect(sentence(.handedToTracker) == "Braze has it.")
        #expect(sentence(.handled, provider: nil, handler: "crm") == "In time. Handler crm took 1 s of its 9 s.")
        #expect(sentence(nil, handler: "crm") == "Running. Handler crm has 9 s.")
        #expect(Set(Outcome.allCases.map { sentence($0) }).count == Outcome.allCases.count)
        var erased = Story.story("{}")
        #expect(PushSummary(PushFacts(erased)).sentence.hasPrefix("Erased"))
        erased.request.operation = .session
        erased.request.body = Array(#"{"op":"session","kind":"start"}"#.utf8)
        #expect(
            PushSummary(PushFacts(erased)).sentence
                == "Taken in. It is a request session of com.example.shop on pixel-1.")
    }

    @Test("has the members that are declared, in their order")
    func json() throws {
        let campaign = AnalyticsEvent.Push(campaignID: "spring", messageID: nil)
        let events = [Story.event(.received(campaign)), Story.event(.open(campaign, button: nil), seq: 50)]
        let push = PushSummary(PushFacts(Story.story(events: events)))
        let root = try JSONDocument(scanning: push.json).root
        #expect(root.members.map(\.key) == PushMember.allCases.map(\.rawValue))
        #expect(root["title"]?.string == "Spring" && root["opened"]?.string == "direct")
        #expect(root["campaign"]?.string == "spring" && root["total_ms"]?.int64 == 1000)
        for member in PushMember.allCases where !member.isOptional {
            #expect(root[member.rawValue]?.kind != .null, "\(member)")
        }
    }

    @Test("is told by the invocation that waits, else by one that failed")
    func main() {
        let story = Story.story(
            nil, [Story.invocation(.handled), Story.invocation(.timedOut, n: 1), Story.invocation(nil, n: 2)])
        #expect(PushSummary(PushFacts(story)).main?.id.n == 2)
        var decided = story
        decided.invocations.removeLast()
        #expect(PushSummary(PushFacts(decided)).main?.id.n == 1)
    }
}

@Suite("Times in words", .timeLimit(.minutes(30)))
struct TimeWordTests {
    @Test("are RFC 3339, dates, days, and how long ago")
    func words() {
        func time(_ text: String) -> Int64? { WallTime(inWords: text, now: Story.now)?.milliseconds }
        let now = Story.now.milliseconds
        #expect(time("now") == now && time("-90s") == now - 90_000 && time("-2d") == now - 172_800_000)
        #expect(time("today") == now / 86_400_000 * 86_400_000 && time("2025-01-01") == 1_735_689_600_000)
        for text in ["", "soon", "-1y", "-", "-h", "2025-13-01"] { #expect(time(text) == nil, "\(text)") }
    }
}

extension IndexedFact {
    /// The facts of a story, as the ledger's source indexes them.
    static func all(of story: RequestStory) -> [IndexedFact] {
        let request = story.request
        var facts: [(QueryWord, String?)] = [
            (.id, "\(request.seq)"), (.id, request.id), (.id, request.messageID), (.app, request.app),
            (.device, request.device), (.user, request.externalID),
        ]
        for event in story.events where event.seq == request.seq { facts.append((.campaign, event.push?.campaignID)) }
        for invocation in story.invocations {
            facts += [(.outcome, invocation.result?.outcome.rawValue), (.handler, invocation.handler)]
        }
        return facts.compactMap { word, value in value.map { IndexedFact(word, $0) } }
    }
}
