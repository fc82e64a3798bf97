import TestSupport
import Testing

@testable import PushDaemon
@testable import PushModel

@Suite("Answers of the ledger")
struct LedgerAnswersTests {
    private func answers(_ count: Int, bytes: Int) -> LedgerAnswers {
        var answers = LedgerAnswers()
        for token in 0..<UInt64(count) {
            answers.append(.init(token: token, byteCount: bytes))
        }
        return answers
    }

    @Test("are handled in slices, in order", arguments: [0, 100])
    func byCount(bytes: Int) {
        var answers = answers(150, bytes: bytes)
        var turns: [[UInt64]] = []
        while !answers.isEmpty { turns.append(answers.takeTurn().map(\.token)) }
        #expect(turns.map(\.count) == [64, 64, 22])
        #expect(turns.flatMap { $0 } == Array(0..<150))
        #expect(answers.takeTurn().isEmpty)
    }

    @Test("with payloads are fewer in a turn; the largest comes alone")
    func byBytes() {
        var small = answers(10, bytes: 20 << 10)
        #expect(small.takeTurn().count == 4)
        var large = answers(3, bytes: 240 << 10)
        #expect((0..<3).map { _ in large.takeTurn().count } == [1, 1, 1])
    }
}
