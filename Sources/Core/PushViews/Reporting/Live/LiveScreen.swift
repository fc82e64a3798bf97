public import PushModel

/// The screen of `pushctl top`: lines of text for a terminal of any size.
///
/// A line has no control characters and at most as many characters as the screen is wide.
public struct LiveScreen: Sendable {
    /// The sort order of the handlers.
    public enum Order: String, CaseIterable, Sendable {
        case name, running, p99, failures, misses

        /// The key that selects the order.
        public var key: UInt8 { rawValue.utf8.first ?? 0 }
    }

    /// The sort order of the handlers.
    public var order = Order.misses
    /// Whether the screen is frozen.
    public var isFrozen = false
    /// The zone of the times.
    public var zone: LocalZone
    /// Whether the terminal can show block characters.
    public var usesUnicode: Bool

    /// The width of the labels in the head, with the space behind them.
    private static let labelWidth = 10

    /// Joins the fields.
    public init(zone: LocalZone, usesUnicode: Bool = true) {
        self.zone = zone
        self.usesUnicode = usesUnicode
    }

    /// Returns the lines of the screen.
    ///
    /// - Parameters:
    ///   - status: the daemon's answer to `op: status`; `nil` without an answer.
    ///   - problem: the reason for the missing answer.
    ///   - figures: the figures of the ledger.
    ///   - now: the time of drawing.
    ///   - width: the most characters in a line.
    ///   - height: the most lines, with a line of keys as the last; `nil`: unlimited, without that line.
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
            // Lanes and misses share the lines that the handlers leave, and have a third of the lines each in any case.
            // No heading stands alone.
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
            "Handlers by \(order.rawValue)", Self.table(rows, LiveHandler.columns, width: width, tone: \.tone))
    }

    /// Returns the longest lanes; empty if no delivery waits in a lane, or the status has no lanes.
    private func laneLines(_ status: JSONNode?, width: Int) -> [ReportLine] {
        let lanes = LiveLane.all(status)
        guard !lanes.isEmpty else { return [] }
        let waiting = grouped(status?["lanes"]?["waiting"]?.int64 ?? 0)
        let crowded = status?["lanes"]?["crowded"]?.int64 ?? 0
        return Self.titled(
            "Longest lanes, of \(grouped(crowded)) with \(waiting) waiting",
            Self.table(lanes, LiveLane.columns, width: width) { _ in .plain })
    }

    private func missLines(_ figures: LiveFigures) -> [ReportLine] {
        guard !figures.misses.isEmpty else { return [] }
        let lines = figures.misses.reversed().compactMap { LiveFigures.text(ofMiss: $0, zone) }
        return Self.titled("Last misses", lines.map { ReportLine($0) })
    }

    private static func titled(_ title: String, _ lines: [ReportLine]) -> [ReportLine] {
        [ReportLine(""), ReportLine(title, .heading)] + lines
    }

    /// Returns the lines for a section: 0 if its blank line, its headings and one row do not fit.
    private static func room(_ wanted: Int, least: Int) -> Int { wanted < least ? 0 : wanted }

    private var keys: String {
        let orders = Order.allCases.map { "\(String(UnicodeScalar($0.key))) \($0.rawValue)" }.joined(separator: "  ")
        return "q quit  space \(isFrozen ? "go on" : "freeze")  \(orders)"
    }

    /// Returns the first lines; if some do not fit, the last one counts them.
    private static func fitting(_ lines: [ReportLine], _ room: Int) -> [ReportLine] {
        guard lines.count > room, room > 0 else { return Array(lines.prefix(room)) }
        return lines.prefix(room - 1) + [ReportLine("and \(lines.count - room + 1) more")]
    }

    /// Returns the lines of a table. Leaves out the last columns of a table that is too wide, but never the first.
    private static func table<Row>(
        _ rows: [Row], _ columns: [Column<Row>], width: Int, tone: (Row) -> ReportLine.Tone
    ) -> [ReportLine] {
        var shown = columns
        while true {
            let lines = TextTable(rows, shown, widest: 24, tone: tone).lines(width: nil)
            if shown.count == 1 || lines.allSatisfy({ $0.text.count <= width }) { return lines }
            shown.removeLast()
        }
    }
}
