import PushModel
import Store

/// What the ledger said and the loop has not taken in yet.
///
/// An answer may bring a payload of a quarter of a megabyte, which is scanned when it is taken in: many of them would make
/// a turn too long.
struct LedgerAnswers {
    typealias Answer = (token: UInt64, result: Result<Lookup.Answer, StoreError>)

    /// How many a turn takes in, and how many bytes of requests; one is taken in however large it is.
    static let answersAtOnce = 64
    static let bytesAtOnce = 64 << 10

    private var waiting = Queue<Answer>()

    /// Whether everything was taken in.
    var isEmpty: Bool { waiting.isEmpty }

    /// Adds what came.
    mutating func append(_ token: UInt64, _ result: Result<Lookup.Answer, StoreError>) {
        waiting.append((token, result))
    }

    /// Takes out what a turn takes in, in the order in which it came.
    mutating func takeTurn() -> [Answer] {
        var taken: [Answer] = []
        var bytes = 0
        while taken.count < Self.answersAtOnce, bytes < Self.bytesAtOnce, let answer = waiting.popFirst() {
            bytes += answer.result.byteCount
            taken.append(answer)
        }
        return taken
    }
}

extension Result<Lookup.Answer, StoreError> {
    /// How many bytes of requests it brings.
    fileprivate var byteCount: Int {
        switch self {
        case .success(.story(let story)): story?.request.body.count ?? 0
        case .success(.line(let line)): line?.count ?? 0
        case .success(.dead(let dead)): dead?.story.request.body.count ?? 0
        case .success(.devices), .success(.identifiers), .failure: 0
        }
    }
}
