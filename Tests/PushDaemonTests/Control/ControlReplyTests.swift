import Testing

@testable import PushDaemon
@testable import PushModel

@Suite("Control replies")
struct ControlReplyTests {
    static let time = WallTime(milliseconds: 1_795_251_600_123)

    static let event = ClaimedEntry(
        number: EntryNumber(7), kind: .customEvent, identifier: .brazeID("b1"), app: "com.shop", name: "bought \"it\"",
        data: Array(#"{"price":1.50,"at":{"$time":"2026-11-21"}}"#.utf8), time: time)
    static let attributes = ClaimedEntry(
        number: EntryNumber(8), kind: .userAttributes, identifier: .externalID("u1"), app: nil, name: nil,
        data: Array("{}".utf8), time: WallTime(milliseconds: 0))
    static let aliased = ClaimedEntry(
        number: EntryNumber(9), kind: .customAttributes, identifier: .alias(name: "n", label: "l"), app: nil, name: nil,
        data: Array(#"{"a":null}"#.utf8), time: time)

    static let states: [SendingState?] = [
        nil, SendingState(phase: .sending, since: time),
        SendingState(
            phase: .waiting, reason: "503", failures: 3, until: WallTime(milliseconds: 1_795_251_700_000), since: time),
    ]

    @Test("the reply to a claim has each entry with its way, its user and its data")
    func claimed() {
        let claimed = Claimed(entries: [Self.event, Self.aliased], sending: Self.states[2])
        #expect(
            String(decoding: Reply.claimed(claimed, id: "a1"), as: UTF8.self)
                == #"{"ok":true,"id":"a1","entries":[{"number":7,"kind":"custom_event","braze_id":"b1","#
                + #""app":"com.shop","name":"bought \"it\"","data":{"price":1.50,"at":{"$time":"2026-11-21"}},"#
                + #""time":"2026-11-21T09:00:00.123Z"},{"number":9,"kind":"custom_attributes","#
                + #""alias":{"name":"n","label":"l"},"data":{"a":null},"time":"2026-11-21T09:00:00.123Z"}],"#
                + #""sending":{"phase":"waiting","reason":"503","failures":3,"until":"2026-11-21T09:01:40Z","#
                + #""since":"2026-11-21T09:00:00.123Z"}}"# + "\n")
    }

    @Test(
        "the reply to a replay has the new requests, and the reasons for the others, with the code of a refusal")
    func replayed() {
        let results: [ReplayResult] = [
            .accepted(SequenceNumber(1), as: SequenceNumber(9)),
            .refused(SequenceNumber(2), "the request has no dead letter"),
            .refused(SequenceNumber(3), "too many", code: .overloaded, retryAfter: .milliseconds(250)),
        ]
        #expect(
            String(decoding: Reply.replayed(results, id: nil), as: UTF8.self)
                == #"{"ok":true,"replayed":[{"of":1,"seq":9}],"refused":[{"of":2,"reason":"the request has no dead letter"},"#
                + #"{"of":3,"reason":"too many","code":"overloaded","retry_after_ms":250}]}"# + "\n")
    }

    @Test("the reply to a claim is read as it was written", arguments: states)
    func readClaimed(sending: SendingState?) throws {
        for entries in [[], [Self.event], [Self.event, Self.attributes, Self.aliased]] {
            let claimed = Claimed(entries: entries, sending: sending)
            #expect(try ControlReply(line: Reply.claimed(claimed, id: nil)).claimed() == claimed)
        }
    }

    @Test("the forwarder gets the fields that it sends, and no stored entry")
    func entries() {
        var entry = CustomEntry(
            number: EntryNumber(7), cause: SequenceNumber(1), kind: .customEvent, destination: .sent(.brazeID("b1")),
            platform: .ios, app: "com.shop", device: "d", externalID: nil, name: "bought \"it\"",
            data: Self.event.data, time: Self.time, savedAt: WallTime(milliseconds: 0))
        #expect(ClaimedEntry(entry) == Self.event)
        entry.destination = .stored(suite: "standard")
        #expect(ClaimedEntry(entry) == nil)
    }

    @Test("an order that changes entries returns their number")
    func counted() throws {
        let line = Reply.counted("settled", 4, id: nil)
        #expect(text(line) == #"{"ok":true,"settled":4}"# + "\n")
        #expect(try ControlReply(line: line).count("settled") == 4)
        #expect(throws: ControlReplyError.unreadable("flushed is missing")) {
            try ControlReply(line: line).count("flushed")
        }
        #expect(text(Reply.done(id: "a1")) == #"{"ok":true,"id":"a1"}"# + "\n")
        _ = try ControlReply(line: Reply.done(id: nil))
    }

    @Test("the reply to a departure names the entries that may be sent")
    func departed() throws {
        let line = Reply.departed([EntryNumber(7), EntryNumber(9)], id: "a1")
        #expect(text(line) == #"{"ok":true,"id":"a1","entries":[7,9]}"# + "\n")
        let departed = try ControlReply(line: line).departed()
        #expect(departed.entries == [EntryNumber(7), EntryNumber(9)] && departed.valid == nil)
        let lease = Reply.departed([EntryNumber(7)], valid: .milliseconds(2400), id: nil)
        #expect(text(lease) == #"{"ok":true,"entries":[7],"valid_ms":2400}"# + "\n")
        #expect(try ControlReply(line: lease).departed().valid == .milliseconds(2400))
        #expect(throws: ControlReplyError.unreadable("entries has more than numbers")) {
            try ControlReply(line: Array(#"{"ok":true,"entries":[7,{}]}"#.utf8)).departed()
        }
    }

    @Test("a client reads code, field, message and retry of a refusal")
    func refused() {
        let error = ProtocolError(
            .unavailable, field: "instance", message: "another forwarder, pid 7, is connected",
            retryAfter: .seconds(1), leader: "b", id: "a1")
        #expect(throws: ControlReplyError.refused(error)) { try ControlReply(line: Reply.refused(error)) }
    }

    @Test(
        "a malformed reply gives the reason",
        arguments: [
            ("{}", "ok is missing"), (#"{"ok":false}"#, "error is missing"),
            (#"{"ok":false,"error":{"code":"new","message":"m"}}"#, "error is missing"),
            (#"{"ok":true}"#, "entries is missing"),
            (
                #"{"ok":true,"entries":[{"number":1,"kind":"custom_event","data":{},"time":"2026-11-21T09:00:00Z"}]}"#,
                "an entry lacks its number, kind, identifier, data or time"
            ),
            (
                #"{"ok":true,"entries":[],"sending":{"phase":"sending"}}"#,
                "sending lacks its phase, failures or since"
            ),
        ])
    func unreadable(line: String, problem: String) {
        #expect(throws: ControlReplyError.unreadable(problem)) {
            try ControlReply(line: Array(line.utf8)).claimed()
        }
    }
}

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
