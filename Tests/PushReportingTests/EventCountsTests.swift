import Testing

@testable import PushModel
@testable import PushViews

@Suite("Counts of events, and a user's profile")
struct EventCountsTests {
    @Test("by name and day, in the window")
    func counts() throws {
        var counts = EventCounts(
            window: ReportWindow(until: WallTime(milliseconds: 172_800_000)),
            zone: LocalZone(name: "CET") { _ in 3600 })
        for time in [0, 82_799, 82_800, 172_800] as [Int64] { counts.add(event(.received, at: time)) }
        counts.add(event(.sessionStart))
        #expect(counts.inAll == [.received: 3, .sessionStart: 1])
        #expect(
            counts.text == """
                Window  until 1970-01-03 01:00:00 +01:00

                Day (CET, +01:00)  Event                             Count
                1970-01-01         local.pushnotification.Received       2
                1970-01-01         users.behaviors.app.SessionStart      1
                1970-01-02         local.pushnotification.Received       1
                in all             local.pushnotification.Received       3
                in all             users.behaviors.app.SessionStart      1

                """)
        #expect(
            counts.csv.split(separator: "\r\n") == [
                "day,platform,event,name,count", "1970-01-01,android,local.pushnotification.Received,,2",
                "1970-01-01,android,users.behaviors.app.SessionStart,,1",
                "1970-01-02,android,local.pushnotification.Received,,1",
            ])
        let root = try JSONDocument(scanning: counts.json).root
        #expect(root["in_all"]?.count == AnalyticsEvent.Kind.allCases.count, "those that are 0 too")
        #expect(root["in_all"]?["local.pushnotification.Received"]?.int64 == 3)
        #expect(root["by_day"]?.elements.map { $0["day"]?.string } == ["1970-01-01", "1970-01-02"])
    }

    @Test("give the time from which the window has all its events")
    func pruned() throws {
        var counts = EventCounts()
        counts.rowsBegin = WallTime(milliseconds: 60_000)
        #expect(counts.text.contains("\n\nBefore 1970-01-01 00:01:00 +00:00 requests were deleted (Retention="))
        #expect(try JSONDocument(scanning: counts.json).root["rows_begin"]?.string == "1970-01-01T00:01:00Z")
    }

    @Test("a row of the CSV for each platform and name, which add up")
    func csv() {
        var counts = EventCounts()
        var custom = event(.customEvent)
        custom.content = .customEvent(name: "=bought", properties: nil)
        for event in [event(.received), event(.received), custom] { counts.add(event) }
        let rows = counts.csv.split(separator: "\r\n").dropFirst().map { $0.split(separator: ",") }
        #expect(rows.compactMap { $0.last.flatMap { Int($0) } }.reduce(0, +) == 3 && rows.count == 2)
        #expect(counts.csv.contains(",users.behaviors.CustomEvent,'=bought,1\r\n"), "\(counts.csv)")
    }

    @Test("end with the custom events that wait, and for what")
    func waiting() throws {
        var counts = EventCounts()
        for (number, state) in [(1, .pending), (2, .queued), (3, .queued), (4, .unknown), (5, .flushed)]
            as [(Int64, EntryState)]
        {
            counts.waiting.add(entry(number, state))
        }
        counts.waiting.add(entry(6, name: nil))
        #expect(
            counts.text.hasSuffix(
                """
                No events.

                1 custom event waits for a session of the app (pushctl flush); 2 custom events wait to be sent (pushctl \
                pending); 1 custom event may have been sent (pushctl pending --unknown)

                """), "\(counts.text)")
        let root = try JSONDocument(scanning: counts.json).root["custom_events_waiting"]
        #expect(root?["pending"]?.int64 == 1 && root?["queued"]?.int64 == 2 && root?["claimed"]?.int64 == 0)
    }

    @Test("counts of events report a window without events")
    func none() { #expect(EventCounts().text == "Window  all that the ledger holds\n\nNo events.\n") }

    private var anna: UserProfile {
        var profile = UserProfile(of: "anna")
        for (number, device, user) in [(1, "pixel", "anna"), (2, "tablet", "berta")] as [(Int64, String, String)] {
            let key = DeviceKey(app: "shop", device: device)
            profile.add(KnownDevice(number: SequenceNumber(number), key: key, platform: .android, externalID: user))
        }
        for seq in 1...12 as ClosedRange<Int64> { profile.add(event(.received, seq, at: seq)) }
        profile.add(event(.received, 13, at: 13, user: "berta"))
        profile.add(event(.received, 14, at: 14, campaign: nil))
        for time in [100, 50] as [Int64] { profile.add(event(.sessionStart, 20, at: time, campaign: nil)) }
        profile.add(event(.sessionEnd, 21, at: 60, campaign: nil, duration: .milliseconds(9_500)))
        profile.add(event(.influencedOpen, 12, at: 100))
        profile.add(event(.influencedOpen, 11, at: 100))
        profile.add(event(.open, 11, at: 120))
        profile.add(event(.open, 10, at: 130, action: .close, button: "later"))
        profile.add(event(.open, 1, at: 140))
        return profile
    }

    @Test("a profile lists devices, sessions and the last ten pushes with their opens")
    func profile() throws {
        let root = try JSONDocument(scanning: anna.json).root
        #expect(root["devices"]?.elements.map { $0["device_id"]?.string } == ["pixel"])
        #expect(root["sessions"]?["count"]?.int64 == 2 && root["sessions"]?["ended"]?.int64 == 1)
        #expect(root["sessions"]?["first_at"]?.string == "1970-01-01T00:00:50Z")
        #expect(root["sessions"]?["last_at"]?.string == "1970-01-01T00:01:40Z")
        #expect(root["sessions"]?["duration"]?.double == 9.5)
        #expect(root["received"]?.int64 == 13 && root["received_with_campaign"]?.int64 == 12)
        #expect(root["direct_opens"]?.int64 == 2 && root["influenced_opens"]?.int64 == 2)
        #expect(root["total_opens"]?.int64 == 3)
        let pushes = try #require(root["last_pushes"]?.elements)
        #expect(pushes.map { $0["seq"]?.int64 } == [14, 12, 11, 10, 9, 8, 7, 6, 5, 4])
        #expect(pushes.prefix(4).map { $0["opened"]?.string } == [nil, "influenced", "direct", nil])
        #expect(pushes[3]["closed_by"]?.elements.first?.string == "later")
    }

    @Test("a user's profile as text for people")
    func text() {
        let text = anna.text
        #expect(
            text.hasPrefix(
                """
                User      anna
                Sessions  2, first 1970-01-01 00:00:50 +00:00, last 1970-01-01 00:01:40 +00:00
                Duration  9.5 s in 1 ended session
                Pushes    13 received
                Opens     3 of 12 with a campaign (2 direct, 2 influenced)

                Device  App   Platform
                pixel   shop  android

                """))
        #expect(
            text.contains(" 11  1970-01-01 00:00:11 +00:00  summer    pixel   direct, 1970-01-01 00:02:00 +00:00\n"))
        #expect(text.contains(" 10  1970-01-01 00:00:10 +00:00  summer    pixel   closed by later\n"))
    }

    @Test("an open session is listed, and makes a user known")
    func openSession() throws {
        var profile = UserProfile(of: "anna")
        #expect(profile.isUnknown)
        let key = DeviceKey(app: "shop", device: "pixel")
        profile.add(
            SessionRow(
                number: SequenceNumber(1), key: key, platform: .android, externalID: "anna",
                startedAt: WallTime(milliseconds: 1000), end: nil, since: WallTime(milliseconds: 1000)))
        #expect(!profile.isUnknown && profile.text.contains("\nOpen now  on pixel, since 1970-01-01 00:00:01 +00:00\n"))
        let open = try JSONDocument(scanning: profile.json).root["sessions"]?["open"]?.elements.first
        #expect(open?["started_at"]?.string == "1970-01-01T00:00:01Z")
    }
}
