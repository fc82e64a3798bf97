import PushFigures
import PushModel

extension ReportDocument {
    /// The report as a comment on a pull request, in GitHub's Markdown.
    public var markdown: String {
        let isMet = serviceLevel?.isMet ?? (report.compliance.missed == 0)
        var blocks = [
            "## Deadline compliance: \(report.compliance)",
            "\(verdict(isMet)) Window: \(cell(zone.text(report.window))). \(cell(balance)).",
        ]
        if !warnings.isEmpty { blocks.append(warnings.map { "- **Warning:** \(cell($0))" }.joined(separator: "\n")) }
        if let left = serviceLevel?.budgetText {
            blocks.append("Error budget left: \(left).")
        }
        if report.compliance.due > 0 { blocks.append("Handled: \(success).") }
        if !report.byHandler.isEmpty { blocks.append(table("Handler", report.byHandler)) }
        if !report.byRoute.isEmpty { blocks.append(details("Routes", table("Route", report.byRoute))) }
        let over = report.limits.filter { $0.over > 0 }
        if !over.isEmpty { blocks.append(limits(over)) }
        let misses = detail.misses.rows.prefix(Self.shownMisses)
        if !misses.isEmpty {
            let lines = misses.map { "- `pushctl show \($0.invocation.id.seq)`: \(cell(String($0.missLine.dropShow)))" }
            let title = "Missed (\(grouped(detail.misses.count)))"
            blocks.append(details(title, lines.joined(separator: "\n")))
        }
        if !daemonGaps.isEmpty {
            blocks.append(details("Gaps of the daemon (\(grouped(daemonGaps.count)))", daemonGapMarkdown))
        }
        if !gapSentences.isEmpty { blocks.append(gapSentences.map { "- Gap: \($0)" }.joined(separator: "\n")) }
        return blocks.joined(separator: "\n\n") + "\n"
    }

    private static let shownMisses = 20

    private func verdict(_ isMet: Bool) -> String {
        let compliance = report.compliance
        guard compliance.due > 0 else { return "Nothing was due." }
        let counts = "\(grouped(compliance.missed)) of \(grouped(compliance.due)) missed the deadline."
        guard let objective = serviceLevel?.objective else { return counts }
        return "The objective of \(objective) % is \(isMet ? "met" : "**not met**"). \(counts)"
    }

    private func table(_ title: String, _ groups: [String: FigureGroup]) -> String {
        var lines = [
            "| \(title) | Count | Handled | Failed | Missed | p50 ms | p99 ms | max ms |",
            "| :-- | --: | --: | --: | --: | --: | --: | --: |",
        ]
        for (name, group) in groups.sorted(by: { $0.key < $1.key }) {
            let cells = [
                cell(name), grouped(group.count), grouped(group.handled), grouped(group.failed),
                grouped(group.compliance.missed), groupedMilliseconds(group.total.quantile(permille: 500)),
                groupedMilliseconds(group.total.quantile(permille: 990)), groupedMilliseconds(group.total.max),
            ]
            lines.append("| \(cells.joined(separator: " | ")) |")
        }
        return lines.joined(separator: "\n")
    }

    private func limits(_ tallies: [LimitTally]) -> String {
        let lines = tallies.map { tally in
            "| \(span(tally.limit.limit)) | \(cell(tally.limit.title)) | \(grouped(tally.over)) | "
                + "\(cell(tally.limit.consequence)) |"
        }
        return (["| Limit | Of | Over | What happens |", "| --: | :-- | --: | :-- |"] + lines).joined(separator: "\n")
    }

    private func details(_ title: String, _ text: String) -> String {
        "<details><summary>\(title)</summary>\n\n\(text)\n\n</details>"
    }

    /// Text from outside: it begins no cell, no markup and no mention.
    private func cell(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\n", "\r", "\t": escaped += " "
            case "|", "*", "_", "`", "[", "]", "#", "~", "\\", "!": escaped += "\\" + String(scalar)
            case "@": escaped += "@\u{200B}"
            case "'", "\"": escaped.unicodeScalars.append(scalar)
            default: escaped += markup(String(scalar))
            }
        }
    }
}

extension String {
    /// What follows the command in ``ReportRow/missLine``.
    fileprivate var dropShow: Substring {
        self[(firstIndex(of: ":").map { index(after: $0) } ?? startIndex)...].drop { $0 == " " }
    }
}
