public import PushModel

/// A compliance report with its derived parts, for all formats.
public struct ReportDocument: Sendable {
    /// The figures.
    public let report: ComplianceReport
    /// The detail of the same rows.
    public let detail: ReportDetail
    /// The objective with its error budget; `nil` without an objective.
    public let serviceLevel: ServiceLevel?
    /// The comparison with an earlier report; `nil` without one.
    public let comparison: Comparison?
    /// The program that made the report, the machine and the time; `nil` if unknown.
    public let maker: ReportMaker?
    /// The zone of times for people.
    public let zone: LocalZone

    /// Joins the fields.
    public init(
        report: ComplianceReport, detail: ReportDetail, serviceLevel: ServiceLevel? = nil,
        comparison: Comparison? = nil, zone: LocalZone = .utc, maker: ReportMaker? = nil
    ) {
        self.report = report
        self.detail = detail
        self.serviceLevel = serviceLevel
        self.comparison = comparison
        self.zone = zone
        self.maker = maker
    }

    /// The warnings to read before the figures: handlers that keep every deadline but handle nothing, alerts, and
    /// figures that got worse.
    public var warnings: [String] { warningsOfWindow + alerts }

    /// The warnings about the window of the report.
    var warningsOfWindow: [String] {
        handlersInVain + (comparison?.worse.map { "Worse than the baseline: \($0.text)" } ?? [])
    }

    /// A sentence for each handler that handled nothing.
    var handlersInVain: [String] {
        report.byHandler.sorted { $0.key < $1.key }.filter { $0.value.alwaysFails }.map { name, group in
            "Handler \(name) handled nothing: \(grouped(group.failed)) of \(grouped(group.count)) failed"
        }
    }

    /// A sentence for each alert. Alerts have windows of their own, so each names its end.
    var alerts: [String] {
        guard let serviceLevel, let end = serviceLevel.rates?.end else { return [] }
        return serviceLevel.firing.map { $0.text(until: zone.text(end)) }
    }

    /// A sentence for each gap of the report and of the detail.
    var gapSentences: [String] {
        var sentences = report.gaps.map { $0.sentence(ofAccepted: report.accepted) }
        if let journal = report.source.journal {
            if journal.timeAbsent > .zero {
                sentences.append(
                    "the daemon was absent for \(spanInWords(journal.timeAbsent)) in all, between its entries")
            }
            if journal.beginsLate(for: report.window), let begin = journal.begin {
                sentences.append(
                    "the journal begins at \(zone.text(begin)): earlier outcomes have no entry in it")
            }
        }
        if let begin = detail.rowsBegin {
            sentences.append(
                "requests accepted before \(zone.text(begin)) have figures and no rows (Retention=, MaxSize=): the "
                    + "report counts them by whole minutes, and lists of single invocations lack them"
            )
        }
        if detail.clockSetBack > 0 {
            sentences.append(
                "\(grouped(detail.clockSetBack)) \(detail.clockSetBack == 1 ? "request has" : "requests have") an earlier "
                    + "time than the request before: the clock was set back")
        }
        return sentences
    }

    /// The share of due invocations that were handled, with its parts.
    var success: String {
        let due = report.compliance.due
        guard due > 0 else { return "nothing was due" }
        let handled = report.outcomes[.handled] ?? 0
        let failed = report.outcomes[.failed] ?? 0
        let text = handled == due ? "100 %" : Compliance(due: due, missed: due - handled).description
        return "\(text)  (due \(grouped(due)), failed \(grouped(failed)), missed \(grouped(report.compliance.missed)))"
    }
}

extension ServiceLevel.Alert {
    /// The alert for people.
    fileprivate func text(until end: String) -> String {
        let pace =
            threshold == 1
            ? "faster than allowed" : "more than \(rounded(threshold, decimals: 1)) times as fast as allowed"
        return
            "Alert (\(severity.rawValue)): the error budget burns \(pace), in the \(long.rawValue) before \(end) "
            + "and in the last \(short.rawValue) of it"
    }
}

/// The program that made a report, and the time: a page attached to a ticket has no other source for them.
public struct ReportMaker: Hashable, Sendable {
    /// The program with its version.
    public let program: String
    /// The name of the machine that it ran on.
    public let host: String
    /// The time of the report.
    public let time: WallTime

    /// Joins the fields.
    public init(program: String, host: String, time: WallTime) {
        (self.program, self.host, self.time) = (program, host, time)
    }

    /// Returns `Made by pushctl 0.2.0 on shop-1 at 2026-11-21 10:00:00 +01:00`.
    func text(_ zone: LocalZone) -> String { "Made by \(program) on \(host) at \(zone.text(time))" }
}

extension LocalZone {
    /// Returns the paragraph with a page's maker, below its window; empty without a maker.
    func markup(_ maker: ReportMaker?) -> Markup {
        maker.map { "<p class=\"soft\">\($0.text(self))</p>\n" } ?? ""
    }
}
