import LedgerReports
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews
import Store

extension Command {
    static let report = Command(
        name: "report", summary: "show the share of invocations that kept their deadline",
        description: [
            """
            Prints the deadline compliance report. An answer in words comes first: the number of late invocations, \
            their handlers and the reasons. Below it are the number of invocations for each outcome, and the share \
            that kept the deadline, by handler, route and provider. Times are those of invocations that were due: the \
            tracker takes no time. It reads the ledger in the state directory, with or without a daemon. An invocation \
            is due when a handler owed an answer to it; it is missed when it ended as timed_out or expired. Observers \
            have figures of their own. The report lists an invocation that waited in its lane with the number of \
            invocations ahead of it and the longest of these.
            """,
            """
            \(LocalTime.forms) The window selects requests by the time of acceptance; without --since it begins with \
            the ledger.
            """,
            """
            The format html is one page without scripts; junit has a case for each route and handler, and with \
            --baseline for each part that is compared; markdown is for a comment on a pull request; csv has one row for each invocation. pushctl-report(1) lists its columns and the members of the JSON.
            """,
            """
            The objective is that of --fail-under, else Objective= in pushrouterd.conf(5). With an objective the \
            report shows the remaining error budget and its burn rate in the 5 m, 30 m, 1 h, 6 h and 3 d before the \
            end of the window. An alert uses only times of which at least half was recorded. With --fail-under the \
            exit status is 1 when the compliance is below PERCENT, and 0 when no invocation was due.
            """,
            """
            --by takes handler, route, provider, platform, app, callback, outcome, transport, priority, which is as \
            FCM delivered it, and original_priority, as it was sent; the formats text, json, html and markdown show \
            it. --baseline takes the JSON of an earlier report, and these formats name the figures that got worse: the \
            missed and the failed share of the due invocations, and the queue wait and execution time at p50, p90 and \
            p99. The report compares these figures for all invocations and for each handler, route and provider that \
            both reports have. It names a figure only if chance causes such a change in less than one of 100 \
            comparisons, and a time only if it also grew by a tenth and by 1 ms. junit has a case for each part that \
            was compared; the case fails if a figure of the part got worse. The exit status does not change.
            """,
            """
            Gaps of the daemon are times in which no daemon ran, the machine was suspended or the disk stalled, and \
            steps of the clock. A gap after a crash may begin up to 70 seconds too early, at the daemon's last sign of \
            life.
            """,
            """
            --from-journal makes the report from the daemon's entries in the journal, with neither ledger nor \
            daemon: of this machine, or of the files in --journal-directory, such as those of another machine. It \
            reads entries by fields that journald writes itself and no program can forge: _SYSTEMD_UNIT (of \
            --user-unit: _SYSTEMD_USER_UNIT and, of this machine, _UID), and of those the entries whose _EXE is a \
            pushrouterd and whose _SYSTEMD_CGROUP is not that of a handler. A handler without a cgroup of its own \
            that runs a program of that name can forge entries.
            """,
            """
            The journal does not have the invocations in flight, the number of requests without an invocation, and the \
            declines and retries of handlers: the report leaves these figures out, and they are null in JSON. The \
            journal also lacks some outcomes: the daemon leaves out successes beyond 500 a second, a log level leaves \
            out more, and journald deletes old files. Outcomes are numbered, so the report counts the outcomes without \
            an entry, also those across an edge of the window. The daemon writes an entry for each miss and \
            failure, so if it left out successes, the true compliance is at least the share shown. In CSV the columns \
            device, message_id and those of the completion are empty, and rows come in the order of their ends.
            """,
        ],
        operands: .none,
        options: [
            .since, .until, .utc, .format.allowing(ReportRun.Format.self), .json, .crossedBy, .baseline, .failUnder,
            .failOnMiss, .width, .fromJournal, .journalDirectory, .unit, .userUnit,
        ],
        examples: [
            Example(line: "pushctl report --since yesterday", meaning: "for people"),
            Example(line: "pushctl report --json --fail-under 99.9", meaning: "for CI: exit status 1 when not met"),
            Example(line: "pushctl report --format csv --since -1h", meaning: "each invocation of the last hour"),
            Example(line: "pushctl report --format html > report.html", meaning: "a page for a browser"),
            Example(line: "pushctl report --by handler,platform", meaning: "each handler on each platform"),
            Example(line: "pushctl report --since -1d --baseline before.json", meaning: "the figures that got worse"),
            Example(
                line: "pushctl report --from-journal --journal-directory /srv/journal-of-shop-1",
                meaning: "of a journal that was copied from another machine"),
        ]
    ) { arguments, session throws(Failure) in
        try ReportRun(arguments).run(session)
    }
}

/// The parameters of a report, and its run.
struct ReportRun {
    fileprivate enum Format: String, CaseIterable {
        case text, json, html, junit, csv, markdown

        /// The options that a format cannot show.
        var refused: [Option] {
            switch self {
            case .text, .json, .html, .markdown: []
            case .junit: [.crossedBy]
            case .csv: [.crossedBy, .baseline]
            }
        }
    }

    /// An earlier report, and its file.
    private typealias NamedBaseline = (report: Baseline, file: String)

    private let window: ReportWindow
    private let zone: LocalZone
    private let format: Format
    private let threshold: Percent?
    private let failsOnMiss: Bool
    private let crossed: [[Dimension]]
    private let baselineFile: String?
    private let width: Int?
    /// The selection of journal entries; `nil`: the report is made from the ledger.
    private let journal: JournalSelection?

    init(_ arguments: Arguments) throws(Failure) {
        window = try arguments.window()
        zone = arguments.zone
        let format = arguments.word(.format, Format.self)
        if arguments.has(.json), format ?? .json != .json {
            throw arguments.usageFailure("--json and --format \(arguments[.format] ?? "") exclude each other")
        }
        self.format = arguments.has(.json) ? .json : format ?? .text
        threshold = try arguments[.failUnder].map { text throws(Failure) in
            guard let percent = Percent(text) else {
                throw arguments.usageFailure("--fail-under \(text): a percentage from 0 to 100, such as 99.9")
            }
            return percent
        }
        failsOnMiss = arguments.has(.failOnMiss)
        crossed = try Self.crossed(arguments)
        journal = try JournalSelection(arguments)
        baselineFile = arguments[.baseline]
        if let option = self.format.refused.first(where: arguments.has) {
            let others = Format.allCases.filter { !$0.refused.contains(option) }.map(\.rawValue).joined(separator: ", ")
            throw arguments.usageFailure(
                "--format \(self.format.rawValue) does not support --\(option.name); these formats do: \(others)")
        }
        width = try arguments[.width].map { text throws(Failure) in
            guard let width = Int(text), (20...1000).contains(width) else {
                throw arguments.usageFailure("--width \(text): a number of columns from 20 to 1000")
            }
            return width
        }
    }

    private static func crossed(_ arguments: Arguments) throws(Failure) -> [[Dimension]] {
        var crossed: [[Dimension]] = []
        for text in arguments.all(.crossedBy) {
            guard let dimensions = Dimension.list(text) else {
                let words = Dimension.allCases.map(\.rawValue).joined(separator: ", ")
                throw arguments.usageFailure("--by \(text): one of \(words), or two of them with a comma between")
            }
            if !crossed.contains(dimensions) { crossed.append(dimensions) }
        }
        guard crossed.count <= 8 else { throw arguments.usageFailure("--by can be given at most 8 times") }
        return crossed
    }

    func run(_ session: Session) throws(Failure) -> ExitStatus {
        let baseline = try baselineFile.map { path throws(Failure) in try Self.baseline(path) }
        let settings = settings(session)
        let routing = settings.routing
        var figures = ReportReading(
            report: ComplianceReport(window: window, mode: routing.mode, budget: routing.budget),
            detail: ReportDetail(crossed: crossed))
        let objective = threshold ?? settings.objective
        if objective != nil { figures.rates = BurnRates(end: min(window.until ?? LocalTime.now, LocalTime.now)) }
        if let journal {
            figures = try read(journal, figures, session.output)
        } else if format == .csv {
            try writeRows(into: &figures, session)
        } else {
            try read(into: &figures, session)
        }
        if format != .csv { show(figures, objective, baseline, session.output) }
        return verdict(on: figures.report.compliance, session.output)
    }

    private func show(_ figures: ReportReading, _ objective: Percent?, _ baseline: NamedBaseline?, _ output: Output) {
        let document = ReportDocument(
            report: figures.report, detail: figures.detail,
            serviceLevel: objective.map {
                ServiceLevel(objective: $0, compliance: figures.report.compliance, rates: figures.rates)
            },
            comparison: baseline.map {
                Comparison(figures.report, figures.detail, with: $0.report, file: $0.file)
            }, zone: zone, maker: .current)
        switch format {
        case .text:
            output.print(
                document.lines(TextStyle(width: width ?? output.width, usesUnicode: output.usesUnicode)))
        case .json: output.write(document: document.json)
        case .html: output.write(document.html.utf8)
        case .junit: output.write(document.junit.utf8)
        case .markdown: output.write(document.markdown.utf8)
        case .csv: break
        }
    }

    /// Reads the journal; writes CSV rows as they come.
    private func read(
        _ journal: JournalSelection, _ figures: ReportReading, _ output: Output
    ) throws(Failure) -> ReportReading {
        // The header is written only after the journal could be opened.
        var needsHeader = format == .csv
        func writeHeader() {
            if needsHeader { output.write(CSVReport.header.utf8) }
            needsHeader = false
        }
        let isCSV = needsHeader
        var read = try JournalReading.read(journal, figures) { row in
            guard isCSV else { return }
            writeHeader()
            output.write(CSVReport.line(of: row, source: "journal").utf8)
        }
        writeHeader()
        if let first = read.rates?.firstRow { read.rates?.note(recordFrom: first, without: []) }
        if read.report.source.journal?.isIncomplete == true {
            output.note(
                "the journal does not have every outcome of that time; the report lists the known gaps")
        }
        return read
    }

    /// Reads the ledger in one short transaction, which ends before output begins.
    private func read(into figures: inout ReportReading, _ session: Session) throws(Failure) {
        try session.reading { ledger throws(StoreError) in
            try ledger.snapshot { () throws(StoreError) in
                try figures.read(ledger)
                guard let rates = figures.rates, let times = try ledger.acceptedTimes(from: nil, to: rates.end) else {
                    return
                }
                let gaps = try ledger.gaps(from: rates.begins.first, to: rates.end)
                figures.rates?.note(recordFrom: times.lowerBound, without: gaps)
            }
        }
    }

    /// Writes the rows up to the request that was the last one at the start.
    private func writeRows(into figures: inout ReportReading, _ session: Session) throws(Failure) {
        let ledger = try session.ledger()
        let newest = try Session.reading { () throws(StoreError) in try ledger.highestSequenceNumber() }
        session.output.write(CSVReport.header.utf8)
        try ledger.eachRow(from: window.since, to: window.until, after: SequenceNumber(0), through: newest) { row in
            figures.add(row)
            if let row = ReportRow(row) { session.output.write(CSVReport.line(of: row).utf8) }
        }
    }

    private static func baseline(_ path: String) throws(Failure) -> NamedBaseline {
        let file = try InputFile(path)
        let bytes = try file.rest()
        let root: JSONNode
        do { root = try JSONDocument(scanning: bytes).root } catch {
            throw Failure(.badData, "--baseline \(path): not JSON: \(error.message)")
        }
        do { return (report: try Baseline(root), file: file.name) } catch {
            throw Failure(.badData, "--baseline \(path): not a report in JSON: \(error.message)")
        }
    }

    /// The settings; defaults if the configuration is wrong, because the ledger can be read without it.
    private func settings(_ session: Session) -> Settings {
        do {
            return try session.settings()
        } catch {
            session.output.note(
                "\(error.message)\nthe report uses the defaults for settings that the ledger does not have")
            return Settings()
        }
    }

    private func verdict(on compliance: Compliance, _ output: Output) -> ExitStatus {
        if let threshold, compliance.due == 0 {
            output.note("no invocation was due, so --fail-under \(threshold) checks nothing")
        }
        if let threshold, !compliance.meets(threshold) {
            output.note("deadline compliance \(compliance) is below \(threshold) %")
            return .no
        }
        if failsOnMiss, compliance.missed > 0 {
            output.note("\(compliance.missed) of \(compliance.due) due invocations missed their deadline")
            return .no
        }
        return .done
    }
}

extension ReportMaker {
    /// The maker of this report: this program, this host, now.
    static var current: ReportMaker {
        ReportMaker(program: "pushctl \(pushrouterdVersion)", host: HostName.current, time: LocalTime.now)
    }
}
