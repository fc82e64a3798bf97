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
        var table = Self.table("Campaign")
        for (id, campaign) in campaigns.sorted(by: { $0.key < $1.key }) {
            table.add(campaign.figures.cells(title(of: id)))
        }
        if campaigns.count > 1 { table.add(total.cells("In all")) }
        return table.lines(width: style.width)
            + wrapped(
                "Rates are shares of the received pushes. A recipient is a user, or a device without one.", style,
                indent: 0)
    }

    private func buttonTable(_ style: TextStyle) -> [ReportLine] {
        // A table that is too wide is split; both names stand in each part.
        var table = TextTable(
            [("Campaign", .left), ("Button", .left), ("Action", .left), ("Clicks", .right)],
            widest: style.width.map { $0 < 80 } ?? false ? 20 : 32, keys: 2)
        for (id, campaign) in campaigns.sorted(by: { $0.key < $1.key }) {
            for (button, clicks) in campaign.figures.sortedButtons {
                table.add([title(of: id), button.id, button.action, grouped(clicks)])
            }
        }
        return table.lines(width: style.width)
    }

    private func groupTable(_ style: TextStyle) -> [ReportLine] {
        guard let field = selection.field, !groups.isEmpty else { return [] }
        var table = Self.table(field == .day ? dayHeading : field.words.capitalizingFirst)
        for (name, figures) in sortedGroups { table.add(figures.cells(name ?? "-")) }
        return table.lines(width: style.width)
    }

    private func partTable(_ style: TextStyle) -> [ReportLine] {
        guard !parts.isEmpty else { return [] }
        var table = Self.table("Campaign, decoded")
        for (part, figures) in parts.sorted(by: { $0.key < $1.key }) { table.add(figures.cells(part)) }
        return table.lines(width: style.width)
    }

    private func dayTable(_ style: TextStyle) -> [ReportLine] {
        guard !days.isEmpty, selection.field != .day else { return [] }
        var table = Self.table(dayHeading)
        for (day, figures) in days.sorted(by: { $0.key < $1.key }) { table.add(figures.cells(day.description)) }
        return table.lines(width: style.width)
    }

    private func lostTable(_ style: TextStyle) -> [ReportLine] {
        var table = TextTable([("Campaign", .left)] + losses.map { ("Lost: \($0.words)", .right) }, widest: 28)
        for (name, days) in lost.rows { table.add([title(of: name)] + lostCells(LostOpens.sum(days))) }
        return table.lines(width: style.width)
    }

    private func besideDayTable(_ style: TextStyle) -> [ReportLine] {
        let showsUnattributed = selection.campaign == nil
        var table = TextTable(
            [(dayHeading, .left)] + (showsUnattributed ? [("Unattributed", .right)] : [])
                + losses.map { ("Lost: \($0.words)", .right) },
            widest: 32)
        for (day, _, unattributed, lost) in allDays where unattributed > 0 || !lost.isEmpty {
            table.add(
                [day.description] + (showsUnattributed ? [grouped(unattributed)] : [])
                    + losses.map { grouped(lost[$0] ?? 0) })
        }
        return table.lines(width: style.width)
    }

    /// Returns the cells of lost opens of one campaign, or of no campaign: `-` for a missing reason.
    func lostCells(_ counts: LostOpens.Counts) -> [String] { losses.map { counts[$0].map(grouped) ?? "-" } }

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
        ]
    }

    private func besideList(_ style: TextStyle) -> [ReportLine] {
        let shown = countsBeside.filter { $0.count > 0 }
        guard !shown.isEmpty else { return [] }
        let title = "Count"
        let wide = shown.reduce(title.count) { max($0, grouped($1.count).count) }
        let inner = TextStyle(width: style.width.map { max(1, $0 - wide - 2) })
        let before = String(repeating: " ", count: wide - title.count)
        var lines = [ReportLine("\(before)\(title)  Not in these figures", .heading)]
        for (count, meaning) in shown {
            let count = grouped(count)
            for (place, part) in inner.wrapped(meaning, indent: 0).enumerated() {
                let padding = String(repeating: " ", count: place == 0 ? wide - count.count : wide)
                lines.append(ReportLine(padding + (place == 0 ? count : "") + "  " + part))
            }
        }
        return lines
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

    private static func table(_ title: String) -> TextTable {
        TextTable(
            [
                (title, .left), ("Received", .right), ("Direct", .right), ("Rate", .right), ("Influenced", .right),
                ("Total", .right), ("Rate", .right), ("Body", .right), ("Buttons", .right), ("Recipients", .right),
            ], widest: 28)
    }
}

extension CampaignFigures {
    /// Returns the cells of a row of figures.
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
