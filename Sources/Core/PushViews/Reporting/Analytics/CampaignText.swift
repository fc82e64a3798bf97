public import PushModel

extension CampaignReport {
    /// The report for people: lines of any width, without colour; times and days in the report's zone.
    public var text: String { lines(TextStyle()).reduce(into: "") { $0 += $1.text + "\n" } }

    /// Returns the report for a terminal; times and days in the report's zone.
    public func lines(_ style: TextStyle) -> [ReportLine] {
        let sections = [
            heading(style), campaignTable(style), buttonTable(style), groupTable(style), partTable(style),
            dayTable(style), lostTable(style), besideDayTable(style), besideList(style), influencedNote(style),
        ]
        return Array(sections.filter { !$0.isEmpty }.joined(separator: [ReportLine("")]))
    }

    private func heading(_ style: TextStyle) -> [ReportLine] {
        let what = selection.campaign.map { wrapped("Campaign  \($0.showingControls())", style) } ?? []
        // Keeps a time and its offset on one line.
        let window = "Window    " + zone.text(window).replacingSpacesInTimes
        let pruned = rowsBegin.map { [ReportLine("")] + wrapped(zone.prunedEvents(before: $0), style, indent: 0) } ?? []
        let nothing =
            total.isEmpty
            ? [ReportLine("")] + wrapped("No campaign's push was received or opened.\(exampleNote)", style) : []
        let answer = total.isEmpty ? [] : wrapped(answer, style, indent: 0) + [ReportLine("")]
        return answer + what + wrapped(window, style) + pruned + nothing
    }

    private func campaignTable(_ style: TextStyle) -> [ReportLine] {
        guard !total.isEmpty else { return [] }
        let rows = campaignRows + (campaigns.count > 1 ? [(id: "", name: "In all", figures: total)] : [])
        return table("Campaign", rows, style)
            + wrapped(
                "Rates are shares of the received pushes. A recipient is a user, or a device without one.", style,
                indent: 0)
    }

    private func buttonTable(_ style: TextStyle) -> [ReportLine] {
        // A table that is too wide is split; both names stand in each part.
        let widest = style.width.map { $0 < 80 } ?? false ? 20 : 32
        return TextTable(buttonRows, buttonColumns, widest: widest, keys: 2).lines(width: style.width)
    }

    private func groupTable(_ style: TextStyle) -> [ReportLine] {
        guard let field = selection.field, !groups.isEmpty else { return [] }
        return table(field == .day ? dayHeading : field.words.capitalizingFirst, groupRows, style)
    }

    private func partTable(_ style: TextStyle) -> [ReportLine] {
        parts.isEmpty ? [] : table("Decoded campaign", partRows, style)
    }

    private func dayTable(_ style: TextStyle) -> [ReportLine] {
        guard !days.isEmpty, selection.field != .day else { return [] }
        let rows = days.sorted { $0.key < $1.key }.map { row($0.key.description, $0.value) }
        return table(dayHeading, rows, style)
    }

    private func lostTable(_ style: TextStyle) -> [ReportLine] {
        TextTable(lost.rows, lostColumns, widest: 28).lines(width: style.width)
    }

    private func besideDayTable(_ style: TextStyle) -> [ReportLine] {
        TextTable(allDays.filter { $0.unattributed > 0 || !$0.lost.isEmpty }, [dayColumn] + besideColumns, widest: 32)
            .lines(width: style.width)
    }

    private func table(_ title: String, _ rows: [Row], _ style: TextStyle) -> [ReportLine] {
        TextTable(rows, columns(title), widest: 28).lines(width: style.width)
    }

    /// The counts outside all campaign figures, each with its meaning.
    var countsBeside: [(count: Int, meaning: String)] {
        [
            (unattributed, "taps on pushes without a campaign: unattributed"),
            (verdicts[.duplicate] ?? 0, "taps after the first one, or on the same close button again: not counted"),
            (verdicts[.unknownAction] ?? 0, "presses on a button that the push does not have: not counted"),
            (verdicts[.elsewhere] ?? 0, "taps or dismissals of a push that went to another device or app: not counted"),
            (lost.count(.unmatched), "taps on a push that the tracker does not know: open lost (unmatched)"),
            (tapsWithoutInstance, "taps while the app had no Braze instance: open lost (sdk_not_ready)"),
            (
                lost.count(.shownBySystem),
                "pushes that Android showed by itself: Braze never saw them, and no rate counts them as received (shown_by_system)"
            ),
        ].filter { $0.count > 0 }
    }

    var countColumns: [Column<(count: Int, meaning: String)>] {
        [
            .words("What") { "\($0.meaning)" }, .numberInText("Count", { grouped($0.count) }),
            .wordsInText("Not in these figures", \.meaning).only(.terminal),
        ]
    }

    private func besideList(_ style: TextStyle) -> [ReportLine] {
        TextTable(countsBeside, countColumns).lines(width: style.width)
    }

    private func influencedNote(_ style: TextStyle) -> [ReportLine] {
        guard total.influencedAndDirect > 0 else { return [] }
        return wrapped(
            "Influenced opens that became direct ones by a later tap: \(grouped(total.influencedAndDirect)). "
                + "Total counts such a push once.", style, indent: 0)
    }

    /// Wraps to the width. A no-break space does not end a line, and is shown as a space.
    private func wrapped(_ text: String, _ style: TextStyle, indent: Int = 10) -> [ReportLine] {
        style.wrapped(text, indent: indent).map { line in ReportLine(String(line.map { $0 == "\u{A0}" ? " " : $0 })) }
    }

    /// The groups of the selected field; the group without the field is last.
    var sortedGroups: [(name: String?, figures: CampaignFigures)] {
        groups.map { (name: $0.key, figures: $0.value) }.sorted { left, right in
            guard let right = right.name else { return left.name != nil }
            return left.name.map { $0 < right } ?? false
        }
    }
}

/// The tables, for text and page.
extension CampaignReport {
    typealias Row = (id: String, name: String, figures: CampaignFigures)
    typealias Day = (day: LocalDay, figures: CampaignFigures, unattributed: Int, lost: LostOpens.Counts)

    /// The campaigns, by their ids.
    var campaignRows: [Row] {
        campaigns.sorted { $0.key < $1.key }.map { (id: $0.key, name: title(of: $0.key), figures: $0.value.figures) }
    }
    /// The decoded campaigns.
    var partRows: [Row] { parts.sorted { $0.key < $1.key }.map { row($0.key, $0.value) } }
    /// The groups of the selected field.
    var groupRows: [Row] { sortedGroups.map { row($0.name ?? "-", $0.figures) } }

    private func row(_ name: String, _ figures: CampaignFigures) -> Row { (id: name, name: name, figures: figures) }

    /// The columns of a row: its name and its figures.
    ///
    /// - Parameter cell: replaces the name on a page.
    func columns(_ title: String, _ cell: Column<Row>.Cell? = nil) -> [Column<Row>] {
        [.nameInText(title, { $0.name }, cell: cell)] + columns { $0.figures }
    }

    /// The columns of the figures of a row.
    func columns<Value>(_ figures: @escaping (Value) -> CampaignFigures) -> [Column<Value>] {
        func count(_ title: String, _ value: @escaping (CampaignFigures) -> Int) -> Column<Value> {
            .numberInText(title, { grouped(value(figures($0))) })
        }
        func rate(_ title: String, _ value: @escaping (CampaignFigures) -> Int) -> Column<Value> {
            .numberInText(title, { share(value(figures($0)), of: figures($0).received) })
        }
        return [
            count("Received", \.received), count("Recipients", \.uniqueRecipients), count("Direct", \.directOpens),
            rate("Direct rate", \.directOpens), count("Influenced", \.influencedOpens), count("Total", \.totalOpens),
            rate("Total rate", \.totalOpens), count("Body", \.bodyClicks), count("Buttons", \.buttonClicksInAll),
        ]
    }

    /// The columns of the lost opens of a row.
    func columns<Value>(lost: @escaping (Value) -> LostOpens.Counts, none: String) -> [Column<Value>] {
        losses.map { loss in .numberInText("Lost: \(loss.words)", { lost($0)[loss].map { grouped($0) } ?? none }) }
    }

    /// The lost opens of a campaign, or of none.
    var lostColumns: [Column<(name: String, days: [LocalDay: LostOpens.Counts])>] {
        [.nameInText("Campaign", { title(of: $0.name) })] + columns(lost: { LostOpens.sum($0.days) }, none: "-")
    }

    /// The day of a row.
    var dayColumn: Column<Day> { .nameInText(dayHeading, { $0.day.description }) }

    /// The counts of a day that are in no figure.
    var besideColumns: [Column<Day>] {
        let unattributed: [Column<Day>] =
            selection.campaign == nil ? [.numberInText("Unattributed", { grouped($0.unattributed) })] : []
        return unattributed + columns(lost: { $0.lost }, none: "0")
    }

    /// The buttons of the campaigns.
    var buttonRows: [(id: String, button: CampaignFigures.Button, clicks: Int)] {
        campaigns.sorted { $0.key < $1.key }.flatMap { id, campaign in
            campaign.figures.sortedButtons.map { (id: id, button: $0.button, clicks: $0.clicks) }
        }
    }

    /// The columns of a button.
    var buttonColumns: [Column<(id: String, button: CampaignFigures.Button, clicks: Int)>] {
        [
            .nameInText("Campaign", { title(of: $0.id) }), .nameInText("Button", { $0.button.id }),
            .nameInText("Action", { $0.button.action }), .numberInText("Clicks", { grouped($0.clicks) }),
        ]
    }
}

extension CampaignFigures {
    /// The buttons, by their ids.
    var sortedButtons: [(button: Button, clicks: Int)] {
        buttonClicks.map { (button: $0.key, clicks: $0.value) }
            .sorted { ($0.button.id, $0.button.action) < ($1.button.id, $1.button.action) }
    }
}

extension String {
    /// A window's text in which only a space beside a word may end a line.
    fileprivate var replacingSpacesInTimes: String {
        let words = split(separator: " ")
        return words.dropFirst().reduce(into: words.first.map { String($0) } ?? "") { text, word in
            let joins = word.first?.isLetter == false && text.last?.isLetter == false
            text += (joins ? "\u{A0}" : " ") + word
        }
    }
}
