import LinuxSystem
import PushModel
import PushRouter
import Store

/// Serves the requests of `inject.sock`: parses each line, accepts each producer's id once, and gives each line its
/// reply.
///
/// Most requests need no wait. A request whose id may be known, or that refers to a delivery that the tracker does not
/// have, waits for the ledger, and so do the later requests of its connection; no other client waits.
final class InjectServer {
    /// How often the ledger is asked for one id again because outcomes came meanwhile.
    private static let asksMax = 8
    /// The seconds for which a request may wait for a batch in the ledger. An erasure rewrites the whole ledger, and no
    /// batch reaches it meanwhile.
    private static let waitSeconds = 5

    /// The limits of a request's JSON; a reload may change them.
    var limits: JSONLimits
    /// The large requests.
    let large: LargeRequests
    /// The rules for producers.
    let producers = ProducerDesk()
    private let processor: Processor
    private let pipeline: CommitPipeline
    private let queries: LedgerQueries
    private let health: StoreHealth
    private let refusals: RefusalLog
    private let audit: Audit
    private var identifiers = IdentifierIndex()
    /// Requests whose id another one holds while it waits for the ledger, by the hash of the id.
    private var sameIdentifier: [UInt64: [Candidate]] = [:]
    /// The number of requests that wait for the ledger.
    private var waiting = 0
    /// When the next attempt to build the filter of ids may begin after a failure, in monotonic nanoseconds.
    private var buildsAgainAt: Int64 = 0

    /// - Parameters:
    ///   - processor: accepts new requests.
    ///   - pipeline: knows the batch of a request.
    ///   - committer: knows whether the ledger is far behind.
    ///   - queries: asks the ledger.
    ///   - reader: parses large requests on its thread.
    ///   - health: the reason why nothing can be accepted for now, for the replies to refused requests.
    ///   - refusals: counts refusals.
    ///   - audit: records changes of devices, tokens and topics.
    ///   - limits: the limits of a request's JSON.
    init(
        processor: Processor, pipeline: CommitPipeline, committer: Committer, queries: LedgerQueries,
        reader: LargeRequestReader, health: StoreHealth, refusals: RefusalLog, audit: Audit,
        limits: JSONLimits
    ) {
        self.processor = processor
        self.pipeline = pipeline
        self.queries = queries
        self.health = health
        self.refusals = refusals
        self.audit = audit
        self.limits = limits
        large = LargeRequests(reader) { health.ledgerProblem == nil && committer.isFarBehind }
        guard processor.lastNumber.value == 0 else { return }
        // An empty ledger knows no id.
        identifiers.beginBuilding()
        identifiers.finishBuilding()
    }

    /// Whether no request waits.
    var isIdle: Bool { large.isIdle && sameIdentifier.isEmpty && waiting == 0 }

    /// The size of the filters of ids in bytes.
    var filterBytes: Int { identifiers.byteCount }

    // MARK: Lines

    /// Serves one line. Its reply comes now or later, in the place that the line reserves.
    func take(_ line: [UInt8], from session: ClientSession) {
        let place = session.reserveReply()
        carryOut(for: session, place) { () throws(ProtocolError) in
            guard line.count < LargeRequestReader.threshold else {
                return large.take(line, from: session, place, limits: limits)
            }
            // The beginning tells most token questions, so that they are not scanned twice.
            if line.starts(with: TokenQuestion.beginning), try answer(line, session, place) { return }
            let request: Request
            do throws(ProtocolError) {
                request = try Request(line: line, limits: limits)
            } catch {
                guard error.code == .unknownOperation, try answer(line, session, place) else { throw error }
                return
            }
            arrive(Candidate(session: session, place: place, request: request))
        }
    }

    /// Answers a question for the device of a token, or for a token's topics.
    ///
    /// - Returns: whether the line is such a question.
    private func answer(
        _ line: [UInt8], _ session: ClientSession, _ place: Int
    ) throws(ProtocolError) -> Bool {
        if let question = try TokenQuestion(line: line, limits: limits) {
            let owner = processor.owner(ofToken: question.token, presumed: question.presumed)
            let reported = processor.reportedState(of: question.token, app: question.presumed.app)
            let reply = question.reply(
                owner.map { ($0.target, $0.state) }, reported: reported,
                ended: owner == nil ? processor.end(ofToken: question.token) : nil)
            session.reply(place, .line(reply))
        } else if let question = try TopicQuestion(line: line, limits: limits) {
            session.reply(place, .line(question.reply(processor.device(ofToken: question.token))))
        } else {
            return false
        }
        return true
    }

    /// Admits the next large request that was parsed, if it may continue now.
    ///
    /// - Parameter now: monotonic nanoseconds.
    func admitLarge(at now: Int64) {
        guard let next = large.next(at: now, limits: limits) else { return }
        next.session.unblock()
        carryOut(for: next.session, next.place) { () throws(ProtocolError) in
            arrive(Candidate(session: next.session, place: next.place, request: try next.result.get()))
        }
        next.session.resume()
    }

    private func carryOut(for session: ClientSession, _ place: Int, _ act: () throws(ProtocolError) -> Void) {
        do throws(ProtocolError) {
            try act()
        } catch {
            let now = EventLoop.nowNanoseconds
            let by = error.rule.map { " by the rule \($0)" } ?? ""
            refusals.note(
                RefusalReason(error), "a request (\(error.code.rawValue)\(by))", of: session.account, by: error.rule,
                at: now)
            if let rule = error.rule { producers.note(refusedBy: rule, session.account, at: now) }
            session.reply(place, .line(Reply.refused(error)))
        }
    }

    // MARK: Admission

    /// Admits a request that has just come. Producer rules count it here, once; if it waits, ``admit(_:)`` goes on.
    private func arrive(_ candidate: Candidate) {
        carryOut(candidate) { () throws(ProtocolError) in
            try producers.admit(candidate.request, of: candidate.session) { () throws(ProtocolError) in
                try admit(candidate)
            }
        }
    }

    private func carryOut(_ candidate: Candidate, _ act: () throws(ProtocolError) -> Void) {
        carryOut(for: candidate.session, candidate.place) { () throws(ProtocolError) in
            do throws(ProtocolError) {
                try act()
            } catch {
                deed(of: candidate)?.ends(.refused, error.code.rawValue)
                throw error
            }
        }
    }

    private func deed(of candidate: Candidate) -> Deed? {
        // The daemon's own requests are of people at its notifications, and of its handlers.
        guard !candidate.session.isOwn else { return nil }
        return candidate.request.administrative.map { audit.begin($0, by: candidate.session, on: .inject) }
    }

    private func admit(_ candidate: Candidate) throws(ProtocolError) {
        if let problem = health.refusal {
            throw ProtocolError(.unavailable, message: problem, retryAfter: .seconds(1), id: candidate.request.id)
        }
        switch candidate.admission {
        case .fresh: break
        case .held: return askForIdentifier(of: candidate)
        case .new(let hash, let batch): return try admitNew(candidate, hash: hash, batch: batch)
        }
        guard let hash = candidate.key?.hash else { return try admitNew(candidate, hash: nil) }
        if sameIdentifier[hash] != nil {
            sameIdentifier[hash]?.append(candidate)
            return block(candidate)
        }
        identifiers.applied(through: queries.applied)
        switch identifiers.membership(of: hash) {
        case .new: try admitNew(candidate, hash: hash)
        case .pending(let batch): try wait(candidate, forBatch: batch)
        case .unclear:
            var candidate = candidate
            candidate.admission = .held(hash: hash)
            askForIdentifier(of: candidate)
        }
    }

    private func askForIdentifier(of candidate: Candidate) {
        guard let key = candidate.key, let hash = hold(candidate) else { return }
        ask(.request(key), of: candidate) { [self] answer throws(ProtocolError) in
            guard let story = try story(answer, of: "id", candidate) else {
                return try admitNew(candidate, hash: hash)
            }
            try `repeat`(candidate, story)
        }
    }

    /// Continues the admission of a request whose id is new, or that has no id.
    ///
    /// - Parameters:
    ///   - hash: the hash of its id.
    ///   - batch: the batch that the ledger must have before it is asked for a delivery; `nil`: the last one now.
    private func admitNew(
        _ candidate: Candidate, hash: UInt64?, batch: UInt64? = nil
    ) throws(ProtocolError) {
        guard let reference = processor.deliveryToRead(for: candidate.request) else {
            return try submit(candidate, hash: hash, past: nil)
        }
        // With this batch the ledger has all that was accepted before the request, so its answer stays right.
        let needed = batch ?? pipeline.lastGrowingNumber
        var candidate = candidate
        candidate.admission = .new(hash: hash, batch: needed)
        // Checks before the candidate holds its id: only a candidate that waited is resumed, and releases its id.
        if queries.applied < needed { try checkLedger(for: candidate) }
        hold(candidate)
        guard queries.applied >= needed else { return try wait(candidate, forBatch: needed) }
        ask(.delivery(reference), of: candidate) { [self, candidate] answer throws(ProtocolError) in
            let story = try story(answer, of: "message", candidate)
            // Other clients' requests may have changed which delivery is meant: the admission begins again.
            guard processor.deliveryToRead(for: candidate.request) == reference else {
                return try admitNew(candidate, hash: hash)
            }
            try submit(candidate, hash: hash, past: story)
        }
    }

    private func submit(_ candidate: Candidate, hash: UInt64?, past: RequestStory?) throws(ProtocolError) {
        let batch = pipeline.growingNumber
        try processor.submit(candidate, past: past.map(PastDelivery.init))
        if let hash { identifiers.accept(hash, inBatch: batch) }
        let count: Int? = if case .topic(let topic) = candidate.request.action { topic.tokens.count } else { nil }
        deed(of: candidate)?.ends(count: count)
    }

    /// Holds a candidate's id, so that no other request with it is admitted.
    ///
    /// - Returns: the hash of the id.
    @discardableResult
    private func hold(_ candidate: Candidate) -> UInt64? {
        guard let hash = candidate.heldHash else { return nil }
        if sameIdentifier[hash] == nil { sameIdentifier[hash] = [] }
        return hash
    }

    /// Blocks the connection's next requests until this one is done; counts its memory.
    private func block(_ candidate: Candidate) {
        candidate.session.block(holding: candidate.request.document.memorySize)
    }

    private static func unavailable(_ problem: String, _ candidate: Candidate) -> ProtocolError {
        let message = "the ledger must catch up before the daemon can answer: \(problem)"
        return ProtocolError(.unavailable, message: message, retryAfter: .seconds(1), id: candidate.request.id)
    }

    // MARK: Waiting for the ledger

    private func checkLedger(for candidate: Candidate) throws(ProtocolError) {
        if let problem = health.ledgerProblem { throw Self.unavailable(problem, candidate) }
    }

    private func wait(_ candidate: Candidate, forBatch number: UInt64) throws(ProtocolError) {
        try checkLedger(for: candidate)
        waiting += 1
        block(candidate)
        let due = EventLoop.nowNanoseconds + Int64(Self.waitSeconds) * 1_000_000_000
        queries.whenApplied(number, until: due) { [self] hasIt in
            waiting -= 1
            resume(with: candidate) { () throws(ProtocolError) in
                guard hasIt else {
                    let problem = health.ledgerProblem ?? "it is more than \(Self.waitSeconds) s behind the log"
                    throw Self.unavailable(problem, candidate)
                }
                try admit(candidate)
            }
        }
    }

    /// Asks the ledger for a request, in the turn of the candidate's account.
    private func ask(
        _ question: Lookup.Question<RequestStory?>, of candidate: Candidate,
        _ take: @escaping (Result<RequestStory?, StoreError>) throws(ProtocolError) -> Void
    ) {
        waiting += 1
        block(candidate)
        queries.ask(question, of: candidate.session.account) { [self] answer in
            waiting -= 1
            resume(with: candidate) { () throws(ProtocolError) in try take(answer) }
        }
    }

    /// Continues with a candidate that waited. If that accepts or refuses it, requests with the same id continue, too.
    private func resume(with candidate: Candidate, _ act: () throws(ProtocolError) -> Void) {
        let session = candidate.session
        session.unblock()
        carryOut(candidate, act)
        // The candidate waits for something else now, and still holds its id.
        guard !session.isBlocked else { return }
        if let hash = candidate.heldHash, let others = sameIdentifier.removeValue(forKey: hash) {
            for other in others { resume(with: other) { () throws(ProtocolError) in try admit(other) } }
        }
        session.resume()
    }

    private func story(
        _ answer: Result<RequestStory?, StoreError>, of field: String, _ candidate: Candidate
    ) throws(ProtocolError) -> RequestStory? {
        do throws(StoreError) {
            return try answer.get()
        } catch {
            throw ProtocolError(
                .unavailable, field: field,
                message: "cannot look up this \(field) in the ledger now: \(error.message)",
                retryAfter: .seconds(1), id: candidate.request.id)
        }
    }

    /// Answers a request whose id an earlier one has.
    private func `repeat`(_ candidate: Candidate, _ story: RequestStory) throws(ProtocolError) {
        let seq = story.request.seq
        guard isSameRequest(story.request.body, candidate.request) else {
            throw ProtocolError(
                .idConflict, field: "id", message: "id was used for another request, seq \(seq)",
                id: candidate.request.id)
        }
        guard !candidate.request.waitsForOutcome || processor.mayWait(for: seq) else {
            throw ProtocolError(
                .overloaded, field: "id", message: "too many requests wait for the outcomes of this id",
                retryAfter: .seconds(1), id: candidate.request.id)
        }
        let undecided = story.invocations.count { $0.result == nil }
        guard undecided == processor.invocationsInFlight(of: seq) else {
            // Some outcomes were decided after the ledger was read.
            return try retryLookup(candidate)
        }
        processor.repeat(candidate, story, undecided: undecided)
    }

    /// Asks for an id again once the ledger has all decisions up to now.
    private func retryLookup(_ candidate: Candidate) throws(ProtocolError) {
        guard case .held(let hash, let asks) = candidate.admission, asks < Self.asksMax else {
            throw Self.unavailable("the outcomes of this id change faster than the ledger is read", candidate)
        }
        var candidate = candidate
        candidate.admission = .held(hash: hash, asks: asks + 1)
        let needed = pipeline.lastGrowingNumber
        guard queries.applied >= needed else { return try wait(candidate, forBatch: needed) }
        askForIdentifier(of: candidate)
    }

    /// Whether a stored line is the same request. Most repeated requests have the same bytes. Other lines are scanned
    /// without limits: the limits may have been higher when the line was accepted.
    private func isSameRequest(_ body: [UInt8], _ request: Request) -> Bool {
        guard !request.document.root.rawBytes.elementsEqual(body) else { return true }
        return (try? JSONDocument(scanning: body, limits: JSONLimits(depth: .max)))?.root
            .isSameRequest(as: request.document.root) == true
    }

    // MARK: The filter of ids

    /// Begins to build the filter of ids if that is due; to be called from time to time.
    func buildFilter(at now: Int64) {
        identifiers.applied(through: queries.applied)
        guard identifiers.needsBuilding, now >= buildsAgainAt else { return }
        identifiers.beginBuilding()
        addIdentifiers(after: nil)
    }

    private func addIdentifiers(after last: RequestKey?) {
        queries.ask(.identifiers(after: last)) { [self] answer in
            guard case .success(let page) = answer else {
                identifiers.cancelBuilding()
                buildsAgainAt = EventLoop.nowNanoseconds + 10_000_000_000
                return
            }
            identifiers.build(page.hashes)
            if let last = page.last { addIdentifiers(after: last) } else { identifiers.finishBuilding() }
        }
    }
}

extension JSONNode {
    /// Whether two request lines ask for the same. `wait` is ignored: it changes the reply only.
    fileprivate func isSameRequest(as other: JSONNode) -> Bool {
        let these = members.filter { $0.key != "wait" }
        let those = other.members.filter { $0.key != "wait" }
        return these.count == those.count
            && these.allSatisfy { key, value in other[key].map(value.isEquivalent(to:)) ?? false }
    }
}

/// A parsed request, and the place of its reply.
struct Candidate {
    /// How far the admission of a request has come.
    enum Admission {
        /// Nothing is known about its id.
        case fresh
        /// It holds its id, by this hash, while the ledger is asked whether another request has it; `asks` counts the
        /// repeated questions.
        case held(hash: UInt64, asks: Int = 0)
        /// It has no id, or holds a new one. The ledger is asked for the delivery that it refers to, once it has this
        /// batch.
        case new(hash: UInt64?, batch: UInt64)
    }

    var session: ClientSession
    var place: Int
    var request: Request
    var admission = Admission.fresh

    /// The request's id within its account.
    var key: RequestKey? { request.id.map { RequestKey(account: session.account, id: $0) } }

    /// The hash of the id that it holds: no other request with that hash is admitted until this one is accepted or
    /// refused.
    var heldHash: UInt64? {
        switch admission {
        case .fresh: nil
        case .held(let hash, _): hash
        case .new(let hash, _): hash
        }
    }
}
