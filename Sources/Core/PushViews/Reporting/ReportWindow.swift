public import PushModel

/// The time that a report covers: requests accepted in `since ..< until`; `nil` means no bound.
public struct ReportWindow: Hashable, Sendable {
    /// The inclusive begin.
    public var since: WallTime?
    /// The exclusive end.
    public var until: WallTime?

    /// Joins the fields; without bounds it covers the whole ledger.
    public init(since: WallTime? = nil, until: WallTime? = nil) {
        self.since = since
        self.until = until
    }
}
