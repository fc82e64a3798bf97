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
    /// Whether block characters can be shown.
    public var usesUnicode: Bool

    /// How wide the labels of the head are, with the space behind them.
    private static let labelWidth = 10

    /// Joins the two.
    public init(zone: LocalZone, usesUnicode: Bool = true) {
        self.zone = zone
        self.usesUnicode = usesUnicode
    }

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
    ) -> [ReportLine] {
        var lines = head(status, problem, figures, now, width: width)
        lines += StatusField.problems(status).map { $0.line(Self.labelWidth) }
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
            lines += Array(repeating: ReportLine(""), count: max(0, height - 1 - lines.count))
            if height > 0 { lines.append(ReportLine(keys, .faint)) }
        } else {
            lines += table + lanes + misses
        }
        return lines.map { ReportLine(shortened($0.text.showingControls(), to: max(1, width)), $0.tone) }
    }

    private func head(
        _ status: JSONNode?, _ problem: String?, _ figures: LiveFigures, _ now: WallTime, width: Int
    ) -> [ReportLine] {
        let time = zone.text(now) + (isFrozen ? ", frozen" : "")
        var lines: [ReportLine] = []
        if let status {
            let uptime = spanInWords(.milliseconds(status["uptime_ms"]?.int64 ?? 0))
            lines.append(
                ReportLine(
                    "pushrouterd \(status["version"]?.string ?? "-"), mode \(status["mode"]?.string ?? "-"), "
                        + "\(status["state"]?.string ?? "-"), up \(uptime)", .heading))
        } else {
            lines.append(ReportLine("no answer from pushrouterd: \(problem ?? "-")", .bad))
        }
        lines.append(ReportLine(time))
        let room = usesUnicode ? width - Self.labelWidth : nil
        lines += figures.facts(status, at: now, chartWithin: room).map { $0.line(Self.labelWidth) }
        return lines
    }

    private func handlerLines(_ rows: [LiveHandler], width: Int) -> [ReportLine] {
        guard !rows.isEmpty else { return [ReportLine(""), ReportLine("No handlers.")] }
        return Self.titled(
            "Handlers by \(order.rawValue)", LiveColumn.table(LiveHandler.columns, rows, width: width, tone: \.tone))
    }

    /// Nothing where nobody waits in a lane, and where the daemon does not tell.
    private func laneLines(_ status: JSONNode?, width: Int) -> [ReportLine] {
        let lanes = (status?["lanes"]?["longest"]?.elements ?? []).map(LiveLane.init)
        guard !lanes.isEmpty else { return [] }
        let waiting = grouped(status?["lanes"]?["waiting"]?.int64 ?? 0)
        let crowded = status?["lanes"]?["crowded"]?.int64 ?? 0
        return Self.titled(
            "Longest lanes, of \(grouped(crowded)) in which \(waiting) wait",
            LiveColumn.table(LiveLane.columns, lanes, width: width) { _ in .plain })
    }

    private func missLines(_ figures: LiveFigures) -> [ReportLine] {
        guard !figures.misses.isEmpty else { return [] }
        let lines = figures.misses.reversed().compactMap { LiveFigures.text(ofMiss: $0, zone) }
        return Self.titled("Last misses", lines.map { ReportLine($0) })
    }

    private static func titled(_ title: String, _ lines: [ReportLine]) -> [ReportLine] {
        [ReportLine(""), ReportLine(title, .heading)] + lines
    }

    /// The room for a section: none where it is too little for the blank line, the headings and one thing.
    private static func room(_ wanted: Int, least: Int) -> Int { wanted < least ? 0 : wanted }

    private var keys: String {
        let orders = Order.allCases.map { "\(String(UnicodeScalar($0.key))) \($0.rawValue)" }.joined(separator: "  ")
        return "q quit  space \(isFrozen ? "go on" : "freeze")  \(orders)"
    }

    /// The first lines; what is left out is said in the last.
    private static func fitting(_ lines: [ReportLine], _ room: Int) -> [ReportLine] {
        guard lines.count > room, room > 0 else { return Array(lines.prefix(room)) }
        return lines.prefix(room - 1) + [ReportLine("and \(lines.count - room + 1) more")]
    }
}
