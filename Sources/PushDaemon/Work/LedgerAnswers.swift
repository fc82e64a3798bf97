import PushModel

/// Answers of the ledger that have come and that the loop has not taken in yet.
///
/// An answer may bring a payload of a quarter of a megabyte, which is scanned when it is taken in: many of them would make
/// a turn too long.
struct LedgerAnswers {
    /// An answer that has come.
    struct Answer: Sendable {
        /// The number of its question.
        var token: UInt64
        /// How many bytes of requests it brings.
        var byteCount: Int
    }

    /// How many a turn takes in, and how many bytes of requests; one is taken in however large it is.
    static let answersAtOnce = 64
    static let bytesAtOnce = 64 << 10

    private var waiting = Queue<Answer>()

    /// Whether everything was taken in.
    var isEmpty: Bool { waiting.isEmpty }

    /// Adds what came.
    mutating func append(_ answer: Answer) { waiting.append(answer) }

    /// Takes out what a turn takes in, in the order in which it came.
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
