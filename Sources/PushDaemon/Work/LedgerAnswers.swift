import PushModel

/// Answers of the ledger that the loop has not handled yet.
///
/// An answer may have a payload of a quarter of a megabyte, which the loop scans: many of them would make a turn too
/// long.
struct LedgerAnswers {
    /// An answer of the look-up thread.
    struct Answer: Sendable {
        /// The number of its question.
        var token: UInt64
        /// The bytes of requests in it.
        var byteCount: Int
    }

    /// How many answers, and how many bytes of requests, one turn handles; it handles at least one answer of any size.
    static let answersAtOnce = 64
    static let bytesAtOnce = 64 << 10

    private var waiting = Queue<Answer>()

    /// Whether no answer waits.
    var isEmpty: Bool { waiting.isEmpty }

    /// Adds an answer.
    mutating func append(_ answer: Answer) { waiting.append(answer) }

    /// Takes the answers of one turn, the oldest first.
    mutating func takeTurn() -> [Answer] {
        var taken: [Answer] = []
        var bytes = 0
        while taken.count < Self.answersAtOnce, bytes < Self.bytesAtOnce, let answer = waiting.popFirst() {
            bytes += answer.byteCount
            taken.append(answer)
        }
        return taken
    }
}
