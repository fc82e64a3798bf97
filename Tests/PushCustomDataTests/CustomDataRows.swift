@testable import PushModel
@testable import PushRouter

/// The custom data of a ledger: takes the records in order, and returns the state that a daemon's start restores.
struct CustomDataRows {
    struct Row: Equatable {
        var entry: CustomEntry
        var state: EntryState
        var reason: String?
        var claimant: UUID128?
        var flushedBy: SequenceNumber?
    }

    private(set) var rows: [EntryNumber: Row] = [:]
    private(set) var profiles: [ProfileOwner: [String: [UInt8]]] = [:]
    private(set) var sending: SendingState?
    /// Records that break the rules of a right sequence.
    private(set) var violations: [String] = []

    mutating func write(_ records: [CustomDataRecord]) {
        for record in records {
            switch record {
            case .entry(let entry, let state, let problem):
                if rows[entry.number] != nil { violations.append("entry \(entry.number) is new twice") }
                rows[entry.number] = Row(entry: entry, state: state, reason: problem?.text)
            case .moved(let move): write(move)
            case .attribute(let row):
                profiles[row.owner, default: [:]][row.name] =
                    row.change.apply(to: profiles[row.owner]?[row.name])
            case .sending(let state): sending = state
            }
        }
    }

    private mutating func write(_ move: EntryMove) {
        guard let row = rows[move.number] else { return violations.append("entry \(move.number) is not there") }
        if [.flushed, .sent, .rejected, .discarded].contains(row.state) {
            violations.append("entry \(move.number) had come to its end, \(row.state)")
        }
        // The last entry of a flush that continues is marked.
        if row.state == move.state, move.state != .pending || move.by == nil {
            violations.append("entry \(move.number) is \(row.state) already")
        }
        rows[move.number]?.state = move.state
        rows[move.number]?.reason = move.reason
        rows[move.number]?.claimant = move.claimant
        rows[move.number]?.flushedBy = move.by
    }

    /// The numbers of the entries in a state, in order.
    func numbers(_ state: EntryState) -> [Int64] {
        rows.filter { $0.value.state == state }.map(\.key.value).sorted()
    }

    /// The custom data that a start restores from the rows.
    func restored(stateID: UUID128, rules: CustomDataRules) -> CustomData {
        let last = rows.keys.max() ?? EntryNumber(0)
        var data = CustomData(stateID: stateID, rules: rules, lastNumber: last)
        for row in rows.values.sorted(by: { $0.entry.number < $1.entry.number })
        where [.pending, .queued, .claimed, .unknown].contains(row.state) {
            data.restore(
                row.entry, row.state, claimant: row.claimant, by: row.state == .pending ? row.flushedBy : nil)
        }
        if let sending { data.restore(sending) }
        return data
    }
}
