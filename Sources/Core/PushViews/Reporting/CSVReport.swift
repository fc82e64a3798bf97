import PushModel

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
