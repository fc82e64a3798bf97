public import PushModel

/// The custom events that are no events yet.
public struct WaitingEvents: Sendable {
    private var counts: [EntryState: Int] = [:]

    /// The states that are not final.
    private static let states: [EntryState] = [.pending, .queued, .claimed, .unknown]

    /// None.
    public init() {}

    /// Counts an entry that has no final state.
    public mutating func add(_ record: EntryRecord) {
        if record.entry.kind == .customEvent { counts[record.state, default: 0] += 1 }
    }

    /// A sentence about them; `nil` if there is none.
    var text: String? {
        let texts = Self.states.compactMap { state in
            counts[state].map { "\(counted($0, "custom event")) \(state.inWaiting($0))" }
        }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    /// Writes them as members, by state.
    func write(to writer: inout JSONWriter) {
        for state in Self.states { writer.member(state.rawValue, counts[state] ?? 0) }
    }
}

extension EntryState {
    /// The end of their wait for entries in this state, behind their number.
    fileprivate func inWaiting(_ count: Int) -> String {
        let verb = count == 1 ? "waits" : "wait"
        return switch self {
        case .pending: "\(verb) for a session of the app (pushctl flush)"
        case .queued, .claimed: "\(verb) to be sent (pushctl pending)"
        case .unknown: "may have been sent (pushctl pending --unknown)"
        case .flushed, .sent, .rejected, .discarded: rawValue
        }
    }
}
