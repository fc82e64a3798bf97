import PushModel

/// The parts of the report for people that need no detail.
extension ComplianceReport {
    func heading(_ objective: Percent?, _ zone: LocalZone) -> String {
        var lines = ["Window               \(windowText(zone))"]
        if let journal = source.journal { lines.append("Source               \(journal.text(zone))") }
        lines += [
            "Mode                 \(modeText)",
            "Deadline             \(deadlineText)",
            "Deadline compliance  \(compliance.text(failed: failed))",
        ]
        if let objective {
            let verdict = compliance.meets(objective) ? "met" : "not met"
            lines.append("Objective            \(objective) %: \(compliance.due == 0 ? "nothing was due" : verdict)")
        }
        lines.append("Invocations          \(balanceText)")
        return lines.joined(separator: "\n") + "\n"
    }

    /// The number of invocations that failed in time: they keep the deadline.
    var failed: Int { outcomes[.failed] ?? 0 }

    /// The compliance for a title, with the failures: a handler that always fails keeps every deadline.
    var verdict: String { "\(compliance)" + (failed > 0 ? ", \(grouped(failed)) failed" : "") }

    var modeText: String {
        switch mode {
        case .one(.device): "device: the deadline counts from the invocation"
        case .one(.relay): "relay: the deadline counts from acceptance"
        case .mixed: "mixed: the mode was changed, so deadlines count from different instants"
        }
    }

    var deadlineText: String {
        guard let shortestBudget, shortestBudget < budget else { return span(budget) }
        return "\(span(budget)); the shortest that a route gives (Deadline=) is \(span(shortestBudget))"
    }

    /// The numbers of decided invocations and of those in flight, as far as the source has them.
    var balanceText: String {
        guard source == .ledger else { return "\(grouped(decided)) decided; the number in flight is not known" }
        let of = requests == 1 ? "of 1 request" : "of \(grouped(requests)) requests"
        let without = requestsWithoutInvocation
        return "\(owners.sum), \(of)" + (without == 0 ? "" : ", \(grouped(without)) without an invocation")
            + (balanced ? "" : "; NOT BALANCED, see the gaps")
    }

    var outcomeTable: TextTable {
        var table = TextTable([("Outcome", .left), ("Count", .right)])
        for outcome in Outcome.allCases {
            guard let count = outcomes[outcome] else { continue }
            table.add([outcome.rawValue, grouped(count)], outcome.isMissed || outcome == .failed ? .bad : .plain)
        }
        return table
    }

    var handlerTable: TextTable { Self.groupTable("Handler (ms)", byHandler) }

    /// The numbers of attempts that handlers declined or asked to repeat; `nil` without any.
    var answerTable: TextTable? {
        let answers = byHandler.sorted { $0.key < $1.key }.filter { $0.value.declined + $0.value.retries > 0 }
        guard !answers.isEmpty else { return nil }
        var table = TextTable([("Handler", .name), ("Declined", .right), ("Asked for a retry", .right)])
        for (name, group) in answers { table.add([name, grouped(group.declined), grouped(group.retries)]) }
        return table
    }

    var observerHeading: String {
        """
        Observers (not in the figures above)
        Invocations          \(observerBalance)
        Deadline compliance  \(observers.tally.compliance.text)

        """
    }

    /// The number of copies for observing routes, as far as the source has it.
    var observerBalance: String {
        source == .ledger ? observers.tally.sum : "\(grouped(observers.tally.decided)) decided"
    }

    /// Returns a row for each group: its counts and times.
    static func groupTable(_ title: String, _ groups: [String: FigureGroup]) -> TextTable {
        groupTable([title], groups.sorted { $0.key < $1.key }.map { (names: [$0.key], group: $0.value) })
    }

    /// Returns a row for each group with several names, and a column for each name.
    static func groupTable(_ titles: [String], _ groups: [(names: [String], group: FigureGroup)]) -> TextTable {
        let figures: [(title: String, alignment: TextTable.Alignment)] =
            [
                ("Count", .right), ("Handled", .right), ("Failed", .right), ("Missed", .right),
            ] + FigureGroup.times.map { (title: $0.title, alignment: .right) }
        var table = TextTable(
            titles.map { (title: $0, alignment: .name) } + figures, keys: titles.count)
        for (names, group) in groups {
            let counts = [group.count, group.handled, group.failed, group.compliance.missed].map { grouped($0) }
            table.add(
                names + counts + group.shownTimes, group.compliance.missed > 0 || group.alwaysFails ? .bad : .plain)
        }
        return table
    }

    var limitTable: TextTable {
        var table = TextTable(
            [
                ("Limit", .right), ("Of", .left), ("Callback", .left), ("Counts from", .left), ("Within", .right),
                ("Over", .right),
            ], keys: 2)
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

    /// - Parameter width: the width of the terminal, a part of which a name within a sentence may take.
    func missTable(width: Int?) -> TextTable { slowTable(slowestMisses.rows, width) }

    /// Returns the slowest invocations, in time or late; empty if they are the slowest misses.
    func slowestTable(width: Int?) -> TextTable {
        slowTable(slowest.rows == slowestMisses.rows ? [] : slowest.rows, width)
    }

    private func slowTable(_ rows: [InvocationRecord], _ width: Int?) -> TextTable {
        let names = shownPredecessors(rows.compactMap { $0.result?.waitedFor }, width)
        let hasWaits = rows.contains { $0.result?.waitedFor != nil }
        var table = TextTable(
            [
                ("Seq", .right), ("n", .right), ("Callback", .left), ("Provider", .name), ("Handler", .name),
                ("Outcome", .left), ("Exec ms", .right), ("Total ms", .right),
            ] + (hasWaits ? [("", .sentence)] : []), keys: 2)
        for row in rows {
            guard let result = row.result else { continue }
            table.add(
                [
                    row.id.seq.description, String(row.id.n), row.callback.rawValue, row.provider ?? "-",
                    row.handler ?? "-", result.outcome.rawValue, groupedMilliseconds(result.exec.microseconds),
                    groupedMilliseconds(result.total.microseconds),
                ] + (hasWaits ? [result.waitText(names) ?? ""] : []))
        }
        return table
    }

    /// - Parameter width: the width of the terminal, a part of which a name within a sentence may take.
    func waitTable(width: Int?) -> TextTable {
        let names = shownPredecessors(longestWaits.rows.compactMap { $0.result?.waitedFor }, width)
        var table = TextTable(
            [("Seq", .right), ("n", .right), ("Provider", .name), ("Handler", .name), ("", .sentence)], keys: 2)
        for row in longestWaits.rows {
            guard let result = row.result, let wait = result.waitText(names) else { continue }
            table.add([row.id.seq.description, String(row.id.n), row.provider ?? "-", row.handler ?? "-", wait])
        }
        return table
    }

    /// Returns the text to show for each handler of `predecessors` within a sentence.
    private func shownPredecessors(_ predecessors: [Predecessor], _ width: Int?) -> [String: String] {
        let names = Set(predecessors.compactMap { $0.handler?.showingControls() })
        return shortenedApart(names, to: width.map { max(12, $0 / 2 - 24) } ?? .max)
    }
}

extension OutcomeTally {
    /// The number of accepted invocations as the sum of decided and unfinished ones.
    fileprivate var sum: String {
        "\(grouped(accepted)) accepted = \(grouped(decided)) decided + \(grouped(inFlight)) in flight"
    }
}

extension Compliance {
    /// The share with its counts.
    var text: String { text() }

    /// Returns the share with its counts, with another word for the misses, and with the failures if there are any.
    func text(missed word: String = "missed", failed: Int = 0) -> String {
        let failures = failed > 0 ? ", failed \(grouped(failed))" : ""
        return due == 0 ? description : "\(self)  (due \(grouped(due)), \(word) \(grouped(missed))\(failures))"
    }
}
