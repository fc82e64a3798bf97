public import PushModel

/// The time a report covers: requests accepted in `since ..< until`; `nil` leaves that end open.
public struct ReportWindow: Hashable, Sendable {
    /// The first instant that belongs to it.
    public var since: WallTime?
    /// The first instant after it.
    public var until: WallTime?

    /// Joins the two; without either it is all that the ledger holds.
    public init(since: WallTime? = nil, until: WallTime? = nil) {
        self.since = since
        self.until = until
    }
}
