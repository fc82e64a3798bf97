import PushModel

/// Custom events by day and name.
struct CustomEventCounts {
    private var days: [LocalDay: [String: Int]] = [:]
    private let zone: LocalZone

    init(zone: LocalZone) { self.zone = zone }

    /// Counts a custom event; ignores other kinds.
    mutating func add(_ event: AnalyticsEvent) {
        guard case .customEvent(let name, _) = event.content else { return }
        days[zone.day(of: event.time), default: [:]][name, default: 0] += 1
    }

    private var inAll: [String: Int] {
        days.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }

    private var sorted: [(day: LocalDay, names: [String: Int])] {
        days.sorted { $0.key < $1.key }.map { (day: $0.key, names: $0.value) }
    }

    /// The counts for people; empty without custom events.
    var text: String {
        var table = TextTable(
            [(zone.heading("Day", Array(days.keys)), .left), ("Custom event", .left), ("Count", .right)], widest: 60)
        for (day, names) in sorted { Self.add(names, day.description, to: &table) }
        if days.count > 1 { Self.add(inAll, "in all", to: &table) }
        return table.text
    }

    private static func add(_ names: [String: Int], _ day: String, to table: inout TextTable) {
        for (name, count) in names.sorted(by: { $0.key < $1.key }) { table.add([day, name, grouped(count)]) }
    }

    /// Writes the counts for programs: `in_all` and `by_day`.
    func writeMembers(to writer: inout JSONWriter) {
        writer.member("in_all", array: { Self.write(inAll, to: &$0) })
        writer.member(
            "by_day",
            array: { list in
                for (day, names) in sorted {
                    list.object {
                        $0.member("day", day.description)
                        $0.member("events", array: { Self.write(names, to: &$0) })
                    }
                }
            })
    }

    private static func write(_ names: [String: Int], to list: inout JSONWriter) {
        for (name, count) in names.sorted(by: { $0.key < $1.key }) {
            list.object {
                $0.member("name", name)
                $0.member("count", count)
            }
        }
    }
}
