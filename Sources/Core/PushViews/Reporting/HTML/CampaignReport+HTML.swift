import PushModel

extension CampaignReport {
    /// The campaigns as one self-contained page for marketing.
    public var html: String { page().text }

    /// The page of the campaigns, for embedding in another page.
    ///
    /// - Parameter linksPushes: whether that page has the pushes, so that the name of a campaign leads to them.
    func page(linksPushes: Bool = false) -> HTMLPage {
        let name: Column<Row>.Cell? = linksPushes ? { HTML.search(word: "campaign", $0.id) } : nil
        let beside = HTML.table(
            "Taps, presses and pushes that count in no campaign", countsBeside, countColumns)
        let group = selection.field.flatMap { $0 == .day ? nil : $0.words }
        let sections = [
            HTML.section("campaigns", "By campaign", table("campaign", campaignRows, name)),
            HTML.section("parts", "By decoded campaign", table("decoded campaign", partRows)),
            HTML.section("days", "By day", dayTable), HTML.section("lost", "Pushes Braze never saw", lostByCampaign),
            HTML.section("campaign-days", "By campaign and day", campaignDays, folded: true),
            group.map { HTML.section("groups", "By \($0)", table($0, groupRows)) } ?? "",
            HTML.section("buttons", "Clicks by button", buttons),
            HTML.section("beside", "Not in these figures", beside),
        ]
        return HTMLPage(
            title: selection.campaign.map { "Campaign \($0)" } ?? "Campaigns", lead: lead, sections: sections)
    }

    private func table(_ title: String, _ rows: [Row], _ name: Column<Row>.Cell? = nil) -> Markup {
        HTML.table("Figures by \(title)", rows, columns(title.capitalizingFirst, name))
    }

    /// The figures by day, with unattributed taps and lost opens.
    private var dayTable: Markup {
        HTML.table(
            "Figures by day, and opens that count in no figure", allDays,
            [dayColumn] + columns { $0.figures } + besideColumns)
    }

    /// The lost opens by campaign, and by campaign and day.
    private var lostByCampaign: Markup {
        let rows = lost.rows
        guard !rows.isEmpty else { return "" }
        let days = rows.flatMap { row in
            row.days.sorted { $0.key < $1.key }.map { (name: row.name, day: $0.key, counts: $0.value) }
        }
        return """
            <p>A push that Android showed by itself never reaches Braze, so its opens are not known. \
            \(Markup.when(selection.campaign == nil, "A tap on an unknown push has no campaign."))</p>
            \(HTML.table("Pushes Braze never saw, by campaign", rows, lostColumns))\
            \(HTML.table("Pushes Braze never saw, by campaign and day", days, [.name("Campaign") { "\(title(of: $0.name))" },
                .name(dayHeading) { "\($0.day.description)" }] + columns(lost: { $0.counts }, none: "-")))
            """
    }

    private var lead: Markup {
        let lostInAll = losses.reduce(tapsWithoutInstance) { $0 + lost.count($1) }
        let reasons =
            losses.filter { lost.count($0) > 0 }.map { "\($0.words) \(grouped(lost.count($0)))" }
            + (tapsWithoutInstance > 0 ? ["taps without an instance \(grouped(tapsWithoutInstance))"] : [])
        func card(_ name: String, _ count: Int, _ more: String) -> (name: String, value: Markup) {
            (name, "\(grouped(count))<small>\(more)</small>")
        }
        var cards = [
            card("Received", total.received, "\(grouped(total.uniqueRecipients)) recipients"),
            card("Direct opens", total.directOpens, share(total.directOpens, of: total.received)),
            card("Influenced opens", total.influencedOpens, share(total.influencedOpens, of: total.received)),
            card("Total opens", total.totalOpens, share(total.totalOpens, of: total.received)),
        ]
        if selection.campaign == nil { cards.append(card("Unattributed", unattributed, "taps without a campaign")) }
        cards.append(
            card("Braze never saw", lostInAll, reasons.isEmpty ? "none" : reasons.joined(separator: ", ")))
        let pruned: Markup? = rowsBegin.map { "<p>\(zone.prunedEvents(before: $0))</p>\n" }
        return """
            <p class="answer">\(answer)</p>
            <p class="soft">Window: \(zone.text(window))</p>
            \(zone.markup(maker))\(pruned)\(HTML.facts(cards, "cards"))\
            <p class="soft">Rates are shares of the received pushes. A recipient is a user, or a device without one. A push that was \
            opened in both ways counts once in the total, as direct.</p>

            """
    }

    private var campaignDays: Markup {
        let rows = campaigns.sorted { $0.key < $1.key }.flatMap { id, campaign in
            campaign.days.sorted { $0.key < $1.key }.map { (id: id, day: $0.key, figures: $0.value) }
        }
        return HTML.table(
            "Figures by campaign and day", campaigns.count > 1 ? rows : [],
            [.name("Campaign") { "\(title(of: $0.id))" }, .name(dayHeading) { "\($0.day.description)" }]
                + columns { $0.figures })
    }

    private var buttons: Markup { HTML.table("Clicks by button", buttonRows, buttonColumns) }
}
