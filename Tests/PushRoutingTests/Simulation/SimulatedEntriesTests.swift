import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Custom data in a simulation")
struct SimulatedEntriesTests {
    private static let table: RoutingTable = {
        var table = RoutingTable(
            routes: [Route(name: "all", match: RouteMatch(), handler: "crm")],
            handlers: ["crm": Handler(name: "crm", kind: .journal)])
        table.tracks = [
            TrackRule(
                name: "t", occasions: [.received], identifier: .brazeID(keyValue: "braze_id"),
                event: .init(name: .constant("received")))
        ]
        return table
    }()
    private static let story = [
        #"{"op":"deliver","id":"right","at":0,"payload":{"_ab":"true","t":"T","a":"A","extra":"{\"braze_id\":\"b1\"}"}}"#,
        #"{"op":"deliver","id":"wrong","at":1,"payload":{"_ab":"true","t":"T","a":"A","extra":"{\"Braze_id\":\"b1\"}"}}"#,
        #"{"op":"log","at":2,"device":"d","kind":"custom_event","name":"bought","suite":"group","properties":{"n":1,"s":"x"}}"#,
        #"{"op":"log","at":3,"device":"d","kind":"custom_attributes","attributes":{"plan":"free","email":"a@b.de"}}"#,
        #"{"op":"session","kind":"start","at":9000,"device":"d","external_id":"u"}"#,
    ]

    @Test("each entry has a line when it is queued, saved, rejected and flushed")
    func lines() {
        var simulator = Simulator(table: Self.table, tracker: Tracker(stateID: UUID128(high: 0, low: 0)))
        var output = Self.story.enumerated().flatMap { simulator.take(Array($1.utf8), number: $0 + 1) }
        output += simulator.finish()
        let lines = output.map { String(decoding: $0, as: UTF8.self) }.filter { $0.hasPrefix(#"{"type":"entry","#) }
        #expect(
            lines.map { String($0.dropFirst(17)) } == [
                #"entry":1,"seq":1,"at":0,"state":"queued","kind":"custom_event","braze_id":"b1","name":"received","properties":{}}"#,
                #"entry":2,"seq":2,"at":1,"state":"rejected","kind":"custom_event","name":"received","#
                    + #""reason":"braze_id: the payload has no key-value braze_id; it has Braze_id: names are case-sensitive (track t)"}"#,
                #"entry":3,"seq":3,"at":2,"state":"pending","kind":"custom_event","suite":"group","name":"bought","#
                    + #""properties":{"n":1,"s":"x"}}"#,
                #"entry":4,"seq":4,"at":3,"state":"pending","kind":"custom_attributes","suite":"standard","#
                    + #""attributes":{"plan":"free"}}"#,
                #"entry":5,"seq":4,"at":3,"state":"rejected","kind":"custom_attributes","suite":"standard","#
                    + #""attributes":{"email":"a@b.de"},"#
                    + #""reason":"attributes.email: is a field of the profile, not a custom attribute; log it with the user attributes"}"#,
                #"entry":3,"seq":5,"at":9000,"state":"flushed","kind":"custom_event","suite":"group","name":"bought","#
                    + #""properties":{"n":1,"s":"x"}}"#,
                #"entry":4,"seq":5,"at":9000,"state":"flushed","kind":"custom_attributes","suite":"standard","#
                    + #""attributes":{"plan":"free"}}"#,
            ], "\(lines)")
    }

    @Test(
        "each kind of expectation on custom data holds when it is true",
        arguments: [
            #"{"entry":{"state":"queued","braze_id":"b1","name":"received","seq":1}}"#,
            #"{"entry":{"state":"rejected","reason":"it has Braze_id","braze_id":null}}"#,
            #"{"entry":{"state":"flushed","seq":5,"properties":{"s":"x"},"at":"1970-01-01T00:00:09Z"}}"#,
            #"{"entry":{"kind":"custom_attributes","attributes":{"plan":"free"}}}"#,
            #"{"count":{"entry":{"state":"rejected"}},"is":2}"#, #"{"none":{"entry":{"state":"discarded"}}}"#,
        ])
    func holds(expect: String) throws { #expect(try failure(expect) == nil) }

    @Test("a false expectation fails, and names the member that differs")
    func fails() throws {
        let wrongValue = try #require(try failure(#"{"entry":{"state":"flushed","properties":{"n":2}}}"#))
        #expect(wrongValue.message == "no entry matches (7 checked). Closest:")
        #expect(
            wrongValue.lines.first
                == "entry 3, custom_event bought flushed: properties.n is 1, not 2")
        let none = try #require(try failure(#"{"none":{"entry":{"state":"queued"}}}"#))
        #expect(none.message == "1 entry matches, not 0:")
        #expect(none.lines == ["entry 1, custom_event received queued"])
    }

    private func failure(_ expect: String) throws -> Check.Failure? {
        let lines = Self.story + [#"{"expect":\#(expect)}"#]
        return try Scenario(lines.map { Array($0.utf8) })
            .run(table: Self.table, tracker: Tracker(stateID: UUID128(high: 0, low: 0))).checks.first?.failure
    }
}
