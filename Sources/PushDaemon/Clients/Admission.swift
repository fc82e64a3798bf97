import PushCustomData
import PushModel
import PushProtocol
import PushRouting
import Store

/// A producer's name for a request: an idempotency key within its user.
typealias RequestKey = Lookup.Key

/// Lets requests in, in the order in which they came, each producer's id once.
///
/// Most go straight through. For one with an id, and for an interaction with a delivery that the tracker does not
/// remember, the ledger is asked first, on a thread of its own; whatever came later waits behind it.
final class Admission {
    /// A request that was read, and where its reply goes.
    struct Candidate {
        var session: ClientSession
        var place: Int
        var request: Request

        var key: RequestKey? {
            request.id.map { RequestKey(uid: session.peer.uid, id: $0) }
        }
    }

    /// What becomes of a candidate.
    enum Verdict {
        /// It is new; with the delivery that it is about, if the ledger had to be asked for it and has it.
        case new(Candidate, past: RequestStory?)
        /// It is the same request again as this one, of which so much was set aside, and whose invocations the ledger has so
        /// far.
        case repeated(Candidate, SequenceNumber, rejected: [Rejection], [InvocationRecord], undecided: Int)
        /// Another request has this id.
        case conflict(Candidate, with: SequenceNumber)
        /// The ledger could not be asked for what this field names.
        case unknown(Candidate, field: String, StoreError)
    }

    private struct Recent {
        var accepted: Accepted
        var document: JSONDocument
    }

    private enum Question {
        case unasked, asked
        case answered(Result<RequestStory?, StoreError>)
    }

    private var queue = Queue<Candidate>()
    /// What the ledger said; success with `nil`: it does not know the id.
    private var answers: [RequestKey: Result<RequestStory?, StoreError>] = [:]
    private var asked: Set<RequestKey> = []
    /// What the ledger said of these is behind what was decided; after the next commit it will know.
    private var outdated: Set<RequestKey> = []
    /// Accepted in this run and not known to be on disk yet.
    private var recent: [RequestKey: Recent] = [:]
    /// The question of what the first request in the queue is about.
    private var delivery = Question.unasked
    private let ask: (Lookup.Item) -> Void
    private let unknownDelivery: (Request) -> DeliveryReference?
    private let isUnderway: (DeliveryReference.Name) -> Bool
    private let invocationsInFlight: (SequenceNumber) -> Int
    private let isCommitComing: () -> Bool
    private let decide: (Verdict) -> Void

    /// How many requests wait.
    var count: Int { queue.count }

    /// - Parameters:
    ///   - ask: asks the ledger; ``answered(_:_:)`` brings what it says.
    ///   - unknownDelivery: the delivery of which the ledger has to be asked before a request is let in.
    ///   - isUnderway: whether a delivery of that name is accepted and not on disk yet.
    ///   - invocationsInFlight: how many outcomes of a request are still to come.
    ///   - isCommitComing: whether something waits for the disk; ``committed()`` is called when it is there.
    ///   - decide: takes each candidate's verdict, in order.
    init(
        ask: @escaping (Lookup.Item) -> Void, unknownDelivery: @escaping (Request) -> DeliveryReference?,
        isUnderway: @escaping (DeliveryReference.Name) -> Bool,
        invocationsInFlight: @escaping (SequenceNumber) -> Int, isCommitComing: @escaping () -> Bool,
        decide: @escaping (Verdict) -> Void
    ) {
        self.ask = ask
        self.unknownDelivery = unknownDelivery
        self.isUnderway = isUnderway
        self.invocationsInFlight = invocationsInFlight
        self.isCommitComing = isCommitComing
        self.decide = decide
    }

    /// Takes in a request.
    func take(_ candidate: Candidate) {
        if queue.isEmpty, candidate.key == nil, unknownDelivery(candidate.request) == nil {
            return decide(.new(candidate, past: nil))
        }
        queue.append(candidate)
        // Asked now, although others may be before it: the answers come together.
        if let key = candidate.key, recent[key] == nil { askOnce(key) }
        advance()
    }

    /// Takes in what the ledger said.
    func answered(_ item: Lookup.Item, _ answer: Result<RequestStory?, StoreError>) {
        switch item {
        case .request(let key):
            asked.remove(key)
            answers[key] = answer
        case .delivery: delivery = .answered(answer)
        }
        advance()
    }

    /// Notes that a request was accepted under its id. What the ledger said of the id before is no longer true.
    func accepted(_ key: RequestKey, as accepted: Accepted, _ document: JSONDocument) {
        recent[key] = Recent(accepted: accepted, document: document)
        answers[key] = nil
    }

    /// Notes that a batch is on disk: what was behind is asked for again.
    func committed() {
        askAgain()
        // The first may wait for a delivery that is there now.
        advance()
    }

    private func askAgain() {
        for key in outdated {
            answers[key] = nil
            askOnce(key)
        }
        outdated = []
    }

    /// Notes that the request is on disk, where the ledger finds it.
    func onDisk(_ key: RequestKey) { recent[key] = nil }

    private func advance() {
        while let candidate = queue.first {
            guard let verdict = verdict(on: candidate) else { return }
            _ = queue.popFirst()
            delivery = .unasked
            decide(verdict)
        }
        // Nobody waits for what is left: it would only grow old.
        answers = [:]
    }

    private func askOnce(_ key: RequestKey) {
        if answers[key] == nil, asked.insert(key).inserted { ask(.request(key)) }
    }

    /// `nil` while the ledger's answer is awaited.
    private func verdict(on candidate: Candidate) -> Verdict? {
        guard let key = candidate.key else { return new(candidate) }
        if let known = recent[key] {
            // Not on disk yet, so none of its outcomes was told to anybody.
            return known.document.root.isSameRequest(as: candidate.request.document.root)
                ? .repeated(
                    candidate, known.accepted.seq, rejected: known.accepted.rejections, [],
                    undecided: known.accepted.invocations)
                : .conflict(candidate, with: known.accepted.seq)
        }
        guard let answer = answers[key] else {
            askOnce(key)
            return nil
        }
        let found: RequestStory?
        switch answer {
        case .success(let story): found = story
        case .failure(let error): return .unknown(candidate, field: "id", error)
        }
        guard let story = found else { return new(candidate) }
        let seq = story.request.seq
        // A line that was accepted under other limits is no reason to refuse it now.
        guard let document = try? JSONDocument(scanning: story.request.body, limits: JSONLimits(depth: .max)),
            document.root.isSameRequest(as: candidate.request.document.root)
        else { return .conflict(candidate, with: seq) }
        let undecided = story.invocations.count { $0.result == nil }
        guard undecided == invocationsInFlight(seq) else {
            // Some were decided since the ledger was read, and are there by now or with the next commit.
            outdated.insert(key)
            if !isCommitComing() { askAgain() }
            return nil
        }
        // What was set aside of a log was so at once; of a delivery a handler's answer or a track may have been, later.
        let rejected = story.request.operation == .log ? story.entries.filter(\.wasRejectedOnArrival) : []
        return .repeated(
            candidate, seq, rejected: rejected.map { Rejection(number: $0.entry.number, text: $0.reason ?? "") },
            story.invocations, undecided: undecided)
    }

    /// The verdict on what is the first in the queue and new; `nil` while the ledger's answer is awaited.
    ///
    /// Only the first is asked about: all before it are accepted then, so nothing can make the answer wrong.
    private func new(_ candidate: Candidate) -> Verdict? {
        switch delivery {
        case .answered(.success(let story)): return .new(candidate, past: story)
        case .answered(.failure(let error)): return .unknown(candidate, field: "message", error)
        case .asked: return nil
        case .unasked:
            guard let reference = unknownDelivery(candidate.request) else { return .new(candidate, past: nil) }
            guard !isUnderway(reference.name) else { return nil }
            delivery = .asked
            ask(.delivery(reference))
            return nil
        }
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
