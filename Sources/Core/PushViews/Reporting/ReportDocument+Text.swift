public import PushModel

extension ReportDocument {
    /// The report for a terminal.
    public func lines(_ style: TextStyle) -> [ReportLine] {
        let sections = [
            answerSection(style), heading(style), budgetSection(style),
            alerts.flatMap { wrapped($0, style, .bad) }, table(report.outcomeTable, style),
            table(missReasonTable, style),
            table(report.handlerTable, style),
            report.answerTable.map { table($0, style) } ?? [],
            latencySection(style), table(report.limitTable, style), consequences(style), crossedSection(style),
            titled("Slowest misses", table(report.missTable(width: style.width), style)),
            titled("Slowest", table(report.slowestTable(width: style.width), style)),
            titled("Longest waits in a lane", table(report.waitTable(width: style.width), style)),
            observerSection(style),
            titled("Gaps of the daemon", table(daemonGapTable, style))
                + (furtherDaemonGaps.map { wrapped($0, style) } ?? []),
            gaps(style),
        ]
        return Array(sections.filter { !$0.isEmpty }.joined(separator: [ReportLine("")]))
    }

    /// The tone of the verdict: bad if the objective is not met or a deadline was missed.
    private var tone: ReportLine.Tone {
        let isMet = serviceLevel?.isMet ?? (report.compliance.missed == 0)
        return report.compliance.due == 0 ? .plain : !isMet ? .bad : report.failed > 0 ? .plain : .good
    }

    private func answerSection(_ style: TextStyle) -> [ReportLine] {
        style.wrapped(answer.showingControls(), indent: 0).map { ReportLine($0, tone) }
    }

    private var missReasonTable: TextTable {
        var table = TextTable([("Missed because", .left), ("Reason code", .left), ("Count", .right)])
        for (code, count) in detail.all.sortedMissReasons {
            table.add(["it \(code.meaning)", code.word, grouped(count)], .bad)
        }
        return table
    }

    private func heading(_ style: TextStyle) -> [ReportLine] {
        var lines = report.heading(serviceLevel?.objective, zone).split(separator: "\n").flatMap { line in
            let isVerdict = line.hasPrefix("Deadline compliance") || line.hasPrefix("Objective")
            return wrapped(String(line), style, isVerdict ? tone : .plain)
        }
        if report.compliance.due > 0 {
            lines += wrapped("Handled              \(success)", style, report.failed > 0 ? .bad : .plain)
            lines += wrapped("From acceptance      \(detail.fromAcceptance.text(missed: "late"))", style)
            lines += wrapped("From invocation      \(detail.fromInvocation.text(missed: "late"))", style)
        }
        if let comparison {
            lines += wrapped(comparison.text(zone), style, comparison.worse.isEmpty ? .plain : .bad)
        }
        return lines + warningsOfWindow.flatMap { wrapped("Warning: \($0)", style, .bad) }
    }

    private func budgetSection(_ style: TextStyle) -> [ReportLine] {
        guard let serviceLevel, serviceLevel.compliance.due > 0 else { return [] }
        var lines: [ReportLine] = []
        if let left = serviceLevel.budgetText {
            let tone: ReportLine.Tone = (serviceLevel.budgetLeft ?? 0) < 0 ? .bad : .plain
            lines += wrapped("Error budget left    \(left)", style, tone)
        }
        guard let rates = serviceLevel.rates else { return lines }
        let burning = BurnRates.Window.allCases.map { window in
            "\(window.rawValue) \(serviceLevel.burnRate(window).map { rounded($0, decimals: 1) } ?? "-")"
        }
        lines += wrapped("Burn rates           \(burning.joined(separator: ", "))", style)
        lines += wrapped("                     until \(zone.text(rates.end))", style)
        return lines + (serviceLevel.unrecordedText.map { wrapped($0, style) } ?? [])
    }

    /// Returns the histogram of all times from acceptance to the end, with a bar for each latency band.
    private func latencySection(_ style: TextStyle) -> [ReportLine] {
        let total = detail.all.total
        guard total.count > 0 else { return [] }
        let bands = Timeline.bands(of: total)
        let most = bands.map(\.count).max() ?? 0
        let counts = bands.map { grouped($0.count) }
        let labels = bands.map(\.bound)
        let (label, count) = (labels.map(\.count).max() ?? 0, counts.map(\.count).max() ?? 0)
        let room = max(10, min(60, (style.width ?? 80) - label - count - 6))
        var lines = [ReportLine("Time from acceptance to the end", .heading)]
        for (index, band) in bands.enumerated() {
            let text =
                String(repeating: " ", count: label - labels[index].count) + labels[index] + "  "
                + String(repeating: " ", count: count - counts[index].count) + counts[index] + "  "
                + style.bar(band.count, of: most, length: room)
            lines.append(ReportLine(text.trimmedAtEnd))
        }
        var clocks = TextTable(
            FigureGroup.clockTitles.enumerated().map { (title: $0.element, alignment: $0.offset == 0 ? .left : .right) }
        )
        for cells in detail.all.shownClocks { clocks.add(cells) }
        return lines + [ReportLine("")] + table(clocks, style)
    }

    private func consequences(_ style: TextStyle) -> [ReportLine] {
        report.limits.filter { $0.over > 0 }.flatMap { tally in
            wrapped(
                "Past \(span(tally.limit.limit)) (\(tally.limit.title)): \(tally.limit.consequence). "
                    + "Source: \(tally.limit.source).", style)
        }
    }

    private func crossedSection(_ style: TextStyle) -> [ReportLine] {
        let shown = detail.breakdowns.dropFirst(ReportDetail.always.count)
        return Array(
            shown.map { breakdown in
                let titles = breakdown.dimensions.dropLast().map(\.title)
                let last = breakdown.dimensions.suffix(1).map { "\($0.title) (ms)" }
                var lines = table(ComplianceReport.groupTable(titles + last, breakdown.sorted), style)
                if breakdown.rest.count > 0 {
                    let rest = "\(grouped(breakdown.rest.count)) invocations of further groups are not shown"
                    lines += wrapped(rest, style)
                }
                return lines
            }.joined(separator: [ReportLine("")]))
    }

    private func observerSection(_ style: TextStyle) -> [ReportLine] {
        guard report.observers.tally.accepted > 0 else { return [] }
        let lines = report.observerHeading.split(separator: "\n").flatMap { wrapped(String($0), style) }
        return lines + table(ComplianceReport.groupTable("Route (ms)", report.observers.byRoute), style)
    }

    private func gaps(_ style: TextStyle) -> [ReportLine] {
        gapSentences.flatMap { wrapped("Gap: \($0)", style) }
            + (report.source.unprovable.map { wrapped($0, style) } ?? [])
    }

    private func titled(_ title: String, _ lines: [ReportLine]) -> [ReportLine] {
        lines.isEmpty ? [] : [ReportLine(title, .heading)] + lines
    }

    /// The width of the heading's labels, with the space behind them.
    private static let labelWidth = 21

    private func table(_ table: TextTable, _ style: TextStyle) -> [ReportLine] {
        table.lines(width: style.width, ellipsis: style.usesUnicode ? "…" : "...")
    }

    private func wrapped(_ text: String, _ style: TextStyle, _ tone: ReportLine.Tone = .plain) -> [ReportLine] {
        // The text after a label continues below itself.
        let isLabelled = text.count > Self.labelWidth && text.prefix(Self.labelWidth).hasSuffix("  ")
        return style.wrapped(text, indent: isLabelled ? Self.labelWidth : 4).map { ReportLine($0, tone) }
    }
}

extension Timeline {
    /// Returns `< 10 ms`; for the last band `60 s or more`.
    static func bound(of band: Int) -> String {
        band < bounds.count
            ? "< \(span(.microseconds(bounds[band])))" : "\(span(.microseconds(bounds[bounds.count - 1]))) or more"
    }

    /// Returns the histogram by latency band without the empty bands at both ends, each with its upper bound in words.
    static func bands(of histogram: Histogram) -> [(bound: String, count: Int)] {
        var counts = Array(repeating: 0, count: bounds.count + 1)
        for bucket in histogram.filledBuckets {
            counts[bounds.firstIndex { bucket.lowest < $0 } ?? bounds.count] += bucket.count
        }
        guard let first = counts.firstIndex(where: { $0 > 0 }), let last = counts.lastIndex(where: { $0 > 0 }) else {
            return []
        }
        return (first...last).map { band in
            (bound: bound(of: band), count: counts[band])
        }
    }
}

extension String {
    fileprivate var trimmedAtEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
