import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("A session start flushes")
struct SessionTests {
    @Test("entries of this app, device and user, or of any, in order of number; the others stay")
    func whom() throws {
        var bench = CustomDataBench()
        try bench.event("app and device")
        try bench.event("another app", app: "news")
        try bench.event("any device", device: nil)
        try bench.event("another device", device: "tablet")
        try bench.event("any app", app: nil)
        try bench.event("another user", user: "u2")
        try bench.event("this user", user: "u1")
        try bench.event("any at all", app: nil, device: nil)
        #expect(bench.flush(user: "u1") == 5)
        #expect(
            bench.events.map(\.name) == ["app and device", "any device", "any app", "this user", "any at all"])
        #expect(bench.rows.numbers(.pending) == [2, 4, 6])
        #expect(bench.flush(user: "u2") == 1)
        #expect(bench.flush(app: "news") == 1)
        #expect(bench.flush(device: "tablet") == 1)
        #expect(bench.data.summary == CustomDataSummary())
    }

    @Test(
        "when anonymous, no entry of a user, and without app or device, no entry of one")
    func unnamed() throws {
        var bench = CustomDataBench()
        try bench.event("user", user: "u1")
        #expect(bench.flush() == 0)
        #expect(bench.flush(app: nil, user: "u1") == 0)
        #expect(bench.flush(device: nil, user: "u1") == 0)
        #expect(bench.flush(user: "u1") == 1)
    }

    @Test("entries by exact name: names that Swift holds equal, and an app does not, are different")
    func spelling() throws {
        var bench = CustomDataBench()
        try bench.event("one character", app: "caf\u{E9}")
        #expect(bench.flush(app: "cafe\u{301}") == 0)
        #expect(bench.flush(app: "caf\u{E9}") == 1)
    }

    @Test("an event with the session's user and platform, and with its app and device unless it has its own")
    func eventFields() throws {
        var bench = CustomDataBench()
        try bench.log(.customEvent, #"{"name":"named","properties":{"a":1}}"#)
        try bench.event("unnamed", app: nil, device: nil)
        bench.flush(user: "u1", platform: .ios)
        #expect(bench.events[0].kind == .customEvent)
        #expect(bench.events[0].content == .customEvent(name: "named", properties: #"{"a":1}"#))
        for event in bench.events {
            #expect(event.appID == "shop")
            #expect(event.deviceID == "phone")
            #expect(event.externalUserID == "u1")
            #expect(event.seq == bench.rows.rows[EntryNumber(1)]?.flushedBy)
            #expect(event.delivery == event.seq)
            #expect(event.push == nil)
            #expect(event.platform == .ios, "whoever logged may have left it out")
        }
    }

    @Test(
        "an event with its own time, or with that of the session start", arguments: CustomDataRules.EventTime.allCases)
    func eventTime(choice: CustomDataRules.EventTime) throws {
        var bench = CustomDataBench { $0.eventTime = choice }
        try bench.log(.customEvent, #"{"name":"e"}"#, at: -30, now: 10)
        bench.flush(now: 60)
        let expected = CustomDataBench.time(choice == .saved ? -30 : 60)
        #expect(bench.events.map(\.time) == [expected.seconds])
        let entry = try #require(bench.rows.rows[EntryNumber(1)]?.entry)
        #expect(entry.time == CustomDataBench.time(-30))
        #expect(entry.savedAt == CustomDataBench.time(10))
    }

    @Test("an event of the future with the clock's time")
    func future() throws {
        var bench = CustomDataBench()
        try bench.log(.customEvent, #"{"name":"e"}"#, at: 999, now: 10)
        #expect(bench.rows.rows[EntryNumber(1)]?.entry.time == CustomDataBench.time(10))
    }

    @Test("attributes into the profile of the user, or of the device when the user is unknown")
    func owners() throws {
        var bench = CustomDataBench()
        try bench.log(.customAttributes, #"{"attributes":{"a":1}}"#)
        bench.flush()
        #expect(bench.field("a", of: .device("phone")) == "1")
        try bench.log(.customAttributes, #"{"attributes":{"a":2}}"#)
        bench.flush(user: "u1")
        #expect(bench.field("a", of: .user("u1")) == "2")
        #expect(bench.field("a", of: .device("phone")) == "1")
    }

    @Test("a value as deep as JSONDepthMax=, which is set and joins an array like any other")
    func deep() throws {
        let deep = String(repeating: #"{"a":"#, count: 900) + "1" + String(repeating: "}", count: 900)
        var bench = CustomDataBench()
        try bench.log(.customAttributes, #"{"attributes":{"o":\#(deep),"l":{"add":[1]}}}"#)
        for value in [deep, "2"] {
            try bench.log(.customAttributes, #"{"attributes":{"l":{"add":[\#(value)]}}}"#)
        }
        bench.flush(user: "u")
        #expect(bench.field("o", of: .user("u")) == deep)
        #expect(bench.field("l", of: .user("u")) == "[1,\(deep),2]")
    }

    @Test("no attributes without a profile; but events")
    func noProfile() throws {
        var bench = CustomDataBench()
        try bench.log(.customAttributes, #"{"attributes":{"a":1}}"#, device: nil)
        try bench.event("e", device: nil)
        #expect(bench.flush(device: nil, byPerson: true) == 1)
        #expect(bench.events.map(\.name) == ["e"])
        #expect(bench.rows.numbers(.pending) == [1])
        #expect(bench.flush() == 1)
    }

    @Test("operations and null that change the stored value; the fields before the session do not matter")
    func operations() throws {
        var bench = CustomDataBench()
        for attributes in [
            #"{"list":["a","b"],"count":1,"gone":true}"#,
            #"{"list":{"add":["c"]},"count":{"inc":4},"gone":null}"#,
            #"{"list":{"remove":["a"]},"new":{"inc":-2}}"#,
        ] {
            try bench.log(.customAttributes, #"{"attributes":\#(attributes)}"#)
        }
        bench.flush(user: "u1")
        #expect(bench.field("list", of: .user("u1")) == #"["b","c"]"#)
        #expect(bench.field("count", of: .user("u1")) == "5")
        #expect(bench.field("gone", of: .user("u1")) == nil)
        #expect(bench.field("new", of: .user("u1")) == "-2")
    }

    @Test("subscription groups by name: one that is not named keeps its state")
    func subscriptionGroups() throws {
        var bench = CustomDataBench()
        for (group, state) in [("g1", "subscribed"), ("g2", "subscribed"), ("g1", "unsubscribed")] {
            try bench.log(
                .userAttributes,
                """
                {"attributes":{"subscription_groups":
                    [{"subscription_group_id":"\(group)","subscription_state":"\(state)"}]}}
                """)
        }
        bench.flush(user: "u1")
        #expect(bench.field("subscription_groups.g1", of: .user("u1")) == #""unsubscribed""#)
        #expect(bench.field("subscription_groups.g2", of: .user("u1")) == #""subscribed""#)
    }

    @Test("also by a person's order, without a request: the event has the request that logged it")
    func byPerson() throws {
        var bench = CustomDataBench()
        try bench.event("e")
        #expect(bench.flush(byPerson: true) == 1)
        let row = try #require(bench.rows.rows[EntryNumber(1)])
        #expect(row.flushedBy == nil)
        #expect(bench.events.map(\.seq) == [row.entry.cause])
    }

    @Test("with SendFlushed= also into the queue, as an entry of its own, for the session's user")
    func sendsFlushed() throws {
        var bench = CustomDataBench { $0.sendsFlushed = true }
        try bench.event("anonymous")
        #expect(bench.flush() == 1)
        #expect(bench.data.summary == CustomDataSummary(), "nobody to send it for")
        #expect(bench.data.flushedUnsent == 1)
        #expect(bench.reason(1)?.hasPrefix("not sent to the endpoint: the session has no user") == true)
        try bench.log(.customEvent, #"{"name":"e","properties":{"a":1}}"#, app: nil, at: 1, now: 2)
        #expect(bench.flush(user: "u1", now: 60) == 1)
        let row = try #require(bench.rows.rows[EntryNumber(3)])
        #expect(row.state == .queued)
        #expect(row.entry.destination == .sent(.externalID("u1")))
        #expect(row.entry.name == "e")
        #expect(row.entry.app == "shop")
        #expect(row.entry.time == CustomDataBench.time(1))
        #expect(row.entry.savedAt == CustomDataBench.time(60))
        #expect(bench.text(3) == #"{"a":1}"#)
        #expect(bench.claim() == [3])
        #expect(bench.data.flushedUnsent == 1)
        #expect(bench.reason(2) == nil)
    }

    @Test("nothing of a suite after a reset, of one app or of all")
    func reset() throws {
        var bench = CustomDataBench()
        try bench.event("a")
        try bench.event("b", app: "news")
        try bench.log(.customEvent, #"{"name":"c"}"#, to: .stored(suite: "group.x"))
        try bench.queue("sent")
        #expect(bench.reset(suite: "standard", app: "news") == 1)
        #expect(bench.rows.numbers(.discarded) == [2])
        #expect(bench.reset(suite: "standard") == 1)
        #expect(bench.rows.numbers(.pending) == [3])
        #expect(bench.data.summary.queued == 1)
    }
}
