/// The source of a report's rows.
public enum ReportSource: Hashable, Sendable {
    /// The ledger: all accepted requests, with those in flight.
    case ledger
    /// The journal alone: outcomes that have an entry.
    case journal(JournalFacts)

    /// The name in formats for programs.
    public var word: String {
        switch self {
        case .ledger: "ledger"
        case .journal: "journal"
        }
    }

    /// The facts of the journal; `nil` for the ledger.
    public var journal: JournalFacts? {
        switch self {
        case .ledger: nil
        case .journal(let facts): facts
        }
    }

    /// The notice about facts that the source does not record; `nil`: it records all.
    var unprovable: String? {
        switch self {
        case .ledger: nil
        case .journal:
            "The journal does not have the invocations in flight, the number of requests without an invocation, and "
                + "the declines and retries of handlers; the ledger has them."
        }
    }
}
