import PushFigures
public import PushModel

/// Draws what the daemon is doing now: lines of text, for a terminal of any size.
///
/// A line has no control character and no more characters than the screen is wide.
public struct LiveScreen: Sendable {
    /// By what the handlers are sorted.
    public enum Order: String, CaseIterable, Sendable {
        case name, running, p99, failures, misses

        /// The key that asks for it.
        public var key: UInt8 { rawValue.utf8.first ?? 0 }
    }

    /// By what the handlers are sorted.
    public var order = Order.misses
    /// Whether the picture stands still.
    public var isFrozen = false
    /// The zone of the times.
    public var zone: LocalZone

    /// - Parameter zone: the zone of the times.
    public init(zone: LocalZone) { self.zone = zone }

    /// The picture.
    ///
    /// - Parameters:
    ///   - status: the daemon's answer to `op: status`; `nil`: it gave none.
    ///   - problem: why it gave none.
    ///   - figures: of the ledger.
    ///   - now: when it is drawn.
    ///   - width: how many characters a line may have.
    ///   - height: how many lines there may be, with a line of keys as the last; `nil`: any number, without that line.
    public func lines(
        status: JSONNode?, problem: String?, figures: LiveFigures, at now: WallTime, width: Int, height: Int?
    ) -> [String] {
        var lines = head(status, problem, figures, now)
        lines += problems(status)
        let rows = LiveHandler.all(status, figures).sorted { LiveHandler.precedes($0, $1, by: order) }
        let misses = missLines(figures)
        let table = handlerLines(rows, width: width)
        let lanes = laneLines(status, width: width)
        if let height {
            // What the handlers leave is for lanes and misses, and a third of the room each in any case; a heading never
            // stands alone.
            let room = max(0, height - lines.count - 1)
            let (third, free) = (room / 3, max(0, room - table.count))
            let laneRoom = Self.room(min(lanes.count, max(third, free - min(misses.count, third))), least: 4)
            let missRoom = Self.room(min(misses.count, max(third, free - laneRoom)), least: 3)
            lines += Self.fitting(table, max(0, room - laneRoom - missRoom))
            lines += Self.fitting(lanes, laneRoom) + misses.prefix(missRoom)
            lines = Array(lines.prefix(max(0, height - 1)))
            lines += Array(repeating: "", count: max(0, height - 1 - lines.count))
            if height > 0 { lines.append(keys) }
        } else {
            lines += table + lanes + misses
        }
        return lines.map { shortened($0.showingControls(), to: max(1, width)) }
    }

    private func head(_ status: JSONNode?, _ problem: String?, _ figures: LiveFigures, _ now: WallTime) -> [String] {
        let time = zone.text(now) + (isFrozen ? ", frozen" : "")
        var lines: [String] = []
        if let status {
            let uptime = spanInWords(.milliseconds(status["uptime_ms"]?.int64 ?? 0))
            lines.append(
                "pushrouterd \(status["version"]?.string ?? "-"), mode \(status["mode"]?.string ?? "-"), "
                    + "\(status["state"]?.string ?? "-"), up \(uptime)")
        } else {
            lines.append("no answer from pushrouterd: \(problem ?? "-")")
        }
        lines.append(time)
        let accepted = status.map {
            "  \(grouped($0["accepted_since_start"]?.int64 ?? 0)) since start, "
                + "in flight \(grouped($0["requests_in_flight"]?.int64 ?? 0))"
                + " (\(grouped($0["bytes_in_flight"]?.int64 ?? 0)) bytes)"
        }
        lines.append("Accepted  \(rate(figures.acceptedRate(at: now)))" + (accepted ?? ""))
        let span = spanInWords(figures.span(at: now))
        lines.append("Decided   \(rate(figures.decidedRate(at: now)))  \(grouped(figures.decided)) in the last \(span)")
        let compliance = figures.compliance
        lines.append(
            "Deadline  \(compliance)  due \(grouped(compliance.due)), missed \(grouped(compliance.missed)), "
                + "failed \(grouped(figures.failed))")
        return lines
    }

    private func problems(_ status: JSONNode?) -> [String] {
        guard let status else { return [] }
        return [
            ("configuration", status["configuration_problem"]), ("store", status["store_problem"]),
            ("ledger", status["store"]?["ledger_problem"]),
        ].compactMap { name, problem in problem?.string.map { "Problem   \(name): \($0)" } }
    }

    private func handlerLines(_ rows: [LiveHandler], width: Int) -> [String] {
        guard !rows.isEmpty else { return ["", "No handlers."] }
        return ["", "Handlers by \(order.rawValue)"] + LiveColumn.table(LiveHandler.columns, rows, width: width)
    }

    /// Nothing where nobody waits in a lane, and where the daemon does not tell.
    private func laneLines(_ status: JSONNode?, width: Int) -> [String] {
        let lanes = (status?["lanes"]?["longest"]?.elements ?? []).map(LiveLane.init)
        guard !lanes.isEmpty else { return [] }
        let waiting = grouped(status?["lanes"]?["waiting"]?.int64 ?? 0)
        let crowded = status?["lanes"]?["crowded"]?.int64 ?? 0
        return ["", "Longest lanes, of \(grouped(crowded)) in which \(waiting) wait"]
            + LiveColumn.table(LiveLane.columns, lanes, width: width)
    }

    private func missLines(_ figures: LiveFigures) -> [String] {
        guard !figures.misses.isEmpty else { return [] }
        let lines = figures.misses.reversed().compactMap { row -> String? in
            guard let result = row.invocation.result else { return nil }
            let name = row.invocation.handler ?? "-"
            return "\(zone.text(result.decidedAt, milliseconds: true))  seq \(row.invocation.id.seq.value)  "
                + "\(result.outcome.rawValue)  \(name)  \(grouped(result.total.milliseconds)) ms"
        }
        return ["", "Last misses"] + lines
    }

    /// The room for a section: none where it is too little for the blank line, the headings and one thing.
    private static func room(_ wanted: Int, least: Int) -> Int { wanted < least ? 0 : wanted }

    private var keys: String {
        let orders = Order.allCases.map { "\(String(UnicodeScalar($0.key))) \($0.rawValue)" }.joined(separator: "  ")
        return "q quit  space \(isFrozen ? "go on" : "freeze")  \(orders)"
    }

    private func rate(_ tenths: Int) -> String { "\(grouped(tenths / 10)).\(tenths % 10)/s" }

    /// The first lines; what is left out is said in the last.
    private static func fitting(_ lines: [String], _ room: Int) -> [String] {
        guard lines.count > room, room > 0 else { return Array(lines.prefix(room)) }
        return lines.prefix(room - 1) + ["and \(lines.count - room + 1) more"]
    }
}
