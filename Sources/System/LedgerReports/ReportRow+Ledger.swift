public import PushViews
public import Store

extension ReportRow {
    /// Makes a report's row from one of the ledger; `nil` for a request without an invocation.
    public init?(_ row: LedgerRow) {
        guard let invocation = row.invocation else { return nil }
        self.init(
            invocation: invocation, mode: row.mode, platform: row.platform, app: row.app, device: row.device,
            id: row.id, messageID: row.messageID, acceptedAt: row.acceptedAt, transport: row.transport,
            originalPriority: row.originalPriority, deliveredPriority: row.deliveredPriority,
            replayOf: row.replayOf)
    }
}
