import PushModel
import PushSettings
import PushViews
import Store

extension Command {
    static let export = Command(
        name: "export", summary: "write the analytics events, one a line",
        description: [
            """
            Prints the events in the order in which they were recorded, one JSON object a line. The format currents \
            has the names of Braze's Currents; the format envelope has the form of its custom HTTP export; csv is a table with \
            the names of Currents, whose heading stands before the first event alone. Fields that \
            a tracker on the device cannot know (user_id, send_id) are left out, and campaign_name without --names. It reads the \
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
            LocalTime.forms,
        ],
        operands: .none,
        options: [
            .format.allowing(ExportFormat.self).meaning("the form of a line (currents)"),
            .since.meaning("only events at this time or later"), .utc, .event, .names, .cursor, .after, .follow,
            .fullTokens,
        ],
        examples: [
            Example(line: "pushctl export --event Open --since today", meaning: "the direct opens of today"),
            Example(
                line: "pushctl export --cursor /var/lib/crm/cursor >>events.ndjson", meaning: "append the new events"),
            Example(line: "pushctl export --format envelope --follow", meaning: "all events, as they come"),
        ]
    ) { arguments, session throws(Failure) in
        try Export(arguments, names: try session.campaignNames(arguments).names).run(session)
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
        format = arguments.word(.format, ExportFormat.self) ?? .currents
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
        // An export that goes on has the heading of the first one.
        if cursor == 0, let head = format.head(hasNames: !names.isEmpty, hasCursor: after != nil) {
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
