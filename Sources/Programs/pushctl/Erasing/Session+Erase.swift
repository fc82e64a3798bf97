import Glibc
import LinuxSystem
import PushModel
import PushSettings
import Store

extension Session {
    /// How often the daemon is asked again while a request of the person is in flight; `pause` is in microseconds.
    private static let tries = 60
    private static let pause: UInt32 = 1_000_000

    /// Counts the rows of a person.
    func count(_ person: Person) throws(Failure) -> ErasureReceipt {
        try reading { ledger throws(StoreError) in
            try ledger.count(ErasureOrder(all: person, in: ledger))
        }
    }

    /// Asks the daemon to erase a person, or erases without a daemon if none runs.
    func erase(_ person: Person) throws(Failure) -> Erasure {
        let operation = ControlRequest.Operation.erase(person)
        var tries = Self.tries
        while true {
            let answer = ask(operation)
            switch answer {
            case .success(let reply): return Erasure(reply)
            case .failure(.socket(.noSuchSocket)), .failure(.socket(.noListener)): return try eraseOffline(person)
            // If another machine leads, another try does not help.
            case .failure(.refused(let refusal))
            where refusal.code == .unavailable && refusal.leader == nil && tries > 0:
                if tries == Self.tries { output.note("trying again for a minute: \(refusal.message)") }
                tries -= 1
                usleep(Self.pause)
            case .failure(let error): throw Failure(error, directories.controlSocket, asking: operation.name)
            }
        }
    }

    private func ask(_ operation: ControlRequest.Operation) -> Result<JSONNode, DaemonError> {
        do throws(DaemonError) {
            return .success(try connection(for: operation).ask(operation).root)
        } catch {
            return .failure(error)
        }
    }

    /// Whether machines share the log of the ledger, as far as this user may see it.
    var sharesLog: Bool { (try? FleetMark.read(in: directories.state)) != nil }

    /// Returns the files of the state directory that no erasure reaches.
    var setAsideNames: [String] { SetAside.list(in: directories.state) }

    // MARK: Without a daemon

    private func eraseOffline(_ person: Person) throws(Failure) -> Erasure {
        // The other machines and the database would keep the person, and this ledger would no longer be their copy.
        guard try settings().store.shared.database == nil else {
            throw Failure(
                .no, "the ledger is a copy of a shared log, and the leader erases for all machines: start pushrouterd")
        }
        let act = act(.erase)
        try dropPrivilegesToStateOwner()
        return try recording(act) { act throws(Failure) in
            let erasure = try eraseRows(person)
            (act.at, act.count) = (LocalTime.now, erasure.receipt.rows)
            let done = act
            try Self.reading { () throws(StoreError) in try done.write(toLedgerIn: directories.state) }
            return erasure
        }
    }

    /// Returns an administrative act of the user of this program: to be called before the program becomes another user.
    func act(_ act: AuditRecord.Act, _ what: String? = nil) -> AuditRecord {
        AuditRecord(
            at: LocalTime.now, AuditRecord.Subject(act, what), .program, .done, uid: getuid(), pid: getpid())
    }

    /// Records an act of this program in the journal: done, or refused for the reason why it fails.
    ///
    /// - Parameter report: tells the daemon of an act that is done; one that takes it writes row and entry instead.
    func recording<Value>(
        _ act: AuditRecord, told report: ControlRequest.Operation? = nil,
        _ body: (inout AuditRecord) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var act = act
        var isTold = false
        defer { if !isTold { JournalEntry(act).sendToJournal() } }
        do throws(Failure) {
            let value = try body(&act)
            if let report, case .success = ask(report) { isTold = true }
            return value
        } catch {
            (act.result, act.reason) = (.refused, error.message)
            throw error
        }
    }

    private func eraseRows(_ person: Person) throws(Failure) -> Erasure {
        let progress = Monitor(Progress())
        return try Self.reading { () throws(StoreError) in
            let committer = try Committer(directory: try StateDirectory(path: directories.state)) { report in
                progress.update { $0.take(report) }
            }
            let ledger = try LedgerReader(directory: directories.state)
            // An unfinished erasure of an earlier run continues, and this one follows it.
            committer.erase(try ErasureOrder(all: person, in: ledger, takesUndecided: true))
            while true {
                let step = progress.wait { $0.step() }
                switch step {
                case .waits(let error):
                    output.note(
                        "\(error.message); the erasure continues after that, or at the next start of the daemon")
                case .failed(let error): throw error
                case .done(let receipt):
                    if let error = committer.stop() { throw error }
                    return Erasure(receipt: receipt)
                case nil: preconditionFailure("a wait without a limit ends with a value")
                }
            }
        }
    }

    /// The reports of the store that were not handled yet.
    private struct Progress: Sendable {
        enum Step: Sendable {
            case waits(StoreError)
            case failed(StoreError)
            case done(ErasureReceipt)
        }

        private var receipt: ErasureReceipt?
        private var steps: [Step] = []

        mutating func take(_ report: StoreReport) {
            switch report {
            case .erasedRows(let rows): receipt = rows
            case .erasureWaits(let error), .ledgerStalled(let error): steps.append(.waits(error))
            // A report without rows before it ends the erasure of an earlier run.
            case .erased: if let receipt { steps.append(.done(receipt)) }
            case .failed(let error): steps.append(.failed(error))
            case .durable, .applied, .stalled, .ledgerResumed, .pruned, .orderDue: break
            }
        }

        mutating func step() -> Step? { steps.isEmpty ? nil : steps.removeFirst() }
    }
}

extension ErasureOrder {
    /// The order to erase all that the ledger has of a person, with all devices that it knows of the user.
    fileprivate init(
        all person: Person, in ledger: LedgerReader, takesUndecided: Bool = false
    ) throws(StoreError) {
        let bound = ErasureBound(
            request: try ledger.highestSequenceNumber(), entry: try ledger.highestEntryNumber())
        var person = person
        if let user = person.externalID {
            person.devices.formUnion(try ledger.devices(of: user, through: bound.request).map(ExactName.init))
        }
        self.init(person: person, bound: bound, takesUndecided: takesUndecided)
    }
}
