import LedgerReports
import PushModel
import PushSettings
import PushViews
import Store

extension Command {
    static let status = Command(
        name: "status", summary: "show the state of the running daemon",
        description: [
            """
            Asks the running daemon over control.sock, or over read.sock if this user may not use control.sock, and \
            reads the deadline compliance of the last five minutes from the ledger. It prints about ten lines. With \
            --all it prints every field, as --json does: names of times end in their unit, _ms or _us; the field of a \
            problem is null (text: -) while there is none. pushctl-status(1) explains each field.
            """,
            """
            --format openmetrics prints metrics for a monitoring system, such as \
            pushrouterd_custom_data_oldest_unsent_seconds, with the counts since the start of the daemon; --format \
            prometheus prints them in the older format of Prometheus, as the textfile collector of its node exporter \
            reads it. pushrouter-metrics(8) serves both over HTTP, and writes such files.
            """,
        ],
        operands: .none,
        options: [
            .allFields, .format.allowing(["text", "json"] + MetricsFormat.allCases.map(\.rawValue)), .utc, .json,
        ],
        examples: [
            Example(line: "pushctl status", meaning: "for people"),
            Example(line: "pushctl status --all", meaning: "every field, a line each"),
            Example(line: "pushctl status --json", meaning: "the same fields as one JSON object"),
            Example(
                line: "pushctl status --format prometheus | sponge /var/lib/node_exporter/push.prom",
                meaning: "for a collector; sponge(1) replaces the file as a whole"),
        ]
    ) { arguments, session throws(Failure) in
        let format = arguments[.format] ?? (arguments.has(.json) ? "json" : "text")
        guard !arguments.has(.json) || format == "json" else {
            throw arguments.usageFailure("--json and --format \(format) exclude each other")
        }
        if let format = MetricsFormat(rawValue: format) {
            guard let metrics = try session.control(.metrics(format))["metrics"]?.string else {
                throw Failure(.unavailable, "\(session.directories.controlSocket): the answer has no metrics")
            }
            session.output.write(metrics.utf8)
            return .done
        }
        guard let status = try session.control(.status)["status"] else {
            throw Failure(.unavailable, "\(session.directories.controlSocket): the answer has no status")
        }
        switch format {
        case "json": session.output.write(document: Array(status.rawBytes))
        default:
            if arguments.has(.allFields) {
                session.output.print(Text.columns(status.rowsForPeople))
            } else {
                session.output.print(folding: session.summary(of: status, arguments.zone))
            }
        }
        return .done
    }
}

extension Session {
    /// The status in a few lines. The ledger is read as it is on disk, because a status request does not wait for it.
    fileprivate func summary(of status: JSONNode, _ zone: LocalZone) -> [ReportLine] {
        let now = LocalTime.now
        do throws(Failure) {
            let ledger = try Self.reading { () throws(StoreError) in try LedgerReader(directory: directories.state) }
            let reading = try Self.reading { () throws(StoreError) in
                var reading = try LiveReading(ledger, at: now)
                try reading.refresh { LocalTime.now }
                return reading
            }
            return StatusSummary(status, reading.figures, at: now, zone).lines()
        } catch {
            let reason = error.message.split(separator: "\n").first.map(String.init)
            return StatusSummary(status, nil, at: now, zone).lines(unreadable: reason)
        }
    }
}

extension JSONNode {
    /// An object's members for people: nested members have both names; each element of a list has a row.
    fileprivate var rowsForPeople: [[String]] {
        members.flatMap { key, value -> [[String]] in
            switch value.kind {
            case .object: value.rowsForPeople.map { ["\(key).\($0[0])"] + $0.dropFirst() }
            case .array where value.count > 0:
                value.elements.enumerated().map { ["\(key).\($0.offset + 1)", $0.element.displayText] }
            case .array, .string, .number, .bool, .null: [[key, value.displayText]]
            }
        }
    }

    /// A value for people: a text without quotes, `-` for null, an object as its members, others as JSON.
    private var displayText: String {
        switch kind {
        case .null: "-"
        case .object: members.map { "\($0.key) \($0.value.displayText)" }.joined(separator: ", ")
        case .array where count == 0: "-"
        case .array, .string, .number, .bool: string ?? String(decoding: rawBytes, as: UTF8.self)
        }
    }
}
