import JournalLog
import PushModel
import PushRouting
import Store

/// Takes a person out of memory, ledger and log: one after the other.
///
/// The ledger says which devices are a user's; then the router forgets, and from that moment nothing refers to what the
/// ledger has of the person up to the bound; then the store takes it out, once it has everything up to there.
final class ErasureService {
    private enum Stage {
        /// The ledger is asked for the user's devices, once it has everything so far.
        case devices
        /// The ledger is to have all up to the bound, before the rows are taken out.
        case beforeRows
        /// The ledger is asked for devices once more: a request before the bound may have named another one.
        case devicesAgain
        /// The store is at it.
        case rows
        /// The rows are out.
        case rest(ErasureReceipt)
    }

    private struct Order {
        var client: ControlClient?
        var person: Person
        var stage = Stage.devices
    }

    private let processor: Processor
    private let pipeline: CommitPipeline
    private let committer: Committer
    private let desk: LedgerDesk
    private let journal: JournalWriter
    private var current: Order?

    /// - Parameters:
    ///   - processor: has the router forget.
    ///   - pipeline: says which batch is the last.
    ///   - committer: takes the rows out.
    ///   - desk: asks the ledger.
    ///   - journal: is told what was done, without a name.
    init(
        processor: Processor, pipeline: CommitPipeline, committer: Committer, desk: LedgerDesk, journal: JournalWriter
    ) {
        self.processor = processor
        self.pipeline = pipeline
        self.committer = committer
        self.desk = desk
        self.journal = journal
    }

    /// Erases a person. The answer is sent when nothing is left, or when something keeps it from going on: a receipt where
    /// the rows are out, else `unavailable`. It says so as well while something of the person is in flight.
    ///
    /// - Throws: `unavailable` while another one is under way, or while the ledger cannot be written.
    func erase(_ person: Person, for client: ControlClient) throws(ProtocolError) {
        guard current == nil else {
            throw ProtocolError(
                .unavailable, message: "another erasure is under way", retryAfter: .seconds(1), id: client.id)
        }
        guard desk.stall == nil else { throw desk.refusal(id: client.id) }
        current = Order(client: client, person: person)
        desk.onceApplied(pipeline.lastGrowingNumber, until: .max) { [self] hasIt in
            guard hasIt else { return refuse(desk.refusal(id: nil).message) }
            askForDevices { [self] devices in
                current?.person.devices.formUnion(devices)
                forget()
            }
        }
    }

    private func askForDevices(_ take: @escaping (Set<ExactName>) -> Void) {
        guard let user = current?.person.externalID else { return take([]) }
        desk.ask(.devices(of: user)) { [self] answer in
            do throws(StoreError) {
                take(Set(try answer.get().map(ExactName.init)))
            } catch {
                refuse("the ledger cannot be read now: \(error.message)")
            }
        }
    }

    private func forget() {
        guard let order = current else { return }
        do throws(ForgettingRefused) {
            let (person, bound) = try processor.forget(order.person)
            takeRows(ErasureOrder(person: person, bound: bound), onceApplied: pipeline.lastGrowingNumber)
        } catch {
            refuse(error.reason)
        }
    }

    private func takeRows(_ erasure: ErasureOrder, onceApplied batch: UInt64) {
        current?.stage = .beforeRows
        if desk.applied < batch, let stall = desk.stall { leave(stall) }
        desk.onceApplied(batch) { [self] in
            current?.stage = .devicesAgain
            askForDevices { [self] devices in
                guard erasure.person.devices.isSuperset(of: devices) else {
                    current?.person.devices.formUnion(devices)
                    return forget()
                }
                current?.stage = .rows
                committer.erase(erasure)
            }
        }
    }

    private func refuse(_ reason: String) {
        let client = current?.client
        current = nil
        if let client { refuse(client, reason) }
    }

    private func refuse(_ client: ControlClient, _ reason: String) {
        client.reply(
            Reply.refused(ProtocolError(.unavailable, message: reason, retryAfter: .seconds(1), id: client.id)))
    }

    // MARK: What the store tells

    /// The rows are out.
    func erasedRows(_ receipt: ErasureReceipt) { current?.stage = .rest(receipt) }

    /// The rest has to wait for something.
    func waits(_ error: StoreError) {
        journal.log(JournalEntry(erasureWaitsFor: error))
        leave(error)
    }

    /// The ledger cannot be written for now: it does not get what it lacks, and nothing is taken out of it.
    func ledgerStalled(_ error: StoreError) {
        switch current?.stage {
        case .beforeRows, .rows, .rest: leave(error)
        case .devices, .devicesAgain, nil: break
        }
    }

    /// Answers the client with what keeps the order from going on, and keeps the order.
    private func leave(_ error: StoreError) {
        guard let order = current, let client = order.client else { return }
        current?.client = nil
        if case .rest(let receipt) = order.stage {
            client.reply(Reply.erased(receipt, waitsFor: error.message, id: client.id))
        } else {
            refuse(client, "the order is taken and goes on by itself: \(error.message)")
        }
    }

    /// Nothing is left.
    func erased() {
        guard case .rest(let receipt) = current?.stage else {
            let message = "the erasure of a person that an earlier run had begun is complete"
            return journal.log(JournalEntry(.notice, message, messageID: .erased))
        }
        let requests = counted(receipt.requests, "request")
        let rest = "\(counted(receipt.events, "event")), \(counted(receipt.entries, "entry", "entries"))"
        journal.log(JournalEntry(.notice, "a person was erased: \(requests), \(rest)", messageID: .erased))
        if let client = current?.client { client.reply(Reply.erased(receipt, waitsFor: nil, id: client.id)) }
        current = nil
    }
}

extension JournalEntry {
    /// The entry about what keeps an erasure from going on.
    init(erasureWaitsFor error: StoreError) {
        let message = "an erasure cannot go on for now, and does so by itself: \(error.message); \(error.advice)"
        self.init(.warning, message, messageID: .erasureWaits)
    }
}
