import Testing

@testable import PushModel
@testable import PushViews

@Suite("Counts of custom events, their delays, and attributes of a user")
struct CustomEventTests {
    private func bought(_ name: String, at time: Int64) -> AnalyticsEvent {
        var custom = event(.customEvent, at: time, campaign: nil)
        custom.content = .customEvent(name: name, properties: nil)
        return custom
    }

    private var counts: EventCounts {
        var counts = EventCounts(zone: LocalZone(name: "CET") { _ in 3600 })
        for time in [0, 82_800, 82_801] as [Int64] { counts.add(bought("bought", at: time)) }
        counts.add(bought("Bought", at: 5))
        counts.add(event(.received))
        return counts
    }

    @Test("by name and day, beside the events of messages")
    func text() {
        #expect(
            counts.text == """
                Window  all that the ledger holds

                Day (CET, +01:00)  Event                            Count
                1970-01-01         local.pushnotification.Received      1
                1970-01-01         users.behaviors.CustomEvent          2
                1970-01-02         users.behaviors.CustomEvent          2
                in all             local.pushnotification.Received      1
                in all             users.behaviors.CustomEvent          4

                Day (CET, +01:00)  Custom event  Count
                1970-01-01         Bought            1
                1970-01-01         bought            1
                1970-01-02         bought            2
                in all             Bought            1
                in all             bought            3

                """)
    }

    @Test("for programs, with the names as a list: a name may be any text")
    func json() throws {
        let custom = try #require(try JSONDocument(scanning: counts.json).root["custom_events"])
        #expect(custom["in_all"]?.elements.map { $0["name"]?.string } == ["Bought", "bought"])
        #expect(custom["in_all"]?.elements.map { $0["count"]?.int64 } == [1, 3])
        #expect(custom["by_day"]?.elements.map { $0["day"]?.string } == ["1970-01-01", "1970-01-02"])
        #expect(try JSONDocument(scanning: counts.json).root["delays"] == nil)
    }

    @Test("their delays, by the day on which they were saved")
    func delays() throws {
        var counts = EventCounts()
        var delays = CustomEventDelays()
        counts.delays = delays
        #expect(
            counts.text == """
                Window  all that the ledger holds

                No events.

                No custom event was flushed or sent.

                """)
        for delay in [1, 2, 3, 4, 5, 6, 7, 8, 9, 200_000_000] as [Int64] {
            delays.add(
                "bought", .flushed, savedAt: WallTime(milliseconds: 1000),
                settledAt: WallTime(milliseconds: 1000 + delay))
        }
        delays.add("bought", .sent, savedAt: WallTime(milliseconds: 9), settledAt: WallTime(milliseconds: 5))
        counts.delays = delays
        #expect(
            counts.text.hasSuffix(
                """
                Saved (UTC)  Custom event  Became   Count  Median   p90  Longest
                1970-01-01   bought        flushed     10    5 ms  9 ms  2 d 7 h
                1970-01-01   bought        sent         1    0 ms  0 ms     0 ms

                """), "\(counts.text)")
        let list = try #require(try JSONDocument(scanning: counts.json).root["delays"]?.elements)
        #expect(list.map { $0["became"]?.string } == ["flushed", "sent"])
        #expect(list[0]["count"]?.int64 == 10 && list[0]["max_ms"]?.int64 == 200_000_000)
    }

    @Test("a user's attributes with their kind and time, without those of other users")
    func attributes() throws {
        var profile = UserProfile(of: "anna")
        func add(_ owner: ProfileOwner, _ kind: EntryKind, _ name: String, _ value: String) {
            profile.add(
                AttributeRecord(
                    owner: owner, kind: kind, name: name, value: value, setAt: WallTime(milliseconds: 1000),
                    entry: EntryNumber(7)))
        }
        add(.user("berta"), .customAttributes, "plan", "1")
        add(.device("anna"), .customAttributes, "plan", "1")
        #expect(profile.isUnknown)
        add(.user("anna"), .customAttributes, "plan", #""free""#)
        add(.user("anna"), .userAttributes, "email", #""a@b.c""#)
        #expect(!profile.isUnknown)
        profile.add(bought("bought", at: 0))
        #expect(
            profile.text.contains(
                """
                Events    1 custom
                Pushes    0 received
                Opens     0 of 0 with a campaign (0 direct, 0 influenced)

                Attribute  Kind    Value    Set
                plan       custom  "free"   1970-01-01 00:00:01 +00:00
                email      user    "a@b.c"  1970-01-01 00:00:01 +00:00

                """), "\(profile.text)")
        let root = try JSONDocument(scanning: profile.json).root
        #expect(root["custom_attributes"]?["plan"]?["value"]?.string == "free")
        #expect(root["user_attributes"]?["email"]?["set_at"]?.string == "1970-01-01T00:00:01Z")
        #expect(root["user_attributes"]?["email"]?["entry"]?.int64 == 7 && root["custom_events"]?.int64 == 1)
    }
}
