import PushModel
import PushProtocol
import Store

/// Takes the requests of `inject.sock` in: reads each line, lets it through admission, and sees that it is answered.
final class Intake {
    /// How deep a request may nest; a reload may change it.
    var depthLimit: Int
    /// Why nothing can be accepted for now; told to whoever tries.
    var storeProblem: String?

    private let conductor: Conductor
    private let lookup: Lookup
    private lazy var admission = Admission(
        ask: { [unowned self] in ask($0) },
        unknownDelivery: { [unowned self] in conductor.unknownDelivery(of: $0) },
        isUnderway: { [unowned self] in conductor.isUnderway($0) },
        invocationsInFlight: { [unowned self] in conductor.invocationsInFlight(of: $0) },
        isCommitComing: { [unowned self] in conductor.isCommitComing }, decide: { [unowned self] in decide($0) })
    private var questions: [UInt64: Lookup.Item] = [:]
    private var questionsAsked: UInt64 = 0

    /// How many requests wait for the ledger's word on what they name.
    var count: Int { admission.count }

    /// - Parameters:
    ///   - conductor: takes what is new.
    ///   - lookup: asks the ledger, on a thread of its own; ``answered(_:)`` brings what it says.
    ///   - depthLimit: how deep a request may nest.
    init(conductor: Conductor, lookup: Lookup, depthLimit: Int) {
        self.conductor = conductor
        self.lookup = lookup
        self.depthLimit = depthLimit
        conductor.onDisk = { [unowned self] in admission.onDisk($0) }
    }

    /// Takes in a line; its reply comes now or later, in the place that the line takes.
    func take(_ line: [UInt8], from session: ClientSession) {
        let place = session.reserveReply()
        do throws(ProtocolError) {
            let request = try Request(line: line, limits: JSONLimits(depth: depthLimit))
            if let storeProblem {
                throw ProtocolError(.unavailable, message: storeProblem, retryAfter: .seconds(1), id: request.id)
            }
            admission.take(Admission.Candidate(session: session, place: place, request: request))
        } catch {
            session.reply(place, Reply.refused(error))
        }
    }

    /// Takes in what the ledger said.
    func answered(_ answer: Lookup.Answer) {
        guard let item = questions.removeValue(forKey: answer.token) else { return }
        admission.answered(item, answer.result.map { $0.first ?? nil })
    }

    /// A batch is on disk: the ledger knows more than it did.
    func committed() { admission.committed() }

    private func ask(_ item: Lookup.Item) {
        questionsAsked += 1
        questions[questionsAsked] = item
        lookup.submit([item], token: questionsAsked)
    }

    private func decide(_ verdict: Admission.Verdict) {
        switch verdict {
        case .new(let candidate, let story):
            let submitted = conductor.submit(candidate, past: story.map(PastDelivery.init))
            guard let submitted, let key = candidate.key else { return }
            admission.accepted(key, as: submitted, candidate.request.document)
        case .repeated(let candidate, let seq, let rejected, let rows, let undecided):
            conductor.repeated(candidate, seq, rejected: rejected, rows, undecided: undecided)
        case .conflict(let candidate, let seq):
            let message = "id was used for another request, seq \(seq)"
            let error = ProtocolError(.idConflict, field: "id", message: message, id: candidate.request.id)
            candidate.session.reply(candidate.place, Reply.refused(error))
        case .unknown(let candidate, let field, let cause):
            let message = "the ledger cannot be asked for this \(field) now: \(cause.message)"
            let error = ProtocolError(
                .unavailable, field: field, message: message, retryAfter: .seconds(1), id: candidate.request.id)
            candidate.session.reply(candidate.place, Reply.refused(error))
        }
    }
}
