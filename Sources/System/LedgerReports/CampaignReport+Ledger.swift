import PushDispatch
import PushModel
public import PushReporting
public import PushRouting
public import Store

extension CampaignReport {
    /// Reads the window of the report; in one snapshot.
    ///
    /// - Parameter table: the rules by which a push that never reached the tracker belongs to a campaign.
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
    /// The campaign of a delivery that never reached the tracker, by its payload; `nil` without one, and of a payload that
    /// was erased.
    fileprivate func campaign(ofLine line: [UInt8], _ platform: Platform) -> String? {
        // Limits may have been higher when it was accepted.
        guard let request = try? Request(acceptedLine: line),
            case .deliver(let deliver) = request.action
        else { return nil }
        return (try? decide(Delivery(deliver, platform: platform), settings: detection))?.braze?.campaignID
    }
}
