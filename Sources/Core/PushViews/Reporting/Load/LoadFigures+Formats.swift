import PushModel

extension LoadFigures {
    /// The figures for people, a line each.
    public var text: String {
        var lines = [
            ("Requests", "\(grouped(sent)) in \(roundedSpan(length)), \(setupText)"),
            ("Accepted", "\(grouped(accepted)), \(rounded(rate, decimals: rate < 100 ? 1 : 0)) a second"),
        ]
        if refusedInAll > 0 {
            let codes = refused.sorted { $0.key < $1.key }.map { "\($0.key) \(grouped($0.value))" }
            lines.append(("Refused", "\(grouped(refusedInAll)): \(codes.joined(separator: ", "))"))
        }
        let problems = [
            ("Unanswered", unanswered, "no reply came, so the daemon may have accepted these requests"),
            ("Overdue", overdue, "not sent: the daemon did not keep up with the rate"),
            ("Rejected", rejectedParts, "accepted, with custom data that was rejected"),
            ("Stray replies", strayReplies, "replies to no request"),
            ("Lost connections", lostConnections, "closed by the daemon"),
        ]
        for (label, count, what) in problems where count > 0 { lines.append((label, "\(grouped(count)): \(what)")) }
        let times = Self.quantiles.map { "\($0.name) \(groupedMilliseconds(latency.quantile(permille: $0.permille)))" }
        lines.append(
            ("Acknowledged", "\(times.joined(separator: ", ")), max \(groupedMilliseconds(latency.max)) ms"))
        lines.append(
            ("", setup.rate == nil ? "from the sending of each request" : "from the scheduled time of each request"))
        lines += outcomeLines
        return lines.map { label, text in
            (label + String(repeating: " ", count: max(0, 21 - label.count)) + text) + "\n"
        }.joined()
    }

    private var setupText: String {
        let connections = "\(counted(setup.connections, "connection")) with up to \(setup.pipeline) in the pipeline"
        return setup.rate.map { "scheduled at \(rounded($0, decimals: 3)) a second, \(connections)" } ?? connections
    }

    private var outcomeLines: [(String, String)] {
        if let outcomesProblem { return [("Outcomes", "not known: \(outcomesProblem)")] }
        guard let outcomes else { return [] }
        var parts = Outcome.allCases.compactMap { outcome in
            outcomes.outcomes[outcome].map { "\(outcome.rawValue) \(grouped($0))" }
        }
        if outcomes.inFlight > 0 { parts.append("in flight \(grouped(outcomes.inFlight))") }
        let compliance = outcomes.compliance
        let counts = "(due \(grouped(compliance.due)), missed \(grouped(compliance.missed)))"
        return [
            ("Outcomes", parts.isEmpty ? "none" : parts.joined(separator: ", ")),
            ("Deadline compliance", compliance.due == 0 ? "nothing was due" : "\(compliance)  \(counts)"),
        ]
    }

    private static let quantiles = [
        (name: "p50", permille: 500), (name: "p90", permille: 900), (name: "p99", permille: 990),
        (name: "p99.9", permille: 999),
    ]

    /// The figures for programs, one object on one line.
    public var json: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.member("connections", setup.connections)
            $0.member("pipeline", setup.pipeline)
            $0.member("rate", setup.rate)
            $0.member("requests", sent)
            $0.member("accepted", accepted)
            $0.member("refused", refusedInAll)
            $0.member(
                "errors",
                object: { errors in
                    for (code, count) in refused.sorted(by: { $0.key < $1.key }) { errors.member(code, count) }
                })
            $0.member("unanswered", unanswered)
            $0.member("overdue", overdue)
            $0.member("rejected", rejectedParts)
            $0.member("stray_replies", strayReplies)
            $0.member("lost_connections", lostConnections)
            $0.member("length_ms", length)
            $0.member("accepted_per_second", rate)
            $0.member("latency_from", setup.rate == nil ? "sent" : "meant")
            $0.key("latency")
            latency.write(to: &$0)
            $0.member("first_seq", numbers?.lowerBound.value)
            $0.member("last_seq", numbers?.upperBound.value)
            writeOutcomes(to: &$0)
        }
        return writer.bytes
    }

    private func writeOutcomes(to writer: inout JSONWriter) {
        writer.member("outcomes_problem", outcomesProblem)
        guard let report = outcomes else { return writer.member("outcomes", nil as String?) }
        writer.key("outcomes")
        writer.counts(report.outcomes)
        writer.member("in_flight", report.inFlight)
        writer.members(of: report.compliance)
    }
}
