import PushModel

extension ReportDocument {
    /// The report as a comment on a pull request, in GitHub's Markdown.
    public var markdown: String {
        var blocks = [
            "## Deadline compliance: \(report.verdict)", markdownCell(answer),
            "Window: \(markdownCell(report.windowText(zone))). \(markdownCell(report.balanceText)).",
        ]
        blocks.append(facts)
        if let comparison { blocks.append("\(markdownCell(comparison.text(zone))).") }
        let notes =
            warningsOfWindow.map { "- **Warning:** \(markdownCell($0))" } + alerts.map { "- \(markdownCell($0))" }
        if !notes.isEmpty { blocks.append(notes.joined(separator: "\n")) }
        if let left = serviceLevel?.budgetText {
            blocks.append("Error budget left: \(left).")
        }
        if let text = serviceLevel?.unrecordedText { blocks.append("\(text).") }
        if report.compliance.missed > 0 { blocks.append(missReasonTable) }
        if !report.byHandler.isEmpty { blocks.append(table("Handler", report.byHandler)) }
        let answers = report.byHandler.filter { $0.value.declined + $0.value.retries > 0 }
        if !answers.isEmpty { blocks.append(table(ofAnswers: answers)) }
        if detail.all.total.count > 0 { blocks.append(clocks) }
        if !report.byRoute.isEmpty { blocks.append(details("Routes", table("Route", report.byRoute))) }
        for breakdown in detail.breakdowns.dropFirst(ReportDetail.always.count) { blocks.append(crossed(breakdown)) }
        let over = report.limits.filter { $0.over > 0 }
        if !over.isEmpty { blocks.append(limits(over)) }
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

    private var missReasonTable: String {
        let lines = detail.all.sortedMissReasons.map {
            row(["it \($0.code.meaning)", "`\($0.code.word)`", grouped($0.count)])
        }
        return ([row(["Missed because", "Reason code", "Count"]), row([":--", ":--", "--:"])] + lines)
            .joined(separator: "\n")
    }

    private func table(_ title: String, _ groups: [String: FigureGroup]) -> String {
        table([title], groups.sorted { $0.key < $1.key }.map { (names: [$0.key], group: $0.value) })
    }

    private func table(_ titles: [String], _ groups: [(names: [String], group: FigureGroup)]) -> String {
        var lines = [
            row(titles + ["Count", "Handled", "Failed", "Missed"] + FigureGroup.times.map { "\($0.title) ms" }),
            row(titles.map { _ in ":--" } + Array(repeating: "--:", count: 4 + FigureGroup.times.count)),
        ]
        for (names, group) in groups {
            let counts = [group.count, group.handled, group.failed, group.compliance.missed].map { grouped($0) }
            lines.append(row(names.map(markdownCell) + counts + group.shownTimes))
        }
        return lines.joined(separator: "\n")
    }

    /// The table of queue, execution and total times of all invocations.
    private var clocks: String {
        let titles = FigureGroup.clockTitles
        let lines =
            [row(titles), row([":--"] + titles.dropFirst().map { _ in "--:" })] + detail.all.shownClocks.map(row)
        return lines.joined(separator: "\n")
    }

    private func row(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }

    private func limits(_ tallies: [LimitTally]) -> String {
        let lines = tallies.map { tally in
            "| \(span(tally.limit.limit)) | \(markdownCell(tally.limit.title)) | \(grouped(tally.over)) | "
                + "\(markdownCell(tally.limit.consequence)) |"
        }
        return (["| Limit | Of | Over | Consequence |", "| --: | :-- | --: | :-- |"] + lines).joined(separator: "\n")
    }

    /// The mode and the deadline of the report, and the compliance by either clock.
    private var facts: String {
        var facts = report.source.journal.map { [("Source", $0.text(zone))] } ?? []
        facts += [("Mode", report.modeText), ("Deadline", report.deadlineText)]
        if report.compliance.due > 0 {
            facts += [
                ("Handled", success), ("From acceptance", detail.fromAcceptance.text(missed: "late")),
                ("From invocation", detail.fromInvocation.text(missed: "late")),
            ]
        }
        return facts.map { "- \($0.0): \(markdownCell($0.1))" }.joined(separator: "\n")
    }

    private func table(ofAnswers groups: [String: FigureGroup]) -> String {
        let lines = groups.sorted { $0.key < $1.key }.map { name, group in
            row([markdownCell(name), grouped(group.declined), grouped(group.retries)])
        }
        return ([row(["Handler", "Declined", "Asked for a retry"]), row([":--", "--:", "--:"])] + lines)
            .joined(separator: "\n")
    }

    private var observersAndTheirRoutes: String {
        let tally = report.observers.tally
        return "Observers (not in the figures above): \(report.observerBalance); deadline compliance "
            + "\(tally.compliance.text).\n\n" + table("Route", report.observers.byRoute)
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
