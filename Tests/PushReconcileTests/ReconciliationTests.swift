import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

private let head = "campaign_id,sent,direct_opens,total_opens\n"

/// The comparison of rows with a ledger's side.
private func reconciled(
    _ rows: String, names: String? = nil, idRule: CampaignIDRule = .raw, tapsMax: Int = LedgerSide.tapsMax,
    _ feed: (inout Feed) -> Void
) throws -> Reconciliation {
    let table = try export(rows.hasPrefix("campaign") ? rows : head + rows)
    var list = CampaignNames()
    if let names { try read(names, into: &list) }
    var fed = Feed(LedgerSide(beside: table, idRule: idRule, tapsMax: tapsMax))
    feed(&fed)
    return Reconciliation(table, fed.complete, names: list)
}

@Suite("An export beside the ledger")
struct ReconciliationTests {
    /// Pushes of the campaign spring, some of them tapped, some influenced.
    private func spring(_ count: Int, direct: Int = 0, influenced: Int = 0) -> (inout Feed) -> Void {
        { feed in
            for number in 0..<count {
                let push = feed.push("spring")
                if number < direct { feed.open(push, "spring") }
                if (direct..<direct + influenced).contains(number) { feed.session(push, "spring", at: 300) }
            }
        }
    }

    private func sentences(_ result: Reconciliation) -> [String] {
        result.campaigns.flatMap { $0.sentences.map { "\($0.sure): \($0.text) (\($0.query))" } }
    }

    @Test("has the figures of both sides, and no sentence where they agree")
    func agrees() throws {
        let result = try reconciled("spring,10,2,5\n", spring(10, direct: 2, influenced: 3))
        #expect(sentences(result).isEmpty)
        #expect(result.campaigns[0].coverage == "We saw 10 of 10 (100.0 %).")
        let text = result.lines(TextStyle()).map(\.text)
        #expect(
            text[0]
                == "1 of 1 campaign of the export is here; we saw 10 of their 10 pushes (100.0 %). Opens differ in 0 of 1."
        )
        let line = "  spring: sent 10 | seen here 10 | direct 2 / ours 2 | total 5 / ours 5"
        #expect(Array(text.suffix(3)) == ["", "No gap", line], "one line for it")
        #expect(text.contains { $0.hasPrefix("Headings") && $0.has("sent = \"sent\" (guessed)") })
    }

    @Test("lists 31 campaigns without a gap and ten names of others, and says how many more there are")
    func bounds() throws {
        for (count, others) in [(31, 10), (32, 11)] {
            let names = (0..<count).map { "c\($0)" }
            let result = try reconciled(names.map { "\($0),1,0,0\n" }.joined()) { feed in
                for name in names + (0..<others).map({ "other\($0)" }) { _ = feed.push(name) }
            }
            let text = result.lines(TextStyle()).map(\.text)
            #expect(text.count { $0.hasPrefix("  c") } == 31)
            #expect(text.contains("  1 campaign more: --format csv") == (count > 31))
            let here = text.first { $0.hasPrefix("Only here: other0, ") }
            #expect(here?.hasSuffix(" and 1 more") == (others > 10))
        }
    }

    @Test("says how few were seen before all else, and nothing about the rest")
    func fewSeen() throws {
        let result = try reconciled("spring,812,1,3\n", spring(5, direct: 2, influenced: 1))
        #expect(sentences(result).isEmpty)
        #expect(result.gaps(over: try #require(Percent("100"))) == ["spring: not compared: we saw 5 of 812"])
        let others = try reconciled("gone,3,0,0\nempty,0,0,0\n") { _ = $0.push("x") }
        #expect(others.gaps(over: try #require(Percent("100"))) == ["gone: not compared: we saw none of 3"])
        let text = result.lines(TextStyle()).map(\.text)
        let line = "  spring: sent 812 | seen here 5 | direct 1 / ours 2 | total 3 / ours 3"
        #expect(Array(text.suffix(3)) == ["", "Too few seen for a statement about the rest", line])
        #expect(text[0].hasSuffix("That is too little to compare opens."))
        // From 10 % on there is a comparison, of a platform, too.
        #expect(try reconciled("spring,50,0,0\n", spring(5)).campaigns.map(\.isBelowShare) == [false])
        #expect(try reconciled("spring,51,0,0\n", spring(5)).campaigns.map(\.isBelowShare) == [true])
        #expect(try reconciled("spring,500,0,0\n", spring(50)).campaigns.map(\.isBelowShare) == [false])
        #expect(try reconciled("spring,501,0,0\n", spring(50)).campaigns.map(\.isBelowShare) == [true])
        let head = "campaign_id,Channel,sent,direct_opens,total_opens\n"
        for (sent, count) in [(50, 0), (51, 1)] {
            let rows = "spring,android_push,10,0,0\nspring,ios_push,\(sent),0,0\n"
            let result = try reconciled(head + rows) { feed in
                spring(10)(&feed)
                for _ in 0..<5 { _ = feed.push("spring", .ios) }
            }
            #expect(result.campaigns.map(\.partsBelowShare.count) == [count])
        }
    }

    @Test("names missing direct opens with bounds, and not again the influenced opens that come in their place")
    func missing() throws {
        let whole = try reconciled("spring,10,1,5\n", spring(10, direct: 4, influenced: 1))
        #expect(
            sentences(whole) == [
                """
                possible: Braze lacks 3 direct opens of those made here: so does a dispatcher that passes no taps to \
                Braze; their sessions may count as influenced opens (campaign:spring is:opened)
                """
            ])
        let part = try reconciled("spring,12,1,5\n", spring(10, direct: 4, influenced: 1))
        #expect(part.campaigns[0].sentences[0].bounds == 3...4)
        #expect(part.campaigns[0].sentences[0].text.hasPrefix("Braze lacks between 3 and 4 direct opens"))
        #expect(part.campaigns[0].coverage.hasSuffix("2 that we did not see make each gap uncertain."))
        #expect(part.gaps(over: try #require(Percent("74%"))) == ["spring: a gap of 3 of 4 (75.0 %)"])
        #expect(part.gaps(over: try #require(Percent("75%"))).isEmpty)
        // Each of the six that were not seen may have been opened.
        #expect(sentences(try reconciled("spring,16,6,9\n", spring(10, direct: 4, influenced: 1))).isEmpty)
    }

    @Test("names direct opens that only Braze has, with the taps here that may be counted so")
    func extra() throws {
        let result = try reconciled("spring,10,6,6\n") { feed in
            spring(10, direct: 3)(&feed)
            feed.interaction(.duplicate, "spring")
            feed.interaction(.closed, "spring")
            feed.interaction(.closed, "spring")
        }
        #expect(
            sentences(result) == [
                """
                possible: Braze has 3 direct opens more than were made here: repeated taps (1 here), presses on a close \
                button (2 here), taps that nobody reported here, opens that SDK and app both log (campaign:spring \
                is:opened)
                """
            ])
    }

    @Test("compares each platform by itself: too many opens on one hide no missing ones on the other")
    func platforms() throws {
        let head = "campaign_id,Channel,sent,direct_opens,total_opens\n"
        let result = try reconciled(head + "spring,android_push,10,4,4\nspring,ios_push,10,0,0\n") { feed in
            for platform in [Platform.android, .ios] {
                for number in 0..<10 {
                    let push = feed.push("spring", platform)
                    if number < 2 { feed.open(push, "spring", platform) }
                }
            }
        }
        let texts = sentences(result)
        #expect(texts.count == 2)
        #expect(texts[0].has("Braze lacks 2 direct opens on iOS of those") && texts[0].has("platform:ios is:opened"))
        #expect(texts[1].has("Braze has 2 direct opens on Android more") && texts[1].has("platform:android"))
        #expect(result.gaps(over: try #require(Percent("30"))).count == 2)
        let seen = try reconciled(head + "spring,android_push,14,0,0\nspring,ios_push,18,0,0\n") { feed in
            for _ in 0..<20 { _ = feed.push("spring") }
            for _ in 0..<12 { _ = feed.push("spring", .ios) }
        }
        #expect(
            seen.campaigns[0].coverage.hasPrefix("We saw 26 of 32 (81.3 %; iOS: 12 of 18)"),
            "\(seen.campaigns[0].coverage)")
        #expect(sentences(seen)[0].hasPrefix("possible: 6 pushes on Android more here than the export has as sent"))
    }

    @Test("says of which platform no push came here, and of which one the export has no row")
    func missingPlatform() throws {
        let head = "campaign_id,Channel,sent,direct_opens,total_opens\n"
        let result = try reconciled(head + "spring,android_push,10,0,0\nspring,ios_push,8,3,3\n") { feed in
            for _ in 0..<10 { _ = feed.push("spring") }
            for _ in 0..<4 { _ = feed.push("spring", .web) }
        }
        #expect(
            sentences(result) == [
                """
                certain: 8 pushes of 8 on iOS never came here: opens on iOS are not compared (campaign:spring platform:ios)
                """,
                "certain: 4 pushes came here on the web, of which the export has no row (campaign:spring platform:web)",
            ], "\(sentences(result))")
        #expect(result.gaps(over: try #require(Percent("5"))) == ["spring: not compared on iOS: we saw 0 of 8"])
        // Two pushes of forty: a tap of one of them is no gap.
        let few = try reconciled(head + "spring,android_push,10,0,0\nspring,ios_push,40,0,0\n") { feed in
            for _ in 0..<10 { _ = feed.push("spring") }
            for _ in 0..<2 { feed.open(feed.push("spring", .ios), "spring", .ios) }
        }
        #expect(few.campaigns[0].sentences.map(\.code) == [.platformUnseen])
        let none = try reconciled(head + "spring,android_push,90,0,0\nspring,ios_push,90,0,0\n") { feed in
            _ = feed.push("spring")
        }
        #expect(sentences(none).isEmpty)
    }

    @Test("says that sessions are undecided, where Braze has more influenced opens, and their requests")
    func undecided() throws {
        let feed: (inout Feed) -> Void = { feed in
            for number in 0..<10 {
                let push = feed.push("spring")
                if number < 3 { feed.session(push, "spring", at: 60, isUndecided: true) }
                // Too late to count, and tapped.
                if number == 4 { feed.session(push, "spring", at: 6000, isUndecided: true) }
                if number == 5 {
                    feed.session(push, "spring", at: 60, isUndecided: true)
                    feed.open(push, "spring", at: 61)
                }
            }
        }
        let result = try reconciled("spring,10,1,4\n", feed)
        #expect(result.campaigns[0].sentences.map(\.code) == [.influencedExtra, .undecided])
        #expect(
            sentences(result)[0].has("Braze has 3 influenced opens more than are counted here: sessions that are unde"))
        #expect(
            sentences(result)[1] == """
                possible: 3 sessions after a push are undecided here: the daemon stopped before it decided, or waits for the \
                grace; each may count as an influenced open once it runs (id:3,6,9)
                """)
        #expect(result.gaps(over: try #require(Percent("5"))).count == 1)
        #expect(sentences(try reconciled("spring,10,1,1\n", feed)).isEmpty)
    }

    @Test("compares no opens that a form cannot have, and shows a dash for them")
    func lacking() throws {
        let line =
            #"{"event_type":"users.messages.pushnotification.Send","id":"%","time":5,"platform":"android","campaign_id":"spring"}"#
        let events = (0..<10).map { line.replacing("%", with: "\($0)") + "\n" }.joined()
        let table = try export(events + line.replacing("Send", with: "Open") + "\n")
        var fed = Feed(LedgerSide(beside: table))
        spring(10, direct: 3, influenced: 2)(&fed)
        let result = Reconciliation(table, fed.complete)
        #expect(result.campaigns[0].sentences.map(\.code) == [.directMissing])
        let text = result.lines(TextStyle()).map(\.text).joined(separator: "\n")
        #expect(text.has("sent 10 | seen here 10 | direct 1 / ours 3 | total - / ours 5\n"))
        #expect(text.has("braze.csv: events of Currents\n") && text.has("no figures for total: they are not compared"))
        #expect(result.csv.has("spring,spring,1970-01-01,android,10,0,10,10,1,3,,5\r\n"))
        let json = try JSONDocument(scanning: result.json).root
        #expect(json["campaigns"]?.elements.first?["total"]?.kind == .null)
    }

    @Test("tries no other window of influenced opens where there are too many pushes")
    func delaysBound() {
        var delays = SessionDelays(zone: .utc, pushesMax: 3)
        func add(_ number: Int64, _ content: AnalyticsEvent.Content) {
            delays.add(
                AnalyticsEvent(
                    id: UUID128(high: 1, low: 1), time: number, seq: SequenceNumber(number),
                    delivery: SequenceNumber(number), externalUserID: nil, deviceID: "d\(number % 2)", appID: "shop",
                    platform: .ios, content: content))
        }
        let push = AnalyticsEvent.Content.received(.init(campaignID: "spring", messageID: nil))
        for number in Int64(0)..<3 { add(number, push) }
        add(4, .sessionStart)
        #expect(!delays.isFull)
        #expect(delays.found(of: ["spring"], on: [.ios], in: nil).map(\.seconds).sorted() == [2, 4])
        add(5, push)
        add(7, .sessionStart)
        #expect(delays.isFull && delays.found(of: ["spring"], on: [.ios], in: nil).isEmpty)
    }

    @Test("passes no share where nothing was compared: a campaign that is not here, and rows that cannot be read")
    func notCompared() throws {
        let result = try reconciled("ghost,100,6,9\nspring,2,0,0\nspring,x,0,0\n", spring(2))
        #expect(
            result.gaps(over: try #require(Percent("100"))) == [
                "ghost: not compared: we saw none of 100", "not compared: 1 row that cannot be read",
            ])
        let text = result.lines(TextStyle()).map(\.text).joined(separator: "\n")
        #expect(text.has("100 pushes of 1 other never came here."))
        #expect(text.has("Only in the export: ghost: 100 sent, 6 direct, 9 in all"))
        #expect(result.csv.has("\r\nghost,,,,100,0,0,0,6,0,9,0\r\n"))
    }

    @Test("checks its tables: rows given twice, days beside sums, more direct opens than opens, another zone")
    func checks() throws {
        func checks(_ rows: String) throws -> String { try reconciled(rows, spring(2)).checks.joined(separator: "\n") }
        #expect(try checks("spring,2,0,0\n").isEmpty)
        #expect(try checks("spring,2,0,0\nspring,2,0,0\n").hasPrefix("1 row repeat"))
        #expect(try checks("spring,2,4,1\n").hasPrefix("1 row with more direct opens than opens in all"))
        let days = "campaign_id,Date,Channel,sent,direct_opens,total_opens\n"
        #expect(try checks(days + "spring,1970-01-02,ios_push,2,0,0\n").has("--timezone names the dashboard's zone"))
        #expect(
            try checks(days + "spring,1970-01-01,ios_push,2,0,0\nspring,1970-01-01,all,2,0,0\n")
                .has("a row of all platforms"))
    }

    @Test("joins by the name beside an id that is unknown, and proposes it with the id")
    func nameBesideID() throws {
        let head = "campaign_id,Campaign Name,sent,direct_opens,total_opens\n"
        let named = try reconciled(head + "11111111-1111,spring,10,0,0\n", spring(10))
        #expect(named.campaigns.map(\.ids) == [["spring"]] && named.campaigns[0].name == "11111111-1111")
        #expect(named.title(of: named.campaigns[0]) == "11111111-1111 (spring)")
        let near = try reconciled(head + "11111111-1111,SPRING!,10,0,0\n", spring(10))
        #expect(near.proposals.hasSuffix("\r\nspring,11111111-1111,SPRING!,the same letters and digits\r\n"))
    }

    @Test("withdraws \"certain\" where the export has what the ledger excludes")
    func contradicted() throws {
        let result = try reconciled("spring,8,3,3\n") { feed in
            let shown = Feed.line(cid: "spring", notification: #""notification":{"title":"T"},"#)
            for _ in 0..<8 { feed.row(.shownBySystem, shown) }
        }
        #expect(sentences(result)[0].hasPrefix("possible: Android showed 8 pushes by itself: Braze's SDK logs no open"))
    }

    @Test("names the window of influenced opens that fits, and another rule where none does")
    func influenced() throws {
        let late: (inout Feed) -> Void = { feed in
            for minutes in [1, 20, 50, 55, 300] {
                let push = feed.push("spring")
                feed.session(push, "spring", at: Int64(minutes) * 60, counts: minutes < 30)
            }
        }
        let wide = try reconciled("spring,5,0,4\n", late)
        #expect(
            sentences(wide) == [
                """
                possible: Braze has 2 influenced opens more than are counted here; InfluencedWindow=1h would give 4 here \
                (30min is set, and stays) (campaign:spring)
                """
            ])
        let narrow = try reconciled("spring,5,0,1\n", late)
        #expect(sentences(narrow)[0].has("lacks 1 influenced open of those counted here; InfluencedWindow=5min"))
        // As near to Braze's number on the other side is no better.
        let near: (inout Feed) -> Void = { feed in
            for minutes in [Int](repeating: 20, count: 19) + [50, 50] {
                let push = feed.push("spring")
                feed.session(push, "spring", at: Int64(minutes) * 60, counts: minutes < 30)
            }
        }
        let even = try reconciled("spring,21,0,20\n", near)
        #expect(sentences(even)[0].has("Braze has 1 influenced open more than are counted here: another rule"))
        let nearer = try reconciled("spring,21,0,21\n", near)
        #expect(sentences(nearer)[0].has("InfluencedWindow=1h would give 21 here"))
        let none = try reconciled("spring,5,0,3\n", late)
        #expect(sentences(none)[0].has("Braze has 1 influenced open more than are counted here: another rule"))
        let unlogged = try reconciled("spring,10,0,0\n", spring(10, influenced: 4))
        #expect(sentences(unlogged)[0].has("Braze lacks 4 influenced opens of those counted here: sessions that"))
    }

    @Test("is certain of what the ledger has: shown by Android, no instance, not Braze's, not woken")
    func certain() throws {
        let result = try reconciled("spring,14,0,0\n") { feed in
            spring(8)(&feed)
            let shown = Feed.line(cid: "spring", notification: #""notification":{"title":"T"},"#)
            feed.row(.shownBySystem, shown)
            feed.row(.shownBySystem, Feed.line(cid: "fall", notification: #""notification":{"title":"T"},"#))
            feed.row(.handled, Feed.line(cid: "spring", mark: #""_ab":"TRUE","#), provider: nil)
            feed.row(.ownReceiver, Feed.line(cid: "spring", mark: ""), provider: "onesignal")
            feed.row(.notWoken, Feed.line(cid: "spring"))
            let named = feed.row(.sdkNotReady, Feed.tap(message: "3"), .interact, .ios)
            #expect(named == SequenceNumber(3))
            feed.row(.sdkNotReady, Feed.tap(message: #""m5""#), .interact, .ios)
            feed.row(.sdkNotReady, Feed.tap(message: #""nobody's""#), .interact, .ios)
            feed.row(.sdkNotReady, Feed.line(cid: "spring"), .deliver, .ios)
        }
        #expect(result.campaigns[0].ours.seen == 12 && result.onlyHere == ["fall"])
        let texts = sentences(result)
        #expect(texts.count == 4 && result.campaigns[0].foremost.count == 3)
        #expect(
            texts[0] == """
                certain: Android showed 1 push by itself: no open of it can be in Braze (campaign:spring \
                outcome:shown_by_system)
                """)
        #expect(
            texts[1] == """
                certain: 2 taps came while the app had no Braze instance: Braze has no direct open of them, and a session \
                may count in its place (id:22,23)
                """)
        #expect(
            texts[2] == """
                certain: 2 pushes with the id of the campaign are not Braze's by the rule of its SDK: a handler or another \
                SDK took them (data.cid:spring -owner:braze)
                """)
        #expect(texts[3].hasPrefix("certain: 1 push did not wake the app, which was stopped: Braze never saw it (id:"))
        #expect(result.gaps(over: try #require(Percent("33"))).count == 2)
        for sentence in result.campaigns[0].sentences {
            _ = try PushQuery(sentence.query, now: WallTime(milliseconds: 0))
        }
    }

    @Test("keeps a bounded number of taps without an instance, and says how many it left out")
    func bound() throws {
        let result = try reconciled("spring,40,0,0\n", tapsMax: 4) { feed in
            spring(30)(&feed)
            for _ in 0..<3 {
                feed.row(.sdkNotReady, Feed.tap(message: "3"), .interact, .ios)
                feed.row(.sdkNotReady, Feed.tap(message: #""m5""#), .interact, .ios)
            }
        }
        #expect(sentences(result).contains { $0.hasPrefix("certain: 4 taps came while the app had no Braze instance") })
        let said = result.facts.contains { $0.text.hasPrefix("2 taps without a Braze instance beyond the first 4 ") }
        #expect(said, "\(result.facts)")
        let json = try JSONDocument(scanning: result.json).root
        #expect(json["taps_left_out"]?.int64 == 2)
    }

    @Test("a query names any campaign, and asks for all taps where they are too many to be named")
    func queries() throws {
        let odd = #"a "b"*,c:d\"#
        let query = try PushQuery("campaign:\(odd.asQueryValue)", now: WallTime(milliseconds: 0))
        #expect(query.terms.count == 1 && "spring-1".asQueryValue == "spring-1" && "Größe".asQueryValue == "\"Größe\"")
        guard case .patterns(.campaign, let patterns) = query.terms[0].condition else {
            Issue.record("\(query.text)")
            return
        }
        #expect(patterns.count == 1 && patterns[0].matches(odd) && !patterns[0].matches("a b"))
        let result = try reconciled("spring,40,0,0\n") { feed in
            spring(30)(&feed)
            for _ in 0..<21 { feed.row(.sdkNotReady, Feed.tap(message: "3"), .interact, .ios) }
        }
        #expect(result.campaigns[0].sentences.first?.query == "op:interact outcome:sdk_not_ready")
        let few = try reconciled("spring,40,0,0\n") { feed in
            spring(30)(&feed)
            for _ in 0..<20 { feed.row(.sdkNotReady, Feed.tap(message: "3"), .interact, .ios) }
        }
        #expect(few.campaigns[0].sentences.first?.query.hasPrefix("id:") == true)
    }

    @Test("joins by the id in the payload, its own part, the id of the API and the name, and several ids of one name")
    func joins() throws {
        let rows = "A-1,10,0,0\nSpring Sale,20,0,0\nsummer,5,0,0\nnowhere,1,0,0\nlisted,1,0,0\n"
        let list = "CID,name,api_id\nspring,Spring Sale,A-1\nspring2,Spring Sale,\ngone,listed,\n"
        let result = try reconciled(rows, names: list, idRule: .decode) { feed in
            for id in ["spring", "spring", "spring2", "c3VtbWVyXyRfYQ", "other"] { _ = feed.push(id) }
        }
        #expect(result.campaigns.map(\.ids) == [["spring"], ["spring", "spring2"], ["c3VtbWVyXyRfYQ"]])
        #expect(result.campaigns.map(\.ours.seen) == [2, 3, 1])
        #expect(result.onlyInExport == ["listed", "nowhere"] && result.onlyHere == ["other"])
        #expect(result.title(of: result.campaigns[0]) == "A-1 (spring, Spring Sale)")
        #expect(throws: ExportError.self) { try reconciled("a,1,1,1\n", names: "id,name\n1,2\n") { _ in } }
    }

    @Test("proposes pairs with the same letters and digits, and with figures like no other's, each with the reason")
    func proposals() throws {
        let rows =
            "Spring Sale!,100,0,0\nWelcome,20,3,4\nWin back,8,0,0\nOdd,9,0,0\n00000000-1111-2222-3333-444444444444,1,0,0\n"
        let result = try reconciled(rows) { feed in
            _ = feed.push("spring-sale")
            for number in 0..<20 {
                let push = feed.push("cid-7")
                if number < 3 { feed.open(push, "cid-7") }
                if number == 3 { feed.session(push, "cid-7", at: 300) }
            }
            // Two that are alike: neither is proposed.
            for id in ["x", "y"] { for _ in 0..<8 { _ = feed.push(id) } }
            for _ in 0..<400 { _ = feed.push("large") }
        }
        #expect(result.campaigns.isEmpty)
        #expect(
            result.proposals == """
                cid,api_id,name,why\r
                spring-sale,,Spring Sale!,the same letters and digits\r
                cid-7,,Welcome,sent and seen 20 and 20; direct 3 and 3; total 4 and 4\r

                """)
        #expect(result.proposalNote == "2 pairs proposed: check each one before you give it to --names")
        #expect(
            result.lines(TextStyle()).map(\.text).first?.hasPrefix("None of the 5 campaigns of the export is in")
                == true)
    }

    @Test("proposes no pair whose pushes came on a day on which the export has none", arguments: [0, 1])
    func daysOfProposals(onSecondDay count: Int) throws {
        let rows =
            "campaign_id,time,sent,direct_opens,total_opens\nWelcome,1970-01-01,20,0,0\nWelcome,1970-01-02,0,0,0\n"
        let result = try reconciled(rows) { feed in
            for number in 0..<20 { _ = feed.push("cid-7", at: number < count ? 86_400 : 0) }
        }
        #expect(result.proposals.contains("on the same 1 day") == (count == 0), "\(result.proposals)")
        #expect(result.proposals.contains("cid-7") == (count == 0))
    }

    @Test("has a row for each day and platform, in text, CSV, JSON and HTML")
    func formats() throws {
        let rows =
            "campaign_id,time,Channel,sent,direct_opens,total_opens\n=spring,1970-01-01,android_push,3,1,1\n"
            + "=spring,1970-01-02,android_push,1,0,0\n=spring,1970-01-01,ios_push,2,0,0\n"
        let result = try reconciled(rows) { feed in
            for number in 0..<3 {
                let push = feed.push("=spring")
                if number == 0 { feed.open(push, "=spring") }
            }
            _ = feed.push("=spring", at: 86_400)
            _ = feed.push("=spring", .ios, at: 5)
            // Days that the export does not have.
            _ = feed.push("=spring", at: 2 * 86_400)
        }
        #expect(
            result.csv == """
                campaign,cid,day,platform,sent,bounces,seen,received,direct,direct_ours,total,total_ours\r
                '=spring,'=spring,1970-01-01,android,3,0,3,3,1,1,1,1\r
                '=spring,'=spring,1970-01-01,ios,2,0,1,1,0,0,0,0\r
                '=spring,'=spring,1970-01-02,android,1,0,1,1,0,0,0,0\r

                """)
        let json = try JSONDocument(scanning: result.json).root
        let schema = try JSONDocument(scanning: Reconciliation.schema).root
        #expect(json.members.map(\.key) == schema["required"]?.elements.compactMap(\.string))
        let campaign = try #require(json["campaigns"]?.elements.first)
        #expect(campaign["seen"]?.int64 == 5 && campaign["rows"]?.elements.count == 3)
        let wanted = schema["properties"]?["campaigns"]?["items"]?["required"]?.elements.compactMap(\.string)
        #expect(campaign.members.map(\.key) == wanted)
        // A campaign without a gap has one line.
        #expect(result.lines(TextStyle()).last?.text.hasPrefix("  =spring: sent 6 | seen here 5 | ") == true)
        let more = "spring,1970-01-01,android_push,3,0,0\nspring,1970-01-02,android_push,1,0,0\n"
        let gap = try reconciled("campaign_id,time,channel,sent,direct_opens,total_opens\n" + more) { feed in
            for number in 0..<3 {
                let push = feed.push("spring")
                if number == 0 { feed.open(push, "spring") }
            }
            _ = feed.push("spring", at: 86_400)
        }
        #expect(
            gap.lines(TextStyle()).contains { $0.text.hasPrefix("  1970-01-02  android      1     1       0     0") })
        #expect(result.html.has("<code>") == false && result.html.has("By day and platform"))
        #expect(!result.html.has("<script") && result.html.has("5 of their 6 pushes"))
    }
}
