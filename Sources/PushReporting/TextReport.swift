import PushModel

extension ComplianceReport {
    /// The report for people.
    /// - Parameter objective: the share of the due that must keep the deadline, if one was asked for.
    /// - Returns: lines for a terminal of 100 columns, without colour.
    public func text(objective: Percent? = nil) -> String {
        [
            heading(objective), outcomeTable, handlerTable, limitTable, missTable, gapList,
        ].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private func heading(_ objective: Percent?) -> String {
        var lines = [
            "Window               \(windowText)",
            "Mode                 \(modeText)",
            "Deadline             \(deadlineText)",
            "Deadline compliance  \(complianceText)",
        ]
        if let objective {
            let verdict = compliance.meets(objective) ? "met" : "not met"
            lines.append("Objective            \(objective) %: \(verdict)")
        }
        lines.append("Invocations          \(balanceText)")
        return lines.joined(separator: "\n") + "\n"
    }

    private var windowText: String {
        switch (window.since?.rfc3339, window.until?.rfc3339) {
        case (nil, nil): "all that the ledger holds"
        case (let since?, nil): "since \(since)"
        case (nil, let until?): "until \(until)"
        case (let since?, let until?): "\(since) to \(until)"
        }
    }

    private var modeText: String {
        switch mode {
        case .one(.device): "device: the deadline counts from the invocation"
        case .one(.relay): "relay: the deadline counts from acceptance"
        case .mixed: "mixed: it was changed, and so what the deadline counts from"
        }
    }

    private var deadlineText: String {
        guard let shortestBudget, shortestBudget < budget else { return span(budget) }
        return "\(span(budget)); as little as \(span(shortestBudget)) where a route gives less"
    }

    private var complianceText: String {
        let figures = compliance
        guard figures.due > 0 else { return figures.description }
        return "\(figures)  (due \(grouped(figures.due)), missed \(grouped(figures.missed)))"
    }

    private var balanceText: String {
        let sum = "\(grouped(decided)) decided + \(grouped(inFlight)) in flight"
        let of = requests == 1 ? "of 1 request" : "of \(grouped(requests)) requests"
        return "\(grouped(accepted)) accepted = \(sum), \(of)" + (balanced ? "" : "; NOT BALANCED, see the gaps")
    }

    private var outcomeTable: String {
        var table = TextTable([("Outcome", .left), ("Count", .right)], widest: 20)
        for outcome in Outcome.allCases {
            if let count = outcomes[outcome] { table.add([outcome.rawValue, grouped(count)]) }
        }
        return table.text
    }

    private var handlerTable: String {
        var table = TextTable(
            [
                ("Handler, times in ms", .left), ("Count", .right), ("Due", .right), ("Missed", .right),
                ("Exec p50", .right), ("Exec p99", .right), ("Exec max", .right), ("Queue p99", .right),
            ], widest: 20)
        for (name, group) in byHandler.sorted(by: { $0.key < $1.key }) {
            table.add([
                name, grouped(group.count), grouped(group.compliance.due), grouped(group.compliance.missed),
                groupedMilliseconds(group.exec.quantile(permille: 500)),
                groupedMilliseconds(group.exec.quantile(permille: 990)), groupedMilliseconds(group.exec.max),
                groupedMilliseconds(group.queue.quantile(permille: 990)),
            ])
        }
        return table.text
    }

    private var limitTable: String {
        var table = TextTable(
            [
                ("Limit", .right), ("Of", .left), ("Callback", .left), ("Counts from", .left), ("Within", .right),
                ("Over", .right),
            ], widest: 28)
        for tally in limits where tally.within + tally.over > 0 {
            let limit = tally.limit
            table.add([
                span(limit.limit), limit.title, limit.callback.rawValue, limit.start.rawValue, grouped(tally.within),
                grouped(tally.over),
            ])
        }
        return table.text
    }

    private var missTable: String {
        var table = TextTable(
            [
                ("Seq", .right), ("n", .right), ("Callback", .left), ("Provider", .left), ("Handler", .left),
                ("Outcome", .left), ("Exec ms", .right), ("Total ms", .right),
            ], widest: 20)
        for row in slowestMisses.rows {
            guard let result = row.result else { continue }
            table.add([
                row.id.seq.description, String(row.id.n), row.callback.rawValue, row.provider ?? "-",
                row.handler ?? "-", result.outcome.rawValue, groupedMilliseconds(result.exec.microseconds),
                groupedMilliseconds(result.total.microseconds),
            ])
        }
        return table.text.isEmpty ? "" : "Slowest misses\n" + table.text
    }

    private var gapList: String {
        gaps.reduce(into: "") { $0 += "Gap: \(grouped($1.count)) of \(grouped(accepted)) rows \($1.message)\n" }
    }
}
