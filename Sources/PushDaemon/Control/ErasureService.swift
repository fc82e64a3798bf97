import JournalLog
import PushModel
import PushRouting
import Store

/// Erases persons from memory, ledger and log, one after the other.
///
/// The ledger tells the devices of a user. Then the router forgets the person, and from that moment no new row refers
/// to the person's rows up to the bound. Then the store deletes those rows, once the ledger has all of them.
final class ErasureService {
    private enum Stage {
        /// The ledger reads the user's devices, once it has all earlier batches.
        case devices
        /// The ledger catches up with the bound, before rows are deleted.
        case beforeRows
        /// The ledger reads the devices once more: a request before the bound may have named another one.
        case devicesAgain
        /// The store deletes the rows.
        case rows
        /// The rows are deleted; the rest of the erasure is under way.
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
    private let queries: LedgerQueries
    private let journal: JournalWriter
    private var current: Order?

    /// - Parameters:
    ///   - processor: makes the router forget the person.
    ///   - pipeline: knows the number of the last batch.
    ///   - committer: deletes the rows.
    ///   - queries: asks the ledger.
    ///   - journal: gets an entry for each erasure, without a name.
    init(
        processor: Processor, pipeline: CommitPipeline, committer: Committer, queries: LedgerQueries,
        journal: JournalWriter
    ) {
        self.processor = processor
        self.pipeline = pipeline
        self.committer = committer
        self.queries = queries
        self.journal = journal
    }

    /// Erases a person. Replies when the erasure is complete or has to wait: with a receipt if the rows are deleted,
    /// otherwise `unavailable`. Also replies `unavailable` while a request of the person is in flight.
    ///
    /// - Throws: `unavailable` during another erasure, or while the ledger cannot be written.
    func erase(_ person: Person, for client: ControlClient) throws(ProtocolError) {
        guard current == nil else {
            throw ProtocolError(
                .unavailable, message: "another erasure is under way", retryAfter: .seconds(1), id: client.id)
        }
        guard queries.stall == nil else { throw queries.refusal(id: client.id) }
        current = Order(client: client, person: person)
        queries.whenApplied(pipeline.lastGrowingNumber, until: .max) { [self] hasIt in
            guard hasIt else { return refuse(queries.refusal(id: nil).message) }
            askForDevices { [self] devices in
                current?.person.devices.formUnion(devices)
                forget()
            }
        }
    }

    private func askForDevices(_ take: @escaping (Set<ExactName>) -> Void) {
        guard let user = current?.person.externalID else { return take([]) }
        queries.ask(.devices(of: user)) { [self] answer in
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
            takeRows(ErasureOrder(person: person, bound: bound), whenApplied: pipeline.lastGrowingNumber)
        } catch {
            refuse(error.reason)
        }
    }

    private func takeRows(_ erasure: ErasureOrder, whenApplied batch: UInt64) {
        current?.stage = .beforeRows
        if queries.applied < batch, let stall = queries.stall { leave(stall) }
        queries.whenApplied(batch) { [self] in
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

    // MARK: Reports of the store

    /// Notes that the rows are deleted.
    func erasedRows(_ receipt: ErasureReceipt) { current?.stage = .rest(receipt) }

    /// Notes that the rest of the erasure has to wait.
    func waits(_ error: StoreError) {
        journal.log(JournalEntry(erasureWaitsFor: error))
        leave(error)
    }

    /// Notes that the ledger cannot be written for now: it does not catch up, and nothing is deleted from it.
    func ledgerStalled(_ error: StoreError) {
        switch current?.stage {
        case .beforeRows, .rows, .rest: leave(error)
        case .devices, .devicesAgain, nil: break
        }
    }

    /// Tells the client why the order waits, and keeps the order.
    private func leave(_ error: StoreError) {
        guard let order = current, let client = order.client else { return }
        current?.client = nil
        if case .rest(let receipt) = order.stage {
            client.reply(Reply.erased(receipt, waitsFor: error.message, id: client.id))
        } else {
            refuse(client, "the erasure is ordered and is tried again until it is done: \(error.message)")
        }
    }

    /// Notes that the erasure is complete.
    func erased() {
        guard case .rest(let receipt) = current?.stage else {
            let message = "an erasure of a person, begun by an earlier run, is complete"
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
    /// The entry for an erasure that has to wait.
    init(erasureWaitsFor error: StoreError) {
        let message = "an erasure has to wait, and is tried again until it is done: \(error.message); \(error.advice)"
        self.init(.warning, message, messageID: .erasureWaits)
    }
}
