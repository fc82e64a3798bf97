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
            "The journal does not say what is in flight, how many requests led to no invocation, or how often handlers "
                + "declined or asked to be tried again; the ledger does."
        }
    }
}
