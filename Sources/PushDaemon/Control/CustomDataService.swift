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

extension JournalEntry {
    /// The entry for a change of the sending state; `nil` if a person need not know of it.
    init?(_ state: SendingState, after last: SendingState.Phase?) {
        guard state.phase != last else { return nil }
        let reason = state.reason.map { ": \($0)" } ?? ""
        switch state.phase {
        case .sending:
            guard last != nil else { return nil }
            self.init(.notice, "custom data is sent again", messageID: .sendingResumed)
        case .waiting:
            self.init(.notice, "sending of custom data waits\(reason)", messageID: .sendingWaits)
        case .stopped:
            self.init(
                .error, "sending of custom data has stopped\(reason); all entries are kept", messageID: .sendingStopped)
        }
    }

    /// The entry for custom data that needs a person: the numbers of the entries, never their contents.
    init?(_ numbers: [EntryNumber], became state: EntryState) {
        guard !numbers.isEmpty else { return nil }
        let shown = numbers.prefix(20).map(\.description).joined(separator: ", ")
        let entries = numbers.count > 20 ? "\(shown) and \(numbers.count - 20) more" : shown
        switch state {
        case .rejected:
            self.init(
                .warning, "the endpoint rejected custom data: entry \(entries); pushctl pending --rejected shows why",
                messageID: .entriesRejected)
        case .unknown:
            self.init(
                .warning,
                "custom data may or may not have reached the endpoint: entry \(entries); see pushctl pending "
                    + "--unknown", messageID: .entriesUnknown)
        case .pending, .queued, .claimed, .flushed, .sent, .discarded: return nil
        }
    }

    /// The entry for custom data that a session flushed and that could not be sent as well.
    init(flushedUnsent count: Int, by cause: String) {
        let entries = counted(count, "entry was", "entries were")
        self.init(
            .warning,
            "\(entries) flushed and not sent to the endpoint, though SendFlushed=yes: \(cause) has no user; name the "
                + "user with external_id")
    }
}
