import PushModel

extension ReportDocument {
    /// The report as one self-contained page.
    public var html: String { page().text }

    /// The page of the report, for embedding in another page.
    ///
    /// - Parameter linksPushes: whether that page has the pushes.
    func page(linksPushes: Bool = false) -> HTMLPage {
        func folded(_ id: String, _ heading: String, _ content: Markup) -> Markup {
            HTML.section(id, heading, content, folded: true)
        }
        let picture = CallPicture(self, linksPushes: linksPushes)
        let calls = CallTable(linksPushes: linksPushes)
        let waits = report.longestWaits.rows.filter { $0.result?.waitedFor != nil }
        let breakdowns = shownBreakdowns.map { breakdown in
            folded(
                "by-\(breakdown.dimensions.map(\.rawValue).joined(separator: "-"))", "By \(breakdown.words)",
                figures(breakdown))
        }
        let sections = [
            HTML.section("over-time", picture.title, picture.markup),
            HTML.section("handlers", "By handler", handlers(picture, linksPushes: linksPushes)),
            HTML.section("budget", "Error budget", budget),
            HTML.section("comparison", "Compared with the baseline", comparisonText),
            HTML.section("reasons", "Reasons for missed deadlines", reasons),
            folded("times", "Queue wait, execution and total", times),
            HTML.section(
                "misses", "Missed deadlines", misses(calls), folded: detail.misses.rows.count > Self.shownMisses),
            folded("routes", "By route", figures("route", report.byRoute)),
            folded("providers", "By provider", figures("provider", report.byProvider)),
            folded("platforms", "By platform", figures("platform", report.byPlatform)),
            folded("callbacks", "By callback", figures("callback", report.byCallback)),
            folded("priorities", "By delivered priority", priorities), "\(breakdowns)",
            HTML.section(
                "limits", "Limits of the platforms", limits, folded: report.limits.allSatisfy { $0.over == 0 }),
            folded("slowest", "Slowest deliveries", calls.table("The slowest", report.slowest.rows)),
            folded("waits", "Longest waits in a lane", calls.table("The longest waits behind others", waits)),
            folded("observers", "Observers (not in the figures above)", observerFigures),
            HTML.section("daemon-gaps", "Gaps of the daemon", daemonGapHTML),
            HTML.section(
                "gaps", "Gaps of these figures",
                HTML.list(gapSentences + [report.source.unprovable].compactMap(\.self))),
        ]
        return HTMLPage(title: "Deadline compliance: \(report.verdict)", lead: lead, sections: sections)
    }

    private var lead: Markup {
        let (due, failed) = (report.compliance.due, report.failed)
        let missed = "\(grouped(report.compliance.missed)) of \(grouped(due)) due missed"
        let handled = Compliance(due: due, missed: due - (report.outcomes[.handled] ?? 0)).description
        let objective: Markup? = serviceLevel.map {
            "<span class=\"\($0.isMet ? "good" : "bad")\">objective of \($0.objective.description) % \($0.isMet ? "met" : "not met")</span>"
        }
        let facts: [(name: String, value: Markup)] = [
            (
                "Compliance",
                "\(report.compliance.description), \(missed)\(failed > 0 ? ", \(grouped(failed)) failed" : "")"
            ),
            ("Objective", objective ?? "none"), ("Handled", "\(due == 0 ? "-" : handled)"),
            ("From acceptance", "\(detail.fromAcceptance.description) within \(report.deadlineText)"),
            ("From invocation", "\(detail.fromInvocation.description) within \(report.deadlineText)"),
        ]
        let isDamaged = report.source == .ledger && !report.balanced
        let figures: Markup = """
            <p>Invocations: <span\(Markup.when(isDamaged, " class=\"bad\""))>\(report.balanceText)</span>.</p>
            <p>Mode \(report.modeText).</p>
            \(HTML.facts(facts))
            """
        let source: Markup? = report.source.journal.map { "<p class=\"soft\">Source: \($0.text(zone))</p>\n" }
        let worse = comparison?.worse.count ?? 0
        let more: Markup = "<p><a href=\"#comparison\">Worse than the baseline</a>: \(counted(worse, "figure"))</p>\n"
        return """
            <p class="answer">\(answer)</p>
            <p class="soft">Window: \(report.windowText(zone))</p>
            \(zone.markup(maker))\(source)\(HTML.details("Figures", figures, open: isDamaged))\
            \(HTML.list(handlersInVain + alerts, "warn"))\(Markup.when(worse > 0, more))
            """
    }

    private var reasons: Markup {
        HTML.table(
            "Misses by reason", detail.all.sortedMissReasons,
            [
                .name("The delivery") { "\($0.code.meaning)" }, .name("Reason code") { "\($0.code.word)" },
                .number("Count") { "\(grouped($0.count))" },
                .number("Share") { "\(share($0.count, of: report.compliance.missed))" },
            ])
    }

    private var budget: Markup {
        guard let serviceLevel, serviceLevel.compliance.due > 0 else { return "" }
        let isOverdrawn = (serviceLevel.budgetLeft ?? 0) < 0
        let left: Markup? = serviceLevel.budgetText.map {
            "<p>Left: <span\(Markup.when(isOverdrawn, " class=\"bad\""))>\($0)</span></p>\n"
        }
        let unrecorded: Markup? = serviceLevel.unrecordedText.map { "<p>\($0).</p>\n" }
        guard let rates = serviceLevel.rates else { return "\(left)\(unrecorded)" }
        let table = HTML.table(
            "Burn rates until \(zone.text(rates.end)); 1 uses up the budget exactly", BurnRates.Window.allCases,
            [
                .name("Window") { "\($0.rawValue)" },
                .number("Recorded") { "\(rounded(rates.recordedShare($0) * 100, decimals: 0)) %" },
                .number("Due") { "\(grouped(rates.compliance($0).due))" },
                .number("Missed") { "\(grouped(rates.compliance($0).missed))" },
                .number("Burn rate") { "\(serviceLevel.burnRate($0).map { rounded($0, decimals: 1) } ?? "-")" },
            ])
        return "\(left)\(unrecorded)\(table)"
    }

    private var comparisonText: Markup {
        guard let comparison else { return "" }
        let table = HTML.table(
            "Figures that got worse, the surest first", comparison.worse,
            [
                .name("Of") { "\($0.part.words)" }, .name("Figure") { "\($0.figure.words)" },
                .number("Was") { "\($0.shown($0.before))" }, .number("Is") { "\($0.shown($0.after))" },
                .number("Chance (p)") { "\($0.chance)" },
            ])
        return "<p>\(comparison.text(zone)).</p>\n\(table)<p class=\"soft\">\(Comparison.sureness)</p>\n"
    }

    private var limits: Markup {
        HTML.table(
            "Limits that applied, and how they were kept", report.limits.filter { $0.within + $0.over > 0 },
            [
                .name("Of") { "\($0.limit.title)" }, .number("Limit") { "\(span($0.limit.limit))" },
                .name("Callback") { "\($0.limit.callback.rawValue)" },
                .name("Counts from") { "\($0.limit.start.rawValue)" }, .number("Within") { "\(grouped($0.within))" },
                .number("Over") { $0.over > 0 ? "<span class=\"bad\">\(grouped($0.over))</span>" : "0" },
                .words("Consequence") { "\($0.limit.consequence)" }, .words("Source") { "\($0.limit.source)" },
            ])
    }

    /// The invocations that missed the deadline, each with its reason and the invocations ahead of it.
    private func misses(_ calls: CallTable) -> Markup {
        let rows = detail.misses.rows
        guard !rows.isEmpty else { return "<p>No invocation missed its deadline.</p>\n" }
        let cut = detail.misses.count - rows.count
        let note: Markup =
            "<p>The \(grouped(rows.count)) slowest; \(grouped(cut)) more are in the \(report.source.word).</p>\n"
        let found = Dictionary(rows.map { ($0.invocation.id, $0) }) { first, _ in first }
        return Markup.when(cut > 0, note)
            + calls.table(
                "Missed deadlines", rows.map(\.invocation),
                [
                    .name("Accepted") { "\(found[$0.id].map { zone.text($0.acceptedAt, milliseconds: true) } ?? "-")" },
                    .name("App") { "\(found[$0.id]?.app ?? "-")" },
                ])
    }

    private func figures<Name: RawRepresentable<String>>(_ title: String, _ groups: [Name: FigureGroup]) -> Markup {
        figures(title, groups.map { ($0.key.rawValue, $0.value) }.sorted { $0.0 < $1.0 })
    }

    private func figures(_ title: String, _ groups: [String: FigureGroup]) -> Markup {
        figures(title, groups.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    /// The table of a breakdown.
    private func figures(_ breakdown: Breakdown) -> Markup {
        let rest = breakdown.rest.count > 0 ? [("all others", breakdown.rest)] : []
        return figures(
            breakdown.words, breakdown.sorted.map { ($0.names.joined(separator: ", "), $0.group) } + rest)
    }

    /// The breakdowns, without requested ones that every report has anyway.
    private var shownBreakdowns: [Breakdown] {
        let always = ReportDetail.always.count
        return detail.breakdowns.enumerated()
            .filter { $0.offset < always || !ReportDetail.always.contains($0.element.dimensions) }.map(\.element)
    }

    /// The figures by the priority with which FCM delivered, and the number of messages delivered with a lower
    /// priority.
    private var priorities: Markup {
        guard !report.byPriority.isEmpty else { return "" }
        return figures("delivered priority", report.byPriority)
            + "<p>Sent with high priority and delivered with normal priority: \(grouped(report.loweredPriority)).</p>\n"
    }

    /// The copies for observing routes.
    private var observerFigures: Markup {
        let tally = report.observers.tally
        guard tally.accepted > 0 else { return "" }
        let ends = Outcome.allCases.compactMap { outcome in
            tally.outcomes[outcome].map { "; \(outcome.rawValue) \(grouped($0))" }
        }
        let compliance = tally.compliance
        return """
            <p>Invocations: \(report.observerBalance)\(ends.joined()).</p>
            <p>Deadline compliance: \(compliance.description), \(grouped(compliance.missed)) of \(grouped(compliance.due)) due missed.</p>
            \(figures("observing route", report.observers.byRoute))
            """
    }

    /// The handlers, the worst first, each with its times on the scale of its deadline.
    private func handlers(_ picture: CallPicture, linksPushes: Bool) -> Markup {
        let times: [Column<Figures>] = [
            .name("Handler") { linksPushes ? HTML.search(word: "handler", $0.0) : "\($0.0)" },
            missed, failed, .words("Time used of its deadline") { picture.strip($0.1) },
        ]
        let answers: [Column<Figures>] = [
            .number("Declined") { "\(grouped($0.1.declined))" },
            .number("Asked for a retry") { "\(grouped($0.1.retries))" },
        ]
        return HTML.table(
            "Handlers, the worst first; the red line is the deadline", worstFirst.map { ($0.name, $0.group) },
            times + counts.filter { ![missed.title, failed.title].contains($0.title) } + answers)
    }

    private typealias Figures = (String, FigureGroup)

    private func figures(_ title: String, _ groups: [Figures]) -> Markup {
        HTML.table(
            "Invocations by \(title), and how they ended", groups,
            [
                .name(title.capitalizingFirst) { "\($0.0)" },
                .number("Share") { "\(share($0.1.count, of: detail.all.count))" },
            ] + counts)
    }

    private var missed: Column<Figures> {
        .number("Missed") {
            let missed = $0.1.compliance.missed
            return missed > 0 ? "<a class=\"bad\" href=\"#misses\">\(grouped(missed))</a>" : "0"
        }
    }

    private var failed: Column<Figures> {
        .number("Failed") {
            let failed = grouped($0.1.failed)
            return $0.1.alwaysFails ? "<span class=\"bad\">\(failed)</span>" : "\(failed)"
        }
    }

    private var counts: [Column<Figures>] {
        func time(_ name: String, _ permille: Int) -> Column<Figures> {
            .number(name) { "\(groupedMilliseconds($0.1.total.quantile(permille: permille)))" }
        }
        return [
            .number("Count") { "\(grouped($0.1.count))" }, .number("Due") { "\(grouped($0.1.compliance.due))" },
            missed, .number("Compliance") { "\($0.1.compliance.due > 0 ? $0.1.compliance.description : "-")" },
            .number("Handled") { "\(grouped($0.1.handled))" },
            failed, time("Total p50, ms", 500), time("Total p99, ms", 990),
        ]
    }

    /// A row for each kind of time of the due invocations.
    private var times: Markup {
        guard detail.all.total.count > 0 else { return "" }
        func quantile(_ name: String, _ permille: Int) -> Column<(kind: String, times: Histogram)> {
            .number(name) { "\(groupedMilliseconds($0.times.quantile(permille: permille)))" }
        }
        return HTML.table(
            "Times of due invocations, in ms",
            [("Total", detail.all.total), ("Execution", detail.all.exec), ("Queue wait", detail.all.queue)]
                .map { (kind: $0.0, times: $0.1) },
            [
                .name("Time") { "\($0.kind)" }, .number("Count") { "\(grouped($0.times.count))" },
                quantile("p50", 500), quantile("p90", 900), quantile("p99", 990), quantile("p99.9", 999),
                .number("max") { "\(groupedMilliseconds($0.times.max))" },
            ])
    }
}

/// The table of single calls.
private struct CallTable {
    let linksPushes: Bool

    private func push(_ id: InvocationID, _ mark: String = "") -> Markup {
        linksPushes ? "<a href=\"/push/\(id.seq)\">\(mark + id.shortName)</a>" : "\(mark + id.shortName)"
    }

    func table(
        _ caption: String, _ rows: [InvocationRecord], _ more: [Column<InvocationRecord>] = []
    ) -> Markup {
        func time(_ title: String, _ time: @escaping (InvocationResult) -> Duration) -> Column<InvocationRecord> {
            .number(title) { "\($0.result.map { groupedMilliseconds(time($0).microseconds) } ?? "-")" }
        }
        return HTML.table(
            "\(caption); pushctl show SEQ prints the full record", rows.filter { $0.result != nil },
            [
                .name("Seq") { push($0.id) },
                .words("Why") { "\($0.result?.reason ?? $0.result?.reasonCode?.rawValue ?? "-")" },
                .name("Handler") { "\($0.handler ?? "-")" },
                .name("Outcome") { "\($0.result?.outcome.rawValue ?? "-")" },
                time("Total ms", \.total), time("Exec ms", \.exec), time("Queue ms", \.queue),
                .words("Who was ahead") {
                    Markup(made: $0.result?.aheadText(handler: markup) { push($0, "#").html } ?? "-")
                }, .name("Callback") { "\($0.callback.rawValue)" }, .name("Provider") { "\($0.provider ?? "-")" },
            ] + more)
    }
}
