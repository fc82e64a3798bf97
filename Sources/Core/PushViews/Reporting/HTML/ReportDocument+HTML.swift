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
            folded("waits", "Longest waits in a lane", calls.table("The longest waits behind others", report.waits)),
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

    private var reasons: Markup { HTML.table("Misses by reason", detail.all.sortedMissReasons, reasonColumns) }

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
        HTML.table("Limits that applied, and how they were kept", report.appliedLimits, report.limitColumns)
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
        figures(title, Dictionary(uniqueKeysWithValues: groups.map { ($0.key.rawValue, $0.value) }))
    }

    private func figures(_ title: String, _ groups: [String: FigureGroup]) -> Markup { figures(title, groups.byName) }

    /// The table of a breakdown.
    private func figures(_ breakdown: Breakdown) -> Markup {
        let rest = breakdown.rest.count > 0 ? [(names: ["all others"], group: breakdown.rest)] : []
        return figures(breakdown.words, breakdown.sorted + rest)
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
        let times: [Column<FigureGroup.Named>] = [
            .name("Handler") { linksPushes ? HTML.search(word: "handler", $0.names[0]) : "\($0.names[0])" },
            FigureGroup.missed, FigureGroup.failed, .words("Time used of its deadline") { picture.strip($0.group) },
        ]
        return HTML.table(
            "Handlers, the worst first; the red line is the deadline", worstFirst,
            times + FigureGroup.columns().filter { !["Missed", "Failed"].contains($0.title) }
                + FigureGroup.answerColumns.dropFirst())
    }

    private func figures(_ title: String, _ groups: [FigureGroup.Named]) -> Markup {
        HTML.table(
            "Invocations by \(title), and how they ended", groups,
            [
                .name(title.capitalizingFirst) { "\($0.names.joined(separator: ", "))" },
                .number("Share") { "\(share($0.group.count, of: detail.all.count))" },
            ] + FigureGroup.columns())
    }

    /// A row for each kind of time of the due invocations.
    private var times: Markup {
        guard detail.all.total.count > 0 else { return "" }
        return HTML.table(
            "Times of due invocations, in ms", FigureGroup.Clock.allCases.reversed(), detail.all.clockColumns)
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
        HTML.table(
            "\(caption); pushctl show SEQ prints the full record", rows.filter { $0.result != nil },
            [
                .name("Seq") { push($0.id) },
                .words("Why") { "\($0.result?.reason ?? $0.result?.reasonCode?.rawValue ?? "-")" },
                .handler, .outcome, .time("Total ms", \.total), .time("Exec ms", \.exec), .time("Queue ms", \.queue),
                .words("Who was ahead") {
                    Markup(made: $0.result?.aheadText(handler: markup) { push($0, "#").html } ?? "-")
                }, .callback, .provider,
            ] + more)
    }
}
