import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

private let state = TrackerBench.stateID

@Suite("Event ids")
struct EventIdentifierTests {
    @Test(
        "are UUIDs of version 8 and of the variant of RFC 9562",
        arguments: [
            UUID128(high: 0, low: 0), UUID128(high: .max, low: 0), UUID128(high: .max, low: .max), state,
        ])
    func bits(state: UUID128) {
        for seq in [1, 41, 0xFFFF_FFFF_FFFF] as [Int64] {
            for kind in AnalyticsEvent.Kind.allCases {
                let id = AnalyticsEvent.identifier(state: state, number: SequenceNumber(seq), kind: kind)
                #expect(id.high >> 12 & 0xF == 8)
                #expect(id.low >> 62 == 0b10)
            }
        }
    }

    @Test("are equal for equal causes, and different for different ones")
    func unique() {
        var seen: Set<UUID128> = []
        for seq in 1...5000 as ClosedRange<Int64> {
            for kind in AnalyticsEvent.Kind.allCases {
                let id = AnalyticsEvent.identifier(state: state, number: SequenceNumber(seq), kind: kind)
                #expect(seen.insert(id).inserted)
                #expect(id == AnalyticsEvent.identifier(state: state, number: SequenceNumber(seq), kind: kind))
            }
        }
    }

    @Test("event ids of two state directories differ")
    func states() {
        let one = AnalyticsEvent.identifier(state: UUID128(high: 1, low: 4), number: SequenceNumber(1), kind: .open)
        let other = AnalyticsEvent.identifier(state: UUID128(high: 1, low: 8), number: SequenceNumber(1), kind: .open)
        #expect(one != other)
    }

    @Test("never change: existing ledgers hold this one")
    func fixed() {
        let id = AnalyticsEvent.identifier(state: state, number: SequenceNumber(41), kind: .received)
        #expect(id.description == "00000000-0029-8001-840c-99d16ea6226a")
    }
}
