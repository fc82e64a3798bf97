import Testing

@testable import PushModel
@testable import PushRouter

@Suite("A tap on an unknown number")
struct UnknownNumberTests {
    @Test("is refused, writes nothing, and uses no number", arguments: [Int64(2), 999_999, 0, -1])
    func refused(number: Int64) throws {
        var bench = Bench()
        try bench.submit(.deliver())
        let events = bench.ledger.events.count
        #expect(throws: Refusal.unknownNumber(SequenceNumber(number), last: SequenceNumber(1))) {
            try bench.submit(.open(seq: number))
        }
        #expect(bench.ledger.events.count == events)
        #expect(try bench.submit(.open(seq: 1)).first == "request 2")
    }

    @Test("gives an error with the last number")
    func message() {
        let error = ProtocolError(.unknownNumber(SequenceNumber(7), last: SequenceNumber(3)), id: "a")
        #expect(error.code == .invalidValue && error.field == "message")
        #expect(error.message == "no delivery has the number 7: the last request is 3; write a message id as a string")
    }
}
