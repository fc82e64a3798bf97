extension CampaignReport {
    /// The summary sentence: how many pushes were received, and how many of them were opened.
    ///
    /// `6,253 pushes of 3 campaigns reached 1,200 recipients; 1,020 were opened (16.3 %): 800 directly, 220 influenced.`
    public var answer: String {
        func counted(_ count: Int, _ one: String, _ many: String) -> String {
            "\(grouped(count)) \(count == 1 ? one : many)"
        }
        let unseen = lost.count(.shownBySystem)
        let beside = unseen > 0 ? " Android showed \(grouped(unseen)) by itself, which Braze never saw." : ""
        guard !total.isEmpty else { return "No campaign's push was received or opened.\(beside)" }
        let of = campaigns.count == 1 ? "" : " of \(grouped(campaigns.count)) campaigns"
        let rate = total.received > 0 ? " (\(share(total.totalOpens, of: total.received).holdingUnit))" : ""
        return counted(total.received, "push", "pushes") + of
            + " reached \(counted(total.uniqueRecipients, "recipient", "recipients")); "
            + "\(counted(total.totalOpens, "was", "were")) opened\(rate): \(grouped(total.directOpens)) directly, "
            + "\(grouped(total.influencedOpens - total.influencedAndDirect)) influenced."
            + beside
    }
}

extension String {
    /// The text with no-break spaces, so that no line ends between a number and its unit.
    fileprivate var holdingUnit: String { String(map { $0 == " " ? "\u{A0}" : $0 }) }
}
