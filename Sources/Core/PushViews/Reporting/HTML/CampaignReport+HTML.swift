import PushModel

extension CampaignReport {
    /// The campaigns as one self-contained page for marketing.
    public var html: String { page.text }

    /// The page of the campaigns, for embedding in another page.
    public var page: HTMLPage {
        var page = HTMLPage(title: selection.campaign.map { "Campaign \($0)" } ?? "Campaigns")
        page.lead(lead)
        page.section("days-chart", "Received and opened by day", dayChart)
        page.section("campaigns", "By campaign", table("campaign", campaignRows) + besideNote)
        page.section("parts", "By decoded campaign", table("decoded campaign", partRows))
        page.section("days", "By day", dayTable)
        page.section("lost", "Pushes Braze never saw", lostByCampaign)
        page.section("campaign-days", "By campaign and day", campaignDays, folded: true)
        if let field = selection.field, field != .day {
            page.section("groups", "By \(field.words)", table(field.words, groupRows))
        }
        page.section("buttons", "Clicks by button", buttons)
        page.section("beside", "Not in these figures", beside)
        return page
    }

    private typealias Row = (name: String, figures: CampaignFigures)

    private var campaignRows: [Row] { campaigns.map { ($0.key, $0.value.figures) }.sorted { $0.name < $1.name } }
    private var partRows: [Row] { parts.map { ($0.key, $0.value) }.sorted { $0.name < $1.name } }
    private var dayRows: [Row] { days.sorted { $0.key < $1.key }.map { ($0.key.description, $0.value) } }
    private var groupRows: [Row] { sortedGroups.map { ($0.name ?? "-", $0.figures) } }

    /// The figures by day, with unattributed taps and lost opens.
    private var dayTable: String {
        let showsUnattributed = selection.campaign == nil
        var table = HTMLTable(
            "Figures by day, and opens that count in no figure",
            Self.columns([.name(dayHeading)]) + (showsUnattributed ? [.number("Unattributed")] : []) + lostColumns)
        for (day, figures, unattributed, lost) in allDays {
            table.add(
                [day.description] + figures.htmlCells + (showsUnattributed ? [grouped(unattributed)] : [])
                    + losses.map { grouped(lost[$0] ?? 0) })
        }
        return table.text
    }

    private var lostColumns: [HTMLTable.Column] { losses.map { .number("Lost: \($0.words)") } }

    /// The lost opens by campaign, and by campaign and day.
    private var lostByCampaign: String {
        let rows = lost.rows
        guard !rows.isEmpty else { return "" }
        var campaigns = HTMLTable("Pushes Braze never saw, by campaign", [.name("Campaign")] + lostColumns)
        var days = HTMLTable(
            "Pushes Braze never saw, by campaign and day", [.name("Campaign"), .name(dayHeading)] + lostColumns)
        for row in rows {
            campaigns.add([markup(row.name)] + lostCells(LostOpens.sum(row.days)))
            for (day, counts) in row.days.sorted(by: { $0.key < $1.key }) {
                days.add([markup(row.name), day.description] + lostCells(counts))
            }
        }
        let note =
            "A push that Android showed by itself never reaches Braze, so its opens are not known. "
            + (selection.campaign == nil ? "A tap on an unknown push has no campaign." : "")
        return "<p>\(note)</p>\n" + campaigns.text + days.text
    }

    private var besideNote: String {
        var sentences: [String] = []
        if unattributed > 0 {
            sentences.append("Unattributed opens have no campaign: <a href=\"#days\">the table by day</a> has them.")
        }
        if !lost.rows.isEmpty {
            sentences.append(
                "<a href=\"#lost\">Pushes that Braze never saw</a> have tables of their own; no rate counts them as received."
            )
        }
        return campaigns.isEmpty || sentences.isEmpty ? "" : "<p>\(sentences.joined(separator: " "))</p>\n"
    }

    private static func columns(_ names: [HTMLTable.Column]) -> [HTMLTable.Column] {
        names + [
            .number("Received"), .number("Recipients"), .number("Direct"), .number("Direct rate"),
            .number("Influenced"), .number("Total"), .number("Total rate"), .number("Body"), .number("Buttons"),
        ]
    }

    private var lead: String {
        let lostInAll = losses.reduce(0) { $0 + lost.count($1) }
        var cards = [
            ("Received", grouped(total.received), "\(grouped(total.uniqueRecipients)) recipients"),
            ("Direct opens", grouped(total.directOpens), share(total.directOpens, of: total.received)),
            ("Influenced opens", grouped(total.influencedOpens), share(total.influencedOpens, of: total.received)),
            ("Total opens", grouped(total.totalOpens), share(total.totalOpens, of: total.received)),
            ("Pushes Braze never saw", grouped(lostInAll), lostByReason),
        ]
        if selection.campaign == nil {
            cards.insert(("Unattributed", grouped(unattributed), "taps without a campaign"), at: cards.count - 1)
        }
        let list = cards.map { "<div><dt>\($0.0)</dt><dd>\($0.1)<small>\($0.2)</small></dd></div>" }
        let pruned = rowsBegin.map { "<p>\(markup(zone.prunedEvents(before: $0)))</p>\n" } ?? ""
        return "<p class=\"answer\">\(markup(answer))</p>\n"
            + "<p class=\"soft\">Window: \(markup(zone.text(window)))</p>\n\(zone.markup(maker))\(pruned)"
            + "<p>Rates are shares of the received pushes. A recipient is a user, or a device without one. A push that was "
            + "opened in both ways counts once in the total, as direct.</p>\n"
            + "<dl class=\"cards\">\(list.joined(separator: "\n"))</dl>\n"
    }

    private var lostByReason: String {
        let reasons = losses.filter { lost.count($0) > 0 }.map { "\($0.words) \(grouped(lost.count($0)))" }
        return reasons.isEmpty ? "none" : reasons.joined(separator: ", ")
    }

    private func table(_ title: String, _ rows: [Row]) -> String {
        var table = HTMLTable("Figures by \(title)", Self.columns([.name(title.capitalizingFirst)]))
        for (name, figures) in rows { table.add([markup(name)] + figures.htmlCells) }
        return table.text
    }

    private var campaignDays: String {
        guard campaigns.count > 1 else { return "" }
        var table = HTMLTable("Figures by campaign and day", Self.columns([.name("Campaign"), .name(dayHeading)]))
        for (id, campaign) in campaigns.sorted(by: { $0.key < $1.key }) {
            for (day, figures) in campaign.days.sorted(by: { $0.key < $1.key }) {
                table.add([markup(id), day.description] + figures.htmlCells)
            }
        }
        return table.text
    }

    private var buttons: String {
        var table = HTMLTable(
            "Clicks by button", [.name("Campaign"), .name("Button"), .name("Action"), .number("Clicks")])
        for (id, campaign) in campaigns.sorted(by: { $0.key < $1.key }) {
            for (button, clicks) in campaign.figures.sortedButtons {
                table.add([markup(id), markup(button.id), markup(button.action), grouped(clicks)])
            }
        }
        return table.text
    }

    private var beside: String {
        var table = HTMLTable("Taps, presses and pushes that count in no campaign", [.words("What"), .number("Count")])
        for (count, meaning) in countsBeside where count > 0 { table.add([markup(meaning), grouped(count)]) }
        return table.text
    }

    /// Two bars for each day side by side: received and opened pushes.
    private var dayChart: String {
        let rows = dayRows.suffix(Self.drawnDays)
        let most = rows.reduce(1) { max($0, $1.figures.received, $1.figures.totalOpens) }
        guard !rows.isEmpty, rows.contains(where: { !$0.figures.isEmpty }) else { return "" }
        let (left, right, top, bottom) = (70.0, 890.0, 28.0, 170.0)
        var chart = SVGChart(
            id: "day-chart", title: "Received and opened by day",
            description: "\(rows.count) days; the longest bar is \(grouped(most)). The table by day has the numbers.",
            width: 900, height: 210)
        for (count, y) in [(most, top), (0, bottom)] {
            chart.line(left, y, right, y, "axis")
            chart.text(left - 8, y + 4, grouped(count), anchor: "end")
        }
        let step = (right - left) / Double(rows.count)
        let width = min(step * 0.42, 36)
        for (index, row) in rows.enumerated() {
            let x = left + Double(index) * step
            for (place, kind, name, count) in [
                (0, "bar", "received", row.figures.received), (1, "goodbar", "opened", row.figures.totalOpens),
            ] {
                let height = Double(count) / Double(most) * (bottom - top)
                chart.rectangle(
                    x + Double(place) * width, bottom - height, width * 0.95, height, kind,
                    label: "\(row.name): \(grouped(count)) \(name)")
            }
        }
        chart.text(left, bottom + 18, rows.first?.name ?? "")
        if rows.count > 1 { chart.text(right, bottom + 18, rows.last?.name ?? "", anchor: "end") }
        chart.rectangle(left, 6, 10, 10, "bar")
        chart.text(left + 15, 15, "received")
        chart.rectangle(left + 90, 6, 10, 10, "goodbar")
        chart.text(left + 105, 15, "opened, directly or influenced")
        return chart.wideText
    }

    private static let drawnDays = 92
}

extension CampaignFigures {
    fileprivate var htmlCells: [String] {
        [
            grouped(received), grouped(uniqueRecipients), grouped(directOpens), share(directOpens, of: received),
            grouped(influencedOpens), grouped(totalOpens), share(totalOpens, of: received), grouped(bodyClicks),
            grouped(buttonClicksInAll),
        ]
    }
}
