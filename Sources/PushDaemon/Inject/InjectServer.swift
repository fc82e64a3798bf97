import EventLoop
import LinuxSystem
import PushModel
import PushRouting
import Store

/// Takes the requests of `inject.sock` in: reads each line, accepts each producer's id once, and sees that it is answered.
///
/// Most requests go straight through. One whose id may be known, or that is about a delivery that the tracker does not
/// remember, waits for the ledger, and with it what its own connection sent after it; nobody else waits.
final class InjectServer {
    /// What an answer of another thread is for.
    private enum Question {
        /// Whether a request has the id with this hash.
        case identifier(Candidate, hash: UInt64)
        /// The delivery that an interaction is about.
        case delivery(Candidate, DeliveryReference)
        /// The ids that the ledger has, for the filter.
        case identifiers
    }

    /// How deep a request may nest; a reload may change it.
    var limits: JSONLimits
    private let processor: Processor
    private let pipeline: CommitPipeline
    private let committer: Committer
    private let lookup: Lookup
    private let largeRequests: LargeRequestReader
    private let health: StoreHealth
    private let refusals: RefusalLog
    private var identifiers = IdentifierIndex()
    /// Up to which batch the ledger has everything.
    private var applied: UInt64

    private var lastToken: UInt64 = 0
    private var questions: [UInt64: Question] = [:]
    /// Look-ups that wait until the ledger has answered others: an answer may bring a payload.
    private var unasked = FairQueue<(asked: Lookup.Question, question: Question)>()
    /// How many look-ups are on their way at most: what a user asks next waits for so many of another's.
    private static let askedMax = 8
    /// How often the ledger is asked for one id again, because outcomes came meanwhile.
    private static let asksMax = 8
    /// Large requests that are not read yet, each the only one of its connection.
    private(set) var unread = FairQueue<(line: [UInt8], session: ClientSession, place: Int)>()
    /// How many are read ahead of those that go on: read, one takes many times the memory of its line.
    private static let readMax = 8
    /// Large requests that are being read.
    private var reading: [UInt64: (session: ClientSession, place: Int)] = [:]
    /// Requests with an id that another one holds, which waits for the ledger, by its hash.
    private var sameIdentifier: [UInt64: [Candidate]] = [:]
    /// Requests that wait until the ledger has a batch.
    private var waitingForBatch: [(number: UInt64, candidate: Candidate)] = []
    /// Large requests that were read, or why they are none: they go on one a turn, once the log has room for more than small
    /// ones.
    private(set) var largeRead = Queue<(session: ClientSession, place: Int, result: Result<Request, ProtocolError>)>()
    /// When the last of them went on, in monotonic nanoseconds.
    private var largeAdmittedAt: Int64?
    /// How long one waits at most after the last that went on, where there is room for small ones alone.
    private static let largeInterval: Int64 = 100_000_000
    /// Whether the daemon is to end, and nobody sends small ones any more.
    private var isStopping = false
    /// When the filter of ids may be built again after that failed, in monotonic nanoseconds.
    private var buildsAgainAt: Int64 = 0

    /// - Parameters:
    ///   - processor: takes what is new.
    ///   - pipeline: says which batch a request goes into.
    ///   - committer: brings the ledger up to a batch.
    ///   - lookup: asks the ledger, on a thread of its own; ``answered(_:_:)`` brings what it says.
    ///   - largeRequests: reads large requests, on a thread of its own; ``wasRead(_:_:)`` brings them.
    ///   - health: why nothing can be accepted for now; told to whoever tries.
    ///   - refusals: counts what is refused.
    ///   - limits: what the JSON of a request may have.
    init(
        processor: Processor, pipeline: CommitPipeline, committer: Committer, lookup: Lookup,
        largeRequests: LargeRequestReader, health: StoreHealth, refusals: RefusalLog, limits: JSONLimits
    ) {
        self.processor = processor
        self.pipeline = pipeline
        self.committer = committer
        self.lookup = lookup
        self.largeRequests = largeRequests
        self.health = health
        self.refusals = refusals
        self.limits = limits
        applied = committer.lastNumber
        guard processor.lastNumber.value == 0 else { return }
        // An empty ledger knows no id.
        identifiers.beginBuilding(for: 0)
        identifiers.finishBuilding()
    }

    /// Whether no request waits for anything.
    var isIdle: Bool {
        unread.isEmpty && reading.isEmpty && waitingForBatch.isEmpty && largeRead.isEmpty && sameIdentifier.isEmpty
            && unasked.isEmpty
            && !questions.values.contains { if case .identifiers = $0 { false } else { true } }
    }

    /// How many bytes the filters of ids take.
    var filterBytes: Int { identifiers.byteCount }

    // MARK: Lines

    /// Takes in a line; its reply comes now or later, in the place that the line takes.
    func take(_ line: [UInt8], from session: ClientSession) {
        let place = session.reserveReply()
        carryOut(for: session, place) { () throws(ProtocolError) in
            guard line.count < LargeRequestReader.threshold else { return readElsewhere(line, session, place) }
            let request = try Request(line: line, limits: limits)
            try admit(Candidate(session: session, place: place, request: request))
        }
    }

    private func readElsewhere(_ line: [UInt8], _ session: ClientSession, _ place: Int) {
        session.heldBytes = line.count
        session.block()
        unread.append((line, session, place), of: session.account)
        readMore()
    }

    /// Has large requests read, users by turns, as far ahead as they may be.
    private func readMore() {
        while reading.count + largeRead.count < Self.readMax, let (line, session, place) = unread.popFirst() {
            do throws(SystemError) {
                try largeRequests.submit(line, limits: limits, token: nextToken())
                reading[lastToken] = (session, place)
            } catch {
                let refusal = ProtocolError(.overloaded, message: error.description, retryAfter: .seconds(1))
                largeRead.append((session, place, .failure(refusal)))
            }
        }
    }

    /// Takes in a large request that was read, or why it is none.
    func wasRead(_ token: UInt64, _ result: Result<Request, ProtocolError>) {
        guard let (session, place) = reading.removeValue(forKey: token) else { return }
        largeRead.append((session, place, result))
    }

    /// Whether a large request has to wait, so that those who send small ones do not.
    private var mustWaitForRoom: Bool { !isStopping && health.ledgerProblem == nil && committer.isFarBehind }

    /// Whether a large request was read, and may go on now: there is room, or none went on for a while. A ledger that stays
    /// far behind must not keep large requests off for ever.
    func mayAdmitLarge(at now: Int64) -> Bool {
        !largeRead.isEmpty && (!mustWaitForRoom || now >= largeAdmittedAt.map { $0 + Self.largeInterval } ?? now)
    }

    /// When the next large request goes on at the latest, in monotonic nanoseconds; `nil` while none waits.
    var nextLargeDue: Int64? { largeRead.isEmpty ? nil : largeAdmittedAt.map { $0 + Self.largeInterval } }

    /// Goes on with one large request that was read, if it may: many would make a turn too long.
    ///
    /// - Parameter now: monotonic nanoseconds.
    func admitLarge(at now: Int64) {
        guard mayAdmitLarge(at: now), let (session, place, result) = largeRead.popFirst() else { return }
        readMore()
        largeAdmittedAt = now
        session.heldBytes = 0
        session.beginAgain()
        carryOut(for: session, place) { () throws(ProtocolError) in
            try admit(Candidate(session: session, place: place, request: try result.get()))
        }
        session.goOn()
    }

    /// The daemon is to end: what has come goes on as fast as it can.
    func stop() { isStopping = true }

    private func carryOut(for session: ClientSession, _ place: Int, _ act: () throws(ProtocolError) -> Void) {
        do throws(ProtocolError) {
            try act()
        } catch {
            let code = error.code
            refusals.note(
                RefusalReason(code), "a request (\(code.rawValue))", of: session.account,
                at: EventLoop.nowNanoseconds)
            session.reply(place, .line(Reply.refused(error)))
        }
    }

    // MARK: Admission

    private func admit(_ candidate: Candidate) throws(ProtocolError) {
        let id = candidate.request.id
        if let problem = health.problem {
            throw ProtocolError(.unavailable, message: problem, retryAfter: .seconds(1), id: id)
        }
        guard let key = candidate.key else { return try admitKnowingID(candidate, hash: nil) }
        let hash = key.hash
        if candidate.holdsIdentifier {
            guard !candidate.isIdentifierNew else { return try admitKnowingID(candidate, hash: hash) }
            return askForIdentifier(of: candidate, key, hash)
        }
        if sameIdentifier[hash] != nil {
            sameIdentifier[hash]?.append(candidate)
            return block(candidate)
        }
        switch identifiers.knowledge(of: hash) {
        case .new: try admitKnowingID(candidate, hash: hash)
        case .comes(let batch): try wait(candidate, forBatch: batch)
        case .unclear:
            askForIdentifier(of: candidate, key, hash)
        }
    }

    private func askForIdentifier(of candidate: Candidate, _ key: RequestKey, _ hash: UInt64) {
        ask(.request(key), .identifier(holding(candidate, hash), hash: hash), of: candidate)
        block(candidate)
    }

    /// Goes on with a request whose id is new, or that has none.
    private func admitKnowingID(_ candidate: Candidate, hash: UInt64?) throws(ProtocolError) {
        guard let reference = processor.deliveryToRead(for: candidate.request) else {
            return try submit(candidate, hash: hash, past: nil)
        }
        var candidate = holding(candidate, hash)
        candidate.isIdentifierNew = true
        // All that was accepted before it is in the ledger then, so nothing can make the answer wrong.
        let needed = candidate.neededBatch ?? pipeline.lastGrowingNumber
        candidate.neededBatch = needed
        guard applied >= needed else { return try wait(candidate, forBatch: needed) }
        ask(.delivery(reference), .delivery(candidate, reference), of: candidate)
        block(candidate)
    }

    /// A candidate that waits for the ledger: meanwhile nobody else is let through with its id.
    private func holding(_ candidate: Candidate, _ hash: UInt64?) -> Candidate {
        guard let hash, !candidate.holdsIdentifier else { return candidate }
        var candidate = candidate
        candidate.holdsIdentifier = true
        sameIdentifier[hash] = []
        return candidate
    }

    private func submit(_ candidate: Candidate, hash: UInt64?, past: RequestStory?) throws(ProtocolError) {
        let batch = pipeline.growingNumber
        try processor.submit(candidate, past: past.map(PastDelivery.init))
        if let hash { identifiers.accept(hash, inBatch: batch) }
    }

    private func wait(_ candidate: Candidate, forBatch number: UInt64) throws(ProtocolError) {
        if let problem = health.ledgerProblem { throw Self.unavailable(problem, candidate) }
        waitingForBatch.append((number, candidate))
        committer.hurry(through: number)
        block(candidate)
    }

    /// Has the connection's next requests wait with this one, which takes memory meanwhile.
    private func block(_ candidate: Candidate) {
        candidate.session.block(holding: candidate.request.document.memorySize)
    }

    private static func unavailable(_ problem: String, _ candidate: Candidate) -> ProtocolError {
        let message = "this cannot be answered before the ledger is up to date: \(problem)"
        return ProtocolError(.unavailable, message: message, retryAfter: .seconds(1), id: candidate.request.id)
    }

    /// Asks the ledger for a request, in the turn of its user.
    private func ask(_ asked: Lookup.Question, _ question: Question, of candidate: Candidate) {
        guard questions.count < Self.askedMax else {
            return unasked.append((asked, question), of: candidate.session.account)
        }
        ask(asked, question)
    }

    private func ask(_ asked: Lookup.Question, _ question: Question) {
        questions[nextToken()] = question
        lookup.submit(asked, token: lastToken)
    }

    private func nextToken() -> UInt64 {
        lastToken += 1
        return lastToken
    }

    // MARK: Answers

    /// The ledger has everything up to a batch.
    func applied(through number: UInt64) {
        applied = number
        identifiers.applied(through: number)
        guard !waitingForBatch.isEmpty else { return }
        let waited = waitingForBatch
        waitingForBatch = []
        for (number, candidate) in waited {
            guard number <= applied else {
                waitingForBatch.append((number, candidate))
                continue
            }
            again(candidate)
        }
    }

    /// The ledger cannot be brought up to date: those who wait for that are told so, since nobody knows for how long.
    func ledgerStalled() {
        guard let problem = health.ledgerProblem else { return }
        let waited = waitingForBatch
        waitingForBatch = []
        for (_, candidate) in waited {
            goOn(with: candidate) { () throws(ProtocolError) in throw Self.unavailable(problem, candidate) }
        }
    }

    private func again(_ candidate: Candidate) {
        goOn(with: candidate) { () throws(ProtocolError) in try admit(candidate) }
    }

    /// Does something for a candidate that waited. If it is accepted or refused by that, others may have its id.
    private func goOn(with candidate: Candidate, _ act: () throws(ProtocolError) -> Void) {
        let session = candidate.session
        session.beginAgain()
        carryOut(for: session, candidate.place, act)
        // It waits for something else now, and holds what it held.
        guard !session.isBlocked else { return }
        if candidate.holdsIdentifier, let hash = candidate.key?.hash {
            sameIdentifier.removeValue(forKey: hash)?.forEach(again)
        }
        session.goOn()
    }

    /// Takes in what the ledger said.
    func answered(_ token: UInt64, _ result: Result<Lookup.Answer, StoreError>) {
        guard let question = questions.removeValue(forKey: token) else { return }
        if let next = unasked.popFirst() { ask(next.asked, next.question) }
        switch question {
        case .identifiers: build(result)
        case .identifier(let candidate, let hash):
            goOn(with: candidate) { () throws(ProtocolError) in
                guard let story = try story(result, of: "id", candidate) else {
                    return try admitKnowingID(candidate, hash: hash)
                }
                try `repeat`(candidate, story)
            }
        case .delivery(let candidate, let reference):
            goOn(with: candidate) { () throws(ProtocolError) in
                let story = try story(result, of: "message", candidate)
                // Meanwhile others' requests may have changed which delivery is meant: then it begins again.
                guard processor.deliveryToRead(for: candidate.request) == reference else {
                    var candidate = candidate
                    candidate.neededBatch = nil
                    return try admitKnowingID(candidate, hash: candidate.key?.hash)
                }
                try submit(candidate, hash: candidate.key?.hash, past: story)
            }
        }
    }

    private func story(
        _ result: Result<Lookup.Answer, StoreError>, of field: String, _ candidate: Candidate
    ) throws(ProtocolError) -> RequestStory? {
        switch result {
        case .success(.story(let story)): return story
        case .success(.identifiers), .success(.line), .success(.dead), .success(.devices):
            preconditionFailure("a look-up was answered with something else")
        case .failure(let error):
            throw ProtocolError(
                .unavailable, field: field,
                message: "the ledger cannot be asked for this \(field) now: \(error.message)",
                retryAfter: .seconds(1), id: candidate.request.id)
        }
    }

    /// Answers a request whose id another one had before.
    private func `repeat`(_ candidate: Candidate, _ story: RequestStory) throws(ProtocolError) {
        let seq = story.request.seq
        // A line that was accepted under other limits is no reason to refuse it now.
        guard isSameRequest(story.request.body, candidate.request) else {
            throw ProtocolError(
                .idConflict, field: "id", message: "id was used for another request, seq \(seq)",
                id: candidate.request.id)
        }
        guard !candidate.request.waitsForOutcome || processor.mayWait(for: seq) else {
            throw ProtocolError(
                .overloaded, field: "id", message: "too many wait for the outcomes of this id already",
                retryAfter: .seconds(1), id: candidate.request.id)
        }
        let undecided = story.invocations.count { $0.result == nil }
        guard undecided == processor.invocationsInFlight(of: seq) else {
            // Some were decided since the ledger was read.
            return try askAgain(candidate)
        }
        processor.repeat(candidate, story, undecided: undecided)
    }

    /// Asks for an id again once the ledger has all that was decided; it may have that already.
    private func askAgain(_ candidate: Candidate) throws(ProtocolError) {
        guard let key = candidate.key, candidate.asks < Self.asksMax else {
            throw Self.unavailable("outcomes of this id come faster than it is asked for", candidate)
        }
        var candidate = candidate
        candidate.asks += 1
        let needed = pipeline.lastGrowingNumber
        guard applied >= needed else { return try wait(candidate, forBatch: needed) }
        askForIdentifier(of: candidate, key, key.hash)
    }

    /// Whether a request came before as this line. Most that come again are the same bytes.
    private func isSameRequest(_ body: [UInt8], _ request: Request) -> Bool {
        guard !request.document.root.rawBytes.elementsEqual(body) else { return true }
        return (try? JSONDocument(scanning: body, limits: JSONLimits(depth: .max)))?.root
            .isSameRequest(as: request.document.root) == true
    }

    // MARK: The filter of ids

    /// Begins to build the filter of ids where that is due; to be called from time to time.
    func buildFilter(at now: Int64) {
        guard identifiers.needsBuilding, now >= buildsAgainAt else { return }
        identifiers.beginBuilding(for: Int(clamping: processor.lastNumber.value))
        ask(.identifiers(after: nil), .identifiers)
    }

    private func build(_ result: Result<Lookup.Answer, StoreError>) {
        guard case .success(.identifiers(let hashes, let last)) = result else {
            identifiers.giveUpBuilding()
            buildsAgainAt = EventLoop.nowNanoseconds + 10_000_000_000
            return
        }
        identifiers.build(hashes)
        if let last { ask(.identifiers(after: last), .identifiers) } else { identifiers.finishBuilding() }
    }
}

extension JSONNode {
    /// Whether two request lines ask for the same. `wait` says how to answer, not what to do.
    fileprivate func isSameRequest(as other: JSONNode) -> Bool {
        let these = members.filter { $0.key != "wait" }
        let those = other.members.filter { $0.key != "wait" }
        return these.count == those.count
            && these.allSatisfy { key, value in other[key].map(value.isEquivalent(to:)) ?? false }
    }
}
