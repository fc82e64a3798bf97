@testable import PushModel
@testable import PushRouter

/// The custom data that the store would hold.
struct CustomDataRows {
    struct Row {
        var entry: CustomEntry
        var state: EntryState
        var claimant: UUID128?
        var reason: String?
        /// The request whose session start flushed it.
        var by: SequenceNumber?
    }

    private(set) var rows: [EntryNumber: Row] = [:]
    private(set) var attributes: [AttributeRow] = []
    private(set) var sending: SendingState?
    /// Records that a store would refuse.
    private(set) var violations: [String] = []

    subscript(number: Int64) -> Row? { rows[EntryNumber(number)] }

    /// The states of all entries, in order of number.
    var states: [EntryState] { rows.values.sorted { $0.entry.number < $1.entry.number }.map(\.state) }

    mutating func write(_ record: CustomDataRecord) {
        switch record {
        case .entry(let entry, let state, let problem):
            let row = Row(entry: entry, state: state, reason: problem?.text)
            if rows.updateValue(row, forKey: entry.number) != nil { violations.append("\(entry.number) is not new") }
        case .moved(let move):
            guard let before = rows[move.number]?.state else { return violations.append("\(move.number) is unknown") }
            if [.flushed, .sent, .rejected, .discarded].contains(before) {
                violations.append("\(move.number) moves on after its end, \(before)")
            }
            rows[move.number]?.state = move.state
            rows[move.number]?.claimant = move.claimant
            rows[move.number]?.reason = move.reason
            rows[move.number]?.by = move.by
        case .attribute(let row): attributes.append(row)
        case .sending(let state): sending = state
        }
    }

    /// The custom data after a restart.
    func restored(stateID: UUID128) -> CustomData {
        let numbers = rows.keys.sorted()
        var data = CustomData(stateID: stateID, lastNumber: numbers.last ?? EntryNumber(0))
        for case let row? in numbers.map({ rows[$0] }) {
            switch row.state {
            case .pending, .queued, .claimed, .unknown:
                data.restore(
                    row.entry, row.state, claimant: row.claimant, by: row.state == .pending ? row.by : nil)
            case .flushed, .sent, .rejected, .discarded: break
            }
        }
        if let sending { data.restore(sending) }
        return data
    }
}

extension Request {
    /// A custom event that an app logs.
    static func event(
        _ name: String = "bought", _ properties: String? = nil, on device: String? = "phone", app: String? = "shop",
        user: String? = nil, suite: String? = nil, brazeID: String? = nil, at: WallTime? = nil
    ) -> Request {
        let members = properties.map { #","properties":\#($0)"# } ?? ""
        return log(
            .customEvent, #"{"name":"\#(name)"\#(members)}"#, on: device, app: app, user: user, suite: suite,
            brazeID: brazeID, at: at)
    }

    /// Attributes that an app logs.
    static func attributes(
        _ attributes: String, _ kind: EntryKind = .customAttributes, on device: String? = "phone", user: String? = nil,
        suite: String? = nil
    ) -> Request {
        log(kind, #"{"attributes":\#(attributes)}"#, on: device, user: user, suite: suite)
    }

    private static func log(
        _ kind: EntryKind, _ object: String, on device: String?, app: String? = "shop", user: String?, suite: String?,
        brazeID: String? = nil, at: WallTime? = nil
    ) -> Request {
        let document = JSONDocument(test: object)
        let log = LogRequest(
            target: Target(app: app, device: device, externalID: user), suite: suite, brazeID: brazeID, kind: kind,
            object: document.root)
        return Request(action: .log(log), id: nil, at: at, waitsForOutcome: false, document: document)
    }
}
