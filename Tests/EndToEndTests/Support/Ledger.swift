import PushModel
import Store
import TestSupport
import Testing

extension Installation {
    /// Every invocation that the ledger has, by its id.
    func ledgerRows() throws -> [InvocationID: InvocationRecord] {
        var rows: [InvocationID: InvocationRecord] = [:]
        try LedgerReader(directory: state).rows { row in
            if let invocation = row.invocation { rows[invocation.id] = invocation }
        }
        return rows
    }

    /// The result of the first invocation of a request.
    func result(ofRequest seq: Int64) throws -> InvocationResult {
        let row = try ledgerRows()[InvocationID(seq: SequenceNumber(seq), n: 0)]
        return try #require(row?.result, "seq \(seq) has no outcome")
    }

    /// The daemon's name of the state directory, with which its handlers' processes are marked.
    func stateIdentity() throws -> String { try LedgerReader(directory: state).stateIdentity.description }
}
