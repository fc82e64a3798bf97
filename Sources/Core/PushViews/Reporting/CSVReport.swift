public import PushModel

/// The ledger as CSV (RFC 4180): a header, then one row for each invocation.
public enum CSVReport {
    private typealias Source = (
        row: ReportRow, invocation: InvocationRecord, result: InvocationResult?, source: String
    )

    /// The columns: the name, the meaning (empty: that of the column before covers both), and the cell.
    private static let columns: [(name: String, meaning: String, cell: @Sendable (Source) -> String?)] = [
        ("seq", "the request, and the invocation in it", { $0.invocation.id.seq.description }),
        ("n", "", { String($0.invocation.id.n) }),
        (
            "outcome", "empty while the invocation is in flight, as are times and completion",
            { $0.result?.outcome.rawValue }
        ),
        ("callback", "provider is empty for a payload of no known provider", { $0.invocation.callback.rawValue }),
        ("provider", "", { text($0.invocation.provider) }),
        ("platform", "where the payload arrived", { $0.row.platform.rawValue }),
        ("app", "", { text($0.row.app) }), ("device", "", { text($0.row.device) }),
        ("id", "the producer's id of the request, and the payload's own", { text($0.row.id) }),
        ("message_id", "", { text($0.row.messageID) }),
        ("route", "empty where no route matched", { text($0.invocation.route) }),
        ("handler", "", { text($0.invocation.handler) }),
        ("mode", "device or relay: the mode when the request was accepted", { $0.row.mode.rawValue }),
        ("accepted_at", "RFC 3339, UTC", { $0.row.acceptedAt.rfc3339 }),
        ("queue_ms", "milliseconds with up to three decimals", { $0.result.map { milliseconds($0.queue) } }),
        ("exec_ms", "", { $0.result.map { milliseconds($0.exec) } }),
        ("total_ms", "", { $0.result.map { milliseconds($0.total) } }),
        ("deadline_ms", "the time that the invocation had", { milliseconds($0.invocation.budget) }),
        ("started", "true if a program that is not Idempotent= was started", { String($0.invocation.started) }),
        (
            "completion_by", "the part that completed the callback, and its result",
            { $0.result?.completion?.by.rawValue }
        ),
        ("completion_result", "", { $0.result?.completion?.result(at: $0.invocation.callback)?.rawValue }),
        ("reason", "the reason in words, for people", { text($0.result?.reason) }),
        ("observer", "true for the copy of an observing route", { String($0.invocation.isObserver) }),
        (
            "waited_for", "the longest invocation ahead of it in its lane, as seq.n; empty if it did not wait",
            { $0.result?.waitedFor.map { "\($0.id.seq).\($0.id.n)" } }
        ),
        (
            "reason_code", "the reason for programs: a word of those in pushrouterd(8)",
            { $0.result?.reasonCode?.rawValue }
        ),
        (
            "transport", "how a delivery was carried: \(Transport.allCases.map(\.rawValue).joined(separator: ", "))",
            { $0.row.transport?.rawValue }
        ),
        (
            "original_priority", "high or normal; empty if the payload does not have it",
            { $0.row.originalPriority?.rawValue }
        ),
        ("delivered_priority", "", { $0.row.deliveredPriority?.rawValue }),
        (
            "ahead", "the number of invocations ahead of it in its lane when it came; empty if none was",
            { $0.result?.ahead.map { String($0) } }
        ),
        (
            "waited_for_ms", "the time for which the invocation in waited_for had its turn",
            { $0.result?.waitedFor?.took.map { milliseconds($0) } }
        ),
        ("replay_of", "the request of which this one is a replay", { $0.row.replayOf?.description }),
        ("source", "ledger or journal", { $0.source }),
    ]

    /// The columns and their meanings.
    public static var described: [(name: String, meaning: String)] {
        ReportMembers.described(columns.map { ($0.name, $0.meaning) })
    }

    /// The header line with its line end.
    public static let header = line(columns.map(\.name))

    /// Returns the line of one invocation with its line end. An invocation in flight has no outcome, times or
    /// completion.
    /// - Parameter source: the word for the rows' source (``ReportSource/word``).
    public static func line(of row: ReportRow, source: String = "ledger") -> String {
        let source = (row: row, invocation: row.invocation, result: row.invocation.result, source: source)
        return line(columns.map { $0.cell(source) ?? "" })
    }

    /// The columns of an event: the members of its line in the form of Braze's Currents.
    static let eventColumns = [
        "event_type", "id", "time", "external_user_id", "device_id", "app_id", "platform", "campaign_id", "message_id",
        "button_action_type", "button_string", "duration", "push_token", "push_token_device_id",
        "push_token_state_change_type", "name", "properties",
    ]

    /// The header line of events, with its line end.
    /// - Parameters:
    ///   - hasCursor: whether the rows end with their cursor.
    public static func eventHeader(hasCursor: Bool) -> String {
        line(eventColumns + [campaignName] + (hasCursor ? ["cursor"] : []))
    }

    /// The name in Currents of a campaign's name.
    public static let campaignName = "campaign_name"

    /// Returns the line of an event, with its line end.
    /// - Parameters:
    ///   - names: the names of campaigns by their ids. Without one the cell is empty: a later page of an export may have
    ///     names.
    ///   - cursor: its cursor, for the last cell; `nil`: there is no such cell.
    public static func line(of event: AnalyticsEvent, names: [String: String], cursor: Int64?) -> String {
        var writer = JSONWriter()
        writer.object { $0.members(of: event) }
        let name = text(event.push?.campaignID.flatMap { names[$0] })
        return line(cells(of: writer.bytes, eventColumns) + [name] + (cursor.map { ["\($0)"] } ?? []))
    }

    /// Returns a header line, with its line end.
    public static func header(_ columns: [String]) -> String { line(columns) }

    /// Returns the line of a JSON object, with its line end.
    public static func line(of object: [UInt8], _ columns: [String]) -> String { line(cells(of: object, columns)) }

    /// The members of a JSON object as cells: texts in one line, other values as JSON, nothing for null.
    static func cells(of object: [UInt8], _ columns: [String]) -> [String] {
        let root = (try? JSONDocument(scanning: object, limits: JSONLimits(depth: .max)))?.root
        return columns.map { column in
            guard let value = root?[column], value.kind != .null else { return "" }
            if value.kind == .number { return String(decoding: value.rawBytes, as: UTF8.self) }
            return text(value.string ?? String(decoding: value.rawBytes, as: UTF8.self))
        }
    }

    /// Returns external text in one line, with an apostrophe before a cell that a spreadsheet would run as a formula.
    static func text(_ value: String?) -> String {
        guard let value = value?.showingControls(), let first = value.unicodeScalars.first else { return "" }
        return ["=", "+", "-", "@"].contains(first) ? "'" + value : value
    }

    static func line(_ cells: [String]) -> String {
        cells.map(quoted).joined(separator: ",") + "\r\n"
    }

    /// Compares scalars: a quote and a combining mark form another `Character`, but the file has the same quote.
    private static func quoted(_ cell: String) -> String {
        guard cell.unicodeScalars.contains(where: { $0 == "," || $0 == "\"" }) else { return cell }
        var quoted = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in cell.unicodeScalars {
            if scalar == "\"" { quoted.append(scalar) }
            quoted.append(scalar)
        }
        quoted.append("\"")
        return String(quoted)
    }
}
