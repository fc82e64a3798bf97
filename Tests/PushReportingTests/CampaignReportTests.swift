import Testing

@testable import PushModel
@testable import PushViews

@Suite("The report of campaigns")
struct CampaignReportTests {
    private func report(
        _ events: [AnalyticsEvent], window: ReportWindow = ReportWindow(), campaign: String? = nil,
        by field: EventField? = nil, rule: CampaignIDRule = .raw, zone: LocalZone = .utc
    ) -> CampaignReport {
        var report = CampaignReport(
            window: window, selection: .init(campaign: campaign, field: field, idRule: rule), zone: zone)
        for event in events { report.add(event) }
        return report
    }

    private func json(_ report: CampaignReport) throws -> JSONNode { try JSONDocument(scanning: report.json).root }

    @Test(
        "takes the campaign's own part out of an id in base64 of either alphabet, with any digit",
        arguments: [
            // Written by Python's base64; the first two have all 64 digits.
            (
                "NW4sSitHQVl2dz0nfE1oXjJ6cCFOKUpbT3Z8akRqLywxeGIvYDhgUm57P1M9JzArLTBuOTk+TmE/XyRfeA==",
                "5n,J+GAYvw='|Mh^2zp!N)J[Ov|jDj/,1xb/`8`Rn{?S='0+-0n99>Na?"
            ),
            (
                "NW4sSitHQVl2dz0nfE1oXjJ6cCFOKUpbT3Z8akRqLywxeGIvYDhgUm57P1M9JzArLTBuOTk-TmE_XyRfeA",
                "5n,J+GAYvw='|Mh^2zp!N)J[Ov|jDj/,1xb/`8`Rn{?S='0+-0n99>Na?"
            ),
            ("YV8kXw==", "a"), ("YV8kXw", "a"), ("YV8kXw=", "a"), ("XyRfYQ==", nil), ("YV8k", nil), ("YV8kX", nil),
            ("YV8kXw==A", nil), ("YV8k.w==", nil), ("", nil),
        ] as [(String, String?)])
    func parts(_ id: String, _ part: String?) { #expect(campaignPart(of: id) == part) }

    @Test("counts receipts, and the people who received one")
    func received() {
        let total = report([
            event(.received, 1), event(.received, 2), event(.received, 3, user: "berta"),
            event(.received, 4, user: nil), event(.received, 5, user: nil, device: "anna"),
            event(.received, 6, user: nil, device: nil), event(.received, 7, campaign: nil),
        ]).total
        #expect(total.received == 6)
        #expect(total.uniqueRecipients == 4, "anna, berta, a device pixel and one called anna")
    }

    @Test("leaves out the example of pushctl dev, with a word, unless it is the selected one")
    func exampleOfDev() {
        let events = [event(.received, 1), event(.received, 2, campaign: CampaignReport.exampleCampaign)]
        let all = report(events)
        #expect(all.total.received == 1)
        #expect(all.answer.hasSuffix(" The example of pushctl dev is left out."))
        #expect(!report([event(.received, 1)]).answer.contains("example"))
        #expect(report([events[1]]).text.contains("No campaign's push was received or opened. The example of"))
        #expect(report(events, campaign: CampaignReport.exampleCampaign).total.received == 1)
    }

    @Test("shows the name that a person gave beside the id, in each format")
    func names() throws {
        var report = report([event(.received, 1), event(.received, 2, campaign: "fall")])
        #expect(!report.csv.contains("name"))
        report.names = ["summer": "Summer, all"]
        #expect(report.text.contains("\nSummer, all (summer)  ") && report.text.contains("\nfall  "))
        #expect(report.csv.contains("\r\nsummer,\"Summer, all\",1,") && report.csv.contains("\r\nfall,,1,"))
        #expect(report.html.contains("Summer, all (summer)"))
        let campaigns = try json(report)["campaigns"]?.elements
        #expect(campaigns?.map { $0["name"]?.string } == [nil, "Summer, all"])
    }

    @Test("counts body and buttons, a button that closes as a click only")
    func clicks() {
        let total = report([
            event(.open, 1), event(.open, 2, action: .uri, button: "buy"),
            event(.open, 3, action: ButtonAction.none, button: "app"), event(.open, 4, action: .close, button: "later"),
            event(.open, 4, action: .close, button: "never"), event(.open, 5, action: .uri, button: "buy"),
        ]).total
        #expect(total.directOpens == 4 && total.totalOpens == 4 && total.bodyClicks == 1)
        #expect(total.buttonClicks[.init(id: "buy", action: "uri")] == 2)
        #expect(total.buttonClicks[.init(id: "later", action: "close")] == 1)
        #expect(total.buttonClicks.values.reduce(0, +) == 5)
    }

    @Test("an open after a closing button, and a direct one after an influenced one, count a push once")
    func once() {
        let total = report([
            event(.influencedOpen, 1), event(.open, 1), event(.open, 2, action: .close, button: "later"),
            event(.open, 2), event(.influencedOpen, 3),
        ]).total
        #expect(total.influencedOpens == 2 && total.directOpens == 2)
        #expect(total.influencedAndDirect == 1 && total.totalOpens == 3)
    }

    @Test(
        "counts neither sessions nor tokens nor custom events (T13)",
        arguments: [.iosForeground, .sessionStart, .sessionEnd, .tokenStateChange, .uninstall, .customEvent]
            as [AnalyticsEvent.Kind])
    func others(kind: AnalyticsEvent.Kind) { #expect(report([event(kind)]).campaigns.isEmpty) }

    @Test("covers its window, the first instant in and the last one out")
    func window() {
        let window = ReportWindow(since: WallTime(milliseconds: 10_000), until: WallTime(milliseconds: 20_000))
        var report = report([9, 10, 19, 20].map { event(.received, $0, at: $0) }, window: window)
        #expect(report.total.received == 2)
        for time in [9_999, 10_000, 19_999, 20_000] as [Int64] {
            report.add(interaction(.unattributed, at: time), campaign: nil)
        }
        #expect(report.unattributed == 2)
    }

    @Test("of one campaign leaves out other campaigns, and events without one")
    func selected() {
        var report = report([event(.received, 1), event(.received, 2, campaign: "fall")], campaign: "fall")
        report.add(interaction(.unattributed), campaign: nil)
        report.add(interaction(.duplicate), campaign: "summer")
        report.add(interaction(.duplicate), campaign: "fall")
        report.add(row(1, .shownBySystem, provider: "braze"), campaign: "summer")
        report.add(row(2, .shownBySystem, provider: "braze"), campaign: nil)
        #expect(report.campaigns.keys.sorted() == ["fall"] && report.total.received == 1)
        #expect(report.verdicts == [.duplicate: 1] && report.lost.byDay.isEmpty)
    }

    @Test(
        "gives the reason of each lost open",
        arguments: [
            (row(1, .sdkNotReady, provider: "braze", platform: .ios), nil),
            (row(1, .shownBySystem, provider: "braze"), .shownBySystem),
            (row(1, .shownBySystem, provider: "braze", platform: .ios), nil),
            (row(1, .shownBySystem, provider: "onesignal"), nil), (row(1, .handedToTracker, provider: "braze"), nil),
            (row(1, nil, provider: "braze"), nil), (row(1, .shownBySystem, provider: "braze", isObserver: true), nil),
        ] as [(ReportRow, LostOpens.Reason?)])
    func lost(row: ReportRow, loss: LostOpens.Reason?) {
        var report = report([])
        report.add(row, campaign: "summer")
        for each in LostOpens.Reason.allCases { #expect(report.lost.count(each) == (each == loss ? 1 : 0)) }
    }

    @Test("counts taps without a Braze instance beside the campaigns, and for no selected one")
    func tapsWithoutInstance() throws {
        var report = report([event(.received)])
        report.add(tapWithoutInstance: row(1, .sdkNotReady, platform: .ios))
        report.add(tapWithoutInstance: row(2, .sdkNotReady, platform: .ios, isObserver: true))
        #expect(report.tapsWithoutInstance == 1)
        #expect(
            report.answer.contains("1 tap came while the app had no Braze instance: Braze has no direct open of it."))
        #expect(report.text.contains("1  taps while the app had no Braze instance: open lost (sdk_not_ready)"))
        #expect(report.html.contains("taps without an instance 1"))
        #expect(try JSONDocument(scanning: report.json).root["taps_without_instance"]?.int64 == 1)
        var fall = self.report([event(.received)], campaign: "summer")
        fall.add(tapWithoutInstance: row(1, .sdkNotReady, platform: .ios))
        #expect(fall.tapsWithoutInstance == 0)
    }

    @Test("counts a tap on an unknown push as a lost open")
    func unmatched() {
        var report = report([])
        report.add(interaction(.unmatched, nil), campaign: nil)
        #expect(report.lost.count(.unmatched) == 1 && report.unattributed == 0)
        report.add(interaction(.unmatched, nil), campaign: nil, isLostOpen: false)
        #expect(report.lost.count(.unmatched) == 1 && report.verdicts[.unmatched] == 2, "a dismissal is no open")
    }

    @Test(
        "groups by the campaign's own part of an id, with the rule decode only",
        arguments: [
            ("c3VtbWVyXyRfY2M9MSZtdj0y", "summer"), ("c3VtbWVyXyRf", "summer"), ("c3VtbWVyXyRfYQ==", "summer"),
            ("c3VtbWVyXyRfYQ", "summer"), ("w7xfJF8_", "ü"), ("XyRfYQ==", nil), ("summer_$_cc=1", nil),
            ("c3VtbWVy", nil), ("65f1c0ffee00", nil), ("c", nil), ("", nil), ("_18kXw==", nil),
        ] as [(String, String?)])
    func decoded(id: String, part: String?) {
        let events = [event(.received, campaign: id)]
        #expect(report(events).parts.isEmpty)
        #expect(report(events, rule: .decode).parts.keys.first == part)
        #expect(report(events, rule: .decode).campaigns.keys.first == id, "the raw one stays")
        #expect(report(events, campaign: part ?? "-", rule: .decode).total.received == (part == nil ? 0 : 1))
    }

    @Test(
        "days begin in the zone, before 1970 too",
        arguments: [(0, "1970-01-01"), (-1, "1969-12-31"), (86_399, "1970-01-01"), (-86_401, "1969-12-30")]
            as [(Int64, String)])
    func days(ahead: Int64, day: String) throws {
        let zone = LocalZone(name: "XXX") { _ in ahead }
        let root = try json(report([event(.received)], zone: zone))
        #expect(root["by_day"]?.elements.first?["day"]?.string == day)
        #expect(root["time_zone"]?.string == "XXX")
    }

    @Test("groups figures by any field; events without it come last, as null", arguments: EventField.allCases)
    func fields(field: EventField) throws {
        let events = [
            event(.open, 1, campaign: "a", user: nil, device: nil, app: nil),
            event(.open, 2, at: 86_400, campaign: "b", platform: .ios, action: .uri, button: "buy"),
        ]
        let by = try #require(try json(report(events, by: field))["by"])
        #expect(by["field"]?.string == field.rawValue)
        let names = (by["groups"]?.elements ?? []).map { $0[field.rawValue]?.string }
        let expected: [String?] =
            switch field {
            case .day: ["1970-01-01", "1970-01-02"]
            case .platform: ["android", "ios"]
            case .campaignID: ["a", "b"]
            case .messageID: ["m1", "m2"]
            case .appID: ["shop", nil]
            case .externalUserID: ["anna", nil]
            case .deviceID: ["pixel", nil]
            case .buttonString: ["buy", nil]
            case .buttonActionType: ["uri", nil]
            }
        #expect(names == expected)
    }

    /// Two campaigns with some of each event.
    private var example: CampaignReport {
        let zone = LocalZone(name: "CET") { _ in 3600 }
        var report = report(
            [
                event(.received, 1), event(.received, 2, user: "berta"), event(.received, 3, user: "clara"),
                event(.received, 4, at: 86_400, campaign: "fall", platform: .ios), event(.influencedOpen, 1, at: 60),
                event(.open, 1, at: 90), event(.open, 2, at: 90, action: .close, button: "later"),
            ],
            window: ReportWindow(since: WallTime(milliseconds: -3_600_000)), by: .platform, zone: zone)
        report.add(interaction(.unattributed), campaign: nil)
        report.add(interaction(.duplicate), campaign: "summer")
        report.add(row(5, .shownBySystem, provider: "braze"), campaign: "winter")
        return report
    }

    @Test("the report of campaigns as text, in full")
    func text() {
        var shown = example
        shown.add(interaction(.unmatched, nil, at: -3_600_001), campaign: nil)
        #expect(
            shown.text == """
                4 pushes of 2 campaigns reached 3 recipients; 1 was opened (25.0 %): 1 directly, 0 influenced. \
                Android showed 1 by itself, which Braze never saw.

                Window    since 1970-01-01 00:00:00 +01:00

                Campaign  Received  Recipients  Direct  Direct rate  Influenced  Total  Total rate  Body  Buttons
                fall             1           1       0        0.0 %           0      0       0.0 %     0        0
                summer           3           3       1       33.3 %           1      1      33.3 %     1        1
                In all           4           3       1       25.0 %           1      1      25.0 %     1        1
                Rates are shares of the received pushes. A recipient is a user, or a device without one.

                Campaign  Button  Action  Clicks
                summer    later   close        1

                Platform  Received  Recipients  Direct  Direct rate  Influenced  Total  Total rate  Body  Buttons
                android          3           3       1       33.3 %           1      1      33.3 %     1        1
                ios              1           1       0        0.0 %           0      0       0.0 %     0        0

                Day (CET, +01:00)  Received  Recipients  Direct  Direct rate  Influenced  Total  Total rate  Body  Buttons
                1970-01-01                3           3       1       33.3 %           1      1      33.3 %     1        1
                1970-01-02                1           1       0        0.0 %           0      0       0.0 %     0        0

                Campaign  Lost: shown by system  Lost: unmatched
                winter                        1                -

                Day (CET, +01:00)  Unattributed  Lost: shown by system  Lost: unmatched
                1970-01-01                    1                      0                0
                2026-11-21                    0                      1                0

                Count  Not in these figures
                    1  taps on pushes without a campaign: unattributed
                    1  taps after the first one, or on the same close button again: not counted
                    1  pushes that Android showed by itself: Braze never saw them, and no rate counts them as received (shown_by_system)

                Influenced opens that became direct ones by a later tap: 1. Total counts such a push once.

                """)
    }

    @Test("has no line wider than the limit, and no value separated from its unit", arguments: [60, 80, 200])
    func width(_ width: Int) {
        var report = report(
            [
                event(.received, 1, campaign: "a-campaign-of-the-summer-that-has-a-long-name"), event(.received, 2),
                event(.open, 2, action: .uri, button: "a-button-of-the-summer-with-a-long-name"),
                event(.influencedOpen, 1), event(.open, 1),
            ],
            window: ReportWindow(
                since: WallTime(milliseconds: -1), until: WallTime(milliseconds: 2_000_000_000_000)), by: .day,
            zone: LocalZone(name: "CET") { _ in 3600 })
        report.add(interaction(.unattributed), campaign: nil)
        report.add(interaction(.elsewhere), campaign: nil)
        report.add(row(5, .shownBySystem, provider: "braze"), campaign: "winter")
        let lines = report.lines(TextStyle(width: width)).map(\.text)
        #expect(lines.allSatisfy { $0.count <= width }, "\(lines.filter { $0.count > width })")
        #expect(lines.contains { $0.hasSuffix(" 2033-05-18 04:33:20 +01:00") }, "a time is not torn from its offset")
        let shortened: [Substring] = ["a-campaign-of-the-s…", "a-button-of-the-sum…"]
        let words = Set(report.text.split { $0 == " " || $0 == "\n" } + shortened)
        for line in lines {
            let parts = line.split(separator: " ")
            #expect(parts.allSatisfy(words.contains), "\(line)")
            #expect(parts.first != "%" && parts.first?.hasPrefix("+") != true, "\(line)")
        }
    }

    @Test(
        "cuts the names of buttons for the width of the terminal, and names the campaign in each part",
        arguments: [(79, 20), (80, 32)])
    func cut(_ width: Int, _ longest: Int) {
        let name = String(repeating: "b", count: 40)
        let shown = report([event(.open, 1, action: .uri, button: name)])
        let lines = shown.lines(TextStyle(width: width)).map(\.text)
        let words = lines.flatMap { $0.split(separator: " ") }.filter { $0.hasPrefix("bb") }
        #expect(words.map(\.count) == [longest])
    }

    @Test("gives no rate of opens without a received push, and says nothing of pushes that Android did not show")
    func answer() {
        #expect(
            report([event(.open, 1)]).answer
                == "0 pushes reached 0 recipients; 1 was opened: 1 directly, 0 influenced.")
        #expect(
            report([event(.received, 1), event(.open, 1)]).answer
                == "1 push reached 1 recipient; 1 was opened (100.0\u{A0}%): 1 directly, 0 influenced.")
    }

    @Test("lists opens outside the figures by day, with the reason, as text, page and JSON")
    func besideByDay() throws {
        var report = report([event(.received)])
        report.add(interaction(.unmatched, nil, at: 86_400_000), campaign: nil)
        report.add(interaction(.unmatched, nil, at: 86_400_001), campaign: nil)
        report.add(interaction(.unattributed, at: 86_400_000), campaign: nil)
        report.add(row(5, .shownBySystem, provider: "braze"), campaign: "winter")
        #expect(report.text.contains("\n1970-01-02             1                      0                2\n"))
        #expect(report.html.contains("<td>0</td><td>1</td><td>0</td><td>2</td></tr>"))
        #expect(report.html.contains("<dd>3<small>shown by system 1, unmatched 2</small></dd>"))
        #expect(report.html.contains("<dt>Braze never saw</dt>") && !report.html.contains("Lost opens"))
        let days = try #require(try json(report)["by_day"]?.elements)
        #expect(days.map { $0["day"]?.string } == ["1970-01-01", "1970-01-02", "2026-11-21"])
        #expect(days[1]["unattributed"]?.int64 == 1 && days[1]["opens_lost"]?["unmatched"]?.int64 == 2)
        #expect(try json(report)["opens_lost"]?["unmatched"]?.int64 == 2)
        #expect(days[1]["received"]?.int64 == 0 && days[2]["opens_lost"]?["shown_by_system"]?.int64 == 1)
    }

    @Test("reports the pruned part as text, page and JSON")
    func pruned() throws {
        var report = report([event(.received)])
        #expect(try json(report)["rows_begin"]?.kind == .null)
        report.rowsBegin = WallTime(milliseconds: 60_000)
        let sentence = "Before 1970-01-01 00:01:00 +00:00 requests were deleted (Retention=, MaxSize=): "
        #expect(report.text.contains(sentence))
        #expect(report.html.contains("<p>\(sentence)"))
        #expect(try json(report)["rows_begin"]?.string == "1970-01-01T00:01:00Z")
    }

    @Test("lists lost opens by campaign and day; one without a campaign has a row with the reason")
    func lostByCampaign() throws {
        var report = report([event(.received, 1)])
        let day = 1_795_230_480_000 / 86_400_000 * 86_400_000 as Int64
        for (seq, campaign) in [(1, "summer"), (2, "summer"), (3, "fall"), (-86_400_000, "summer"), (4, nil)] {
            report.add(row(Int64(seq), .shownBySystem, provider: "braze"), campaign: campaign)
        }
        report.add(interaction(.unmatched, nil, at: day), campaign: nil)
        #expect(
            report.text.contains(
                """

                Campaign                   Lost: shown by system  Lost: unmatched
                fall                                           1                -
                summer                                         3                -
                (none in the push)                             1                -
                (not known: no such push)                      -                1

                Day (UTC)   Unattributed  Lost: shown by system  Lost: unmatched
                2026-11-20             0                      1                0
                2026-11-21             0                      4                1

                """))
        let cells = "<td class=\"name\">2026-11-20</td><td>1</td><td>-</td>"
        #expect(report.html.contains("<th scope=\"row\" class=\"name\">summer</th>\(cells)</tr>"))
        #expect(report.html.contains("<th scope=\"row\" class=\"name\">summer</th><td>3</td><td>-</td></tr>"))
        #expect(report.html.contains(">(not known: no such push)</th><td>-</td><td>1</td></tr>"))
        let root = try json(report)
        let campaigns = try #require(root["campaigns"]?.elements)
        #expect(campaigns.map { $0["campaign_id"]?.string } == ["fall", "summer"])
        #expect(campaigns[0]["received"]?.int64 == 0 && campaigns[0]["opens_lost"]?["shown_by_system"]?.int64 == 1)
        #expect(campaigns[1]["received"]?.int64 == 1 && campaigns[1]["opens_lost"]?["shown_by_system"]?.int64 == 3)
        let days = try #require(campaigns[1]["by_day"]?.elements)
        #expect(days.map { $0["opens_lost"]?["shown_by_system"]?.int64 } == [0, 1, 2])
        let nobodys = root["opens_lost_without_campaign"]
        #expect(nobodys?["shown_by_system"]?.int64 == 1 && nobodys?["unmatched"]?.int64 == 1)
        #expect(root["opens_lost"]?["shown_by_system"]?.int64 == 5)
    }

    @Test("of one campaign has its lost opens, without the columns and cards for no campaign")
    func lostOfOne() throws {
        var report = report([], campaign: "fall")
        for (seq, campaign) in [(1, "summer"), (3, "fall"), (4, nil)] {
            report.add(row(Int64(seq), .shownBySystem, provider: "braze"), campaign: campaign)
        }
        #expect(
            report.text.hasSuffix(
                """

                Campaign  Lost: shown by system
                fall                          1

                Day (UTC)   Lost: shown by system
                2026-11-21                      1

                Count  Not in these figures
                    1  pushes that Android showed by itself: Braze never saw them, and no rate counts them as received (shown_by_system)

                """))
        #expect(!report.html.contains("Unattributed") && !report.html.contains("unmatched"))
        #expect(report.html.contains("<dd>1<small>shown by system 1</small></dd>"))
    }

    @Test("has one heading for days, with the offset, or with both if the clocks changed between them")
    func dayHeading() {
        let zone = LocalZone(name: "CET") { $0.seconds < 1000 * 86_400 ? 7200 : 3600 }
        let summer = event(.received, 1), winter = event(.received, 2, at: 1000 * 86_400)
        for field in [nil, EventField.day] {
            #expect(report([summer], by: field).text.contains("\nDay (UTC)   Received "))
            #expect(report([summer], by: field, zone: zone).text.contains("\nDay (CET, +02:00)  Received "))
            let both = report([summer, winter], by: field, zone: zone)
            #expect(both.text.contains("\nDay (CET, +02:00 to +01:00)  Received "))
            #expect(both.html.contains(">Day (CET, +02:00 to +01:00)</th>"))
        }
    }

    @Test("has everything in JSON, with rates and their base")
    func everything() throws {
        let root = try json(example)
        #expect(root["window"]?["since"]?.string == "1969-12-31T23:00:00Z" && root["campaign"]?.kind == .null)
        let summer = try #require(root["campaigns"]?.elements.first { $0["campaign_id"]?.string == "summer" })
        #expect(summer["campaign_id"]?.string == "summer" && summer["received"]?.int64 == 3)
        #expect(summer["total_opens"]?.int64 == 1 && summer["influenced_and_direct"]?.int64 == 1)
        #expect(summer["rates"]?["of"]?.string == "received" && summer["rates"]?["base"]?.int64 == 3)
        #expect(summer["rates"]?["direct_opens"]?.double == 1.0 / 3)
        #expect(summer["button_clicks"]?.elements.first?["button_string"]?.string == "later")
        #expect(summer["by_day"]?.elements.count == 1)
        #expect(root["in_all"]?["unique_recipients"]?.int64 == 3)
        #expect(root["unattributed"]?.int64 == 1 && root["interactions"]?["duplicate"]?.int64 == 1)
        #expect(root["opens_lost"]?["shown_by_system"]?.int64 == 1 && root["opens_lost"]?["unmatched"]?.int64 == 0)
        #expect(root["campaigns_decoded"] == nil)
    }

    @Test("has one kind of row in CSV: a campaign, a day of a campaign, or a platform of a campaign")
    func csv() {
        func lines(_ field: EventField?) -> [String] {
            var report = self.report(
                [
                    event(.received, 1), event(.open, 1), event(.received, 2, at: 86_400, campaign: "=1,2"),
                    event(.received, 3, at: 86_400),
                ], by: field)
            report.add(interaction(.unattributed), campaign: nil)
            report.add(row(5, .shownBySystem, provider: "braze"), campaign: "winter")
            return report.csv.split(separator: "\r\n").map(String.init)
        }
        let figures =
            "received,unique_recipients,direct_opens,influenced_opens,influenced_and_direct,"
            + "total_opens,body_clicks,button_clicks"
        let losses = ",unattributed,opens_lost_shown_by_system,opens_lost_unmatched"
        #expect(
            lines(nil) == [
                "campaign_id,\(figures)\(losses)", "\"'=1,2\",1,1,0,0,0,0,0,0,0,0,0",
                "summer,2,1,1,0,0,1,1,0,0,0,0", "winter,0,0,0,0,0,0,0,0,0,1,0", ",0,0,0,0,0,0,0,0,1,0,0",
            ])
        #expect(
            lines(.day) == [
                "campaign_id,day,\(figures)\(losses)", "\"'=1,2\",1970-01-02,1,1,0,0,0,0,0,0,0,0,0",
                "summer,1970-01-01,1,1,1,0,0,1,1,0,0,0,0", "summer,1970-01-02,1,1,0,0,0,0,0,0,0,0,0",
                "winter,2026-11-21,0,0,0,0,0,0,0,0,0,1,0", ",1970-01-01,0,0,0,0,0,0,0,0,1,0,0",
            ])
        #expect(
            lines(.platform) == [
                "campaign_id,platform,\(figures)", "\"'=1,2\",android,1,1,0,0,0,0,0,0",
                "summer,android,2,1,1,0,0,1,1,0",
            ])
    }

    @Test("takes a pattern for the campaign, and says of a name that no campaign has which one is meant")
    func patterns() {
        func report(_ campaign: String) -> CampaignReport {
            self.report([event(.received, 1), event(.received, 2, campaign: "spring")], campaign: campaign)
        }
        #expect(report("s*").campaigns.keys.sorted() == ["spring", "summer"] && report("s*").objection == nil)
        #expect(report("spr*").campaigns.keys.sorted() == ["spring"])
        #expect(report("sprng").objection == "there is no campaign sprng; did you mean spring?")
        #expect(report("winter*").objection == "there is no campaign winter*")
    }

    @Test("begins as a page with an answer in words, its author and time, and its contents")
    func lead() {
        var report = report([event(.received, 1), event(.received, 2, campaign: "fall"), event(.open, 1)])
        report.maker = ReportMaker(program: "pushctl 1.0", host: "shop-1", time: WallTime(milliseconds: 0))
        let answer =
            "2 pushes of 2 campaigns reached 1 recipient; 1 was opened (50.0\u{A0}%): 1 directly, 0 influenced."
        #expect(report.html.contains("<p class=\"answer\">\(answer)</p>"))
        #expect(
            report.html.contains("<p class=\"soft\">Made by pushctl 1.0 on shop-1 at 1970-01-01 00:00:00 +00:00</p>"))
        #expect(report.html.contains("id=\"campaign-days\""))
        #expect(self.report([]).answer == "No campaign's push was received or opened.")
    }

    @Test("reports when there is nothing; a rate of nothing is null")
    func nothing() throws {
        #expect(
            report([]).text == "Window    all that the ledger holds\n\nNo campaign's push was received or opened.\n")
        let opened = report([event(.open)])
        #expect(opened.text.contains("summer           0           0       1            -"))
        #expect(try json(opened)["in_all"]?["rates"]?["total_opens"]?.kind == .null)
    }
}
