import PushModel

/// A handler's row on the screen.
struct LiveHandler {
    let name: String
    let running: Int64
    let waiting: Int64
    let limit: Int64?
    let state: String
    let figures: LiveFigures.Handler

    /// The 99th percentile of its times in microseconds; `nil`: no run counts.
    var p99: Int64? { figures.exec.quantile(permille: 990) }

    /// The tone of its row: bad if it missed deadlines.
    var tone: ReportLine.Tone {
        figures.missed > 0 ? .bad : figures.failed > 0 || !state.isEmpty ? .warning : .plain
    }

    /// Returns the handlers of the daemon's status, then former handlers with figures.
    static func all(_ status: JSONNode?, _ figures: LiveFigures) -> [LiveHandler] {
        let found = figures.handlers
        let known = status?["handlers"]?.members ?? []
        let present = known.map { name, handler in
            let breaker = handler["breaker"]?.string.flatMap { $0 == "closed" ? nil : "breaker \($0)" }
            return LiveHandler(
                name: name, running: owners("running", of: handler), waiting: owners("waiting", of: handler),
                limit: handler["limit"]?.int64, state: breaker ?? (handler["draining"]?.bool == true ? "draining" : ""),
                figures: found[name] ?? LiveFigures.Handler())
        }
        let names = Set(present.map(\.name))
        return present
            + found.filter { !names.contains($0.key) }.map {
                LiveHandler(name: $0.key, running: 0, waiting: 0, limit: nil, state: "", figures: $0.value)
            }
    }

    /// Returns the number that run or wait, without observers, which the figures leave out too.
    private static func owners(_ key: String, of handler: JSONNode) -> Int64 {
        max(0, (handler[key]?.int64 ?? 0) - (handler["observers_\(key)"]?.int64 ?? 0))
    }

    /// Returns whether `left` stands above `right`: by the larger figure, then by name.
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

    /// The columns by importance: a narrow screen leaves out the last ones.
    static let columns: [LiveColumn<LiveHandler>] = [
        LiveColumn("Handler", .left) { $0.name },
        LiveColumn("Running", .right) { grouped($0.running) },
        LiveColumn("Waiting", .right) { grouped($0.waiting) },
        LiveColumn("p99 ms", .right) { groupedMilliseconds($0.p99) },
        LiveColumn("Failed", .right) { grouped($0.figures.failed) },
        LiveColumn("Missed", .right) { grouped($0.figures.missed) },
        LiveColumn("Decided", .right) { grouped($0.figures.decided) },
        LiveColumn("Limit", .right) { $0.limit.map(grouped) ?? "-" },
        LiveColumn("State", .left) { $0.state },
    ]
}
