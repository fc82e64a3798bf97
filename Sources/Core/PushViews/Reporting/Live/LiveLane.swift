import PushModel

/// A lane's row on the screen.
struct LiveLane {
    private let node: JSONNode

    /// A lane of `lanes.longest` in the status.
    init(_ node: JSONNode) { self.node = node }

    private func number(_ key: String) -> Int64 { node[key]?.int64 ?? 0 }
    private func name(_ key: String) -> String { node[key]?.string ?? "-" }

    /// The columns by importance: a narrow screen leaves out the last ones.
    static let columns: [LiveColumn<LiveLane>] = [
        LiveColumn("Device", .left) { $0.name("device") },
        LiveColumn("Waiting", .right) { grouped($0.number("waiting")) },
        LiveColumn("Oldest", .right) { spanInWords(.milliseconds($0.number("age_ms"))) },
        LiveColumn("Has the turn", .left) { "seq \($0.number("seq")) \($0.name("handler"))" },
        LiveColumn("for", .right) { spanInWords(.milliseconds($0.number("turn_ms"))) },
        LiveColumn("App", .left) { $0.name("app") },
    ]
}
