import LinuxSystem
import PushModel
import PushRouter

/// Passes requests about custom data, of people and of the forwarder, to the router.
final class CustomDataService {
    private let processor: Processor
    private let pipeline: CommitPipeline
    /// The replies to flushes and resets, each with the number of removals that must have ended before it is sent.
    private var orders = Queue<(removal: Int, client: ControlClient, reply: [UInt8])>()

    /// - Parameters:
    ///   - processor: has the router.
    ///   - pipeline: makes the router's decisions durable.
    init(_ processor: Processor, _ pipeline: CommitPipeline) {
        self.processor = processor
        self.pipeline = pipeline
    }

    var sending: SendingState? { processor.router.sending }
    var flushedUnsent: Int { processor.router.flushedUnsent }

    /// Calls the router, and carries out its decisions. Adds journal entries for changes that need a person, written
    /// once the changes are on disk.
    @discardableResult
    func perform<Result>(_ act: (inout Router, Moment, inout Effects) -> Result) -> Result {
        let (lastPhase, flushedBefore) = (sending?.phase, flushedUnsent)
        var moved: [EntryState: [EntryNumber]] = [:]
        let result = processor.decide(act) { effects in
            for case (.customData(.moved(let move)), _) in effects.records {
                moved[move.state, default: []].append(move.number)
            }
        }
        for state in [EntryState.rejected, .unknown] {
            if let entry = JournalEntry(moved[state] ?? [], became: state) { pipeline.append(.note(entry)) }
        }
        if flushedUnsent > flushedBefore {
            let count = flushedUnsent - flushedBefore
            pipeline.append(.note(JournalEntry(flushedUnsent: count, by: "the requested session")))
        }
        if let sending, let entry = JournalEntry(sending, after: lastPhase) { pipeline.append(.note(entry)) }
        pipeline.endRequest()
        return result
    }

    /// Replies to a client once the removal that began last, which its flush or reset started, is completely on disk.
    func replyAfterRemoval(to client: ControlClient, _ bytes: [UInt8]) {
        orders.append((processor.router.removalsBegun, client, bytes))
        answerOrders()
    }

    /// Sends the replies whose removals are done; at the end of a turn.
    func answerOrders() {
        while let order = orders.first, order.removal <= processor.router.removalsEnded {
            _ = orders.popFirst()
            processor.reply(to: order.client, order.reply)
        }
    }
}
