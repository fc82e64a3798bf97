import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Control requests")
struct ControlRequestTests {
    static let instance = UUID128(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)

    static let requests: [(ControlRequest.Operation, String)] = [
        (.status, #"{"op":"status"}"#),
        (.metrics(.openMetrics), #"{"op":"metrics","format":"openmetrics"}"#),
        (.metrics(.prometheus), #"{"op":"metrics","format":"prometheus"}"#),
        (
            .claim(ClaimRequest(instance: instance, limit: 150, waits: true)),
            #"{"op":"claim","instance":"01234567-89ab-cdef-fedc-ba9876543210","limit":150,"wait":true}"#
        ),
        (
            .claim(
                ClaimRequest(
                    instance: instance, limit: 9, waits: false, holding: [EntryNumber(7), EntryNumber(8)])),
            #"{"op":"claim","instance":"01234567-89ab-cdef-fedc-ba9876543210","limit":9,"wait":false,"holding":[7,8]}"#
        ),
        (
            .claim(ClaimRequest(instance: instance, limit: 9, waits: true, reserves: true)),
            #"{"op":"claim","instance":"01234567-89ab-cdef-fedc-ba9876543210","limit":9,"wait":true,"reserve":true}"#
        ),
        (
            .depart(DepartRequest(instance: instance, entries: [EntryNumber(7), EntryNumber(8)])),
            #"{"op":"depart","instance":"01234567-89ab-cdef-fedc-ba9876543210","entries":[7,8]}"#
        ),
        (.peek(after: EntryNumber(0), limit: 1000), #"{"op":"peek","after":0,"limit":1000}"#),
        (
            .settle(
                SettleRequest(
                    instance: instance,
                    entries: [
                        .init(EntryNumber(7), .sent), .init(EntryNumber(8), .rejected, reason: "no \"name\""),
                        .init(EntryNumber(9), .unknown, reason: "lost"), .init(EntryNumber(10), .queued),
                    ])),
            #"{"op":"settle","instance":"01234567-89ab-cdef-fedc-ba9876543210","entries":["#
                + #"{"number":7,"state":"sent"},{"number":8,"state":"rejected","reason":"no \"name\""},"#
                + #"{"number":9,"state":"unknown","reason":"lost"},{"number":10,"state":"queued"}]}"#
        ),
        (
            .sending(
                SendingReport(
                    instance: instance, phase: .waiting, reason: "429", failures: 3,
                    until: WallTime(milliseconds: 1_795_251_600_500))),
            #"{"op":"sending","instance":"01234567-89ab-cdef-fedc-ba9876543210","phase":"waiting","reason":"429","#
                + #""failures":3,"until":"2026-11-21T09:00:00.500Z"}"#
        ),
        (
            .sending(SendingReport(instance: instance, phase: .sending)),
            #"{"op":"sending","instance":"01234567-89ab-cdef-fedc-ba9876543210","phase":"sending","failures":0}"#
        ),
        (
            .flush(
                FlushRequest(
                    target: Target(platform: .ios, app: "com.shop", device: "d", externalID: "u"), suite: "group.a")),
            #"{"op":"flush","platform":"ios","app":"com.shop","device":"d","external_id":"u","suite":"group.a"}"#
        ),
        (.flush(FlushRequest(target: Target(app: "com.shop"))), #"{"op":"flush","app":"com.shop"}"#),
        (.reset(suite: "standard", app: "com.shop"), #"{"op":"reset","suite":"standard","app":"com.shop"}"#),
        (.reset(suite: "standard", app: nil), #"{"op":"reset","suite":"standard"}"#),
        (
            .resolve(ResolveRequest(entries: [EntryNumber(7), EntryNumber(8)], state: .queued)),
            #"{"op":"resolve","entries":[7,8],"state":"queued"}"#
        ),
        (
            .resolve(ResolveRequest(entries: nil, state: .discarded)),
            #"{"op":"resolve","entries":"all","state":"discarded"}"#
        ),
        (.erase(Person(externalID: "u")), #"{"op":"erase","external_id":"u"}"#),
        (.erase(Person(externalID: nil, devices: ["d"])), #"{"op":"erase","device":"d"}"#),
        (.reload, #"{"op":"reload"}"#), (.configuration(nil), #"{"op":"configuration"}"#),
        (
            .configuration(ConfigurationID("0123456789ABCDEF")),
            #"{"op":"configuration","configuration":"0123456789ABCDEF"}"#
        ),
        (
            .gatewayRotate(until: WallTime(milliseconds: 1_795_251_600_000)),
            #"{"op":"gateway_rotate","until":"2026-11-21T09:00:00Z"}"#
        ),
        (.logLevel(nil), #"{"op":"log_level"}"#), (.logLevel("err"), #"{"op":"log_level","level":"err"}"#),
    ]

    @Test("are written as they are read", arguments: requests)
    func roundTrip(operation: ControlRequest.Operation, line: String) throws {
        #expect(text(ControlRequest(operation).line) == line + "\n")
        #expect(try ControlRequest(line: Array(line.utf8)) == ControlRequest(operation))
        let named = ControlRequest(operation, id: "a1")
        #expect(try ControlRequest(line: named.line) == named)
    }

    @Test("wait with claim only if it says so; a time may be in milliseconds")
    func defaults() throws {
        let claim = try ControlRequest(line: Array(#"{"op":"claim","instance":"\#(Self.instance)","limit":1}"#.utf8))
        #expect(claim.operation == .claim(ClaimRequest(instance: Self.instance, limit: 1, waits: false)))
        let sending = try ControlRequest(
            line: Array(#"{"op":"sending","instance":"\#(Self.instance)","phase":"waiting","until":0}"#.utf8))
        let report = SendingReport(instance: Self.instance, phase: .waiting, until: WallTime(milliseconds: 0))
        #expect(sending.operation == .sending(report))
    }

    @Test("keep the beginning of a long reason, with whole characters")
    func longReason() {
        let settlement = Settlement(
            EntryNumber(1), .rejected, reason: String(repeating: "é", count: 400) + String(repeating: "€", count: 400))
        #expect(
            settlement.reason == String(repeating: "é", count: 400) + String(repeating: "€", count: 66))
        let exact = String(repeating: "x", count: 1000)
        #expect(Settlement(EntryNumber(1), .rejected, reason: exact).reason == exact)
        #expect(SendingReport(instance: Self.instance, phase: .stopped, reason: exact + "y").reason == exact)
    }

    static let names =
        "status, metrics, sync, claim, depart, peek, settle, sending, flush, reset, resolve, replay, purge, erase, "
        + "reload, configuration, log_level or gateway_rotate"
    static let run = #""instance":"01234567-89ab-cdef-fedc-ba9876543210""#

    static let refused: [RefusalTests.Example] = [
        .init("[]", .invalidType, nil, "a request is one JSON object on one line; this is an array"),
        .init("{}", .missingKey, "op", "op is missing: \(names)"),
        .init(#"{"op":"deliver"}"#, .unknownOperation, "op", "control.sock takes \(names)"),
        .init(
            #"{"op":"status","suite":"a"}"#, .unknownKey, "suite", "this op has no such key; it has at, id, op"),
        .init(#"{"op":"claim","limit":1}"#, .missingKey, "instance", "instance is missing"),
        .init(
            #"{"op":"claim","limit":1,"instance":"me"}"#, .invalidValue, "instance",
            "instance is the UUID of this run of the forwarder: 32 hexadecimal digits"),
        .init(#"{"op":"claim",\#(run)}"#, .missingKey, "limit", "limit is missing"),
        .init(
            #"{"op":"claim",\#(run),"limit":1,"holding":[0]}"#, .invalidValue, "holding[0]",
            "an entry's number is a whole number above 0"),
        .init(#"{"op":"erase"}"#, .missingKey, "external_id", "external_id is missing: give external_id or device"),
        .init(
            #"{"op":"erase","external_id":"u","device":"d"}"#, .invalidValue, "device",
            "give external_id or device, not both"),
        .init(#"{"op":"peek","limit":1}"#, .missingKey, "after", "after is missing"),
        .init(
            #"{"op":"claim",\#(run),"limit":0}"#, .invalidValue, "limit", "limit is a whole number from 1 to 1000"),
        .init(
            #"{"op":"claim",\#(run),"limit":1001}"#, .invalidValue, "limit", "limit is a whole number from 1 to 1000"),
        .init(
            #"{"op":"claim",\#(run),"limit":"9"}"#, .invalidType, "limit", "limit is a number; this is a string"),
        .init(
            #"{"op":"claim",\#(run),"limit":1,"wait":"yes"}"#, .invalidType, "wait",
            "wait is true or false; this is a string"),
        .init(
            #"{"op":"claim",\#(run),"limit":1,"app":"a"}"#, .unknownKey, "app",
            "this op has no such key; it has at, holding, id, instance, limit, op, reserve, wait"),
        .init(
            #"{"op":"depart",\#(run),"entries":[1,{}]}"#, .invalidValue, "entries[1]",
            "an entry's number is a whole number above 0"),
        .init(#"{"op":"settle",\#(run)}"#, .missingKey, "entries", "entries is missing"),
        .init(
            #"{"op":"settle",\#(run),"entries":{}}"#, .invalidType, "entries", "entries is a list; this is an object"),
        .init(
            #"{"op":"settle",\#(run),"entries":[7]}"#, .invalidType, "entries[0]",
            "an entry is an object; this is a number"),
        .init(
            #"{"op":"settle",\#(run),"entries":[{"number":1,"state":"sent"},{"state":"sent"}]}"#, .missingKey,
            "entries[1].number", "number is missing"),
        .init(
            #"{"op":"settle",\#(run),"entries":[{"number":0,"state":"sent"}]}"#, .invalidValue, "entries[0].number",
            "number is a whole number above 0"),
        .init(
            #"{"op":"settle",\#(run),"entries":[{"number":1}]}"#, .missingKey, "entries[0].state",
            "state is missing: sent, rejected, unknown, queued"),
        .init(
            #"{"op":"settle",\#(run),"entries":[{"number":1,"state":"flushed"}]}"#, .invalidValue, "entries[0].state",
            "state is one of sent, rejected, unknown, queued"),
        .init(
            #"{"op":"settle",\#(run),"entries":[{"number":1,"state":"unknown"}]}"#, .missingKey, "entries[0].reason",
            "reason is missing: the reason is kept with the entry"),
        .init(
            #"{"op":"settle",\#(run),"entries":[{"number":1,"state":"sent","why":"x"}]}"#, .unknownKey,
            "entries[0].why", "this op has no such key; it has number, reason, state"),
        .init(
            #"{"op":"settle",\#(run),"entries":[\#(Array(repeating: "{}", count: 1001).joined(separator: ","))]}"#,
            .invalidValue, "entries", "entries has at most 1000"),
        .init(
            #"{"op":"sending",\#(run)}"#, .missingKey, "phase", "phase is missing: sending, waiting, stopped"),
        .init(
            #"{"op":"sending",\#(run),"phase":"idle"}"#, .invalidValue, "phase",
            "phase is one of sending, waiting, stopped"),
        .init(
            #"{"op":"sending",\#(run),"phase":"waiting","failures":-1}"#, .invalidValue, "failures",
            "failures is a whole number from 0 to 1000000000"),
        .init(#"{"op":"flush"}"#, .missingKey, "app", "app is missing"),
        .init(
            #"{"op":"flush","app":"a","kind":"start"}"#, .unknownKey, "kind",
            "this op has no such key; it has app, at, device, external_id, id, op, platform, suite"),
        .init(#"{"op":"reset"}"#, .missingKey, "suite", "suite is missing"),
        .init(
            #"{"op":"resolve","entries":[1\#(String(repeating: ",1", count: 1000))],"state":"queued"}"#, .invalidValue,
            "entries", "entries has at most 1000"),
        .init(#"{"op":"resolve","state":"queued"}"#, .missingKey, "entries", "entries is missing"),
        .init(
            #"{"op":"resolve","entries":"some","state":"queued"}"#, .invalidType, "entries",
            "entries is a list of entry numbers, or \"all\"; this is a string"),
        .init(
            #"{"op":"resolve","entries":[1,"2"],"state":"queued"}"#, .invalidValue, "entries[1]",
            "an entry's number is a whole number above 0"),
        .init(
            #"{"op":"resolve","entries":[1]}"#, .missingKey, "state", "state is missing: queued, discarded"),
        .init(
            #"{"op":"resolve","entries":[1],"state":"sent"}"#, .invalidValue, "state",
            "state is one of queued, discarded"),
    ]

    @Test("report an error with its field and an advice", arguments: refused)
    func refusal(example: RefusalTests.Example) {
        #expect(throws: ProtocolError(example.code, field: example.field, message: example.message)) {
            try ControlRequest(line: Array(example.line.utf8))
        }
    }

    @Test("return the request's id with every error")
    func echoesID() {
        #expect(throws: ProtocolError(.missingKey, field: "app", message: "app is missing", id: "a1")) {
            try ControlRequest(line: Array(#"{"op":"flush","id":"a1"}"#.utf8))
        }
    }
}
