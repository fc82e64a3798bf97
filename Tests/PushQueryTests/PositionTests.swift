import TestSupport
import Testing

@testable import PushModel
@testable import PushViews

@Suite("A position as a text", .timeLimit(.minutes(30)))
struct PositionTextTests {
    private func position(_ last: Int64, _ event: Int64, _ pending: some Sequence<Int64>) -> SourcePosition {
        let ids = pending.map { InvocationID(seq: SequenceNumber($0), n: 0) }
        return SourcePosition(last: SequenceNumber(last), event: event, pending: ids)
    }

    @Test("is read as it was written, whatever it is")
    func roundTrip() {
        var random = SeededGenerator(seed: 9)
        for _ in 0..<2000 {
            let last = Int64.random(in: 200...1_000_000, using: &random)
            let pending = (1...200 as ClosedRange<Int64>).shuffled(using: &random).prefix(
                Int.random(in: 0...128, using: &random)
            ).sorted()
            let position = position(last, Int64.random(in: 0...1_000_000, using: &random), pending)
            #expect(SourcePosition(position.description) == position)
        }
        let end = position(.max, .max, [1, .max] as [Int64])
        #expect(SourcePosition(end.description) == end)
    }

    @Test("names 128 undecided requests, and is before the first of more")
    func many() {
        #expect(position(400, 4, 101...228).description.hasSuffix("-228"))
        #expect(SourcePosition(position(400, 4, 101...228).description) == position(400, 4, 101...228))
        #expect(position(400, 4, 101...229).description == "100.4")
        #expect(position(400, 4, 1...200).description == "0.4")
        let text = "400.4." + (101...229).map { "\($0)" }.joined(separator: "-")
        #expect(SourcePosition(text) == nil)
    }

    @Test(
        "a stream position in a form that is never written is refused",
        arguments: [
            "", ".", "..", "...", "1", "1.", ".1", "1.2.3.4", "a.b", "1.-2", "-1.2", "1,2", "1.2.9", "1.2.-1", "9.4.0",
            "9.4.x", "1e3.1", "0x1.1", " 1.2", "1.2 ", "9223372036854775808.0", "0.9223372036854775808", "0.0.1",
            "0.0.0", "é.1", "1.2\n", "9.4.", "9.4.8-3", "9.4.3-3", "+9.4", "09.4",
        ])
    func rubbish(_ text: String) { #expect(SourcePosition(text) == nil, "\(text)") }
}
