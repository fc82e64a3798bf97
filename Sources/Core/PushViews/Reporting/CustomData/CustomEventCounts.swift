public import PushModel

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

/// The time that custom events took from being saved to being flushed or sent, by the day of saving and by name.
public struct CustomEventDelays: Sendable {
    private struct Key: Hashable {
        let day: LocalDay
        let name: String
        let state: EntryState
    }

    private let zone: LocalZone
    private var delays: [Key: Histogram] = [:]

    /// - Parameter zone: the zone that its days are in.
    public init(zone: LocalZone = .utc) { self.zone = zone }

    /// Adds an event that was flushed or sent.
    /// - Parameters:
    ///   - name: the event.
    ///   - state: `flushed` or `sent`.
    ///   - savedAt: when it was saved.
    ///   - settledAt: when it was flushed or sent.
    public mutating func add(_ name: String, _ state: EntryState, savedAt: WallTime, settledAt: WallTime) {
        let key = Key(day: zone.day(of: savedAt.seconds), name: name, state: state)
        // The clock may have been set back: the histogram counts a negative delay as 0.
        delays[key, default: Histogram()].add(microseconds: (settledAt.milliseconds - savedAt.milliseconds) * 1000)
    }

    private var sorted: [(key: Key, value: Histogram)] {
        delays.sorted { left, right in
            (left.key.day.number, left.key.name, left.key.state.rawValue)
                < (right.key.day.number, right.key.name, right.key.state.rawValue)
        }
    }

    /// The delays for people; empty without events.
    var text: String {
        TextTable(
            sorted,
            [
                .nameInText(zone.heading("Saved", delays.keys.map(\.day)), \.key.day.description),
                .nameInText("Custom event", \.key.name), .nameInText("Became", \.key.state.rawValue),
                .numberInText("Count", { grouped($0.value.count) }),
                .numberInText("Median", { Self.text($0.value.quantile(permille: 500)) }),
                .numberInText("p90", { Self.text($0.value.quantile(permille: 900)) }),
                .numberInText("Longest", { Self.text($0.value.max) }),
            ], widest: 40
        ).text
    }

    private static func text(_ microseconds: Int64?) -> String {
        microseconds.map { spanInWords(.microseconds($0)) } ?? "-"
    }

    /// Writes the delays for programs as a list.
    func write(to list: inout JSONWriter) {
        for (key, delays) in sorted {
            list.object {
                $0.member("day_saved", key.day.description)
                $0.member("name", key.name)
                $0.member("became", key.state.rawValue)
                $0.member("count", delays.count)
                $0.member("median_ms", delays.quantile(permille: 500).map { $0 / 1000 })
                $0.member("p90_ms", delays.quantile(permille: 900).map { $0 / 1000 })
                $0.member("max_ms", delays.max.map { $0 / 1000 })
            }
        }
    }
}
