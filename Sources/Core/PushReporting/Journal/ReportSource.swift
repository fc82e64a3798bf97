/// Where the rows of a report come from.
public enum ReportSource: Hashable, Sendable {
    /// The ledger: all that was accepted, with what is in flight.
    case ledger
    /// The journal alone: outcomes that have an entry there.
    case journal(JournalFacts)

    /// The word for it in formats for programs.
    public var word: String {
        switch self {
        case .ledger: "ledger"
        case .journal: "journal"
        }
    }

    /// What is known of the journal; `nil` for the ledger.
    public var journal: JournalFacts? {
        switch self {
        case .ledger: nil
        case .journal(let facts): facts
        }
    }

    /// What the source does not record, so that no report of it can show it; `nil`: nothing.
    var unprovable: String? {
        switch self {
        case .ledger: nil
        case .journal:
            "The journal does not say what is in flight, how many requests led to no invocation, or how often handlers "
                + "declined or asked to be tried again; the ledger does."
        }
    }
}
