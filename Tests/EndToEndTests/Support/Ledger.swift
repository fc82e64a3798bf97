import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

extension Installation {
    /// Returns the ledger with all acknowledged requests: the daemon brings it up to date, or the log is applied.
    func ledger() throws -> LedgerReader {
        guard let client = try? Client(path: controlSocket) else { return try LedgerReader.complete(directory: state) }
        let reply = try client.ask(#"{"op":"sync","timeout_ms":10000}"#)
        if reply["complete"]?.bool != true { return try LedgerReader.complete(directory: state) }
        return try LedgerReader(directory: state)
    }

    /// Returns every invocation in the ledger by its id.
    func ledgerRows() throws -> [InvocationID: InvocationRecord] {
        var rows: [InvocationID: InvocationRecord] = [:]
        try ledger().rows { row in
            if let invocation = row.invocation { rows[invocation.id] = invocation }
        }
        return rows
    }

    /// Returns the result of the first invocation of a request.
    func result(ofRequest seq: Int64) throws -> InvocationResult {
        let row = try ledgerRows()[InvocationID(seq: SequenceNumber(seq), n: 0)]
        return try #require(row?.result, "seq \(seq) has no outcome")
    }

    /// Returns the daemon's id of the state directory, which marks its handlers' processes.
    func stateIdentity() throws -> String { try ledger().stateIdentity.description }
}

/// Fills the ledger of an installation without a daemon.
func fillLedger(of installation: Installation, with records: [LedgerRecord]) throws {
    let committer = try Committer(directory: StateDirectory(path: installation.state)) { _ in }
    let rows = committer.takeBuffer()
    for record in records { rows.append(record) }
    _ = try committer.commit(CommitBatch(number: 1, rows: rows, lastSequence: SequenceNumber(1)))
    committer.stop()
}
