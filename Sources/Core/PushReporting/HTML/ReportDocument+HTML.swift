import PushFigures
import PushModel

extension ReportDocument {
    /// The report as one self-contained page.
    public var html: String {
        var page = HTMLPage(title: "Deadline compliance: \(report.compliance)")
        page.lead(lead)
        page.section("over-time", "Compliance over time", complianceChart)
        page.section("latency", "Latency over time", heatMap)
        page.section("budget", "Error budget", budget)
        page.section("comparison", "Compared with the baseline", comparisonText)
        page.section("handlers", "By handler", groups("handler", report.byHandler) + handlerCharts)
        page.section("routes", "By route", groups("route", report.byRoute))
        page.section("providers", "By provider", groups("provider", report.byProvider))
        for breakdown in detail.breakdowns {
            page.section(
                "by-\(breakdown.dimensions.map(\.rawValue).joined(separator: "-"))", "By \(breakdown.words)",
                self.breakdown(breakdown))
        }
        page.section("limits", "Limits of the platforms", limits)
        page.section("misses", "Missed deadlines", misses)
        page.section("waits", "Longest waits in a lane", waits)
        page.section("daemon-gaps", "Gaps of the daemon", daemonGapHTML)
        page.section("gaps", "What these figures leave out", gaps)
        return page.text
    }

    private var lead: String {
        let compliance = report.compliance
        let kind = compliance.due == 0 ? "" : (serviceLevel?.isMet ?? (compliance.missed == 0)) ? "good" : "bad"
        var cards = [
            ("Compliance", "<span class=\"\(kind)\">\(compliance)</span>", missedText),
            ("From acceptance", "\(detail.fromAcceptance)", "within the deadline"),
            ("From invocation", "\(detail.fromInvocation)", "within the deadline"),
            ("Handled", handledShare, "failed \(grouped(report.outcomes[.failed] ?? 0))"),
            ("p99", "\(groupedMilliseconds(detail.all.total.quantile(permille: 990))) ms", "acceptance to end"),
        ]
        if let serviceLevel {
            let text = serviceLevel.isMet ? "<span class=\"good\">met</span>" : "<span class=\"bad\">not met</span>"
            cards.insert(("Objective \(serviceLevel.objective) %", text, ""), at: 1)
        }
        let list = cards.map { "<div><dt>\(markup($0.0))</dt><dd>\($0.1)<small>\(markup($0.2))</small></dd></div>" }
        var text = "<p class=\"soft\">Window: \(markup(zone.text(report.window)))</p>\n"
        text +=
            report.source == .ledger
            ? "<p>\(grouped(report.accepted)) invocations accepted = \(grouped(report.decided)) decided + "
                + "\(grouped(report.inFlight)) in flight, of \(grouped(report.requests)) requests"
                + "\(report.balanced ? "" : "; <span class=\"bad\">not balanced: see the gaps</span>").</p>\n"
            : "<p>Invocations: \(markup(balance)).</p>\n"
        text += "<dl class=\"cards\">\(list.joined(separator: "\n"))</dl>\n"
        guard !warnings.isEmpty else { return text }
        let items = warnings.map { "<li>\(markup($0))</li>" }.joined()
        return text + "<aside class=\"warnings\" aria-label=\"Warnings\"><ul>\(items)</ul></aside>\n"
    }

    private var missedText: String {
        "\(grouped(report.compliance.missed)) of \(grouped(report.compliance.due)) due missed"
    }

    private var handledShare: String {
        let due = report.compliance.due
        return due == 0 ? "-" : Compliance(due: due, missed: due - (report.outcomes[.handled] ?? 0)).description
    }

    private var budget: String {
        guard let serviceLevel, serviceLevel.compliance.due > 0 else { return "" }
        var text = ""
        if let left = serviceLevel.budgetText {
            text += "<p>Left: \((serviceLevel.budgetLeft ?? 0) < 0 ? "<span class=\"bad\">\(left)</span>" : left)</p>\n"
        }
        guard let rates = serviceLevel.rates else { return text }
        var table = HTMLTable(
            "Burn rates until \(zone.text(rates.end)); 1 uses up the budget exactly",
            [.name("Window"), .number("Due"), .number("Missed"), .number("Burn rate")])
        for window in BurnRates.Window.allCases {
            let compliance = rates.compliance(window)
            table.add([
                window.rawValue, grouped(compliance.due), grouped(compliance.missed),
                serviceLevel.burnRate(window).map { rounded($0, decimals: 1) } ?? "-",
            ])
        }
        return text + table.text
    }

    private var comparisonText: String {
        guard let comparison else { return "" }
        let tests =
            "<p>\(comparison.tests) figures were tested; a comparison of equals finds something once in 100.</p>\n"
        guard !comparison.worse.isEmpty else { return "<p>Nothing got worse beyond chance.</p>\n" + tests }
        return "<ul>\(comparison.worse.map { "<li>\(markup($0.text))</li>" }.joined())</ul>\n" + tests
    }

    private func groups(_ title: String, _ groups: [String: FigureGroup]) -> String {
        table(title, groups.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    private func breakdown(_ breakdown: Breakdown) -> String {
        let groups = breakdown.sorted.map { ($0.names.joined(separator: ", "), $0.group) }
        let rest = breakdown.rest.count
        return table(breakdown.words, groups + (rest > 0 ? [("all others", breakdown.rest)] : []))
    }

    private func table(_ title: String, _ groups: [(String, FigureGroup)]) -> String {
        var table = HTMLTable(
            "Figures by \(title); times from acceptance to the end in ms",
            [
                .name(title), .number("Count"), .number("Handled"), .number("Failed"), .number("Missed"),
                .number("Queue p99"), .number("Exec p99"), .number("p50"), .number("p90"), .number("p99"),
                .number("p99.9"), .number("max"),
            ])
        for (name, group) in groups {
            let missed = grouped(group.compliance.missed)
            let times = [500, 900, 990, 999].map { groupedMilliseconds(group.total.quantile(permille: $0)) }
            table.add(
                [
                    markup(name), grouped(group.count), grouped(group.handled),
                    group.alwaysFails ? "<span class=\"bad\">\(grouped(group.failed))</span>" : grouped(group.failed),
                    group.compliance.missed > 0 ? "<a class=\"bad\" href=\"#misses\">\(missed)</a>" : missed,
                    groupedMilliseconds(group.queue.quantile(permille: 990)),
                    groupedMilliseconds(group.exec.quantile(permille: 990)),
                ] + times + [groupedMilliseconds(group.total.max)])
        }
        return table.text
    }

    private var handlerCharts: String {
        let handlers = report.byHandler.sorted { $0.key < $1.key }.prefix(Self.drawnHandlers)
        let charts = handlers.enumerated().map { index, handler in
            let (name, group) = (handler.key, handler.value)
            let chart = histogramChart(group.total, id: "histogram-\(index)", title: "Times of \(name)")
            return chart.isEmpty ? "" : "<div><h3>\(markup(name))</h3>\n\(chart)</div>\n"
        }
        return charts.allSatisfy(\.isEmpty) ? "" : "<div class=\"charts\">\(charts.joined())</div>\n"
    }

    private static let drawnHandlers = 24

    private var limits: String {
        var table = HTMLTable(
            "Limits that applied, and how they were kept",
            [
                .number("Limit"), .name("Of"), .name("Callback"), .name("Counts from"), .number("Within"),
                .number("Over"), .words("What happens past it"), .words("Source"),
            ])
        for tally in report.limits where tally.within + tally.over > 0 {
            let limit = tally.limit
            table.add([
                span(limit.limit), markup(limit.title), limit.callback.rawValue, limit.start.rawValue,
                grouped(tally.within),
                tally.over > 0 ? "<span class=\"bad\">\(grouped(tally.over))</span>" : grouped(tally.over),
                markup(limit.consequence), markup(limit.source),
            ])
        }
        return table.text
    }

    private var misses: String {
        let rows = detail.misses.rows
        guard !rows.isEmpty else { return "<p>Nothing missed its deadline.</p>\n" }
        let cut = detail.misses.count - rows.count
        let note =
            cut == 0
            ? "" : "<p>The \(grouped(rows.count)) slowest; \(grouped(cut)) more are in the \(report.source.word).</p>\n"
        var table = HTMLTable(
            "Missed deadlines; pushctl show SEQ tells the whole story",
            [
                .name("Seq"), .name("Accepted"), .name("App"), .name("Provider"), .name("Handler"), .name("Outcome"),
                .number("Queue ms"), .number("Exec ms"), .number("Total ms"), .words("Why"),
            ])
        for row in rows {
            guard let result = row.invocation.result else { continue }
            let id = Self.anchor(row.invocation.id)
            table.add(
                id: id,
                [
                    "<a href=\"#\(id)\">\(row.invocation.id.seq)</a>", zone.text(row.acceptedAt, milliseconds: true),
                    markup(row.app ?? "-"), markup(row.invocation.provider ?? "-"),
                    markup(row.invocation.handler ?? "-"),
                    result.outcome.rawValue, groupedMilliseconds(result.queue.microseconds),
                    groupedMilliseconds(result.exec.microseconds), groupedMilliseconds(result.total.microseconds),
                    markup(result.reason ?? "-"),
                ])
        }
        return note + table.text
    }

    private var waits: String {
        let missed = Set(detail.misses.rows.map(\.invocation.id))
        var table = HTMLTable(
            "What waited longest for others in its lane",
            [.name("Seq"), .name("Handler"), .number("Waited ms"), .name("Longest ahead"), .name("Its handler")])
        for row in report.longestWaits.rows {
            guard let result = row.result, let ahead = result.waitedFor else { continue }
            func link(_ id: InvocationID) -> String {
                missed.contains(id) ? "<a href=\"#\(Self.anchor(id))\">\(id.seq)</a>" : "\(id.seq)"
            }
            table.add([
                link(row.id), markup(row.handler ?? "-"), groupedMilliseconds(result.queue.microseconds),
                link(ahead.id), markup(ahead.handler ?? "tracker"),
            ])
        }
        return table.text
    }

    private var gaps: String {
        let sentences = gapSentences + [report.source.unprovable].compactMap(\.self)
        guard !sentences.isEmpty else { return "" }
        return "<ul>\(sentences.map { "<li>\(markup($0))</li>" }.joined())</ul>\n"
    }

    private static func anchor(_ id: InvocationID) -> String { "miss-\(id.seq)-\(id.n)" }
}
