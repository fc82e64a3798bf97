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
        /// The ledger is to have all up to a batch, before it is asked for devices.
        case beforeDevices(UInt64)
        /// It was asked.
        case devices
        /// The ledger is to have all up to a batch, before the rows are taken out.
        case beforeRows(UInt64, ErasureOrder)
        /// The ledger was asked for devices once more: a request before the bound may have named another one.
        case devicesAgain(ErasureOrder)
        /// The store is at it.
        case rows
        /// The rows are out.
        case rest(ErasureReceipt)
    }

    private struct Order {
        var client: ControlClient?
        var person: Person
        var stage: Stage
    }

    /// Tokens from here up to those of dead letters are this object's.
    private static let firstToken: UInt64 = 1 << 61

    private let processor: Processor
    private let pipeline: CommitPipeline
    private let committer: Committer
    private let lookup: Lookup
    private let journal: JournalWriter
    private var current: Order?
    /// Why the ledger cannot be written now.
    private var stall: StoreError?
    private var lastToken = ErasureService.firstToken
    /// Up to which batch the ledger has everything.
    private var applied: UInt64

    /// - Parameters:
    ///   - processor: has the router forget.
    ///   - pipeline: says which batch is the last.
    ///   - committer: takes the rows out.
    ///   - lookup: reads the ledger, on a thread of its own.
    ///   - journal: is told what was done, without a name.
    init(
        processor: Processor, pipeline: CommitPipeline, committer: Committer, lookup: Lookup, journal: JournalWriter
    ) {
        self.processor = processor
        self.pipeline = pipeline
        self.committer = committer
        self.lookup = lookup
        self.journal = journal
        applied = committer.lastNumber
    }

    /// Whether an answer is for this object.
    func owns(_ token: UInt64) -> Bool { token > Self.firstToken && token < Self.firstToken << 1 }

    /// Erases a person. The answer is sent when nothing is left, or when something keeps it from going on: a receipt where
    /// the rows are out, else `unavailable`. It says so as well while something of the person is in flight.
    ///
    /// - Throws: `unavailable` while another one is under way, or while the ledger cannot be written.
    func erase(_ person: Person, for client: ControlClient) throws(ProtocolError) {
        guard current == nil else {
            throw ProtocolError(
                .unavailable, message: "another erasure is under way", retryAfter: .seconds(1), id: client.id)
        }
        if let stall {
            throw ProtocolError(
                .unavailable, message: Self.refusal(stall), retryAfter: .seconds(1), id: client.id)
        }
        current = Order(client: client, person: person, stage: .beforeDevices(pipeline.lastGrowingNumber))
        goOn()
    }

    /// The ledger has everything up to a batch.
    func applied(through number: UInt64) {
        applied = number
        goOn()
    }

    /// Takes in what the ledger said.
    func answered(_ token: UInt64, _ result: Result<Lookup.Answer, StoreError>) {
        guard token == lastToken, let stage = current?.stage else { return }
        switch (result, stage) {
        case (.success(.devices(let devices)), .devicesAgain(let erasure))
        where erasure.person.devices.isSuperset(of: devices.map(ExactName.init)):
            takeRows(erasure)
        case (.success(.devices(let devices)), _):
            current?.person.devices.formUnion(devices.map(ExactName.init))
            forget()
        case (.success, _): preconditionFailure("a look-up was answered with something else")
        case (.failure(let error), _):
            refuse("the ledger cannot be read now: \(error.message)")
        }
    }

    private func goOn() {
        guard let order = current else { return }
        switch order.stage {
        case .beforeDevices(let number):
            guard applied >= number else {
                if let stall { return refuse(Self.refusal(stall)) }
                return committer.hurry(through: number)
            }
            guard let user = order.person.externalID else { return forget() }
            current?.stage = .devices
            ask(for: user)
        case .beforeRows(let number, let erasure):
            guard applied >= number else {
                if let stall { leave(stall) }
                return committer.hurry(through: number)
            }
            guard let user = order.person.externalID else { return takeRows(erasure) }
            current?.stage = .devicesAgain(erasure)
            ask(for: user)
        case .devices, .devicesAgain, .rows, .rest: break
        }
    }

    private func takeRows(_ erasure: ErasureOrder) {
        current?.stage = .rows
        committer.erase(erasure)
    }

    private func ask(for user: String) {
        lastToken += 1
        lookup.submit(.devices(of: user), token: lastToken)
    }

    private func forget() {
        guard let order = current else { return }
        do throws(ForgettingRefused) {
            let (person, bound) = try processor.forget(order.person)
            let erasure = ErasureOrder(person: person, bound: bound)
            current?.stage = .beforeRows(pipeline.lastGrowingNumber, erasure)
            goOn()
        } catch {
            refuse(error.reason)
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
        let message = "an erasure cannot go on for now, and does so by itself: \(error.message); \(error.advice)"
        journal.log(JournalEntry(.warning, message, messageID: .erasureWaits))
        leave(error)
    }

    /// The ledger cannot be written for now: it does not get what it lacks, and nothing is taken out of it.
    func ledgerStalled(_ error: StoreError) {
        stall = error
        switch current?.stage {
        case .rows, .rest: leave(error)
        case .beforeDevices, .devices, .beforeRows, .devicesAgain, nil: goOn()
        }
    }

    /// The ledger is written again.
    func ledgerResumed() { stall = nil }

    private static func refusal(_ error: StoreError) -> String { "the ledger cannot be written now: \(error.message)" }

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
