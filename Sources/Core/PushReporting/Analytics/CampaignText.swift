import PushModel

extension CampaignReport {
    /// The report for people: lines for a terminal of 100 columns, without colour; times and days in its zone.
    public var text: String {
        let sections = [
            heading, campaignTable, buttonTable, groupTable, partTable, dayTable, besideTable, influencedNote,
        ]
        return sections.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private var heading: String {
        let what = selection.campaign.map { "Campaign  \($0)\n" } ?? ""
        let nothing = total.isEmpty ? "\nNo campaign's push was received or opened.\n" : ""
        return what + "Window    \(zone.text(window))\n" + nothing
    }

    private var campaignTable: String {
        guard !total.isEmpty else { return "" }
        var table = Self.table("Campaign")
        for (id, campaign) in campaigns.sorted(by: { $0.key < $1.key }) { table.add(campaign.figures.cells(id)) }
        if campaigns.count > 1 { table.add(total.cells("In all")) }
        return table.text + "Rates are shares of the received pushes. A recipient is a user, or a device without one.\n"
    }

    private var buttonTable: String {
        var table = TextTable(
            [("Campaign", .left), ("Button", .left), ("Action", .left), ("Clicks", .right)], widest: 32)
        for (id, campaign) in campaigns.sorted(by: { $0.key < $1.key }) {
            for (button, clicks) in campaign.figures.sortedButtons {
                table.add([id, button.id, button.action, grouped(clicks)])
            }
        }
        return table.text
    }

    private var groupTable: String {
        guard let field = selection.field, !groups.isEmpty else { return "" }
        var table = Self.table(field.rawValue)
        for (name, figures) in sortedGroups { table.add(figures.cells(name ?? "-")) }
        return table.text
    }

    private var partTable: String {
        guard !parts.isEmpty else { return "" }
        var table = Self.table("Campaign, decoded")
        for (part, figures) in parts.sorted(by: { $0.key < $1.key }) { table.add(figures.cells(part)) }
        return table.text
    }

    private var dayTable: String {
        guard !days.isEmpty, selection.field != .day else { return "" }
        var table = Self.table("Day (\(zone.name))")
        for (day, figures) in days.sorted(by: { $0.key < $1.key }) { table.add(figures.cells(day.description)) }
        return table.text
    }

    /// What is in no campaign's figures: how many, and what it is.
    var countsBeside: [(count: Int, meaning: String)] {
        [
            (unattributed, "taps on pushes without a campaign: unattributed"),
            (verdicts[.duplicate] ?? 0, "taps after the first one, or on the same close button again: not counted"),
            (verdicts[.unknownAction] ?? 0, "presses on a button that the push does not have: not counted"),
            (verdicts[.elsewhere] ?? 0, "taps or dismissals of a push that went to another device or app: not counted"),
            (lost(.unmatched), "taps on a push that the tracker does not know: open lost (unmatched)"),
            (lost(.shownBySystem), "pushes that Android showed by itself: their opens are lost (shown_by_system)"),
        ]
    }

    private var besideTable: String {
        var table = TextTable([("Count", .right), ("Not in these figures", .left)], widest: 90)
        for (count, meaning) in countsBeside where count > 0 { table.add([grouped(count), meaning]) }
        return table.text
    }

    private var influencedNote: String {
        guard total.influencedAndDirect > 0 else { return "" }
        return "Influenced opens that became direct ones by a later tap: \(grouped(total.influencedAndDirect)). "
            + "Total counts such a push once.\n"
    }

    /// The groups of the selected field, those without it last.
    var sortedGroups: [(name: String?, figures: CampaignFigures)] {
        groups.map { (name: $0.key, figures: $0.value) }.sorted { left, right in
            guard let right = right.name else { return left.name != nil }
            return left.name.map { $0 < right } ?? false
        }
    }

    private static func table(_ title: String) -> TextTable {
        TextTable(
            [
                (title, .left), ("Received", .right), ("Direct", .right), ("Rate", .right), ("Influenced", .right),
                ("Total", .right), ("Rate", .right), ("Body", .right), ("Buttons", .right), ("Recipients", .right),
            ], widest: 28)
    }
}

extension CampaignFigures {
    /// The cells of a row of figures.
    fileprivate func cells(_ name: String) -> [String] {
        [
            name, grouped(received), grouped(directOpens), rate(directOpens), grouped(influencedOpens),
            grouped(totalOpens), rate(totalOpens), grouped(bodyClicks), grouped(buttonClicksInAll),
            grouped(uniqueRecipients),
        ]
    }

    private func rate(_ count: Int) -> String { share(count, of: received) }

    /// The buttons, by their ids.
    var sortedButtons: [(button: Button, clicks: Int)] {
        buttonClicks.map { (button: $0.key, clicks: $0.value) }
            .sorted { ($0.button.id, $0.button.action) < ($1.button.id, $1.button.action) }
    }
}
