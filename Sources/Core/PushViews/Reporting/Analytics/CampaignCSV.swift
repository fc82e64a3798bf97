extension CampaignReport {
    /// The figures as CSV (RFC 4180): for each campaign one row of all days, whose day is empty, and one row a day.
    /// Rows without a campaign hold the opens that belong to no campaign.
    public var csv: String {
        let ids = Set(campaigns.keys).union(lost.campaigns).sorted().map(Optional.some)
        return CSVReport.line(
            [
                "campaign_id", "day", "received", "unique_recipients", "direct_opens", "influenced_opens",
                "influenced_and_direct", "total_opens", "body_clicks", "button_clicks", "unattributed",
            ] + LostOpens.Reason.allCases.map { "opens_lost_\($0.rawValue)" }) + (ids + [nil]).map(csvRows).joined()
    }

    private func csvRows(of id: String?) -> String {
        let campaign = id.flatMap { campaigns[$0] } ?? Campaign()
        let (lostByDay, taps) = (lost.byDay(of: id), id == nil ? unattributedByDay : [:])
        func row(_ day: LocalDay?, _ figures: CampaignFigures, _ unattributed: Int, _ lost: LostOpens.Counts) -> String
        {
            let counts = [
                figures.received, figures.uniqueRecipients, figures.directOpens, figures.influencedOpens,
                figures.influencedAndDirect, figures.totalOpens, figures.bodyClicks, figures.buttonClicksInAll,
                unattributed,
            ]
            return CSVReport.line(
                [CSVReport.text(id), day?.description ?? ""]
                    + (counts + LostOpens.Reason.allCases.map { lost[$0] ?? 0 }).map { String($0) })
        }
        let days = Set(campaign.days.keys).union(lostByDay.keys).union(taps.keys).sorted()
        guard id != nil || !days.isEmpty else { return "" }
        return row(nil, campaign.figures, taps.values.reduce(0, +), LostOpens.sum(lostByDay))
            + days.map { row($0, campaign.days[$0] ?? CampaignFigures(), taps[$0] ?? 0, lostByDay[$0] ?? [:]) }.joined()
    }
}
