import PushFigures
public import PushModel

extension ComplianceReport {
    /// The report for programs.
    /// - Parameters:
    ///   - objective: the share of the due that must keep the deadline, if one was asked for.
    ///   - beside: writes members behind those of the report.
    /// - Returns: one JSON object on one line, with its line feed; milliseconds have up to three decimals.
    public func json(objective: Percent? = nil, beside: (inout JSONWriter) -> Void = { _ in }) -> [UInt8] {
        var writer = JSONWriter(reserving: 8192)
        writer.object {
            writeHeading(to: &$0)
            writeCompliance(objective, to: &$0)
            $0.member("limits", array: { writer in limits.forEach { $0.write(to: &writer) } })
            $0.member("by_handler", groups: byHandler, named: \.self)
            $0.member("by_route", groups: byRoute, named: \.self)
            $0.member("by_provider", groups: byProvider, named: \.self)
            $0.member("by_platform", groups: byPlatform, named: \.rawValue)
            $0.member("by_callback", groups: byCallback, named: \.rawValue)
            $0.member("by_priority", groups: byPriority, named: \.rawValue)
            $0.member("lowered_priority", loweredPriority)
            $0.member("slowest", array: { writer in slowest.rows.forEach { $0.write(to: &writer) } })
            $0.member("observers", object: { observers.write(to: &$0, source) })
            $0.member("gaps", array: { writer in gaps.forEach { $0.write(to: &writer) } })
            beside(&$0)
        }
        return writer.line()
    }

    private func writeHeading(to writer: inout JSONWriter) {
        switch mode {
        case .one(let mode): writer.member("mode", mode.rawValue)
        case .mixed: writer.member("mode", "mixed")
        }
        writer.key("window")
        writer.object {
            $0.member("since", window.since?.rfc3339)
            $0.member("until", window.until?.rfc3339)
            $0.member("first_at", covered?.lowerBound.rfc3339)
            $0.member("last_at", covered?.upperBound.rfc3339)
        }
        writer.member("source", object: { source.write(to: &$0) })
        writer.member("deadline_ms", budget)
        writer.member("accepted", known(accepted))
        writer.member("decided", decided)
        writer.member("in_flight", known(inFlight))
        writer.member("requests", known(requests))
        writer.member("outcomes", counts: outcomes)
    }

    /// A figure that the ledger alone has; `nil` of the journal.
    private func known(_ figure: Int) -> Int? { source == .ledger ? figure : nil }

    private func writeCompliance(_ objective: Percent?, to writer: inout JSONWriter) {
        writer.members(of: compliance)
        writer.key("slo")
        guard let objective else { return writer.null() }
        writer.object {
            $0.member("objective_percent", raw: objective.description.utf8)
            $0.member("met", compliance.meets(objective))
        }
    }
}

extension ReportSource {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("kind", word)
        guard let journal else { return }
        writer.member("unit", journal.unit)
        writer.member("directory", journal.directory)
        writer.member("begin", journal.begin?.rfc3339)
        writer.member("entries", journal.entries)
        writer.member("first", journal.first?.rfc3339)
        writer.member("last", journal.last?.rfc3339)
        writer.member("away_ms", journal.timeAbsent)
        writer.member("complete", !journal.isIncomplete)
        writer.member("unknown", array: { list in JournalFacts.unknown.forEach { list.string($0) } })
    }
}

extension ObserverFigures {
    fileprivate func write(to writer: inout JSONWriter, _ source: ReportSource) {
        writer.member("accepted", source == .ledger ? tally.accepted : nil)
        writer.member("in_flight", source == .ledger ? tally.inFlight : nil)
        writer.member("outcomes", counts: tally.outcomes)
        writer.members(of: tally.compliance)
        writer.member("by_route", groups: byRoute, named: \.self)
    }
}

extension FigureGroup {
    func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("count", count)
            $0.member("due", compliance.due)
            $0.member("missed", compliance.missed)
            $0.member("handled", handled)
            $0.member("failed", failed)
            if declined > 0 { $0.member("declined", declined) }
            if retries > 0 { $0.member("retries", retries) }
            for (name, histogram) in [("queue", queue), ("exec", exec), ("total", total)] {
                $0.key(name)
                histogram.write(to: &$0)
            }
        }
    }
}

extension Histogram {
    func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("p50_ms", quantile(permille: 500).map(Duration.microseconds))
            $0.member("p90_ms", quantile(permille: 900).map(Duration.microseconds))
            $0.member("p99_ms", quantile(permille: 990).map(Duration.microseconds))
            $0.member("p999_ms", quantile(permille: 999).map(Duration.microseconds))
            $0.member("max_ms", max.map(Duration.microseconds))
        }
    }
}

extension LimitTally {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("id", limit.id)
            $0.member("limit_ms", limit.limit)
            $0.key("applies_to")
            $0.object {
                $0.member("platform", limit.platform.rawValue)
                $0.member("callback", limit.callback.rawValue)
                if let transport = limit.transport { $0.member("transport", transport.rawValue) }
                if let priority = limit.priority { $0.member("priority", priority.rawValue) }
            }
            $0.member("counts_from", limit.start.rawValue)
            $0.member("within", within)
            $0.member("over", over)
            $0.member("source", limit.source)
            $0.member("consequence", limit.consequence)
        }
    }
}

extension InvocationRecord {
    func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("seq", id.seq.value)
            $0.member("n", id.n)
            $0.member("callback", callback.rawValue)
            $0.member("provider", provider)
            $0.member("handler", handler)
            $0.member("outcome", result?.outcome.rawValue)
            $0.member("exec_ms", result?.exec)
            $0.member("total_ms", result?.total)
            $0.members(ofWait: result)
        }
    }
}

extension ReportGap {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("kind", kind.rawValue)
            $0.member("count", count)
            $0.member("message", message)
        }
    }
}

extension JSONWriter {
    mutating func members(of compliance: Compliance) {
        member("due", compliance.due)
        member("missed", compliance.missed)
        member("compliance", compliance.fraction)
    }

    fileprivate mutating func members(of predecessor: Predecessor) {
        member("seq", predecessor.id.seq.value)
        member("n", predecessor.id.n)
        member("handler", predecessor.handler)
        member("took_ms", predecessor.took)
    }

    /// What blocked an invocation: how many were ahead of it in its lane, and the longest of them, where it waited.
    mutating func members(ofWait result: InvocationResult?) {
        guard let waitedFor = result?.waitedFor else { return }
        member("ahead", result?.ahead)
        member("waited_for", object: { $0.members(of: waitedFor) })
    }

    mutating func member(_ name: String, counts outcomes: [Outcome: Int]) {
        member(
            name,
            object: { writer in
                for outcome in Outcome.allCases { writer.member(outcome.rawValue, outcomes[outcome] ?? 0) }
            })
    }

    fileprivate mutating func member<Name>(_ key: String, groups: [Name: FigureGroup], named: (Name) -> String) {
        let sorted = groups.map { (name: named($0.key), group: $0.value) }.sorted { $0.name < $1.name }
        member(
            key,
            object: { writer in
                for (name, group) in sorted {
                    writer.key(name)
                    group.write(to: &writer)
                }
            })
    }

    mutating func member(_ name: String, _ span: Duration?) {
        if let span { member(name, raw: milliseconds(span).utf8) } else { member(name, nil as String?) }
    }
}
