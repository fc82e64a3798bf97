import LinuxSystem
import PushModel
import PushRouter
import Store

/// Erases persons from memory, ledger and log, one after the other.
///
/// An order has its bound at once: later requests of the person are new, so steady traffic does not hold it up. The
/// ledger tells the devices of the user. Once all requests up to the bound are decided the router forgets the person up
/// to the bound, and from that moment no new row refers to the rows up to it. Then the store deletes those rows, once
/// the ledger has all of them.
final class ErasureService {
    private enum Stage {
        /// The ledger reads the user's devices, once it has all batches up to the bound.
        case devices
        /// Requests up to the bound wait for their outcomes, or entries for the forwarder.
        case undecided
        /// The ledger catches up, before rows are deleted.
        case beforeRows
        /// The store deletes the rows.
        case rows
        /// The rows are deleted; the rest of the erasure is under way.
        case rest(ErasureReceipt)
    }

    private struct Order {
        var client: ControlClient?
        /// The act, which ends when the rows are deleted: also when the client has its answer already.
        var deed: Deed?
        var person: Person
        var bound: ErasureBound
        /// When the order came, in monotonic nanoseconds.
        var since: Int64
        var stage = Stage.devices
    }

    /// The time between two looks for outcomes, in nanoseconds; more if a look takes long.
    private static let pause: Int64 = 100_000_000
    /// How long a client waits for the outcomes of the person's requests, in nanoseconds.
    private static let patience: Int64 = 60_000_000_000

    private let loop: EventLoop
    private let processor: Processor
    private let pipeline: CommitPipeline
    private let committer: Committer
    private let queries: LedgerQueries
    private let journal: JournalWriter
    private let audit: Audit
    private var current: Order?
    private var timer: TimerSource?

    /// - Parameters:
    ///   - loop: the daemon's loop.
    ///   - processor: makes the router forget the person.
    ///   - pipeline: knows the number of the last batch.
    ///   - committer: deletes the rows.
    ///   - queries: asks the ledger.
    ///   - journal: gets an entry for each erasure, without a name.
    ///   - audit: records an erasure that an earlier run began.
    init(
        _ loop: EventLoop, _ processor: Processor, _ pipeline: CommitPipeline, _ committer: Committer,
        _ queries: LedgerQueries, _ journal: JournalWriter, _ audit: Audit
    ) {
        self.loop = loop
        self.processor = processor
        self.pipeline = pipeline
        self.committer = committer
        self.queries = queries
        self.journal = journal
        self.audit = audit
    }

    /// Whether an order has not been carried out.
    var isUnderway: Bool { current != nil }

    /// Erases a person. Replies when the erasure is complete or has to wait: with a receipt if the rows are deleted,
    /// otherwise `unavailable`.
    ///
    /// - Throws: `unavailable` during another erasure, or while the ledger cannot be written.
    func erase(_ person: Person, for client: ControlClient) throws(ProtocolError) {
        guard current == nil else {
            throw ProtocolError(
                .unavailable, message: "another erasure is under way", retryAfter: .seconds(1), id: client.id)
        }
        guard queries.stall == nil else { throw queries.refusal(id: client.id) }
        if timer == nil {
            do throws(SystemError) {
                timer = try TimerSource(loop: loop) { [weak self] in self?.look() }
            } catch {
                throw ProtocolError(.unavailable, message: "\(error)", retryAfter: .seconds(1), id: client.id)
            }
        }
        let (whole, bound) = processor.bound(of: person)
        current = Order(
            client: client, deed: client.deed, person: whole, bound: bound, since: EventLoop.nowNanoseconds)
        queries.whenApplied(pipeline.lastGrowingNumber, until: .max) { [self] hasIt in
            guard hasIt else { return refuse(queries.refusal(id: nil).message) }
            askForDevices { [self] devices in
                current?.person.devices.formUnion(devices)
                current?.stage = .undecided
                look()
            }
        }
    }

    private func askForDevices(_ take: @escaping (Set<ExactName>) -> Void) {
        guard let order = current, let user = order.person.externalID else { return take([]) }
        queries.ask(.devices(of: user, through: order.bound.request)) { [self] answer in
            do throws(StoreError) {
                take(Set(try answer.get().map(ExactName.init)))
            } catch {
                refuse("the ledger cannot be read now: \(error.message)")
            }
        }
    }

    /// Makes the router forget the person, or looks again later while a request up to the bound is in flight.
    private func look() {
        guard let order = current, case .undecided = order.stage else { return }
        let begin = EventLoop.nowNanoseconds
        do throws(ForgettingRefused) {
            try processor.forget(order.person, through: order.bound)
            takeRows(ErasureOrder(person: order.person, bound: order.bound), whenApplied: pipeline.lastGrowingNumber)
        } catch {
            let now = EventLoop.nowNanoseconds
            if now - order.since >= Self.patience { leave(error.reason) }
            timer?.arm(at: now + max(Self.pause, 20 * (now - begin)))
        }
    }

    private func takeRows(_ erasure: ErasureOrder, whenApplied batch: UInt64) {
        current?.stage = .beforeRows
        if queries.applied < batch, let stall = queries.stall { leave(stall.message) }
        queries.whenApplied(batch) { [self] in
            current?.stage = .rows
            committer.erase(erasure)
        }
    }

    private func refuse(_ reason: String) {
        let client = current?.client
        current?.deed?.ends(.refused, reason)
        current = nil
        if let client { refuse(client, reason) }
    }

    private func refuse(_ client: ControlClient, _ reason: String) {
        client.reply(
            Reply.refused(ProtocolError(.unavailable, message: reason, retryAfter: .seconds(1), id: client.id)))
    }

    // MARK: Reports of the store

    /// Notes that the rows are deleted, which ends the act.
    func erasedRows(_ receipt: ErasureReceipt) {
        current?.stage = .rest(receipt)
        current?.deed?.ends(count: receipt.rows)
    }

    /// Notes that the rest of the erasure has to wait.
    func waits(_ error: StoreError) {
        journal.log(JournalEntry(erasureWaitsFor: error))
        leave(error.message)
    }

    /// Notes that the ledger cannot be written for now: it does not catch up, and nothing is deleted from it.
    func ledgerStalled(_ error: StoreError) {
        switch current?.stage {
        case .beforeRows, .rows, .rest: leave(error.message)
        case .devices, .undecided, nil: break
        }
    }

    /// Tells the client why the order waits, and keeps the order.
    private func leave(_ reason: String) {
        guard let order = current, let client = order.client else { return }
        current?.client = nil
        if case .rest(let receipt) = order.stage {
            client.reply(Reply.erased(receipt, waitsFor: reason, id: client.id))
        } else {
            refuse(client, "the erasure is ordered and is tried again until it is done: \(reason)")
        }
    }

    /// Notes that the erasure is complete.
    func erased() {
        guard case .rest(let receipt) = current?.stage else {
            let message = "an erasure of a person, begun by an earlier run, is complete"
            audit.begin(AuditRecord.Subject(.erase), from: .start).ends()
            return journal.log(JournalEntry(.notice, message, messageID: .erased))
        }
        let requests = counted(receipt.requests, "request")
        let rest = "\(counted(receipt.events, "event")), \(counted(receipt.entries, "entry", "entries"))"
        journal.log(JournalEntry(.notice, "a person was erased: \(requests), \(rest)", messageID: .erased))
        // The reply waits until the row of the act is on disk.
        if let client = current?.client {
            processor.reply(to: client, Reply.erased(receipt, waitsFor: nil, id: client.id))
        }
        current = nil
    }
}

extension JournalEntry {
    /// The entry for an erasure that has to wait.
    init(erasureWaitsFor error: StoreError) {
        let message = "an erasure has to wait, and is tried again until it is done: \(error.message); \(error.advice)"
        self.init(.warning, message, messageID: .erasureWaits)
    }
}
