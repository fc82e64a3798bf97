import PushModel
public import PushRouter
public import PushViews
public import Store

extension CampaignReport {
    /// Reads the report's window, in one snapshot.
    ///
    /// - Parameter table: the rules for the campaign of a push that never reached the tracker.
    public mutating func read(_ ledger: LedgerReader, _ table: RoutingTable) throws(StoreError) {
        let (since, until) = (window.since, window.until)
        rowsBegin = try ledger.rowsBegin(from: since, to: until)
        try ledger.events(from: since, to: until) { event in add(event) }
        try ledger.interactions(from: since, to: until) {
            add($0.row, campaign: $0.campaignID, isLostOpen: !$0.isUnmatchedDismissal)
        }
        try ledger.rows(endedAs: .shownBySystem, from: since, to: until) { row, line in
            guard let row = ReportRow(row) else { return }
            add(row, campaign: table.detection.campaign(ofLine: line, row.platform))
        }
    }
}
