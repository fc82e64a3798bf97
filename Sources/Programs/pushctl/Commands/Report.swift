import PushModel
import PushReporting
import PushRouting
import PushSettings
import Store

extension Command {
    static let report = Command(
        name: "report", summary: "show how many invocations kept their deadline",
        description: [
            """
            Prints the deadline compliance report: the outcome of every invocation, and how many of them kept their \
            deadline, by handler, route and provider. It reads the ledger in the state directory, with or without a \
            daemon. An invocation is due when a handler owed an answer to it; it is missed when it ended as timed_out \
            or expired. Observers have figures of their own. An invocation that waited in its lane is listed with the \
            longest one ahead of it.
            """,
            "\(LocalTime.forms) The window is that of acceptance; without --since it begins with the ledger.",
            """
            The format csv has one row for each invocation; pushctl(1) lists its columns and the members of the JSON. \
            With --fail-under the exit status is 1 when the compliance is below PERCENT; when nothing was due it is 0.
            """,
        ],
        operands: .none,
        options: [.since, .until, .utc, .format, .json, .failUnder],
        examples: [
            Example(line: "pushctl report --since yesterday", meaning: "for people"),
            Example(line: "pushctl report --json --fail-under 99.9", meaning: "for CI: exit status 1 when not met"),
            Example(line: "pushctl report --format csv --since -1h", meaning: "each invocation of the last hour"),
        ]
    ) { arguments, session throws(Failure) in
        try Report(arguments).run(session)
    }
}

/// What is asked of a report.
private struct Report {
    private enum Format: String {
        case text, json, csv
    }

    private let window: ReportWindow
    private let zone: LocalZone
    private let format: Format
    private let objective: Percent?

    init(_ arguments: Arguments) throws(Failure) {
        window = try arguments.window()
        zone = arguments.zone
        let format = arguments.word(.format, Format.self)
        if arguments.has(.json), format ?? .json != .json {
            throw arguments.usageFailure("--json and --format \(arguments[.format] ?? "") exclude each other")
        }
        self.format = arguments.has(.json) ? .json : format ?? .text
        objective = try arguments[.failUnder].map { text throws(Failure) in
            guard let percent = Percent(text) else {
                throw arguments.usageFailure("--fail-under \(text): a percentage from 0 to 100, such as 99.9")
            }
            return percent
        }
    }

    func run(_ session: Session) throws(Failure) -> ExitStatus {
        let table = routing(session)
        var report = ComplianceReport(window: window, mode: table.mode, budget: table.budget)
        switch format {
        case .text:
            try read(into: &report, session)
            session.output.print(report.text(objective: objective, zone: zone))
        case .json:
            try read(into: &report, session)
            session.output.write(document: report.json(objective: objective))
        case .csv: try writeRows(into: &report, session)
        }
        return verdict(on: report.compliance, session.output)
    }

    private func read(into report: inout ComplianceReport, _ session: Session) throws(Failure) {
        try session.reading { ledger throws(StoreError) in
            try ledger.snapshot { () throws(StoreError) in
                try ledger.rows(from: window.since, to: window.until) { report.add($0) }
                try ledger.answers(from: window.since, to: window.until) { report.add($1, of: $0, count: $2) }
            }
        }
    }

    /// Page by page, up to what was the last request at the start: whoever reads the output may take any time.
    private func writeRows(into report: inout ComplianceReport, _ session: Session) throws(Failure) {
        let ledger = try session.ledger()
        let newest = try Session.reading { () throws(StoreError) in try ledger.highestSequenceNumber() }
        var last = SequenceNumber(0)
        session.output.write(CSVReport.header.utf8)
        while true {
            let page = try Session.reading { () throws(StoreError) in
                try ledger.rows(
                    from: window.since, to: window.until, after: last, through: newest, limit: Self.pageSize)
            }
            guard let end = page.last?.seq else { return }
            for row in page {
                report.add(row)
                if let row = ReportRow(row) { session.output.write(CSVReport.line(of: row).utf8) }
            }
            last = end
        }
    }

    private static let pageSize = 4096

    /// The mode and deadline that are configured. What was recorded can be read whatever the configuration is now.
    private func routing(_ session: Session) -> RoutingTable {
        do {
            return try session.settings().routing
        } catch {
            session.output.note(
                "\(error.message)\nthe report uses the defaults for settings that the ledger does not have")
            return Settings().routing
        }
    }

    private func verdict(on compliance: Compliance, _ output: Output) -> ExitStatus {
        guard let objective else { return .done }
        if compliance.due == 0 { output.note("nothing was due, so nothing missed \(objective) %") }
        if compliance.meets(objective) { return .done }
        output.note("deadline compliance \(compliance) is below \(objective) %")
        return .no
    }
}

extension ComplianceReport {
    fileprivate mutating func add(_ row: LedgerRow) {
        if let row = ReportRow(row) { add(row) } else { add(requestWithoutInvocation: row.operation) }
    }
}
