import JournalLog
import PushModel
import PushRouting
import Store

/// Something that is done once the records before it are on disk.
enum FollowUp {
    /// Tell a client that its request is accepted.
    case reply(ClientSession, place: Int, [UInt8])
    /// Run a handler.
    case start(HandlerRun)
    /// Tell the journal and whoever waits how an invocation ended.
    case decided(InvocationEnd)
    /// The client has its reply: it may be told outcomes.
    case replied(OutcomeWait)
    /// From now on the ledger answers for this id.
    case onDisk(RequestKey)
    /// Hand entries of custom data to the forwarder.
    case claimed(ClaimAnswer)
    /// Tell the journal.
    case note(JournalEntry)
}

/// Gathers what the turns of the loop want written, and hands it to the committer: one transaction for all that came
/// while the last one was being written.
final class GroupCommit {
    private struct Batch {
        var records: [LedgerRecord] = []
        var followUps: [FollowUp] = []
        var bytes = 0
        /// The number of its first request; they go up from there.
        var first: SequenceNumber?
        /// What taps may call the deliveries in it, as far as the tracker does not remember them.
        var messageIDs: Set<String> = []
        var isEmpty: Bool { records.isEmpty && followUps.isEmpty }
    }

    private var growing = Batch()
    private var underway: Batch?
    private var number: UInt64 = 0
    private let submit: ([LedgerRecord], UInt64) -> Void
    private let perform: (FollowUp) -> Void

    /// Bytes of requests that are not on disk yet.
    var bytesWaiting: Int { growing.bytes + (underway?.bytes ?? 0) }

    /// Whether nothing waits for the disk.
    var isIdle: Bool { underway == nil && growing.isEmpty }

    /// Whether a batch is or will be written. What only follows, such as the answer to a repeated request, is no batch: to
    /// wait for its commit would be to wait for ever.
    var isCommitComing: Bool { underway != nil || !growing.records.isEmpty }

    /// How many transactions were committed.
    var transactions: UInt64 { underway == nil ? number : number - 1 }

    /// - Parameters:
    ///   - submit: hands a batch to the committer, which reports its number when it is on disk.
    ///   - perform: does what follows.
    init(submit: @escaping ([LedgerRecord], UInt64) -> Void, perform: @escaping (FollowUp) -> Void) {
        self.submit = submit
        self.perform = perform
    }

    func append(_ record: LedgerRecord) {
        growing.records.append(record)
        guard case .request(let request) = record else { return }
        growing.bytes += request.body.count
        if growing.first == nil { growing.first = request.seq }
        guard request.operation == .deliver, !request.isTracked, let message = request.messageID else { return }
        growing.messageIDs.insert(message)
    }

    /// Whether a delivery of that name is accepted and may not be on disk yet, where the ledger finds it.
    func isUnderway(_ name: DeliveryReference.Name) -> Bool {
        switch name {
        case .seq(let seq): (underway?.first ?? growing.first).map { $0 <= seq } ?? false
        case .message(let id): growing.messageIDs.contains(id) || underway?.messageIDs.contains(id) ?? false
        }
    }

    func append(_ followUp: FollowUp) { growing.followUps.append(followUp) }

    /// Hands over what has gathered, unless a batch is under way.
    func endTurn() {
        guard underway == nil else { return }
        // With nothing to write there is nothing to wait for; but what follows may itself decide something.
        while growing.records.isEmpty, !growing.followUps.isEmpty {
            carryOut(exchange(&growing.followUps, with: []))
        }
        guard !growing.records.isEmpty else { return }
        number += 1
        let batch = exchange(&growing, with: Batch())
        submit(batch.records, number)
        underway = batch
        // The committer has them.
        underway?.records = []
    }

    /// The batch under way is on disk.
    func committed(_ number: UInt64) {
        guard let batch = underway, number == self.number else {
            preconditionFailure("the committer reported batch \(number), not \(self.number)")
        }
        underway = nil
        carryOut(batch.followUps)
    }

    private func carryOut(_ followUps: [FollowUp]) {
        for followUp in followUps { perform(followUp) }
    }
}
