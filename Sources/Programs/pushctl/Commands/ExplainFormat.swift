/// How "explain" prints what it finds.
enum ExplainFormat: String, CaseIterable {
    /// For people.
    case text
    /// For programs, one object for each payload.
    case json
    /// One page for a browser or a ticket.
    case html
}
