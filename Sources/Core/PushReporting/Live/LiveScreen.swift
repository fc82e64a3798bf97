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
        if let height {
            // What the handlers leave is for misses, and a third of the room in any case; a heading never stands alone.
            let room = max(0, height - lines.count - 1)
            let wanted = min(misses.count, max(room / 3, room - table.count))
            let missRoom = wanted < Self.leastMissLines ? 0 : wanted
            lines += Self.fitting(table, max(0, room - missRoom)) + misses.prefix(missRoom)
            lines = Array(lines.prefix(max(0, height - 1)))
            lines += Array(repeating: "", count: max(0, height - 1 - lines.count))
            if height > 0 { lines.append(keys) }
        } else {
            lines += table + misses
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
        var columns = LiveHandler.columns.count
        while true {
            var table = TextTable(
                LiveHandler.columns.prefix(columns).map { ($0.title, $0.isText ? .left : .right) }, widest: 24)
            for row in rows { table.add(LiveHandler.columns.prefix(columns).map { $0.cell(row) }) }
            let lines = table.text.split(separator: "\n").map(String.init)
            if columns == 1 || lines.allSatisfy({ $0.count <= width }) {
                return ["", "Handlers by \(order.rawValue)"] + lines
            }
            columns -= 1
        }
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

    /// A blank line, the heading and a miss.
    private static let leastMissLines = 3

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

/// What the screen shows of one handler.
struct LiveHandler {
    let name: String
    let running: Int64
    let waiting: Int64
    let limit: Int64?
    let state: String
    let figures: LiveFigures.Handler

    /// In microseconds; `nil`: none ran.
    var p99: Int64? { figures.exec.quantile(permille: 990) }

    /// Those that the daemon has, and those that it had.
    static func all(_ status: JSONNode?, _ figures: LiveFigures) -> [LiveHandler] {
        let found = figures.handlers
        let known = status?["handlers"]?.members ?? []
        let present = known.map { name, handler in
            let breaker = handler["breaker"]?.string.flatMap { $0 == "closed" ? nil : "breaker \($0)" }
            return LiveHandler(
                name: name, running: handler["running"]?.int64 ?? 0, waiting: handler["waiting"]?.int64 ?? 0,
                limit: handler["limit"]?.int64, state: breaker ?? (handler["draining"]?.bool == true ? "draining" : ""),
                figures: found[name] ?? LiveFigures.Handler())
        }
        let names = Set(present.map(\.name))
        return present
            + found.filter { !names.contains($0.key) }.map {
                LiveHandler(name: $0.key, running: 0, waiting: 0, limit: nil, state: "", figures: $0.value)
            }
    }

    /// Whether one stands above another: the larger figure first, equal ones by name.
    static func precedes(_ left: LiveHandler, _ right: LiveHandler, by order: LiveScreen.Order) -> Bool {
        let figure: (LiveHandler) -> Int64 =
            switch order {
            case .name: { _ in 0 }
            case .running: { $0.running + $0.waiting }
            case .p99: { $0.p99 ?? -1 }
            case .failures: { Int64($0.figures.failed) }
            case .misses: { Int64($0.figures.missed) }
            }
        let figures = (figure(left), figure(right))
        return figures.0 == figures.1 ? left.name < right.name : figures.0 > figures.1
    }

    /// The columns, the first the most important: a narrow screen leaves out the last.
    static let columns: [(title: String, isText: Bool, cell: @Sendable (LiveHandler) -> String)] = [
        ("Handler", true, { $0.name }),
        ("Running", false, { grouped($0.running) }),
        ("Waiting", false, { grouped($0.waiting) }),
        ("p99 ms", false, { groupedMilliseconds($0.p99) }),
        ("Failed", false, { grouped($0.figures.failed) }),
        ("Missed", false, { grouped($0.figures.missed) }),
        ("Decided", false, { grouped($0.figures.decided) }),
        ("Limit", false, { $0.limit.map(grouped) ?? "-" }),
        ("State", true, { $0.state }),
    ]
}
