import PushModel
import Store

/// Asks the ledger for everybody on the loop, and tells when it has what was decided: it follows the log, so what is
/// durable may not be in it yet.
///
/// Nobody withdraws a question: whoever may lose interest has its closure hold weakly what it would change.
final class LedgerDesk {
    /// How many questions that users cause are on their way at once: what one asks next waits for so many of another's.
    private static let askedMax = 8
    /// How many that wait for a batch are called in a turn.
    private static let calledAtOnce = 256

    /// Up to which batch the ledger has everything.
    private(set) var applied: UInt64
    /// Why the ledger cannot be written now; `nil`: it can.
    private(set) var stall: StoreError?
    private let committer: Committer
    private let lookup: Lookup
    private let onAnswer: @Sendable (LedgerAnswers.Answer) -> Void
    private var lastToken: UInt64 = 0
    /// What takes each answer, by the number of its question.
    private var takers: [UInt64: () -> Void] = [:]
    private var answers = LedgerAnswers()
    /// Questions that users caused and that wait until others have their answers: each may bring a payload.
    private var unasked = FairQueue<() -> Void>()
    private var asked = 0
    private var waits = BatchWaits<(_ hasIt: Bool) -> Void>()

    /// - Parameters:
    ///   - committer: brings the ledger up to a batch.
    ///   - directory: the state directory.
    ///   - onAnswer: hears on another thread that an answer has come, which ``take(_:)`` is to get on the loop's.
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
    ///   - question: what to ask for.
    ///   - account: the account that causes the question, which is then asked in its turn; `nil`: it is asked at once.
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
                unasked.popFirst()?()
                take(answer)
            }
        }
        if asked < Self.askedMax { ask() } else { unasked.append(ask, of: account) }
    }

    private func submit<Answer>(
        _ question: Lookup.Question<Answer>, _ take: @escaping (Result<Answer, StoreError>) -> Void
    ) {
        lastToken += 1
        let (token, onAnswer, answer) = (lastToken, onAnswer, Background<Answer, StoreError>())
        takers[token] = { take(Result { () throws(StoreError) in try answer.value() }) }
        lookup.ask(question) { result, byteCount in
            answer.make { () throws(StoreError) in try result.get() }
            onAnswer(LedgerAnswers.Answer(token: token, byteCount: byteCount))
        }
    }

    /// An answer has come. It goes to whoever asked at the end of a turn.
    func take(_ answer: LedgerAnswers.Answer) { answers.append(answer) }

    // MARK: Batches

    /// Calls back once the ledger has everything up to a batch, however long that takes; at once if it has.
    func onceApplied(_ batch: UInt64, _ go: @escaping () -> Void) {
        guard applied < batch else { return go() }
        wait(for: batch, until: nil) { _ in go() }
    }

    /// Calls back once the ledger has everything up to a batch, or when it cannot be written, since nobody knows for how
    /// long, or when a time is over; at once if that is so.
    ///
    /// - Parameters:
    ///   - batch: the number of the batch.
    ///   - due: the time in monotonic nanoseconds; `.max`: there is no limit.
    ///   - go: told whether the ledger has it.
    func onceApplied(_ batch: UInt64, until due: Int64, _ go: @escaping (_ hasIt: Bool) -> Void) {
        guard applied < batch, stall == nil else { return go(applied >= batch) }
        wait(for: batch, until: due, go)
    }

    private func wait(for batch: UInt64, until due: Int64?, _ go: @escaping (Bool) -> Void) {
        waits.add(go, position: batch, due: due)
        committer.hurry(through: batch)
    }

    /// How many wait for a batch.
    var waitCount: Int { waits.count }

    /// When a time is over that somebody waits for, in monotonic nanoseconds; `nil`: there is none.
    var nextDue: Int64? {
        guard waits.count > 0, let due = waits.nextDue(), due < .max else { return nil }
        return due
    }

    /// The ledger has everything up to a batch.
    func applied(through number: UInt64) {
        applied = number
        callSome(at: 0)
    }

    /// The ledger cannot be written for now.
    func ledgerStalled(_ error: StoreError) {
        stall = error
        callSome(at: .max)
    }

    /// The ledger is written again.
    func ledgerResumed() { stall = nil }

    /// Nobody waits for a time any longer: the daemon is to end.
    func endTimes() {
        while let (go, hasIt) = waits.next(applied: applied, now: .max - 1) { go(hasIt) }
    }

    /// Says that the ledger cannot be written now.
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

    /// Hands out what has come, some of it in each turn.
    func endTurn(at now: Int64) {
        for answer in answers.takeTurn() { takers.removeValue(forKey: answer.token)?() }
        callSome(at: now)
    }

    /// Whether something has come that no turn handed out yet.
    var hasMore: Bool {
        guard answers.isEmpty, waits.count > 0 else { return !answers.isEmpty }
        return waits.isSomebodyServed(by: applied) || stall != nil && waits.nextDue() != nil
    }

    /// Asks nothing any more, and forgets who asked.
    func stop() {
        lookup.stop()
        (takers, unasked, waits) = ([:], FairQueue(), BatchWaits())
    }
}
