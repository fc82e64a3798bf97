import LinuxSystem
import PushModel
import PushSettings
import PushViews
import Store

extension Command {
    static let export = Command(
        name: "export", summary: "write the analytics events or the audit, one a line",
        description: [
            """
            Prints the events in the order in which they were recorded, one JSON object a line. The format currents \
            has the names of Braze's Currents; the format envelope has the form of its custom HTTP export; csv is a table with \
            the names of Currents, whose heading stands before the first event alone. Fields that \
            a tracker on the device cannot know (user_id, send_id) are left out, and campaign_name without --names (csv has the column). It reads the \
            ledger in the state directory, with or without a daemon.
            """,
            """
            Currents has no InfluencedOpen, so that event is printed only if --event names it. TYPE is the name of an \
            event or the last part of it: Open, InfluencedOpen, IosForeground, SessionStart, SessionEnd, \
            TokenStateChange, Uninstall, CustomEvent, Received.
            """,
            """
            With --cursor the export begins where the last one with the same file ended. The file is replaced after \
            the lines are written, so no event is left out. After a crash an event may come twice, with the same id. \
            With --after each line ends in a member cursor, for programs that keep the cursor beside the data; 0 \
            begins with the first event. Events are deleted when their request is older than Retention=. --follow \
            looks for new events five times a second. push_token has the first characters of a token, unless \
            --full-tokens is given.
            """,
            """
            --audit prints the administrative acts instead: when, which act, by whom, by which way (pushrouter-web is \
            the page), the result, on how many, on what, and why it was refused. Its formats are text, csv and json. A \
            name of a user is this machine's. pushrouterd(8), "The audit", says which acts have no row.
            """,
            LocalTime.forms,
        ],
        operands: .none,
        options: [
            .format.allowing(ExportFormat.self).meaning("the form of a line (currents; text with --audit)"),
            .since.meaning("only events at this time or later"), .utc, .event, .names, .cursor, .after, .follow,
            .fullTokens, .audit,
        ],
        examples: [
            Example(line: "pushctl export --event Open --since today", meaning: "the direct opens of today"),
            Example(
                line: "pushctl export --cursor /var/lib/crm/cursor >>events.ndjson", meaning: "append the new events"),
            Example(line: "pushctl export --format envelope --follow", meaning: "all events, as they come"),
            Example(line: "pushctl export --audit --since -1d", meaning: "who did what since yesterday"),
        ]
    ) { arguments, session throws(Failure) in
        if arguments.has(.audit) { return try AuditExport(arguments).run(session) }
        return try Export(arguments, names: try session.campaignNames(arguments).names).run(session)
    }
}

extension Option {
    fileprivate static let audit = Option("audit", .none, "print administrative acts in place of events")
}

/// The parameters of an export of the audit.
private struct AuditExport {
    private static let pageSize = 10_000
    private static let columns = [
        "at", "act", "uid", "user", "pid", "entrance", "node", "result", "count", "times", "object", "external_id",
        "device", "reason",
    ]

    /// The headings of the columns for people.
    private static let headings = ["Time", "Act", "Who", "By", "Result", "Count", "What", "Why"]

    private let format: ExportFormat
    private let since: WallTime?
    private let zone: LocalZone

    init(_ arguments: Arguments) throws(Failure) {
        format = try arguments.exportFormat(of: ExportFormat.ofAudit, "--audit")
        for option in [Option.event, .names, .cursor, .after, .follow, .fullTokens] where arguments.has(option) {
            throw arguments.usageFailure("--audit and --\(option.name) exclude each other")
        }
        since = try arguments.window().since
        zone = arguments.has(.utc) ? .utc : LocalTime.zone
    }

    func run(_ session: Session) throws(Failure) -> ExitStatus {
        let ledger = try session.ledger()
        var (last, names, rows) = (Int64(0), [UInt32: String](), [[String]]())
        if format == .csv { session.output.write(CSVReport.header(Self.columns).utf8) }
        while true {
            let page = try Session.reading { () throws(StoreError) in
                try ledger.audit(after: last, limit: Self.pageSize)
            }
            guard let end = page.last?.number else { break }
            last = end
            for (_, record) in page where since.map({ $0 <= record.at }) ?? true {
                let user = record.uid.flatMap { name(of: $0, &names) }
                switch format {
                case .csv: session.output.write(CSVReport.line(of: json(record, user), Self.columns).utf8)
                case .json: session.output.write(line: json(record, user))
                case .text, .currents, .envelope: rows.append(cells(record, user))
                }
            }
        }
        if !rows.isEmpty { session.output.print(Text.columns([Self.headings] + rows)) }
        return .done
    }

    private func name(of uid: UInt32, _ names: inout [UInt32: String]) -> String? {
        if let name = names[uid] { return name.isEmpty ? nil : name }
        guard case .name(let name) = UserName(of: uid) else {
            names[uid] = ""
            return nil
        }
        names[uid] = name
        return name
    }

    private func json(_ record: AuditRecord, _ user: String?) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("at", record.at.rfc3339)
            writer.member("act", record.subject.act.rawValue)
            writer.member("uid", record.uid.map(Int64.init))
            writer.member("user", user)
            writer.member("pid", record.pid.map(Int64.init))
            writer.member("entrance", record.entrance.rawValue)
            writer.member("node", record.node)
            writer.member("result", record.result.rawValue)
            writer.member("count", record.count)
            writer.member("times", record.times)
            writer.member("object", record.subject.what)
            writer.member("external_id", record.subject.externalID)
            writer.member("device", record.subject.device)
            writer.member("reason", record.reason)
        }
        return writer.bytes
    }

    private func cells(_ record: AuditRecord, _ user: String?) -> [String] {
        let who = record.uid.map { uid in user.map { "\($0) (\(uid))" } ?? "uid \(uid)" } ?? "-"
        let person = [record.subject.externalID.map { "user \($0)" }, record.subject.device.map { "device \($0)" }]
        let what = [record.subject.what] + person
        let times = record.times == 1 ? "" : " x\(record.times)"
        return [
            zone.text(record.at), record.subject.act.rawValue + times, who,
            record.entrance.rawValue + (record.node.map { " on \($0)" } ?? ""), record.result.rawValue,
            record.count.map(String.init) ?? "-", what.compactMap(\.self).joined(separator: ", "), record.reason ?? "",
        ]
    }
}

extension Arguments {
    /// The format of an export.
    ///
    /// - Parameters:
    ///   - formats: the ones allowed; the first is the default.
    ///   - what: what is exported.
    fileprivate func exportFormat(of formats: [ExportFormat], _ what: String) throws(Failure) -> ExportFormat {
        let format = word(.format, ExportFormat.self) ?? formats[0]
        guard formats.contains(format) else {
            throw usageFailure(
                "--format \(format.rawValue): the formats of \(what) are "
                    + formats.map(\.rawValue).joined(separator: ", "))
        }
        return format
    }
}

/// The parameters of an export.
private struct Export {
    /// How many events are read at once; after each page the cursor is written.
    private static let pageSize = 10_000

    private let format: ExportFormat
    private let since: WallTime?
    private let kinds: Set<AnalyticsEvent.Kind>
    private let cursorFile: CursorFile?
    private let after: Int64?
    private let follows: Bool
    private let showsTokens: Bool
    private let names: [String: String]

    init(_ arguments: Arguments, names: [String: String]) throws(Failure) {
        self.names = names
        format = try arguments.exportFormat(of: ExportFormat.ofEvents, "events")
        since = try arguments.window().since
        kinds = try Self.kinds(arguments)
        cursorFile = arguments[.cursor].map(CursorFile.init)
        after = try arguments[.after].map { text throws(Failure) in
            guard let number = Int64(text), number >= 0 else {
                throw arguments.usageFailure("--after \(text): the cursor of a line, a number; 0 begins with the first")
            }
            return number
        }
        if cursorFile != nil, after != nil {
            throw arguments.usageFailure("--cursor and --after exclude each other: each sets the first event")
        }
        follows = arguments.has(.follow)
        showsTokens = arguments.has(.fullTokens)
    }

    private static func kinds(_ arguments: Arguments) throws(Failure) -> Set<AnalyticsEvent.Kind> {
        try arguments.list(.event, AnalyticsEvent.Kind.self, name: \.shortName).map(Set.init)
            ?? Set(AnalyticsEvent.Kind.allCases).subtracting([.influencedOpen])
    }

    func run(_ session: Session) throws(Failure) -> ExitStatus {
        let follower = follows ? Follower() : nil
        let ledger = try session.ledger()
        var cursor = try cursorFile?.read(of: ledger.stateIdentity) ?? after ?? 0
        // An export that continues writes no heading: the first export has written it.
        if cursor == 0, let head = format.head(hasCursor: after != nil) {
            session.output.write(head.utf8)
        }
        repeat {
            while let last = try writePage(of: ledger, after: cursor, session) {
                cursor = last
                session.output.flush()
                guard let cursorFile else { continue }
                // Output first, then the cursor: after a power cut the cursor must not be ahead of the output.
                session.output.synchronize()
                try cursorFile.write(cursor, of: ledger.stateIdentity)
            }
        } while follower?.wait() ?? false
        return .done
    }

    /// Writes a page of events that match the filters.
    /// - Returns: the cursor of the page's last event, written or not; `nil` without events.
    private func writePage(of ledger: LedgerReader, after cursor: Int64, _ session: Session) throws(Failure) -> Int64? {
        let page = try Session.reading { () throws(StoreError) in
            try ledger.events(after: cursor, limit: Self.pageSize)
        }
        for (cursor, event) in page where isWanted(event) {
            let event = showsTokens ? event : event.withShortToken
            format.write(event, names: names, cursor: after == nil ? nil : cursor, to: session.output)
        }
        return page.last?.cursor
    }

    private func isWanted(_ event: AnalyticsEvent) -> Bool {
        kinds.contains(event.kind) && since.map { $0.seconds <= event.time } ?? true
    }
}

extension AnalyticsEvent.Kind {
    /// The last part of the name, which is unique.
    var shortName: String { rawValue.split(separator: ".").last.map(String.init) ?? rawValue }
}
