import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

/// The mistakes of the sample code that push teams copy, each as the property that it breaks.
///
/// Not here: a getter that calls itself, archiving without secure coding and placeholders in sources cannot be written
/// in these types. The nine seconds, opens that custom logging cannot replace and payloads that must reach the provider
/// first belong to the router and the tracker.
@Suite("The mistakes of the sample code are not made")
struct SeedMistakesTests {
    @Test("1: events and attributes never mix: each kind has its own key and is sent as its kind")
    func kindsNeverMix() throws {
        #expect(Set(EntryKind.allCases.map(\.storageKey)).count == EntryKind.allCases.count)
        var bench = CustomDataBench()
        try bench.event("added_to_cart")
        try bench.log(.customAttributes, #"{"attributes":{"added_to_cart":true}}"#)
        try bench.log(.userAttributes, #"{"attributes":{"first_name":"Ada"}}"#)
        #expect(bench.flush(user: "u1") == 3)
        #expect(bench.events.map(\.name) == ["added_to_cart"])
        #expect(bench.field("added_to_cart", of: .user("u1")) == "true")
        #expect(bench.field("first_name", of: .user("u1")) == #""Ada""#)
    }

    @Test("3: user attributes without an email are valid, and an absent field stays unchanged")
    func absentFields() throws {
        var bench = CustomDataBench()
        #expect(try bench.log(.userAttributes, #"{"attributes":{"email":"ada@company.com"}}"#).isEmpty)
        #expect(try bench.log(.userAttributes, #"{"attributes":{"home_city":"London"}}"#).isEmpty)
        bench.flush(user: "u1")
        #expect(bench.field("email", of: .user("u1")) == #""ada@company.com""#)
        #expect(bench.field("home_city", of: .user("u1")) == #""London""#)
    }

    @Test(
        "4, 5, 6: an entry is sent with the name and the properties with which it was logged, even after a restart")
    func wholeEntries() throws {
        var bench = CustomDataBench()
        try bench.log(.customEvent, #"{"name":"bought","properties":{ "price" : 9.90, "sku":"A-1" }}"#)
        bench.restart()
        bench.flush(user: "u1")
        let event = try #require(bench.events.first)
        #expect(event.kind == .customEvent)
        #expect(event.content == .customEvent(name: "bought", properties: #"{"price":9.90,"sku":"A-1"}"#))
    }

    @Test("7: a property cannot overwrite the event's name or time", arguments: ["event_name", "time"])
    func reservedProperties(name: String) throws {
        var bench = CustomDataBench()
        let rejections = try bench.log(.customEvent, #"{"name":"bought","properties":{"\#(name)":"sold"}}"#)
        #expect(rejections.map(\.problem.field) == ["properties.\(name)"])
        #expect(rejections.map(\.problem.message) == ["the API reserves this name; call it another"])
        #expect(bench.reason(1) == "properties.\(name): the API reserves this name; call it another")
        #expect(bench.rows.rows[EntryNumber(1)]?.entry.name == "bought")
        #expect(bench.flush() == 0)
    }

    @Test("8: a wrong entry is kept with its reason and does not affect the others")
    func wrongEntries() throws {
        var bench = CustomDataBench()
        try bench.event("first")
        try bench.log(.customEvent, #"{"name":5,"properties":{"a":1}}"#)
        try bench.event("last")
        #expect(bench.flush() == 2)
        #expect(bench.events.map(\.name) == ["first", "last"])
        #expect(bench.rows.numbers(.rejected) == [2])
        #expect(bench.reason(2) == "name: must be the name of the event, a string, not a number")
        #expect(bench.text(2) == #"{"a":1}"#)
    }

    @Test("8: an entry logged after a flush waits for the next one, and nothing is flushed twice")
    func acknowledgedOneByOne() throws {
        var bench = CustomDataBench()
        try bench.event("before")
        #expect(bench.flush() == 1)
        try bench.event("after")
        bench.restart()
        #expect(bench.flush() == 1)
        #expect(bench.flush() == 0)
        #expect(bench.events.map(\.name) == ["before", "after"])
        #expect(Set(bench.events.map(\.id)).count == 2)
    }

    @Test("8: a crash after each record except the last of a flush repeats the same events with the same ids")
    func crashBeforeTheCommit() throws {
        var bench = CustomDataBench()
        for name in ["a", "b", "c"] { try bench.event(name) }
        let before = bench.data
        bench.flush()
        let told = bench.events
        // The transaction was not committed: the daemon starts with the old state, and the session start comes again.
        bench.data = before
        var output = CustomDataOutput()
        let session = SessionStart(
            cause: told.first?.seq, platform: .android, app: "shop", device: "phone", externalID: nil,
            at: CustomDataBench.time(60))
        bench.data.flush(session, now: CustomDataBench.time(60), into: &output)
        #expect(output.events == told)
    }

    @Test("9: an unused suite is empty, and suites are separate")
    func suites() throws {
        var bench = CustomDataBench()
        try bench.event("standard")
        try bench.log(.customEvent, #"{"name":"group"}"#, to: .stored(suite: "group.com.company.shop"))
        #expect(bench.flush(suite: "group.com.company.nowhere") == 0)
        #expect(bench.flush(suite: "group.com.company.shop") == 1)
        #expect(bench.events.map(\.name) == ["group"])
        #expect(bench.reset(suite: "standard") == 1)
        #expect(bench.rows.numbers(.discarded) == [1])
        #expect(bench.flush() == 0)
    }

    @Test(
        "11: an attribute may have every type, not arrays of strings alone",
        arguments: [
            #""text""#, "1", "-2.50", "1e3", "true", "false", #"["a","b"]"#, "[1,2.5]", #"[{"a":1}]"#, "[]",
            #"{"a":{"b":[1]}}"#, #""2026-11-21T09:00:00Z""#, #"{"$time":"2026-11-21T09:00:00Z"}"#,
        ])
    func types(value: String) throws {
        var bench = CustomDataBench()
        #expect(try bench.log(.customAttributes, #"{"attributes":{"x":\#(value)}}"#).isEmpty)
        bench.flush(user: "u1")
        #expect(bench.field("x", of: .user("u1")) == value)
    }

    @Test("14: phone_number is the field phone")
    func phone() throws {
        var bench = CustomDataBench()
        #expect(try bench.log(.userAttributes, #"{"attributes":{"phone_number":"+4915112345678"}}"#).isEmpty)
        #expect(bench.text(1) == #"{"phone":"+4915112345678"}"#)
        bench.flush(user: "u1")
        #expect(bench.field("phone", of: .user("u1")) == #""+4915112345678""#)
        #expect(bench.field("phone_number", of: .user("u1")) == nil)
    }
}
