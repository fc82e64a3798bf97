import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Tracks of any payload")
struct TracksRandomTests {
    private static let keys = [
        "braze_id", "Braze_id", "braze-id", " braze_id", "event_name", "a", "b", "extra", "e", "aps", "ab", "_ab",
        "data", "é", "😀", "",
    ]

    /// Values that parse as one type or another, or as none.
    private static let texts = [
        "", "12", "-1.5", "true", "TRUE", "null", "2026-11-21", "2026-11-21 09:00:00", "[1, 2]", "{\"a\": [true]}", "{",
        "x\u{0}y", "\"", "\\", "9223372036854775808", "1e308", "1e309", "é", "\u{1F600}", "{\"a\":1,\"a\":2}",
    ]

    private static func value(depth: Int, _ writer: inout JSONWriter, using generator: inout SeededGenerator) {
        switch Int.random(in: 0..<(depth > 3 ? 5 : 7), using: &generator) {
        case 0: writer.null()
        case 1: writer.bool(Bool.random(using: &generator))
        case 2: writer.int(Int64.random(in: .min ... .max, using: &generator))
        case 3, 4: writer.string(texts.randomElement(using: &generator) ?? "")
        case 5:
            writer.beginArray()
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                value(depth: depth + 1, &writer, using: &generator)
            }
            writer.endArray()
        default: object(depth: depth + 1, &writer, using: &generator)
        }
    }

    private static func object(depth: Int, _ writer: inout JSONWriter, using generator: inout SeededGenerator) {
        writer.beginObject()
        for key in keys where Int.random(in: 0..<3, using: &generator) == 0 {
            writer.key(key)
            value(depth: depth, &writer, using: &generator)
        }
        writer.endObject()
    }

    private static func source(using generator: inout SeededGenerator) -> TrackSource {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: .fact(TrackSource.Fact.allCases.randomElement(using: &generator) ?? .app)
        case 1: .data(keys.randomElement(using: &generator) ?? "")
        case 2: .constant(texts.randomElement(using: &generator) ?? "")
        default: .keyValue(keys.randomElement(using: &generator) ?? "")
        }
    }

    private static func fields(using generator: inout SeededGenerator) -> [TrackField] {
        TrackValueType.allCases.map { TrackField("\($0) é\"", $0, source(using: &generator)) }
    }

    @Test(
        "give either a valid entry or its fault, and never trap", arguments: Search.seeds(20))
    func neverTraps(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var writer = JSONWriter()
            Self.object(depth: 0, &writer, using: &generator)
            let payload = try JSONDocument(scanning: writer.bytes).root
            let platform = Platform.allCases.randomElement(using: &generator) ?? .ios
            let keys = try? decide(Delivery(DeliverRequest(payload: payload), platform: platform)).keys
            let acts: [UserAct?] = [nil, .opened, .button(id: "a", text: "\u{0}\"é"), .dismissed]
            let act = acts.randomElement(using: &generator) ?? nil
            let facts = TrackFacts(act: act, provider: nil, platform: platform, keys: keys)
            let identifiers: [TrackIdentifier] = [
                .brazeID(keyValue: "braze_id"), .externalID(Self.source(using: &generator)),
                .alias(label: "l", name: Self.source(using: &generator)),
            ]
            let rules = identifiers.map { identifier in
                TrackRule(
                    name: "t", occasions: TrackRule.Occasion.allCases, identifier: identifier,
                    event: TrackRule.Event(
                        name: Self.source(using: &generator), properties: Self.fields(using: &generator)),
                    attributes: Self.fields(using: &generator), userAttributes: Self.fields(using: &generator))
            }
            var table = RoutingTable(routes: [], handlers: [:])
            table.tracks = rules
            let found = table.tracked(facts)
            #expect(found.count { $0.kind == .customEvent } == rules.count)
            for data in found {
                if let fault = data.fault {
                    #expect(!fault.field.isEmpty && fault.message.utf8.count < 300)
                } else {
                    #expect(data.identifier != nil)
                }
                if data.kind != .customEvent {
                    #expect(data.object["attributes"]?.count ?? 0 > 0)
                } else if data.fault == nil {
                    #expect(data.object["name"]?.string?.isEmpty == false)
                }
            }
        }
    }
}
