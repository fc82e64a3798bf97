import PushModel

extension ReportDocument {
    /// The times of all due invocations, with a histogram for each kind of time. Limits count from acceptance or later,
    /// so only the histogram of the total shows them as lines.
    var timesOfAll: String {
        let kinds = [("Total", detail.all.total), ("Execution", detail.all.exec), ("Queue wait", detail.all.queue)]
        guard detail.all.total.count > 0 else { return "" }
        var table = HTMLTable(
            "Times of due invocations, in ms: queue wait from acceptance to the start, execution from there to the end",
            [.name("Time"), .number("Count")] + Self.quantiles.map { .number($0.name) } + [.number("max")])
        for (name, histogram) in kinds {
            table.add([name, grouped(histogram.count)] + Self.times(histogram))
        }
        let charts = kinds.enumerated().map { index, kind in
            let chart = histogramChart(
                kind.1, id: "histogram-all-\(index)", title: "\(kind.0) of all due invocations", hasLimits: index == 0)
            return chart.isEmpty ? "" : "<div><h3>\(kind.0)</h3>\n\(chart)</div>\n"
        }
        return table.text + "<div class=\"charts\">\(charts.joined())</div>\n"
    }

    /// Returns two tables of named groups: counts with outcomes, and times.
    /// - Parameter answers: whether the groups are handlers, which decline and ask for retries.
    func figures(_ title: String, _ groups: [String: FigureGroup], answers: Bool = false) -> String {
        figures(title, groups.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, answers: answers)
    }

    /// Returns the tables of groups whose names are a closed set.
    func figures<Name: RawRepresentable<String>>(_ title: String, _ groups: [Name: FigureGroup]) -> String {
        figures(title, groups.map { ($0.key.rawValue, $0.value) }.sorted { $0.0 < $1.0 })
    }

    /// Returns the tables of a breakdown.
    func figures(_ breakdown: Breakdown) -> String {
        let groups = breakdown.sorted.map { ($0.names.joined(separator: ", "), $0.group) }
        let rest = breakdown.rest.count
        let title = breakdown.words
        // The name of such a group is its outcome, so a table of outcomes adds nothing.
        if breakdown.dimensions == [.outcome] { return shares(title, groups) + times(title, groups) }
        return figures(title, groups + (rest > 0 ? [("all others", breakdown.rest)] : []))
    }

    /// The breakdowns, without requested ones that every report has anyway.
    var shownBreakdowns: [Breakdown] {
        let always = ReportDetail.always.count
        return detail.breakdowns.enumerated()
            .filter { $0.offset < always || !ReportDetail.always.contains($0.element.dimensions) }.map(\.element)
    }

    /// The figures by the priority with which FCM delivered, and the number of messages delivered with a lower
    /// priority.
    var priorities: String {
        guard !report.byPriority.isEmpty else { return "" }
        return figures("delivered priority", report.byPriority)
            + "<p>Sent with high priority and delivered with normal priority: \(grouped(report.loweredPriority)).</p>\n"
    }

    /// The copies for observing routes.
    var observerFigures: String {
        let tally = report.observers.tally
        guard tally.accepted > 0 else { return "" }
        let outcomes = Outcome.allCases.compactMap { outcome in
            tally.outcomes[outcome].map { "\(outcome.rawValue) \(grouped($0))" }
        }
        let compliance = tally.compliance
        let ends = outcomes.isEmpty ? "" : "; \(outcomes.joined(separator: ", "))"
        return "<p>Invocations: \(report.observerBalance)\(ends).</p>\n"
            + "<p>Deadline compliance: \(compliance), \(grouped(compliance.missed)) of \(grouped(compliance.due)) due "
            + "missed.</p>\n" + figures("observing route", report.observers.byRoute)
    }

    /// A histogram of each handler's total times.
    var handlerCharts: String {
        let handlers = report.byHandler.sorted { $0.key < $1.key }.prefix(Self.drawnHandlers)
        let charts = handlers.enumerated().map { index, handler in
            let (name, group) = (handler.key, handler.value)
            let chart = histogramChart(group.total, id: "histogram-\(index)", title: "Times of \(name)")
            return chart.isEmpty ? "" : "<div><h3>\(markup(name))</h3>\n\(chart)</div>\n"
        }
        return charts.allSatisfy(\.isEmpty) ? "" : "<div class=\"charts\">\(charts.joined())</div>\n"
    }

    private static let drawnHandlers = 24

    private func figures(_ title: String, _ groups: [(String, FigureGroup)], answers: Bool = false) -> String {
        var counts = HTMLTable(
            "Invocations by \(title), and how they ended",
            [
                .name(title.capitalizingFirst), .number("Count"), .number("Due"), .number("Missed"),
                .number("Compliance"), .number("Handled"), .number("Failed"),
            ] + (answers ? [.number("Declined"), .number("Asked for a retry")] : []))
        for (name, group) in groups {
            let compliance = group.compliance
            let (missed, failed) = (grouped(compliance.missed), grouped(group.failed))
            counts.add(
                [
                    markup(name), grouped(group.count), grouped(compliance.due),
                    compliance.missed > 0 ? "<a class=\"bad\" href=\"#misses\">\(missed)</a>" : missed,
                    compliance.due > 0 ? "\(compliance)" : "-", grouped(group.handled),
                    group.alwaysFails ? "<span class=\"bad\">\(failed)</span>" : failed,
                ] + (answers ? [grouped(group.declined), grouped(group.retries)] : []))
        }
        return counts.text + times(title, groups)
    }

    private func shares(_ title: String, _ groups: [(String, FigureGroup)]) -> String {
        var table = HTMLTable(
            "Invocations by \(title)", [.name(title.capitalizingFirst), .number("Count"), .number("Share")])
        for (name, group) in groups {
            table.add([markup(name), grouped(group.count), share(group.count, of: detail.all.count)])
        }
        return table.text
    }

    private func times(_ title: String, _ groups: [(String, FigureGroup)]) -> String {
        let span = Self.quantiles.map { HTMLTable.Column.number($0.name) } + [.number("max")]
        var table = HTMLTable(
            "Times by \(title) in ms", [.name(title.capitalizingFirst)] + span + span + span,
            spans: [("Total", span.count), ("Execution", span.count), ("Queue wait", span.count)])
        for (name, group) in groups where group.total.count > 0 {
            table.add([markup(name)] + [group.total, group.exec, group.queue].flatMap(Self.times))
        }
        return table.text
    }

    private static let quantiles = [("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999)]
        .map { (name: $0.0, permille: $0.1) }

    private static func times(_ histogram: Histogram) -> [String] {
        quantiles.map { groupedMilliseconds(histogram.quantile(permille: $0.permille)) }
            + [groupedMilliseconds(histogram.max)]
    }
}
