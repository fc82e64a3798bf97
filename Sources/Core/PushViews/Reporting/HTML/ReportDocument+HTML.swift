import PushModel

extension ReportDocument {
    /// The report as one self-contained page.
    public var html: String { page().text }

    /// The page of the report, for embedding in another page.
    ///
    /// - Parameter linksPushes: whether that page has the pushes.
    public func page(linksPushes: Bool = false) -> HTMLPage {
        let stories = StoryLinks(self)
        let picture = CallPicture(self, linksPushes: linksPushes)
        var page = HTMLPage(title: "Deadline compliance: \(report.verdict)")
        page.lead(lead + todo(linksPushes: linksPushes).html)
        page.section("over-time", picture.title, picture.markup.html)
        page.section(
            "handlers", "By handler",
            handlers(picture)
                + "<details><summary>Times</summary>\n\(times("handler", report.byHandler))</details>\n")
        page.section("budget", "Error budget", budget)
        page.section("comparison", "Compared with the baseline", comparisonText)
        page.section("reasons", "Reasons for missed deadlines", missReasons)
        page.section("times", "Queue wait, execution and total", timesOfAll, folded: true)
        page.section("latency", "Latency over time", heatMap, folded: true)
        page.section("misses", "Missed deadlines", misses(stories), folded: detail.misses.rows.count > Self.shownMisses)
        page.section("routes", "By route", figures("route", report.byRoute), folded: true)
        page.section("providers", "By provider", figures("provider", report.byProvider), folded: true)
        page.section("platforms", "By platform", figures("platform", report.byPlatform), folded: true)
        page.section("callbacks", "By callback", figures("callback", report.byCallback), folded: true)
        page.section("priorities", "By delivered priority", priorities, folded: true)
        for breakdown in shownBreakdowns {
            page.section(
                "by-\(breakdown.dimensions.map(\.rawValue).joined(separator: "-"))", "By \(breakdown.words)",
                figures(breakdown), folded: true)
        }
        page.section("limits", "Limits of the platforms", limits, folded: report.limits.allSatisfy { $0.over == 0 })
        page.section("slowest", "Slowest deliveries", slowest(stories), folded: true)
        page.section("waits", "Longest waits in a lane", waits(stories), folded: true)
        page.section("observers", "Observers (not in the figures above)", observerFigures, folded: true)
        page.section("daemon-gaps", "Gaps of the daemon", daemonGapHTML)
        page.section("gaps", "Gaps of these figures", gaps)
        return page
    }

    private var lead: String {
        let compliance = report.compliance
        let isMet = serviceLevel?.isMet ?? (compliance.missed == 0)
        let kind = compliance.due == 0 ? "" : !isMet ? "bad" : report.failed > 0 ? "" : "good"
        var cards = [
            ("Compliance", "<span class=\"\(kind)\">\(compliance)</span>", missedText),
            ("From acceptance", "\(detail.fromAcceptance)", "within the deadline of \(report.deadlineText)"),
            ("From invocation", "\(detail.fromInvocation)", "within the deadline of \(report.deadlineText)"),
            ("Handled", handledShare, "failed \(grouped(report.failed))"),
            ("p99", "\(groupedMilliseconds(detail.all.total.quantile(permille: 990))) ms", "acceptance to end"),
        ]
        if let serviceLevel {
            let text = serviceLevel.isMet ? "<span class=\"good\">met</span>" : "<span class=\"bad\">not met</span>"
            cards.insert(("Objective \(serviceLevel.objective) %", text, ""), at: 1)
        }
        let list = cards.map { "<div><dt>\(markup($0.0))</dt><dd>\($0.1)<small>\(markup($0.2))</small></dd></div>" }
        var text = "<p class=\"answer\">\(markup(answer))</p>\n"
        text += "<p class=\"soft\">Window: \(markup(report.windowText(zone)))</p>\n\(zone.markup(maker))"
        if let journal = report.source.journal {
            text += "<p class=\"soft\">Source: \(markup(journal.text(zone)))</p>\n"
        }
        let isDamaged = report.source == .ledger && !report.balanced
        let balance =
            "<p>Invocations: <span\(isDamaged ? " class=\"bad\"" : "")>\(markup(report.balanceText))</span>.</p>\n"
        let figures =
            balance + "<p>Mode \(markup(report.modeText)).</p>\n"
            + "<dl class=\"cards\">\(list.joined(separator: "\n"))</dl>\n"
        text += "<details\(isDamaged ? " open" : "")><summary>Figures</summary>\n\(figures)</details>\n"
        var items = (handlersInVain + alerts).map { "<li>\(markup($0))</li>" }.joined()
        if let count = comparison?.worse.count, count > 0 {
            items +=
                "<li><a href=\"#comparison\">Worse than the baseline</a>: \(grouped(count)) "
                + "\(count == 1 ? "figure" : "figures")</li>"
        }
        guard !items.isEmpty else { return text }
        return text + "<aside class=\"warnings\" aria-label=\"Warnings\"><ul>\(items)</ul></aside>\n"
    }

    private var missReasons: String {
        var table = HTMLTable(
            "Misses by reason", [.name("The delivery"), .name("Reason code"), .number("Count"), .number("Share")])
        for (code, count) in detail.all.sortedMissReasons {
            table.add([code.meaning, code.word, grouped(count), share(count, of: report.compliance.missed)])
        }
        return table.text
    }

    private var missedText: String {
        "\(grouped(report.compliance.missed)) of \(grouped(report.compliance.due)) due missed"
            + (report.failed > 0 ? ", \(grouped(report.failed)) failed" : "")
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
        if let sentence = serviceLevel.unrecordedText { text += "<p>\(sentence).</p>\n" }
        guard let rates = serviceLevel.rates else { return text }
        var table = HTMLTable(
            "Burn rates until \(zone.text(rates.end)); 1 uses up the budget exactly",
            [.name("Window"), .number("Recorded"), .number("Due"), .number("Missed"), .number("Burn rate")])
        for window in BurnRates.Window.allCases {
            let compliance = rates.compliance(window)
            table.add([
                window.rawValue, "\(rounded(rates.recordedShare(window) * 100, decimals: 0)) %",
                grouped(compliance.due), grouped(compliance.missed),
                serviceLevel.burnRate(window).map { rounded($0, decimals: 1) } ?? "-",
            ])
        }
        return text + table.text
    }

    private var comparisonText: String {
        guard let comparison else { return "" }
        var table = HTMLTable(
            "Figures that got worse, the surest first",
            [.name("Of"), .name("Figure"), .number("Was"), .number("Is"), .number("Chance (p)")])
        for finding in comparison.worse {
            table.add([
                markup(finding.part.words), finding.figure.words, finding.shown(finding.before),
                finding.shown(finding.after), markup(finding.chance),
            ])
        }
        return "<p>\(markup(comparison.text(zone))).</p>\n\(table.text)<p class=\"soft\">\(Comparison.sureness)</p>\n"
    }

    private var limits: String {
        var table = HTMLTable(
            "Limits that applied, and how they were kept",
            [
                .number("Limit"), .name("Of"), .name("Callback"), .name("Counts from"), .number("Within"),
                .number("Over"), .words("Consequence"), .words("Source"),
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

    private var gaps: String {
        let sentences = gapSentences + [report.source.unprovable].compactMap(\.self)
        guard !sentences.isEmpty else { return "" }
        return "<ul>\(sentences.map { "<li>\(markup($0))</li>" }.joined())</ul>\n"
    }
}

extension ReportDocument {
    /// The invocations that missed the deadline, each with its reason and the invocations ahead of it.
    func misses(_ stories: StoryLinks) -> String {
        let rows = detail.misses.rows
        guard !rows.isEmpty else { return "<p>No invocation missed its deadline.</p>\n" }
        let cut = detail.misses.count - rows.count
        let note =
            cut == 0
            ? "" : "<p>The \(grouped(rows.count)) slowest; \(grouped(cut)) more are in the \(report.source.word).</p>\n"
        var table = HTMLTable(
            "Missed deadlines; pushctl show SEQ prints the full record",
            [
                .name("Seq"), .words("Why"), .name("Handler"), .name("Outcome"), .number("Total ms"),
                .number("Exec ms"), .number("Queue ms"), .name("Accepted"), .words("Who was ahead"),
                .name("Provider"), .name("App"),
            ])
        for row in rows {
            guard let result = row.invocation.result else { continue }
            let id = StoryLinks.Place.miss.anchor(row.invocation.id)
            table.add(
                id: id,
                [
                    "<a href=\"#\(id)\">\(row.invocation.id.shortName)</a>",
                    markup(result.reason ?? result.reasonCode?.rawValue ?? "-"),
                    markup(row.invocation.handler ?? "-"), result.outcome.rawValue,
                    groupedMilliseconds(result.total.microseconds), groupedMilliseconds(result.exec.microseconds),
                    groupedMilliseconds(result.queue.microseconds), zone.text(row.acceptedAt, milliseconds: true),
                    stories.ahead(of: result), markup(row.invocation.provider ?? "-"), markup(row.app ?? "-"),
                ])
        }
        return note + table.text
    }

    /// The slowest invocations, in time or missed.
    func slowest(_ stories: StoryLinks) -> String {
        var table = HTMLTable(
            "The \(Slowest.capacity) slowest at most; pushctl show SEQ prints the full record",
            [
                .name("Seq"), .name("Callback"), .name("Provider"), .name("Handler"), .name("Outcome"),
                .number("Queue ms"), .number("Exec ms"), .number("Total ms"), .words("Who was ahead"),
            ])
        for row in report.slowest.rows {
            guard let result = row.result else { continue }
            table.add(
                id: StoryLinks.Place.slow.anchor(row.id),
                [
                    stories.link(row.id, from: .slow), row.callback.rawValue, markup(row.provider ?? "-"),
                    markup(row.handler ?? "-"), result.outcome.rawValue,
                    groupedMilliseconds(result.queue.microseconds), groupedMilliseconds(result.exec.microseconds),
                    groupedMilliseconds(result.total.microseconds), stories.ahead(of: result),
                ])
        }
        return table.text
    }

    /// The invocations that waited longest, and those ahead of them.
    func waits(_ stories: StoryLinks) -> String {
        var table = HTMLTable(
            "The longest waits behind others in a lane; pushctl show SEQ prints the full record",
            [
                .name("Seq"), .name("Callback"), .name("Provider"), .name("Handler"), .name("Outcome"),
                .number("Waited ms"), .words("Who was ahead"),
            ])
        for row in report.longestWaits.rows {
            guard let result = row.result, result.waitedFor != nil else { continue }
            table.add(
                id: StoryLinks.Place.wait.anchor(row.id),
                [
                    stories.link(row.id, from: .wait), row.callback.rawValue, markup(row.provider ?? "-"),
                    markup(row.handler ?? "-"), result.outcome.rawValue,
                    groupedMilliseconds(result.queue.microseconds), stories.ahead(of: result),
                ])
        }
        return table.text
    }
}

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
    func figures(_ title: String, _ groups: [String: FigureGroup]) -> String {
        figures(title, groups.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    private func times(_ title: String, _ groups: [String: FigureGroup]) -> String {
        times(title, groups.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
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

    /// The handlers, the worst first, each with its times on the scale of its deadline.
    func handlers(_ picture: CallPicture) -> String {
        var table = HTMLTable(
            "Handlers, the worst first; the red line is the deadline",
            [
                .name("Handler"), .words("Time used of its deadline"), .number("Count"), .number("Due"),
                .number("Missed"), .number("Compliance"), .number("Handled"), .number("Failed"), .number("Declined"),
                .number("Asked for a retry"),
            ])
        for (name, group) in worstFirst {
            table.add(
                [markup(name), picture.strip(of: name, group).html] + counts(group)
                    + [grouped(group.declined), grouped(group.retries)])
        }
        return table.text
    }

    private func counts(_ group: FigureGroup) -> [String] {
        let compliance = group.compliance
        let (missed, failed) = (grouped(compliance.missed), grouped(group.failed))
        return [
            grouped(group.count), grouped(compliance.due),
            compliance.missed > 0 ? "<a class=\"bad\" href=\"#misses\">\(missed)</a>" : missed,
            compliance.due > 0 ? "\(compliance)" : "-", grouped(group.handled),
            group.alwaysFails ? "<span class=\"bad\">\(failed)</span>" : failed,
        ]
    }

    private func figures(_ title: String, _ groups: [(String, FigureGroup)]) -> String {
        var table = HTMLTable(
            "Invocations by \(title), and how they ended",
            [
                .name(title.capitalizingFirst), .number("Count"), .number("Due"), .number("Missed"),
                .number("Compliance"), .number("Handled"), .number("Failed"),
            ])
        for (name, group) in groups { table.add([markup(name)] + counts(group)) }
        return table.text + times(title, groups)
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
