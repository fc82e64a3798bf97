import PushModel

extension ComplianceReport {
    /// The report for people.
    ///
    /// - Parameters:
    ///   - objective: the share of the due that must keep the deadline, if one was asked for.
    ///   - zone: in which people read times.
    /// - Returns: lines for a terminal, without colour.
    public func text(objective: Percent? = nil, zone: LocalZone = .utc) -> String {
        [
            heading(objective, zone), outcomeTable, handlerTable, limitTable, missTable, waitTable, observerSection,
            gapList,
        ].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private func heading(_ objective: Percent?, _ zone: LocalZone) -> String {
        var lines = [
            "Window               \(zone.text(window))",
            "Mode                 \(modeText)",
            "Deadline             \(deadlineText)",
            "Deadline compliance  \(compliance.text)",
        ]
        if let objective {
            let verdict = compliance.meets(objective) ? "met" : "not met"
            lines.append("Objective            \(objective) %: \(verdict)")
        }
        lines.append("Invocations          \(balanceText)")
        return lines.joined(separator: "\n") + "\n"
    }

    private var modeText: String {
        switch mode {
        case .one(.device): "device: the deadline counts from the invocation"
        case .one(.relay): "relay: the deadline counts from acceptance"
        case .mixed: "mixed: the mode was changed, so deadlines count from different instants"
        }
    }

    private var deadlineText: String {
        guard let shortestBudget, shortestBudget < budget else { return span(budget) }
        return "\(span(budget)); as little as \(span(shortestBudget)) where a route gives less"
    }

    private var balanceText: String {
        let of = requests == 1 ? "of 1 request" : "of \(grouped(requests)) requests"
        let without = requestsWithoutInvocation
        return "\(owners.sum), \(of)" + (without == 0 ? "" : ", \(grouped(without)) without an invocation")
            + (balanced ? "" : "; NOT BALANCED, see the gaps")
    }

    private var outcomeTable: String {
        var table = TextTable([("Outcome", .left), ("Count", .right)], widest: 20)
        for outcome in Outcome.allCases {
            if let count = outcomes[outcome] { table.add([outcome.rawValue, grouped(count)]) }
        }
        return table.text
    }

    private var handlerTable: String {
        let answers = byHandler.sorted { $0.key < $1.key }.filter { $0.value.declined + $0.value.retries > 0 }
        guard !answers.isEmpty else { return groupTable("Handler (ms)", byHandler) }
        var table = TextTable([("Handler", .left), ("Declined", .right), ("Asked for a retry", .right)], widest: 20)
        for (name, group) in answers { table.add([name, grouped(group.declined), grouped(group.retries)]) }
        return groupTable("Handler (ms)", byHandler) + table.text
    }

    private var observerSection: String {
        guard observers.tally.accepted > 0 else { return "" }
        let lines = [
            "Observers (not in the figures above)",
            "Invocations          \(observers.tally.sum)",
            "Deadline compliance  \(observers.tally.compliance.text)",
        ]
        return lines.joined(separator: "\n") + "\n" + groupTable("Route (ms)", observers.byRoute)
    }

    private func groupTable(_ title: String, _ groups: [String: FigureGroup]) -> String {
        var table = TextTable(
            [
                (title, .left), ("Count", .right), ("Handled", .right), ("Failed", .right), ("Missed", .right),
                ("Exec p50", .right), ("p99", .right), ("max", .right), ("Queue p99", .right),
            ], widest: 20)
        for (name, group) in groups.sorted(by: { $0.key < $1.key }) {
            table.add([
                name, grouped(group.count), grouped(group.handled), grouped(group.failed),
                grouped(group.compliance.missed),
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

    private var waitTable: String {
        var table = TextTable(
            [("Seq", .right), ("n", .right), ("Provider", .left), ("Handler", .left), ("", .left)], widest: 60)
        for row in longestWaits.rows {
            guard let result = row.result, let predecessor = result.waitedFor else { continue }
            table.add([
                row.id.seq.description, String(row.id.n), shortened(row.provider ?? "-", to: 12),
                shortened(row.handler ?? "-", to: 12),
                "waited \(roundedSpan(result.queue)); longest ahead \(predecessor.text)",
            ])
        }
        return table.text.isEmpty ? "" : "Longest waits in a lane\n" + table.text
    }

    private var gapList: String {
        gaps.reduce(into: "") { $0 += "Gap: \(grouped($1.count)) of \(grouped(accepted)) rows \($1.message)\n" }
    }
}

extension OutcomeTally {
    /// What was accepted, as the sum of what became of it.
    fileprivate var sum: String {
        "\(grouped(accepted)) accepted = \(grouped(decided)) decided + \(grouped(inFlight)) in flight"
    }
}

extension Compliance {
    /// The share with the counts behind it.
    fileprivate var text: String {
        due == 0 ? description : "\(self)  (due \(grouped(due)), missed \(grouped(missed)))"
    }
}

extension Predecessor {
    /// `#41 (crm)`; with the place in the request where it is not the first.
    fileprivate var text: String {
        "#\(id.seq)" + (id.n == 0 ? "" : ".\(id.n)") + " (\(shortened(handler ?? "tracker", to: 16)))"
    }
}
