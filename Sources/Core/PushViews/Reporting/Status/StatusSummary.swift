public import PushModel

/// The state of the daemon for people in about ten lines. The status itself has more.
public struct StatusSummary {
    private let status: JSONNode
    private let figures: LiveFigures?
    private let now: WallTime
    private let zone: LocalZone

    private static let labelWidth = 15

    /// - Parameters:
    ///   - status: the daemon's answer to `op: status`.
    ///   - figures: the figures of the ledger; `nil`: it cannot be read.
    ///   - now: the time of the summary.
    ///   - zone: the zone of times for people.
    public init(_ status: JSONNode, _ figures: LiveFigures?, at now: WallTime, _ zone: LocalZone) {
        (self.status, self.figures, self.now, self.zone) = (status, figures, now, zone)
    }

    /// Returns the lines.
    ///
    /// - Parameter unreadable: the reason why the ledger cannot be read.
    public func lines(unreadable: String? = nil) -> [ReportLine] {
        if let fleet, fleet.isFollower {
            return [ReportLine(heading, .heading), fleet.fact.line(Self.labelWidth)]
        }
        let problems = StatusField.problems(status) + waiting
        let facts: [LabelledFact] =
            (fleet.map { [$0.fact] } ?? []) + [configuration, handlers] + deadline(unreadable) + [disk, customData]
            + Self.backlog(status) + refused
            + (problems.isEmpty ? [LabelledFact(label: "Problems", text: "none", tone: .good)] : problems)
        return [ReportLine(heading, .heading)] + facts.map { $0.line(Self.labelWidth) }
    }

    private func text(_ key: String, of node: JSONNode? = nil) -> String { (node ?? status)[key]?.string ?? "-" }
    private func number(_ key: String, of node: JSONNode? = nil) -> Int64 { (node ?? status)[key]?.int64 ?? 0 }

    private var heading: String {
        let start = status["process"]?["started_at_ms"]?.int64.map {
            ", since \(zone.text(WallTime(milliseconds: $0)))"
        }
        return "pushrouterd \(text("version")), mode \(text("mode")), \(text("state"))\(start ?? ""), "
            + "up \(spanInWords(.milliseconds(number("uptime_ms")))), pid \(number("pid"))"
    }

    /// The role of a machine that shares a log with others.
    private var fleet: (fact: LabelledFact, isFollower: Bool)? {
        // A single machine has `null` there.
        guard let fleet = status["fleet"], let part = fleet["role"]?.string else { return nil }
        let isFollower = part == "follower"
        let role =
            isFollower
            ? "follows as \(text("node", of: fleet)); "
                + (fleet["leader"]?.string.map { "\($0) leads, term \(number("term", of: fleet))" }
                    ?? "no machine leads")
            : "leads as \(text("node", of: fleet)), term \(number("term", of: fleet))"
        let behind =
            isFollower
            ? "; \(counted(Int(number("batches_behind", of: fleet)), "batch", "batches")) behind, complete "
                + "\(spanInWords(.milliseconds(number("behind_ms", of: fleet)))) ago" : ""
        let age = spanInWords(.milliseconds(number("engine_answer_age_ms", of: fleet)))
        let problem = fleet["engine_problem"]?.string
        let isAway = fleet["engine_answers"]?.bool == false || problem != nil
        let unprotected = number("unprotected_ms", of: fleet)
        let engine =
            isAway
            ? "; the database last answered \(age) ago" + (problem.map { ": \($0)" } ?? "")
            : unprotected > 0
                ? "; no standby of the database for \(spanInWords(.milliseconds(unprotected)))" : ""
        return (
            LabelledFact(
                label: "Pair", text: role + behind + engine, tone: isAway || unprotected > 0 ? .bad : .plain),
            isFollower
        )
    }

    private var configuration: LabelledFact {
        let isOld = status["configuration_problem"]?.string != nil
        let routes = status["routes"]?.int64.map { ": \(counted(Int($0), "route"))" } ?? ""
        return LabelledFact(
            label: "Configuration",
            text: (isOld ? "the last good one, since the one on disk has an error" : "in force as it was last read")
                + routes,
            tone: isOld ? .warning : .plain)
    }

    private var handlers: LabelledFact {
        let all = status["handlers"]?.members ?? []
        let sums = ["running", "waiting"].map { key in
            "\(grouped(all.reduce(0) { $0 + number(key, of: $1.value) })) \(key)"
        }
        let notable = all.compactMap { name, handler -> String? in
            if let breaker = handler["breaker"]?.string, breaker != "closed" { return "\(name): breaker \(breaker)" }
            return handler["draining"]?.bool == true ? "\(name): draining" : nil
        }
        let text = ([counted(all.count, "handler")] + sums).joined(separator: ", ")
        return LabelledFact(
            label: "Handlers", text: ([text] + notable).joined(separator: "; "),
            tone: notable.isEmpty ? .plain : .warning)
    }

    /// Returns the incoming and the decided requests, the compliance, and the last miss.
    private func deadline(_ unreadable: String?) -> [LabelledFact] {
        guard let figures else {
            return [
                LabelledFact(label: "Accepted", text: LiveFigures.accepted(status)),
                LabelledFact(label: "Deadline", text: unreadable ?? "-", tone: .warning),
            ]
        }
        let miss = figures.misses.last.flatMap { LiveFigures.text(ofMiss: $0, zone) }
        return figures.facts(status, at: now) + [
            LabelledFact(
                label: "Last miss", text: miss ?? "none in the last \(spanInWords(figures.span(at: now)))",
                tone: miss == nil ? .plain : .bad)
        ]
    }

    /// Harmless states that need attention.
    private var waiting: [LabelledFact] {
        let store = status["store"]
        let aside = store?["set_aside"]?.elements.compactMap(\.string) ?? []
        return [
            store?["pruning_waits"]?.string.map { LabelledFact(label: "Pruning waits", text: $0, tone: .warning) },
            aside.isEmpty
                ? nil : LabelledFact(label: "Set aside", text: aside.joined(separator: ", "), tone: .warning),
        ].compactMap(\.self)
    }

    /// Returns what waits beside requests and custom data; empty without any.
    static func backlog(_ status: JSONNode) -> [LabelledFact] {
        let letters = status["dead_letters"]
        var facts: [LabelledFact] = []
        if let count = letters?["count"]?.int64, count > 0 {
            let handlers = (letters?["handlers"]?.members ?? []).map { name, share in
                "\(name) \(grouped(share["count"]?.int64 ?? 0))"
            }
            let age = spanInWords(.milliseconds(letters?["oldest_age_ms"]?.int64 ?? 0))
            facts.append(
                LabelledFact(
                    label: "Dead letters",
                    text: "\(grouped(count)) of \(size(letters?["bytes"]?.int64 ?? 0)), the oldest for \(age): "
                        + handlers.joined(separator: ", "),
                    tone: .warning))
        }
        if let open = status["publishes_open"]?.int64, open > 0 {
            let left = grouped(status["publish_deliveries_left"]?.int64 ?? 0)
            facts.append(LabelledFact(label: "Publishes", text: "\(grouped(open)) with \(left) deliveries left"))
        }
        if status["erasures_waiting"]?.int64 ?? 0 > 0 {
            facts.append(LabelledFact(label: "Erasures", text: "one is not complete", tone: .warning))
        }
        return facts
    }

    /// The connections and requests that were refused because a limit was reached, and those that a rule refused.
    private var refused: [LabelledFact] {
        let limits = ["connections", "peer_connections", "descriptors", "overloaded", "unavailable"]
        let counts = limits.compactMap { limit in
            let count = status["clients"]?["refused"]?[limit]?.int64 ?? 0
            return count > 0 ? "\(limit) \(grouped(count))" : nil
        }
        guard !counts.isEmpty else { return refusedByRules }
        let text = "by limits: \(counts.joined(separator: ", "))"
        return [LabelledFact(label: "Refused", text: text, tone: .warning)] + refusedByRules
    }

    private var refusedByRules: [LabelledFact] {
        let all = status["clients"]?["refused_by_rule"]?.elements ?? []
        guard let age = all.compactMap({ $0["age_ms"]?.int64 }).min() else { return [] }
        var counts: [String: Int64] = [:]
        for one in all { counts[text("rule", of: one), default: 0] += number("count", of: one) }
        let rules = counts.sorted { $0.key < $1.key }.map { "\($0.key) \(grouped($0.value))" }
        return [
            LabelledFact(
                label: "Refused",
                text: "by rules of producers.d: \(rules.joined(separator: ", ")), the last "
                    + "\(spanInWords(.milliseconds(age))) ago",
                tone: age < 3_600_000 ? .warning : .plain)
        ]
    }

    private var disk: LabelledFact {
        let store = status["store"]
        let limit = store?["ledger_limit_bytes"]?.int64.map { " of \(Self.size($0))" }
        let isSlow = store?["is_slow"]?.bool == true
        return LabelledFact(
            label: "Disk",
            text:
                "log \(Self.size(number("log_used_bytes", of: store))) of \(Self.size(number("log_limit_bytes", of: store))), "
                + "ledger \(Self.size(number("ledger_bytes", of: store)))\(limit ?? ""), "
                + "last commit \(span(.microseconds(number("last_commit_us", of: store))))"
                + (isSlow ? ": slow" : ""),
            tone: isSlow ? .warning : .plain)
    }

    private var customData: LabelledFact {
        let data = status["custom_data"]
        let waiting = EntryState.allCases.compactMap { state in
            data?[state.rawValue]?.int64.flatMap { $0 > 0 ? "\(grouped($0)) \(state.rawValue)" : nil }
        }
        let sending = data?["sending"]
        let phase = sending?["phase"]?.string.map { phase -> String in
            let words = phase.split(separator: "_").joined(separator: " ")
            return "; forwarder \(words)" + (sending?["reason"]?.string.map { ": \($0)" } ?? "")
        }
        return LabelledFact(
            label: "Custom data",
            text: (waiting.isEmpty ? "no entry waits" : waiting.joined(separator: ", ")) + (phase ?? ""),
            tone: sending?["phase"]?.string == SendingState.Phase.stopped.rawValue ? .warning : .plain)
    }

    /// Returns a number of bytes in the fitting unit.
    private static func size(_ bytes: Int64) -> String {
        guard bytes >= 1024 else { return counted(Int(bytes), "byte") }
        let units = ["KiB", "MiB", "GiB", "TiB"]
        var (value, unit) = (Double(bytes) / 1024, 0)
        while value >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
        return "\(rounded(value, decimals: 1)) \(units[unit])"
    }
}
