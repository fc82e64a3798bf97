import PushModel

/// A compliance report with all that is derived from it, as the formats show it.
public struct ReportDocument: Sendable {
    /// The figures.
    public let report: ComplianceReport
    /// The figures beside them, of the same rows.
    public let detail: ReportDetail
    /// The objective with its error budget; `nil` without an objective.
    public let serviceLevel: ServiceLevel?
    /// What got worse since an earlier report; `nil` without one.
    public let comparison: Comparison?
    /// Who made it, where and when; `nil` where nobody said so.
    public let maker: ReportMaker?
    /// In which people read times.
    public let zone: LocalZone

    /// Joins the parts.
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

    /// What a reader has to know before the figures: handlers that keep every deadline and still handle nothing, alerts,
    /// and what got worse.
    public var warnings: [String] { warningsOfWindow + alerts }

    /// Those of the window of the report.
    var warningsOfWindow: [String] {
        handlersInVain + (comparison?.worse.map { "Worse than the baseline: \($0.text)" } ?? [])
    }

    /// The handlers that handled nothing, each as a sentence.
    var handlersInVain: [String] {
        report.byHandler.sorted { $0.key < $1.key }.filter { $0.value.alwaysFails }.map { name, group in
            "Handler \(name) handled nothing: \(grouped(group.failed)) of \(grouped(group.count)) failed"
        }
    }

    /// The alerts, whose windows are others than the report's: each names their end.
    var alerts: [String] {
        guard let serviceLevel, let end = serviceLevel.rates?.end else { return [] }
        return serviceLevel.firing.map { $0.text(until: zone.text(end)) }
    }

    /// The gaps of the report, and those that only the detail shows, each as a sentence.
    var gapSentences: [String] {
        var sentences = report.gaps.map { $0.sentence(ofAccepted: report.accepted) }
        if let journal = report.source.journal {
            if journal.timeAbsent > .zero {
                sentences.append(
                    "the daemon was away for \(spanInWords(journal.timeAbsent)) in all, between its entries")
            }
            if journal.beginsLate(for: report.window), let begin = journal.begin {
                sentences.append(
                    "the journal begins at \(zone.text(begin)): what was decided before has no entry any more")
            }
        }
        if let begin = detail.rowsBegin {
            sentences.append(
                "what was accepted before \(zone.text(begin)) has figures and no rows any more (Retention=, MaxSize=): it is "
                    + "counted by whole minutes, and lists of single invocations lack it")
        }
        if detail.clockSetBack > 0 {
            sentences.append(
                "\(grouped(detail.clockSetBack)) \(detail.clockSetBack == 1 ? "request has" : "requests have") an earlier "
                    + "time than the request before: the clock was set back")
        }
        return sentences
    }

    /// Handled of due, as a share with its parts.
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
