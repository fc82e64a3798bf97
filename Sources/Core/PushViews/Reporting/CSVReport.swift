public import PushModel

/// The ledger as CSV (RFC 4180): a header, then one row for each invocation.
public enum CSVReport {
    /// The header line with its line end.
    public static let header = line([
        "seq", "n", "outcome", "callback", "provider", "platform", "app", "device", "id", "message_id", "route",
        "handler", "mode", "accepted_at", "queue_ms", "exec_ms", "total_ms", "deadline_ms", "started",
        "completion_by", "completion_result", "reason", "observer", "waited_for",
        "reason_code", "transport", "original_priority", "delivered_priority",
        "ahead", "waited_for_ms", "replay_of", "source",
    ])

    /// Returns the line of one invocation with its line end. An invocation in flight has no outcome, times or
    /// completion.
    /// - Parameter source: the word for the rows' source (``ReportSource/word``).
    public static func line(of row: ReportRow, source: String = "ledger") -> String {
        let invocation = row.invocation
        let result = invocation.result
        return line([
            String(invocation.id.seq.value), String(invocation.id.n), result?.outcome.rawValue ?? "",
            invocation.callback.rawValue, text(invocation.provider), row.platform.rawValue, text(row.app),
            text(row.device), text(row.id), text(row.messageID), text(invocation.route), text(invocation.handler),
            row.mode.rawValue, row.acceptedAt.rfc3339, result.map { milliseconds($0.queue) } ?? "",
            result.map { milliseconds($0.exec) } ?? "", result.map { milliseconds($0.total) } ?? "",
            milliseconds(invocation.budget), invocation.started ? "true" : "false",
            result?.completion?.by.rawValue ?? "", result?.completion?.result(at: invocation.callback)?.rawValue ?? "",
            text(result?.reason),
            invocation.isObserver ? "true" : "false", result?.waitedFor.map { "\($0.id.seq).\($0.id.n)" } ?? "",
            result?.reasonCode?.rawValue ?? "", row.transport?.rawValue ?? "", row.originalPriority?.rawValue ?? "",
            row.deliveredPriority?.rawValue ?? "", result?.ahead.map(String.init) ?? "",
            result?.waitedFor?.took.map { milliseconds($0) } ?? "", row.replayOf?.description ?? "",
            source,
        ])
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
