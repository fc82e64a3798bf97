import PushModel

extension CampaignReport {
    /// The campaigns as one self-contained page for marketing.
    public var html: String { page().text }

    /// The page of the campaigns, for embedding in another page.
    ///
    /// - Parameter linksPushes: whether that page has the pushes, so that the name of a campaign leads to them.
    func page(linksPushes: Bool = false) -> HTMLPage {
        func name(_ row: Row) -> Markup {
            linksPushes ? HTML.search(word: "campaign", row.name) : "\(title(of: row.name))"
        }
        let beside = HTML.table(
            "Taps, presses and pushes that count in no campaign", countsBeside.filter { $0.count > 0 },
            [.words("What") { "\($0.meaning)" }, .number("Count") { "\(grouped($0.count))" }])
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

    private typealias Row = (name: String, figures: CampaignFigures)

    private var campaignRows: [Row] { campaigns.map { ($0.key, $0.value.figures) }.sorted { $0.name < $1.name } }
    private var partRows: [Row] { parts.map { ($0.key, $0.value) }.sorted { $0.name < $1.name } }
    private var groupRows: [Row] { sortedGroups.map { ($0.name ?? "-", $0.figures) } }

    /// The columns of the figures of a row.
    private func columns<Value>(_ figures: @escaping (Value) -> CampaignFigures) -> [Column<Value>] {
        func count(_ title: String, _ value: @escaping (CampaignFigures) -> Int) -> Column<Value> {
            .number(title) { "\(grouped(value(figures($0))))" }
        }
        func rate(_ title: String, _ value: @escaping (CampaignFigures) -> Int) -> Column<Value> {
            .number(title) { "\(share(value(figures($0)), of: figures($0).received))" }
        }
        return [
            count("Received", \.received), count("Recipients", \.uniqueRecipients), count("Direct", \.directOpens),
            rate("Direct rate", \.directOpens), count("Influenced", \.influencedOpens), count("Total", \.totalOpens),
            rate("Total rate", \.totalOpens), count("Body", \.bodyClicks), count("Buttons", \.buttonClicksInAll),
        ]
    }

    /// The columns of the lost opens of a row.
    private func columns<Value>(
        lost: @escaping (Value) -> LostOpens.Counts, none: String
    ) -> [Column<Value>] {
        losses.map { loss in .number("Lost: \(loss.words)") { "\(lost($0)[loss].map { grouped($0) } ?? none)" } }
    }

    private func table(_ title: String, _ rows: [Row], _ name: ((Row) -> Markup)? = nil) -> Markup {
        HTML.table(
            "Figures by \(title)", rows,
            [.name(title.capitalizingFirst, name ?? { "\($0.name)" })] + columns { $0.figures })
    }

    /// The figures by day, with unattributed taps and lost opens.
    private var dayTable: Markup {
        let unattributed: [Column<Day>] =
            selection.campaign == nil ? [.number("Unattributed") { "\(grouped($0.unattributed))" }] : []
        return HTML.table(
            "Figures by day, and opens that count in no figure", allDays,
            [.name(dayHeading) { "\($0.day.description)" }] + columns { $0.figures } + unattributed
                + columns(lost: { $0.lost }, none: "0"))
    }

    private typealias Day = (day: LocalDay, figures: CampaignFigures, unattributed: Int, lost: LostOpens.Counts)

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
            \(HTML.table("Pushes Braze never saw, by campaign", rows, [.name("Campaign") { "\(title(of: $0.name))" }]
                + columns(lost: { LostOpens.sum($0.days) }, none: "-")))\
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

    private var buttons: Markup {
        let rows = campaigns.sorted { $0.key < $1.key }.flatMap { id, campaign in
            campaign.figures.sortedButtons.map { (id: id, button: $0.0, clicks: $0.1) }
        }
        return HTML.table(
            "Clicks by button", rows,
            [
                .name("Campaign") { "\(title(of: $0.id))" }, .name("Button") { "\($0.button.id)" },
                .name("Action") { "\($0.button.action)" }, .number("Clicks") { "\(grouped($0.clicks))" },
            ])
    }
}
