import JournalLog
import PushCustomData
import PushModel
import PushRouting

/// Has the router do what people and the forwarder want of custom data.
final class CustomDataDoor {
    private let processor: Processor
    private let pipeline: CommitPipeline
    /// What people are told once the flush or reset that they ordered is done, with how many of those must have ended.
    private var orders = Queue<(removal: Int, client: ControlClient, reply: [UInt8])>()

    /// - Parameters:
    ///   - processor: has the router.
    ///   - pipeline: makes durable what the router decides.
    init(_ processor: Processor, _ pipeline: CommitPipeline) {
        self.processor = processor
        self.pipeline = pipeline
    }

    var sending: SendingState? { processor.router.sending }
    var flushedUnsent: Int { processor.router.flushedUnsent }

    /// Has the router do something, and carries out what it decides. What a person has to see to is in the journal once it
    /// is on disk.
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
            pipeline.append(.note(JournalEntry(flushedUnsent: count, by: "the session that was asked for")))
        }
        if let sending, let entry = JournalEntry(sending, after: lastPhase) { pipeline.append(.note(entry)) }
        pipeline.endRequest()
        return result
    }

    /// Answers a client once the flush or reset that it ordered, the last one that began, is on disk as a whole.
    func replyAfterRemoval(to client: ControlClient, _ bytes: [UInt8]) {
        orders.append((processor.router.removalsBegun, client, bytes))
        answerOrders()
    }

    /// Answers the orders whose removals are done; at the end of a turn.
    func answerOrders() {
        while let order = orders.first, order.removal <= processor.router.removalsEnded {
            _ = orders.popFirst()
            processor.reply(to: order.client, order.reply)
        }
    }
}
