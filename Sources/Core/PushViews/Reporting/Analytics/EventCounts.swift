public import PushModel

/// The number of analytics events by name and day.
public struct EventCounts: Sendable {
    /// The time that the counts cover.
    public let window: ReportWindow
    /// The start of the rows. Requests accepted before it were deleted with their events and interactions, except those
    /// that the tracker needs; `nil` when the window is complete.
    public var rowsBegin: WallTime?
    /// The delays of custom events; `nil` if not requested.
    public var delays: CustomEventDelays?
    private let zone: LocalZone
    private var days: [LocalDay: [AnalyticsEvent.Kind: Int]] = [:]
    private var customEvents: CustomEventCounts
    private var cells: [Cell: Int] = [:]
    /// Custom events that are no events yet.
    public var waiting = WaitingEvents()

    /// The key of a row of the CSV. Each event is in one row alone, so that the rows add up.
    private struct Cell: Hashable {
        let day: LocalDay
        let platform: Platform
        let event: AnalyticsEvent.Kind
        /// The name of a custom event; empty for others.
        let name: String

        /// The order of the rows.
        var order: (Int64, String, String, String) { (day.number, platform.rawValue, event.rawValue, name) }
    }

    /// Counts without events.
    /// - Parameters:
    ///   - window: the time that the counts cover; events outside it do not count.
    ///   - zone: the zone that its days are in.
    public init(window: ReportWindow = ReportWindow(), zone: LocalZone = .utc) {
        self.window = window
        self.zone = zone
        customEvents = CustomEventCounts(zone: zone)
    }

    /// Counts an event.
    public mutating func add(_ event: AnalyticsEvent) {
        guard window.contains(seconds: event.time) else { return }
        let day = zone.day(of: event.time)
        days[day, default: [:]][event.kind, default: 0] += 1
        let name = if case .customEvent(let name, _) = event.content { name } else { "" }
        cells[Cell(day: day, platform: event.platform, event: event.kind, name: name), default: 0] += 1
        customEvents.add(event)
    }

    /// Events of all days by name.
    var inAll: [AnalyticsEvent.Kind: Int] {
        days.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }

    /// The counts for people.
    public var text: String {
        let heading = zone.heading("Day", Array(days.keys))
        var table = TextTable([(heading, .left), ("Event", .left), ("Count", .right)], widest: 60)
        for (day, kinds) in days.sorted(by: { $0.key < $1.key }) { Self.add(kinds, day.description, to: &table) }
        if days.count > 1 { Self.add(inAll, "in all", to: &table) }
        let tables = [
            days.isEmpty ? "No events.\n" : table.text, customEvents.text, delayTable,
            waiting.text.map { "\($0)\n" } ?? "",
        ]
        let pruned = rowsBegin.map { zone.prunedEvents(before: $0) + "\n\n" } ?? ""
        return "Window  \(zone.text(window))\n\n\(pruned)" + tables.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private var delayTable: String {
        delays.map { $0.text.isEmpty ? "No custom event was flushed or sent.\n" : $0.text } ?? ""
    }

    private static func add(_ kinds: [AnalyticsEvent.Kind: Int], _ day: String, to table: inout TextTable) {
        for (kind, count) in sorted(kinds) { table.add([day, kind.rawValue, grouped(count)]) }
    }

    private static func sorted(_ kinds: [AnalyticsEvent.Kind: Int]) -> [(key: AnalyticsEvent.Kind, value: Int)] {
        kinds.sorted { $0.key.rawValue < $1.key.rawValue }
    }

    /// The counts as CSV (RFC 4180): a row for each day, platform, event and name of a custom event.
    public var csv: String {
        CSVReport.line(["day", "platform", "event", "name", "count"])
            + cells.sorted { $0.key.order < $1.key.order }.map { cell, count in
                CSVReport.line([
                    cell.day.description, cell.platform.rawValue, cell.event.rawValue, CSVReport.text(cell.name),
                    "\(count)",
                ])
            }.joined()
    }

    /// The counts for programs: one JSON object on one line, with its line feed; times in UTC, days in the zone.
    public var json: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.member("window", window)
            $0.member("time_zone", zone.name)
            $0.member("rows_begin", rowsBegin?.rfc3339)
            $0.member("in_all", counts: inAll)
            $0.member(
                "by_day",
                array: { list in
                    for (day, kinds) in days.sorted(by: { $0.key < $1.key }) {
                        list.object {
                            $0.member("day", day.description)
                            $0.member("events", counts: kinds)
                        }
                    }
                })
            $0.member("custom_events_waiting", object: { waiting.write(to: &$0) })
            $0.member("custom_events", object: { customEvents.writeMembers(to: &$0) })
            if let delays { $0.member("delays", array: { delays.write(to: &$0) }) }
        }
        return writer.line()
    }
}

extension JSONWriter {
    /// Writes counts by name, including names with a count of 0.
    fileprivate mutating func member(_ name: String, counts: [AnalyticsEvent.Kind: Int]) {
        member(
            name,
            object: { writer in
                for kind in AnalyticsEvent.Kind.allCases { writer.member(kind.rawValue, counts[kind] ?? 0) }
            })
    }
}

/// A field of an analytics event to group figures by. The raw values are the members of the event in JSON; `day`
/// derives from its time.
public enum EventField: String, Sendable, CaseIterable {
    case day
    case platform
    case appID = "app_id"
    case campaignID = "campaign_id"
    case externalUserID = "external_user_id"
    case deviceID = "device_id"
    case messageID = "message_id"
    case buttonString = "button_string"
    case buttonActionType = "button_action_type"

    /// The name for people: `external user id`.
    var words: String { rawValue.replacingUnderscores }

    /// Returns the value of an event; `nil` when it has none.
    func value(of event: AnalyticsEvent, in zone: LocalZone) -> String? {
        switch self {
        case .day: zone.day(of: event.time).description
        case .platform: event.platform.rawValue
        case .appID: event.appID
        case .campaignID: event.push?.campaignID
        case .externalUserID: event.externalUserID
        case .deviceID: event.deviceID
        case .messageID: event.push?.messageID
        case .buttonString: event.button?.id
        case .buttonActionType: event.button?.action?.rawValue
        }
    }
}
