public import PushModel

extension ReportDocument {
    /// The report for a terminal.
    public func lines(_ style: TextStyle) -> [ReportLine] {
        let sections = [
            answerSection(style), heading(style), budgetSection(style),
            alerts.flatMap { wrapped($0, style, .bad) }, table(report.outcomeTable, style),
            table(TextTable(detail.all.sortedMissReasons, reasonColumns) { _ in .bad }, style),
            table(["Handler (ms)"], report.byHandler.byName, style),
            table(TextTable(report.answers, FigureGroup.answerColumns), style), latencySection(style),
            table(TextTable(report.appliedLimits, report.limitColumns, keys: 2) { $0.over > 0 ? .bad : .plain }, style),
            consequences(style), crossedSection(style),
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

    /// A reason for missed deadlines.
    var reasonColumns: [Column<(code: ReasonCode?, count: Int)>] {
        [
            .nameInText("Missed because", { "it \($0.code.meaning)" }).only(.terminal, .markdown),
            .name("The delivery") { "\($0.code.meaning)" }, .nameInText("Reason code", \.code.word).asCode,
            .numberInText("Count", { grouped($0.count) }),
            .number("Share") { "\(share($0.count, of: report.compliance.missed))" },
        ]
    }

    /// The source, the mode and the deadline of the report.
    var facts: [LabelledFact] {
        (report.source.journal.map { [LabelledFact(label: "Source", text: $0.text(zone))] } ?? [])
            + [("Mode", report.modeText), ("Deadline", report.deadlineText)].map { LabelledFact(label: $0, text: $1) }
    }

    /// The handled invocations, and the compliance by either clock.
    var clockFacts: [LabelledFact] {
        guard report.compliance.due > 0 else { return [] }
        return [
            LabelledFact(label: "Handled", text: success, tone: report.failed > 0 ? .bad : .plain),
            LabelledFact(label: "From acceptance", text: detail.fromAcceptance.text(missed: "late")),
            LabelledFact(label: "From invocation", text: detail.fromInvocation.text(missed: "late")),
        ]
    }

    private func heading(_ style: TextStyle) -> [ReportLine] {
        let compliance = report.compliance
        var facts = [LabelledFact(label: "Window", text: report.windowText(zone))] + facts
        facts.append(
            LabelledFact(label: "Deadline compliance", text: compliance.text(failed: report.failed), tone: tone))
        if let objective = serviceLevel?.objective {
            let verdict = compliance.due == 0 ? "nothing was due" : compliance.meets(objective) ? "met" : "not met"
            facts.append(LabelledFact(label: "Objective", text: "\(objective) %: \(verdict)", tone: tone))
        }
        facts.append(LabelledFact(label: "Invocations", text: report.balanceText))
        var lines = (facts + clockFacts).flatMap { labelled($0, style) }
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
            lines += labelled(LabelledFact(label: "Error budget left", text: left, tone: tone), style)
        }
        guard let rates = serviceLevel.rates else { return lines }
        let burning = BurnRates.Window.allCases.map { window in
            "\(window.rawValue) \(serviceLevel.burnRate(window).map { rounded($0, decimals: 1) } ?? "-")"
        }
        lines += labelled(LabelledFact(label: "Burn rates", text: burning.joined(separator: ", ")), style)
        lines += labelled(LabelledFact(label: "", text: "until \(zone.text(rates.end))"), style)
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
        return lines + [ReportLine("")]
            + table(TextTable(FigureGroup.Clock.allCases, detail.all.clockColumns), style)
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
                var lines = table(titles + last, breakdown.sorted, style)
                if breakdown.rest.count > 0 {
                    let rest = "\(grouped(breakdown.rest.count)) invocations of further groups are not shown"
                    lines += wrapped(rest, style)
                }
                return lines
            }.joined(separator: [ReportLine("")]))
    }

    private func observerSection(_ style: TextStyle) -> [ReportLine] {
        guard report.observers.tally.accepted > 0 else { return [] }
        let facts = [
            ("Invocations", report.observerBalance), ("Deadline compliance", report.observers.tally.compliance.text),
        ]
        return wrapped("Observers (not in the figures above)", style)
            + facts.flatMap { labelled(LabelledFact(label: $0, text: $1), style) }
            + table(["Route (ms)"], report.observers.byRoute.byName, style)
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

    private func table(_ titles: [String], _ groups: [FigureGroup.Named], _ style: TextStyle) -> [ReportLine] {
        let table = TextTable(groups, FigureGroup.columns(titles), keys: titles.count) {
            $0.group.compliance.missed > 0 || $0.group.alwaysFails ? .bad : .plain
        }
        return self.table(table, style)
    }

    /// A fact, whose text continues below itself.
    private func labelled(_ fact: LabelledFact, _ style: TextStyle) -> [ReportLine] {
        style.wrapped(fact.line(Self.labelWidth).text, indent: Self.labelWidth).map { ReportLine($0, fact.tone) }
    }

    private func wrapped(_ text: String, _ style: TextStyle, _ tone: ReportLine.Tone = .plain) -> [ReportLine] {
        style.wrapped(text, indent: 4).map { ReportLine($0, tone) }
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
