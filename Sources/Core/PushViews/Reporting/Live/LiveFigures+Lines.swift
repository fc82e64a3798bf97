import PushModel

/// A fact for people with its label.
struct LabelledFact {
    let label: String
    let text: String
    var tone = ReportLine.Tone.plain

    /// Returns the line, with the text behind a label column of this width.
    func line(_ width: Int) -> ReportLine {
        ReportLine(label + String(repeating: " ", count: max(1, width - label.count)) + text, tone)
    }
}

extension LiveFigures {
    /// The accepted and decided requests and the compliance, for the screen and for a status.
    ///
    /// - Parameters:
    ///   - status: the daemon's answer to `op: status`; `nil`: it gave none.
    ///   - now: the time of the figures.
    ///   - width: the characters for a text and a chart of the last minute behind it; `nil`: no chart.
    func facts(_ status: JSONNode?, at now: WallTime, chartWithin width: Int? = nil) -> [LabelledFact] {
        let kept = compliance
        var rate = "\(Self.rate(decidedRate(at: now)))  \(grouped(decided)) in the last \(spanInWords(span(at: now)))"
        let chart = width.map { TextStyle.sparkline(decidedLately(at: now), length: $0 - rate.count - 2) }
        if let chart, !chart.isEmpty { rate += "  \(chart)" }
        return [
            LabelledFact(
                label: "Accepted",
                text: Self.rate(acceptedRate(at: now)) + (status.map { "  \(Self.accepted($0))" } ?? "")),
            LabelledFact(label: "Decided", text: rate),
            LabelledFact(
                label: "Deadline",
                text:
                    "\(kept)\(time)  due \(grouped(kept.due)), missed \(grouped(kept.missed)), failed \(grouped(failed))",
                tone: kept.missed > 0 ? .bad : kept.due > 0 && failed == 0 ? .good : .plain),
        ]
    }

    /// The range of the handlers' budgets, for people.
    private var time: String {
        guard let budgets else { return "" }
        let (least, most) = (PushViews.span(budgets.lowerBound), PushViews.span(budgets.upperBound))
        return least == most ? " of \(most)" : " of \(least) to \(most)"
    }

    /// Returns the numbers of accepted requests and of those in flight.
    static func accepted(_ status: JSONNode) -> String {
        "\(grouped(status["accepted_since_start"]?.int64 ?? 0)) since start, "
            + "in flight \(grouped(status["requests_in_flight"]?.int64 ?? 0))"
            + " (\(grouped(status["bytes_in_flight"]?.int64 ?? 0)) bytes)"
    }

    /// Returns a missed invocation for people.
    static func text(ofMiss row: ReportRow, _ zone: LocalZone) -> String? {
        guard let result = row.invocation.result else { return nil }
        return "\(zone.text(result.decidedAt, milliseconds: true))  seq \(row.invocation.id.seq.value)  "
            + "\(result.outcome.rawValue)  \(row.invocation.handler ?? "-")  \(grouped(result.total.milliseconds)) ms"
    }

    private static func rate(_ tenths: Int) -> String { "\(grouped(tenths / 10)).\(tenths % 10)/s" }
}
