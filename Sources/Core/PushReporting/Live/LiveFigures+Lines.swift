import PushModel

/// A fact for people: its name, and what is to be said of it.
struct LabelledFact {
    let label: String
    let text: String
    var tone = ReportLine.Tone.plain

    /// The line, the text behind labels of this width.
    func line(_ width: Int) -> ReportLine {
        ReportLine(label + String(repeating: " ", count: max(1, width - label.count)) + text, tone)
    }
}

extension LiveFigures {
    /// What comes in, what was decided, and how the deadline was kept: for the screen and for a status.
    ///
    /// - Parameters:
    ///   - status: the daemon's answer to `op: status`; `nil`: it gave none.
    ///   - now: when.
    ///   - width: how many characters there are for a text and a chart of the last minute behind it; `nil`: no chart.
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

    /// The time that handlers had, for people.
    private var time: String {
        guard let budgets else { return "" }
        let (least, most) = (PushReporting.span(budgets.lowerBound), PushReporting.span(budgets.upperBound))
        return least == most ? " of \(most)" : " of \(least) to \(most)"
    }

    /// How much was accepted, and how much of it is in flight.
    static func accepted(_ status: JSONNode) -> String {
        "\(grouped(status["accepted_since_start"]?.int64 ?? 0)) since start, "
            + "in flight \(grouped(status["requests_in_flight"]?.int64 ?? 0))"
            + " (\(grouped(status["bytes_in_flight"]?.int64 ?? 0)) bytes)"
    }

    /// A missed invocation for people.
    static func text(ofMiss row: ReportRow, _ zone: LocalZone) -> String? {
        guard let result = row.invocation.result else { return nil }
        return "\(zone.text(result.decidedAt, milliseconds: true))  seq \(row.invocation.id.seq.value)  "
            + "\(result.outcome.rawValue)  \(row.invocation.handler ?? "-")  \(grouped(result.total.milliseconds)) ms"
    }

    private static func rate(_ tenths: Int) -> String { "\(grouped(tenths / 10)).\(tenths % 10)/s" }
}
