import PushModel
import PushRouting
import Store

/// What became of a request that was to be replayed.
enum ReplayResult {
    /// It was accepted again under a new number.
    case accepted(SequenceNumber, as: SequenceNumber)
    /// It was not; the reason is for people, the code is that of the router where it refused.
    case refused(SequenceNumber, String, code: ProtocolError.Code? = nil, retryAfter: Duration? = nil)
}

/// Replays and purges dead letters: one order after the other, so that none is replayed twice.
///
/// The ledger says what is a dead letter, so an order begins when it has all that was decided before.
final class DeadLetterService {
    private struct Order {
        var client: ControlClient
        var requests: Queue<SequenceNumber>
        var results: [ReplayResult] = []
        /// The batch that the ledger must have before the order begins; `nil` before that is known.
        var neededBatch: UInt64?
        /// The request that the ledger is asked for.
        var asked: SequenceNumber?
    }

    /// Tokens from here up to those of the runs are this object's.
    private static let firstToken: UInt64 = 1 << 62

    /// How many orders may wait.
    private static let ordersMax = 16

    private let processor: Processor
    private let pipeline: CommitPipeline
    private let committer: Committer
    private let lookup: Lookup
    /// Why the ledger cannot be written now.
    private var stall: StoreError?
    private var orders = Queue<Order>()
    private var current: Order?
    private var lastToken = DeadLetterService.firstToken
    /// Up to which batch the ledger has everything.
    private var applied: UInt64

    /// - Parameters:
    ///   - processor: accepts what is replayed.
    ///   - pipeline: says which batch is the last.
    ///   - committer: brings the ledger up to it.
    ///   - lookup: reads the ledger, on a thread of its own.
    init(processor: Processor, pipeline: CommitPipeline, committer: Committer, lookup: Lookup) {
        self.processor = processor
        self.pipeline = pipeline
        self.committer = committer
        self.lookup = lookup
        applied = committer.lastNumber
    }

    /// Whether an answer is for this object.
    func owns(_ token: UInt64) -> Bool { token > Self.firstToken && token < Self.firstToken << 1 }

    /// Accepts the dead letters of requests again. The answer is sent once they are on disk.
    ///
    /// It is `unavailable` when the ledger lacks something and cannot be written: nobody knows for how long.
    ///
    /// - Throws: `overloaded` while too many orders wait.
    func replay(_ requests: [SequenceNumber], for client: ControlClient) throws(ProtocolError) {
        guard orders.count < Self.ordersMax else {
            throw ProtocolError(
                .overloaded, message: "\(orders.count) replays wait already", retryAfter: .seconds(1), id: client.id)
        }
        var queue = Queue<SequenceNumber>()
        for request in requests { queue.append(request) }
        orders.append(Order(client: client, requests: queue))
        goOn()
    }

    /// Takes the dead letters of requests off the list. The answer is sent once that is on disk.
    func purge(_ requests: [SequenceNumber], for client: ControlClient) {
        for request in requests { processor.record(.noDeadLetters(request)) }
        processor.reply(to: client, Reply.counted("purged", requests.count, id: client.id))
    }

    /// The ledger has everything up to a batch.
    func applied(through number: UInt64) {
        applied = number
        goOn()
    }

    /// The ledger cannot be written for now.
    func ledgerStalled(_ error: StoreError) {
        stall = error
        goOn()
    }

    /// The ledger is written again.
    func ledgerResumed() { stall = nil }

    /// Takes in what the ledger said.
    func answered(_ token: UInt64, _ result: Result<Lookup.Answer, StoreError>) {
        guard token == lastToken, var order = current, let seq = order.asked else { return }
        order.asked = nil
        order.results.append(outcome(of: seq, result, for: order.client))
        current = order
        goOn()
    }

    private func goOn() {
        while var order = current ?? orders.popFirst() {
            current = order
            guard order.asked == nil else { return }
            let needed = order.neededBatch ?? pipeline.lastGrowingNumber
            order.neededBatch = needed
            current = order
            guard applied >= needed else {
                guard let stall else { return committer.hurry(through: needed) }
                current = nil
                refuse(order.client, stall)
                continue
            }
            guard let seq = order.requests.popFirst() else {
                current = nil
                processor.reply(to: order.client, Reply.replayed(order.results, id: order.client.id))
                continue
            }
            order.asked = seq
            lastToken += 1
            current = order
            return lookup.submit(.dead(seq), token: lastToken)
        }
    }

    private func refuse(_ client: ControlClient, _ stall: StoreError) {
        let message = "the ledger cannot be written now: \(stall.message)"
        client.reply(
            Reply.refused(ProtocolError(.unavailable, message: message, retryAfter: .seconds(1), id: client.id)))
    }

    private func outcome(
        of seq: SequenceNumber, _ result: Result<Lookup.Answer, StoreError>, for client: ControlClient
    ) -> ReplayResult {
        switch result {
        case .success(.dead(let dead?)): replay(dead, for: client)
        case .success(.dead(nil)): .refused(seq, "the ledger has no such request")
        case .success: preconditionFailure("a look-up was answered with something else")
        case .failure(let error): .refused(seq, "the ledger cannot be read now: \(error.message)")
        }
    }

    private func replay(_ dead: DeadRequest, for client: ControlClient) -> ReplayResult {
        let (seq, letters) = (dead.story.request.seq, Set(dead.story.deadLetters.map(\.id)))
        guard !letters.isEmpty else {
            let replays = dead.story.replays.map(\.description).joined(separator: ", ")
            return .refused(seq, "it has no dead letter" + (replays.isEmpty ? "" : ": it was replayed as \(replays)"))
        }
        let request = UnfinishedRequest(
            accepted: dead.story.request, invocations: dead.story.invocations.filter { letters.contains($0.id) },
            request: dead.request, past: dead.past.map(PastDelivery.init))
        do {
            return .accepted(seq, as: try processor.replay(request, from: client.session.peer))
        } catch {
            return .refused(seq, error.message, code: error.code, retryAfter: error.retryAfter)
        }
    }
}
