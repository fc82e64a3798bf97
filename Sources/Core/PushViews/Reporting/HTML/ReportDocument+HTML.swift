import PushModel

extension ReportDocument {
    /// The report as one self-contained page.
    public var html: String { page.text }

    /// The page of the report, for embedding in another page.
    public var page: HTMLPage {
        let stories = StoryLinks(self)
        var page = HTMLPage(title: "Deadline compliance: \(report.verdict)")
        page.lead(lead)
        page.section("over-time", "Compliance over time", complianceChart)
        page.section("latency", "Latency over time", heatMap)
        page.section("times", "Queue wait, execution and total", timesOfAll)
        page.section("budget", "Error budget", budget)
        page.section("comparison", "Compared with the baseline", comparisonText)
        page.section("handlers", "By handler", figures("handler", report.byHandler, answers: true) + handlerCharts)
        page.section("reasons", "Reasons for missed deadlines", missReasons)
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
        text += "<p>Invocations: <span\(isDamaged ? " class=\"bad\"" : "")>\(markup(report.balanceText))</span>.</p>\n"
        text += "<p>Mode \(markup(report.modeText)).</p>\n"
        text += "<dl class=\"cards\">\(list.joined(separator: "\n"))</dl>\n"
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
