import PushDispatch
import PushModel
public import PushReporting
public import PushRouting
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
            add(row, campaign: table.campaign(ofLine: line, row.platform))
        }
    }
}

extension RoutingTable {
    /// Returns the campaign of a delivery that never reached the tracker, from its payload; `nil` if it has none, or if
    /// the payload was erased.
    fileprivate func campaign(ofLine line: [UInt8], _ platform: Platform) -> String? {
        // A stored line is read without limits: they may have been higher at acceptance.
        guard let request = try? Request(acceptedLine: line),
            case .deliver(let deliver) = request.action
        else { return nil }
        return (try? decide(Delivery(deliver, platform: platform), settings: detection))?.braze?.campaignID
    }
}
