import PushFigures
public import PushModel

extension ComplianceReport {
    /// The report for people.
    ///
    /// - Parameters:
    ///   - objective: the share of the due that must keep the deadline, if one was asked for.
    ///   - zone: in which people read times.
    /// - Returns: lines for a terminal, without colour.
    public func text(objective: Percent? = nil, zone: LocalZone = .utc) -> String {
        let sections = [
            heading(objective, zone), outcomeTable.text, handlerTable.text, answerTable?.text ?? "", limitTable.text,
            missSection, waitSection,
            observerSection, gapList,
        ]
        return sections.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    func heading(_ objective: Percent?, _ zone: LocalZone) -> String {
        var lines = ["Window               \(zone.text(window))"]
        if let journal = source.journal { lines.append("Source               \(journal.text(zone))") }
        lines += [
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

    var modeText: String {
        switch mode {
        case .one(.device): "device: the deadline counts from the invocation"
        case .one(.relay): "relay: the deadline counts from acceptance"
        case .mixed: "mixed: the mode was changed, so deadlines count from different instants"
        }
    }

    var deadlineText: String {
        guard let shortestBudget, shortestBudget < budget else { return span(budget) }
        return "\(span(budget)); as little as \(span(shortestBudget)) where a route gives less"
    }

    private var balanceText: String {
        guard source == .ledger else { return "\(grouped(decided)) decided; what is in flight is not known" }
        let of = requests == 1 ? "of 1 request" : "of \(grouped(requests)) requests"
        let without = requestsWithoutInvocation
        return "\(owners.sum), \(of)" + (without == 0 ? "" : ", \(grouped(without)) without an invocation")
            + (balanced ? "" : "; NOT BALANCED, see the gaps")
    }

    var outcomeTable: TextTable {
        var table = TextTable([("Outcome", .left), ("Count", .right)], widest: 20)
        for outcome in Outcome.allCases {
            guard let count = outcomes[outcome] else { continue }
            table.add([outcome.rawValue, grouped(count)], outcome.isMissed || outcome == .failed ? .bad : .plain)
        }
        return table
    }

    var handlerTable: TextTable { Self.groupTable("Handler (ms)", byHandler) }

    /// How often handlers declined, or asked to be tried again; `nil` when none did.
    var answerTable: TextTable? {
        let answers = byHandler.sorted { $0.key < $1.key }.filter { $0.value.declined + $0.value.retries > 0 }
        guard !answers.isEmpty else { return nil }
        var table = TextTable([("Handler", .left), ("Declined", .right), ("Asked for a retry", .right)], widest: 20)
        for (name, group) in answers { table.add([name, grouped(group.declined), grouped(group.retries)]) }
        return table
    }

    private var observerSection: String {
        guard observers.tally.accepted > 0 else { return "" }
        return observerHeading + Self.groupTable("Route (ms)", observers.byRoute).text
    }

    var observerHeading: String {
        """
        Observers (not in the figures above)
        Invocations          \(source == .ledger ? observers.tally.sum : "\(grouped(observers.tally.decided)) decided")
        Deadline compliance  \(observers.tally.compliance.text)

        """
    }

    /// A row for each group: how many, how they ended, and their times.
    static func groupTable(_ title: String, _ groups: [String: FigureGroup]) -> TextTable {
        groupTable([title], groups.sorted { $0.key < $1.key }.map { (names: [$0.key], group: $0.value) })
    }

    /// The same for groups of several names, with a column for each.
    static func groupTable(_ titles: [String], _ groups: [(names: [String], group: FigureGroup)]) -> TextTable {
        let figures: [(title: String, alignment: TextTable.Alignment)] = [
            ("Count", .right), ("Handled", .right), ("Failed", .right), ("Missed", .right), ("Exec p50", .right),
            ("p99", .right), ("max", .right), ("Queue p99", .right),
        ]
        var table = TextTable(
            titles.map { (title: $0, alignment: .left) } + figures, widest: 20, keys: titles.count)
        for (names, group) in groups {
            let counts = [group.count, group.handled, group.failed, group.compliance.missed].map { grouped($0) }
            let times = [
                group.exec.quantile(permille: 500), group.exec.quantile(permille: 990), group.exec.max,
                group.queue.quantile(permille: 990),
            ].map(groupedMilliseconds)
            table.add(names + counts + times, group.compliance.missed > 0 || group.alwaysFails ? .bad : .plain)
        }
        return table
    }

    var limitTable: TextTable {
        var table = TextTable(
            [
                ("Limit", .right), ("Of", .left), ("Callback", .left), ("Counts from", .left), ("Within", .right),
                ("Over", .right),
            ], widest: 28, keys: 2)
        for tally in limits where tally.within + tally.over > 0 {
            let limit = tally.limit
            table.add(
                [
                    span(limit.limit), limit.title, limit.callback.rawValue, limit.start.rawValue,
                    grouped(tally.within),
                    grouped(tally.over),
                ], tally.over > 0 ? .bad : .plain)
        }
        return table
    }

    private var missSection: String { missTable.text.isEmpty ? "" : "Slowest misses\n" + missTable.text }

    var missTable: TextTable {
        var table = TextTable(
            [
                ("Seq", .right), ("n", .right), ("Callback", .left), ("Provider", .left), ("Handler", .left),
                ("Outcome", .left), ("Exec ms", .right), ("Total ms", .right),
            ], widest: 20, keys: 2)
        for row in slowestMisses.rows {
            guard let result = row.result else { continue }
            table.add([
                row.id.seq.description, String(row.id.n), row.callback.rawValue, row.provider ?? "-",
                row.handler ?? "-", result.outcome.rawValue, groupedMilliseconds(result.exec.microseconds),
                groupedMilliseconds(result.total.microseconds),
            ])
        }
        return table
    }

    private var waitSection: String { waitTable.text.isEmpty ? "" : "Longest waits in a lane\n" + waitTable.text }

    var waitTable: TextTable {
        var table = TextTable(
            [("Seq", .right), ("n", .right), ("Provider", .left), ("Handler", .left), ("", .left)], widest: 60,
            keys: 2)
        for row in longestWaits.rows {
            guard let result = row.result, let predecessor = result.waitedFor else { continue }
            table.add([
                row.id.seq.description, String(row.id.n), shortened(row.provider ?? "-", to: 12),
                shortened(row.handler ?? "-", to: 12),
                "waited \(roundedSpan(result.queue)); longest ahead \(predecessor.text)",
            ])
        }
        return table
    }

    private var gapList: String {
        gaps.reduce(into: "") { $0 += "Gap: \($1.sentence(ofAccepted: accepted))\n" }
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
