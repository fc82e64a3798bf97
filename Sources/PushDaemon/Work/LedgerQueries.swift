import PushModel
import Store

/// The loop's access to the ledger: asks its questions, and calls back once the ledger has a batch. The ledger follows
/// the log, so it may lack batches that are durable.
///
/// A question cannot be withdrawn: a caller that may lose interest holds its state weakly in the closure.
final class LedgerQueries {
    /// How many questions of users are under way at once: a user's question waits for at most this many of another's.
    private static let askedMax = 8
    /// How many waiters for a batch are called in one turn.
    private static let calledAtOnce = 256

    /// The number of the last batch that the ledger has.
    private(set) var applied: UInt64
    /// Why the ledger cannot be written now; `nil`: it can be.
    private(set) var stall: StoreError?
    private let committer: Committer
    private let lookup: Lookup
    private let onAnswer: @Sendable (LedgerAnswers.Answer) -> Void
    private var lastToken: UInt64 = 0
    /// The closures for the answers, by the number of the question.
    private var completions: [UInt64: () -> Void] = [:]
    private var answers = LedgerAnswers()
    /// Questions of users that wait for the answers of others, because each answer may have a payload.
    private var waitingQuestions = FairQueue<() -> Void>()
    private var asked = 0
    private var waits = BatchWaits<(go: (_ hasIt: Bool) -> Void, endsAtStop: Bool)>()

    /// - Parameters:
    ///   - committer: brings the ledger up to a batch.
    ///   - directory: the state directory.
    ///   - onAnswer: called on another thread for each answer, which ``take(_:)`` must get on the loop's thread.
    init(
        _ committer: Committer, directory: String, onAnswer: @escaping @Sendable (LedgerAnswers.Answer) -> Void
    ) {
        self.committer = committer
        self.onAnswer = onAnswer
        applied = committer.lastNumber
        lookup = Lookup(directory: directory)
    }

    // MARK: Questions

    /// Asks the ledger.
    ///
    /// - Parameters:
    ///   - question: the question.
    ///   - account: the account that causes the question, which then takes its turn; `nil`: asks at once.
    ///   - take: gets the answer, in a later turn.
    func ask<Answer>(
        _ question: Lookup.Question<Answer>, of account: Account? = nil,
        _ take: @escaping (Result<Answer, StoreError>) -> Void
    ) {
        guard let account else { return submit(question, take) }
        let ask = { [self] in
            asked += 1
            submit(question) { [self] answer in
                asked -= 1
                waitingQuestions.popFirst()?()
                take(answer)
            }
        }
        if asked < Self.askedMax { ask() } else { waitingQuestions.append(ask, of: account) }
    }

    private func submit<Answer>(
        _ question: Lookup.Question<Answer>, _ take: @escaping (Result<Answer, StoreError>) -> Void
    ) {
        lastToken += 1
        let (token, onAnswer, answer) = (lastToken, onAnswer, Future<Answer, StoreError>())
        completions[token] = { take(Result { () throws(StoreError) in try answer.value() }) }
        lookup.ask(question) { result, byteCount in
            answer.make { () throws(StoreError) in try result.get() }
            onAnswer(LedgerAnswers.Answer(token: token, byteCount: byteCount))
        }
    }

    /// Queues an answer; its closure is called at the end of a turn.
    func take(_ answer: LedgerAnswers.Answer) { answers.append(answer) }

    // MARK: Batches

    /// Calls back once the ledger has a batch, at once if it has, however long that takes.
    func whenApplied(_ batch: UInt64, _ go: @escaping () -> Void) {
        guard applied < batch else { return go() }
        wait(for: batch, until: nil, endsAtStop: false) { _ in go() }
    }

    /// Calls back once the ledger has a batch, at a time limit, or when the ledger cannot be written, because the end
    /// of that is unknown; at once if one of these is so.
    ///
    /// - Parameters:
    ///   - batch: the number of the batch.
    ///   - due: the time in monotonic nanoseconds; `.max`: there is no limit.
    ///   - endsAtStop: whether ``expireWaits()`` calls back, too.
    ///   - go: told whether the ledger has the batch.
    func whenApplied(
        _ batch: UInt64, until due: Int64, endsAtStop: Bool = false, _ go: @escaping (_ hasIt: Bool) -> Void
    ) {
        guard applied < batch, stall == nil else { return go(applied >= batch) }
        wait(for: batch, until: due, endsAtStop: endsAtStop, go)
    }

    private func wait(for batch: UInt64, until due: Int64?, endsAtStop: Bool, _ go: @escaping (Bool) -> Void) {
        waits.add((go, endsAtStop), position: batch, due: due)
        committer.expedite(through: batch)
    }

    /// The number of waiters for a batch.
    var waitCount: Int { waits.count }

    /// The earliest time limit of a waiter, in monotonic nanoseconds; `nil`: there is none.
    var nextDue: Int64? {
        guard waits.count > 0, let due = waits.nextDue(), due < .max else { return nil }
        return due
    }

    /// Notes that the ledger has a batch.
    func applied(through number: UInt64) {
        applied = number
        callSome(at: 0)
    }

    /// Notes that the ledger cannot be written for now.
    func ledgerStalled(_ error: StoreError) {
        stall = error
        callSome(at: .max)
    }

    /// Notes that the ledger is written again.
    func ledgerResumed() { stall = nil }

    /// Calls the waiters whose waits end when the daemon stops.
    func expireWaits() {
        for waiter in waits.takeAll(where: \.endsAtStop) { waiter.go(false) }
    }

    /// The refusal of a request because the ledger cannot be written now.
    func refusal(id: String?) -> ProtocolError {
        let message = "the ledger cannot be written now: \(stall?.message ?? "")"
        return ProtocolError(.unavailable, message: message, retryAfter: .seconds(1), id: id)
    }

    private func callSome(at now: Int64) {
        for _ in 0..<min(Self.calledAtOnce, waits.count) {
            guard let (waiter, hasIt) = waits.next(applied: applied, now: stall == nil ? now : .max) else { return }
            waiter.go(hasIt)
        }
    }

    // MARK: Turns

    /// Passes on answers and calls waiters, as many as one turn may.
    func endTurn(at now: Int64) {
        for answer in answers.takeTurn() { completions.removeValue(forKey: answer.token)?() }
        callSome(at: now)
    }

    /// Whether answers or waiters are left for another turn.
    var hasMore: Bool {
        guard answers.isEmpty, waits.count > 0 else { return !answers.isEmpty }
        return waits.hasServedWaiter(by: applied) || stall != nil && waits.nextDue() != nil
    }

    /// Ends the look-up thread, and drops all closures.
    func stop() {
        lookup.stop()
        (completions, waitingQuestions, waits) = ([:], FairQueue(), BatchWaits())
    }
}

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

/// Waiters for a batch in the ledger, some with a time limit.
struct BatchWaits<Waiter> {
    private struct Wait: Comparable {
        /// A batch number, or a time.
        var value: Int64
        var number: Int

        static func < (left: Wait, right: Wait) -> Bool { (left.value, left.number) < (right.value, right.number) }
    }

    private var waiters: [Int: Waiter] = [:]
    private var lastNumber = 0
    private var byPosition = Heap<Wait>()
    private var byTime = Heap<Wait>()

    /// The number of waiters.
    var count: Int { waiters.count }

    /// The length of the longer heap, which may have entries of waiters that were answered.
    var waitCount: Int { max(byPosition.count, byTime.count) }

    /// Adds a waiter for a batch, with a time limit; `nil`: none.
    mutating func add(_ waiter: Waiter, position: UInt64, due: Int64?) {
        Self.dropAnswered(from: &byPosition, waiters)
        Self.dropAnswered(from: &byTime, waiters)
        lastNumber += 1
        waiters[lastNumber] = waiter
        byPosition.insert(Wait(value: Int64(clamping: position), number: lastNumber))
        if let due { byTime.insert(Wait(value: due, number: lastNumber)) }
    }

    /// Takes the next waiter that can be answered: first those whose batch the ledger has, then those whose time is
    /// over.
    ///
    /// - Returns: the waiter, and whether the ledger has the batch.
    mutating func next(applied: UInt64, now: Int64) -> (waiter: Waiter, hasIt: Bool)? {
        if let waiter = Self.take(from: &byPosition, &waiters, through: Int64(clamping: applied)) {
            return (waiter, true)
        }
        return Self.take(from: &byTime, &waiters, through: now).map { ($0, false) }
    }

    /// Takes the waiters that satisfy `isWanted`, in the order in which they came.
    mutating func takeAll(where isWanted: (Waiter) -> Bool) -> [Waiter] {
        waiters.filter { isWanted($0.value) }.keys.sorted().compactMap { waiters.removeValue(forKey: $0) }
    }

    /// The earliest time limit; `nil` without one.
    mutating func nextDue() -> Int64? {
        Self.dropAnswered(from: &byTime, waiters)
        return byTime.first?.value
    }

    /// Whether the ledger has the batch of at least one waiter.
    mutating func hasServedWaiter(by applied: UInt64) -> Bool {
        Self.dropAnswered(from: &byPosition, waiters)
        return byPosition.first.map { $0.value <= Int64(clamping: applied) } ?? false
    }

    // Without key paths: the runtime builds each of them anew, which doubled the time of a turn of the loop.

    private static func take(from heap: inout Heap<Wait>, _ waiters: inout [Int: Waiter], through value: Int64)
        -> Waiter?
    {
        dropAnswered(from: &heap, waiters)
        guard let first = heap.first, first.value <= value else { return nil }
        _ = heap.popFirst()
        return waiters.removeValue(forKey: first.number)
    }

    /// Removes entries of waiters that the other heap answered: those at the top, and all if they are the majority.
    private static func dropAnswered(from heap: inout Heap<Wait>, _ waiters: [Int: Waiter]) {
        while let first = heap.first, waiters[first.number] == nil { _ = heap.popFirst() }
        guard heap.count > 2 * waiters.count + 64 else { return }
        heap.removeAll { waiters[$0.number] == nil }
    }
}
