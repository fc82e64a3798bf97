import PushModel
import PushRouter
import Store

/// The result of replaying one request.
enum ReplayResult {
    /// It was accepted again under a new number.
    case accepted(SequenceNumber, as: SequenceNumber)
    /// It was refused: the text is for people; the code is the router's if the router refused.
    case refused(SequenceNumber, String, code: ProtocolError.Code? = nil, retryAfter: Duration? = nil)
}

/// Replays and purges dead letters, one order after the other, so that no dead letter is replayed twice.
///
/// The ledger tells which invocations are dead letters, so an order begins once the ledger has all earlier batches.
final class DeadLetterService {
    private struct Order {
        var client: ControlClient
        var requests: [SequenceNumber]
        /// The results of the requests done so far.
        var results: [ReplayResult] = []
    }

    /// How many orders may wait.
    private static let ordersMax = 16

    private let processor: Processor
    private let pipeline: CommitPipeline
    private let queries: LedgerQueries
    private var orders = Queue<Order>()
    private var current: Order?
    /// Whether the current order waits for room: the rows of its requests are the daemon's own work.
    private var waitsForRoom = false

    /// - Parameters:
    ///   - processor: accepts the replayed requests.
    ///   - pipeline: knows the number of the last batch.
    ///   - queries: asks the ledger once it has that batch.
    init(processor: Processor, pipeline: CommitPipeline, queries: LedgerQueries) {
        self.processor = processor
        self.pipeline = pipeline
        self.queries = queries
    }

    /// Accepts the dead letters of requests again. Replies once they are on disk.
    ///
    /// Replies `unavailable` if the ledger lacks a batch and cannot be written: the end of that is unknown.
    ///
    /// - Throws: `overloaded` while too many orders wait.
    func replay(_ requests: [SequenceNumber], for client: ControlClient) throws(ProtocolError) {
        guard orders.count < Self.ordersMax else {
            throw ProtocolError(
                .overloaded, message: "\(orders.count) replays wait already", retryAfter: .seconds(1), id: client.id)
        }
        orders.append(Order(client: client, requests: requests))
        beginNext()
    }

    /// Removes the dead letters of requests from the list. Replies once that is on disk.
    func purge(_ requests: [SequenceNumber], for client: ControlClient) {
        for request in requests { processor.record(.noDeadLetters(request)) }
        client.deed?.ends(count: requests.count)
        processor.reply(to: client, Reply.counted("purged", requests.count, id: client.id))
    }

    /// Goes on with a replay that waited for room; at the end of a turn.
    func endTurn() {
        guard waitsForRoom, pipeline.hasRoomForOwnWork else { return }
        waitsForRoom = false
        replayNext()
    }

    private func beginNext() {
        guard current == nil, let order = orders.popFirst() else { return }
        current = order
        queries.whenApplied(pipeline.lastGrowingNumber, until: .max) { [self] hasIt in
            if hasIt { return replayNext() }
            current = nil
            let refusal = queries.refusal(id: order.client.id)
            order.client.deed?.ends(.refused, refusal.message)
            order.client.reply(Reply.refused(refusal))
            beginNext()
        }
    }

    private func replayNext() {
        guard let order = current else { return }
        guard order.results.count < order.requests.count else {
            current = nil
            order.client.deed?.ends(order.results)
            processor.reply(to: order.client, Reply.replayed(order.results, id: order.client.id))
            return beginNext()
        }
        guard pipeline.hasRoomForOwnWork else {
            waitsForRoom = true
            return
        }
        let seq = order.requests[order.results.count]
        queries.ask(.dead(seq)) { [self] answer in
            let result = pipeline.doOwnWork { outcome(of: seq, answer, for: order.client) }
            current?.results.append(result)
            replayNext()
        }
    }

    private func outcome(
        of seq: SequenceNumber, _ answer: Result<DeadRequest?, StoreError>, for client: ControlClient
    ) -> ReplayResult {
        switch answer {
        case .success(let dead?): replay(dead, for: client)
        case .success(nil): .refused(seq, "the ledger has no such request")
        case .failure(let error): .refused(seq, "the ledger cannot be read now: \(error.message)")
        }
    }

    private func replay(_ dead: DeadRequest, for client: ControlClient) -> ReplayResult {
        let (seq, letters) = (dead.story.request.seq, Set(dead.story.deadLetters.map(\.id)))
        guard !letters.isEmpty else {
            let replays = dead.story.replays.map(\.description).joined(separator: ", ")
            return .refused(
                seq, "the request has no dead letter" + (replays.isEmpty ? "" : ": it was replayed as \(replays)"))
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

extension Deed {
    /// Records the end of a replay.
    fileprivate func ends(_ results: [ReplayResult]) {
        let refused = results.compactMap { result -> String? in
            guard case .refused(let seq, let reason, _, _) = result else { return nil }
            return "\(seq): \(reason)"
        }
        let isRefused = refused.count == results.count
        let reason = refused.first.map { isRefused && results.count == 1 ? $0 : "\(refused.count) refused, \($0)" }
        ends(isRefused ? .refused : .done, count: results.count - refused.count, reason)
    }
}
