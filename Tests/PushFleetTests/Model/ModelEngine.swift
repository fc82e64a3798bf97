import TestSupport

@testable import PushModel

/// A session of a node; a lost connection starts the next one.
struct ModelSession: Hashable {
    var node: Int
    var generation: Int
}

/// The row of the lease.
struct ModelLease: Hashable {
    var owner: Int?
    var epoch: Int64 = 0
}

/// A write that a node sends to the engine.
enum ModelWrite: Hashable {
    case append(ModelBatch)
    case confirm(BatchReference)
}

/// A primary and its synchronous standby: the promises of `ShardEngine`, in one comparable value.
///
/// A commit enters the log of the primary, and becomes visible and acknowledged once the standby has it. A commit that
/// waits for the standby becomes visible without being at the standby when its wait is cancelled, its session ends, or
/// the primary restarts.
struct ModelEngine {
    /// A record that the standby does not have yet, in the order of the log.
    enum Record: Hashable {
        case batch
        case confirmation
        case lease(ModelLease)
    }

    struct Wait<Write: Hashable>: Hashable {
        var write: Write
        var session: ModelSession
    }

    /// The fate of a message that the engine handles.
    enum Fate: String {
        case refused = "refuses"
        case blocked = "holds up"
        case written = "writes"
    }

    /// The visible batches, including the one before the first.
    var chain: [ModelBatch] = [.start]
    /// A batch of the log that waits for the standby.
    var append: Wait<ModelBatch>?
    /// A confirmation of the log that waits for the standby.
    var confirmation: Wait<BatchReference>?
    var lag: [Record] = []
    /// The number of batches on the standby.
    var standbyBatches = 1
    var lease = ModelLease()
    var standbyLease = ModelLease()
    /// The writes that were sent and not handled: in any order, late copies included.
    var flight: [(session: ModelSession, write: ModelWrite)] = []

    var tail: ChainTail {
        let last = chain[chain.count - 1]
        return ChainTail(last.reference, epoch: last.epoch)
    }

    /// The visible batches, and the one that waits behind them.
    var log: [ModelBatch] {
        append.map { chain + [$0.write] } ?? chain
    }

    /// Whether the standby has the waiting batch.
    var appendIsReplicated: Bool { append != nil && standbyBatches > chain.count }

    /// Whether the standby has the waiting confirmation.
    var confirmationIsReplicated: Bool { confirmation != nil && !lag.contains(.confirmation) }

    func batches(from number: UInt64, atMost count: Int) -> [StoredBatch] {
        chain.dropFirst(Int(number)).prefix(count).map(\.stored)
    }

    func fate(of write: ModelWrite, without rule: Rule?) -> Fate {
        switch write {
        case .append(let batch):
            let isAdmitted =
                rule == .comparesPrevious
                ? batch.reference.number > tail.reference.number
                : tail.admits(batch.reference, after: batch.previous, epoch: batch.epoch)
            return !isAdmitted ? .refused : append == nil ? .written : .blocked
        case .confirm(let reference):
            return tail.reference != reference ? .refused : confirmation == nil ? .written : .blocked
        }
    }

    /// Writes to the log of the primary.
    mutating func flush(_ write: ModelWrite, of session: ModelSession) {
        switch write {
        case .append(let batch):
            append = Wait(write: batch, session: session)
            lag.append(.batch)
        case .confirm(let reference):
            confirmation = Wait(write: reference, session: session)
            lag.append(.confirmation)
        }
    }

    /// Makes the waiting batch visible.
    mutating func showAppend() {
        if let batch = append?.write { chain.append(batch) }
        append = nil
    }

    /// Ends the wait of the confirmation.
    mutating func dropConfirmation() {
        confirmation = nil
        lag.removeAll { $0 == .confirmation }
    }

    mutating func standbyReceives() {
        switch lag.removeFirst() {
        case .batch: standbyBatches += 1
        case .confirmation: break
        case .lease(let row): standbyLease = row
        }
    }

    /// - Parameter isDurable: whether the standby has the row, and all of the log before it, when the take is
    /// acknowledged.
    mutating func take(by node: Int, epoch: Int64, isDurable: Bool) {
        lease = ModelLease(owner: node, epoch: epoch)
        lag.append(.lease(lease))
        while isDurable, !lag.isEmpty { standbyReceives() }
    }

    /// Releases the lease. No write waits for the standby.
    mutating func release() {
        lease.owner = nil
        lag.append(.lease(lease))
    }

    mutating func crash() {
        showAppend()
        dropConfirmation()
        flight = []
    }

    mutating func promote() {
        chain = Array(log.prefix(standbyBatches))
        (append, confirmation, lag, flight) = (nil, nil, [], [])
        (standbyBatches, lease) = (chain.count, standbyLease)
    }

    /// Ends sessions: their unhandled writes are dropped, and their waiting writes become visible.
    mutating func end(_ ends: (ModelSession) -> Bool) {
        flight.removeAll { ends($0.session) }
        if let append, ends(append.session) { showAppend() }
        if let confirmation, ends(confirmation.session) { dropConfirmation() }
    }

    /// Whether the engine has a write of such a session.
    func has(_ isMeant: (ModelSession) -> Bool) -> Bool {
        flight.contains { isMeant($0.session) } || append.map { isMeant($0.session) } ?? false
            || confirmation.map { isMeant($0.session) } ?? false
    }
}
