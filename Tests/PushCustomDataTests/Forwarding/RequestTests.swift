import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import pushrouter_forward

@Suite("Requests")
struct RequestTests {
    private let settings = ForwardingSettings()

    private func body(_ entries: ClaimedEntry...) throws -> String {
        let bodies = settings.requestBodies(for: entries)
        #expect(bodies.count == 1)
        return String(decoding: try #require(bodies.first), as: UTF8.self)
    }

    @Test("an event has its identifier, name, time and properties")
    func event() throws {
        let text = try body(entry(1, data: #"{"a":1}"#))
        #expect(
            text
                == #"{"events":[{"external_id":"u","name":"n1","time":"2026-11-21T09:00:00.123Z","properties":{"a":1}}]}"#
        )
    }

    @Test("an event without properties has no such member")
    func bareEvent() throws {
        #expect(
            try body(entry(1)) == #"{"events":[{"external_id":"u","name":"n1","time":"2026-11-21T09:00:00.123Z"}]}"#)
    }

    @Test(
        "attributes stand beside the identifier, custom ones and the provider's own",
        arguments: [
            EntryKind.customAttributes, .userAttributes,
        ])
    func attributes(kind: EntryKind) throws {
        let text = try body(entry(1, kind: kind, data: #"{"tags":{"add":["x"]},"email":null}"#))
        #expect(text == #"{"attributes":[{"external_id":"u","tags":{"add":["x"]},"email":null}]}"#)
    }

    static let identifiers: [(UserIdentifier, String)] = [
        (.externalID("é\""), #""external_id":"é\"""#),
        (.brazeID("5f"), #""braze_id":"5f""#),
        (
            .alias(name: "n", label: "l"),
            #""user_alias":{"alias_name":"n","alias_label":"l"},"_update_existing_only":false"#
        ),
    ]

    @Test("each element has one identifier; an alias may create a profile", arguments: identifiers)
    func identifier(user: UserIdentifier, text: String) throws {
        var entry = entry(1, kind: .customAttributes, data: #"{"a":true}"#)
        entry.identifier = user
        #expect(try body(entry) == #"{"attributes":[{\#(text),"a":true}]}"#)
    }

    @Test("10,000 events make 134 requests: the minimum that the limit allows")
    func fewest() {
        let bodies = settings.requestBodies(for: events(1...10_000))
        #expect(bodies.count == 134)
    }

    @Test("a request has at most 75 attributes and 75 events", arguments: [(nil, 2), (50, 6), (149, 3)])
    func limits(combined: Int?, requests: Int) {
        var settings = settings
        settings.combinedLimit = combined
        let attributes = (1...150).map { entry($0, user: "a\($0)", kind: .customAttributes, data: #"{"a":1}"#) }
        let entries = attributes + events(151...300)
        #expect(settings.requestBodies(for: entries).count == requests)
    }

    @Test("a body has at most 1 MiB; a longer entry leaves alone")
    func length() {
        func large(_ number: Int64, _ bytes: Int) -> ClaimedEntry {
            entry(number, user: "u\(number)", data: #"{"a":"\#(String(repeating: "x", count: bytes))"}"#)
        }
        let bodies = settings.requestBodies(for: (1...75).map { large($0, 50_000) })
        #expect(bodies.count == 4)
        #expect(bodies.allSatisfy { $0.count <= 1 << 20 })
        #expect(settings.requestBodies(for: [large(1, 2 << 20), large(2, 1), large(3, 1)]).count == 2)
    }

    @Test("attributes never join a request with an earlier event of the same user, which would take effect after them")
    func order() {
        let set = entry(2, kind: .customAttributes, data: #"{"a":1}"#)
        #expect(settings.requestBodies(for: [entry(1), set, entry(3)]).count == 2)
        // The endpoint's own order is attributes first.
        #expect(settings.requestBodies(for: [set, entry(3), entry(4, user: "v")]).count == 1)
    }
}
