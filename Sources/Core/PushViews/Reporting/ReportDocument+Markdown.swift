import PushModel

extension ReportDocument {
    /// The report as a comment on a pull request, in GitHub's Markdown.
    public var markdown: String {
        var blocks = [
            "## Deadline compliance: \(report.verdict)", markdownCell(answer),
            "Window: \(markdownCell(report.windowText(zone))). \(markdownCell(report.balanceText)).",
        ]
        blocks.append((facts + clockFacts).map { "- \($0.label): \(markdownCell($0.text))" }.joined(separator: "\n"))
        if let comparison { blocks.append("\(markdownCell(comparison.text(zone))).") }
        let notes =
            warningsOfWindow.map { "- **Warning:** \(markdownCell($0))" } + alerts.map { "- \(markdownCell($0))" }
        if !notes.isEmpty { blocks.append(notes.joined(separator: "\n")) }
        if let left = serviceLevel?.budgetText {
            blocks.append("Error budget left: \(left).")
        }
        if let text = serviceLevel?.unrecordedText { blocks.append("\(text).") }
        if report.compliance.missed > 0 { blocks.append(markdownTable(detail.all.sortedMissReasons, reasonColumns)) }
        if !report.byHandler.isEmpty { blocks.append(table(["Handler"], report.byHandler.byName)) }
        if !report.answers.isEmpty { blocks.append(markdownTable(report.answers, FigureGroup.answerColumns)) }
        if detail.all.total.count > 0 {
            blocks.append(markdownTable(FigureGroup.Clock.allCases, detail.all.clockColumns))
        }
        if !report.byRoute.isEmpty { blocks.append(details("Routes", table(["Route"], report.byRoute.byName))) }
        for breakdown in detail.breakdowns.dropFirst(ReportDetail.always.count) { blocks.append(crossed(breakdown)) }
        let over = report.limits.filter { $0.over > 0 }
        if !over.isEmpty { blocks.append(markdownTable(over, report.limitColumns)) }
        let misses = detail.misses.slowest.prefix(Self.shownMisses)
        if !misses.isEmpty {
            let more = detail.misses.count - misses.count
            let lines =
                misses.map { line($0.invocation) } + (more > 0 ? ["- and \(grouped(more)) more, none slower"] : [])
            blocks.append(details("Missed (\(grouped(detail.misses.count)))", lines.joined(separator: "\n")))
        }
        let slowest = report.slowest.rows
        if !slowest.isEmpty {
            blocks.append(details("Slowest (\(slowest.count))", slowest.map(line).joined(separator: "\n")))
        }
        if report.observers.tally.accepted > 0 { blocks.append(observersAndTheirRoutes) }
        if !daemonGaps.isEmpty {
            blocks.append(details("Gaps of the daemon (\(grouped(daemonGaps.count)))", daemonGapMarkdown))
        }
        if !gapSentences.isEmpty { blocks.append(gapSentences.map { "- Gap: \($0)" }.joined(separator: "\n")) }
        if let maker { blocks.append("\(markdownCell(maker.text(zone))).") }
        return blocks.joined(separator: "\n\n") + "\n"
    }

    static let shownMisses = 20

    private func line(_ invocation: InvocationRecord) -> String {
        "- `pushctl show \(invocation.id.seq)`: \(markdownCell(invocation.storyLine))"
    }

    private func table(_ titles: [String], _ groups: [FigureGroup.Named]) -> String {
        markdownTable(groups, FigureGroup.columns(titles, unit: " ms"))
    }

    private var observersAndTheirRoutes: String {
        let tally = report.observers.tally
        return "Observers (not in the figures above): \(report.observerBalance); deadline compliance "
            + "\(tally.compliance.text).\n\n" + table(["Route"], report.observers.byRoute.byName)
    }

    private func crossed(_ breakdown: Breakdown) -> String {
        let rest = breakdown.rest.count
        return "By \(breakdown.words):\n\n" + table(breakdown.dimensions.map(\.title), breakdown.sorted)
            + (rest > 0 ? "\n\n\(grouped(rest)) invocations of further groups are not shown." : "")
    }

    private func details(_ title: String, _ text: String) -> String {
        "<details><summary>\(title)</summary>\n\n\(text)\n\n</details>"
    }
}
