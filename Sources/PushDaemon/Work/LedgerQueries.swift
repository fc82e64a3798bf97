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
    private var waits = BatchWaits<(_ hasIt: Bool) -> Void>()

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
        wait(for: batch, until: nil) { _ in go() }
    }

    /// Calls back once the ledger has a batch, at a time limit, or when the ledger cannot be written, because the end
    /// of that is unknown; at once if one of these is so.
    ///
    /// - Parameters:
    ///   - batch: the number of the batch.
    ///   - due: the time in monotonic nanoseconds; `.max`: there is no limit.
    ///   - go: told whether the ledger has the batch.
    func whenApplied(_ batch: UInt64, until due: Int64, _ go: @escaping (_ hasIt: Bool) -> Void) {
        guard applied < batch, stall == nil else { return go(applied >= batch) }
        wait(for: batch, until: due, go)
    }

    private func wait(for batch: UInt64, until due: Int64?, _ go: @escaping (Bool) -> Void) {
        waits.add(go, position: batch, due: due)
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

    /// Calls all waiters with a time limit: the daemon stops.
    func expireWaits() {
        while let (go, hasIt) = waits.next(applied: applied, now: .max - 1) { go(hasIt) }
    }

    /// The refusal of a request because the ledger cannot be written now.
    func refusal(id: String?) -> ProtocolError {
        let message = "the ledger cannot be written now: \(stall?.message ?? "")"
        return ProtocolError(.unavailable, message: message, retryAfter: .seconds(1), id: id)
    }

    private func callSome(at now: Int64) {
        for _ in 0..<min(Self.calledAtOnce, waits.count) {
            guard let (go, hasIt) = waits.next(applied: applied, now: stall == nil ? now : .max) else { return }
            go(hasIt)
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
