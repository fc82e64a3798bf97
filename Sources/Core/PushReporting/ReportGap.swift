/// Something that makes a report less than the whole story.
public struct ReportGap: Hashable, Sendable {
    /// What it is; the raw values are the names in JSON.
    public enum Kind: String, Sendable {
        /// Rows that are missing, come twice, or came in another order.
        case outOfSequence = "out_of_sequence"
        /// Rows without an outcome yet.
        case inFlight = "in_flight"
        /// Rows that expired while the daemon was down.
        case daemonDown = "daemon_down"
        /// Rows whose handler was running when the daemon crashed.
        case daemonCrashed = "daemon_crashed"
        /// Rows of both modes.
        case mixedModes = "mixed_modes"
    }

    /// What it is.
    public let kind: Kind
    /// How many rows.
    public let count: Int

    /// What is the matter with those rows, for people: it follows their number.
    public var message: String {
        switch kind {
        case .outOfSequence: "missing, doubled or out of order: the ledger is damaged"
        case .inFlight: "not decided yet: they have no outcome and no times"
        case .daemonDown: "expired while the daemon was down: their times include its absence"
        case .daemonCrashed: "interrupted by a crash of the daemon: their handlers may have finished or not"
        case .mixedModes: "accepted in different modes: their deadlines count from different instants"
        }
    }
}
