import Glibc
import LedgerReports
import PushModel
import PushRouter
import PushSettings
import PushViews
import Store

extension Command {
    static let reconcile = Command(
        name: "reconcile", summary: "put a dashboard's export beside the ledger, with reasons",
        description: [
            """
            Reads the tables (CSV) of a dashboard or another export, and prints the figures of each campaign beside those \
            of the ledger, as campaigns counts them. It reads the ledger in the state directory, with or without a daemon, and fetches \
            nothing. "direct 1 / ours 2": the export has 1, the ledger 2.
            """,
            """
            "We saw 5 of 812" is how many of the sent pushes the ledger has. Below \(Reconciliation.leastShare) % it makes \
            no statement about the rest. Sentences give reasons, each with a query that opens the pushes in the page. \
            "certain": the ledger proves it. "possible": the sums differ. They give bounds, because nobody knows \
            which of the pushes that were not seen were opened. A window of influenced opens that fits better is \
            named, never set.
            """,
            """
            HEADINGS in the man page has the headings that are known; they are guesses, and the output says so. --map names \
            others. Cells are separated by commas, semicolons or tabs, counts may have groups of three, and - is 0. A table \
            has at most \(CampaignExport.bytesMax >> 20) MiB. A line that cannot be read is named on standard error, and left out. \
            Lines before the headings are skipped, and shown. Of 11/12/2026 --date-format says which is the month.
            """,
            """
            Other forms, one a run: the answer of Braze's /campaigns/data_series or /sends/data_series, in a file \
            CAMPAIGN.json, because it does not name its campaign; events of Currents as JSON lines ("avro-tools tojson" makes them), \
            with the event's type in the path, as Braze writes it, or in each event; the answer of the FCM Data \
            API, in which an analytics label stands for the campaign. Currents has no influenced opens, FCM no opens: these are \
            not compared. Fetch them with curl: -H "Authorization: Bearer $KEY" \
            "https://rest.fra-01.braze.eu/campaigns/data_series?campaign_id=$ID&length=14" -o $ID.json; \
            "https://fcmdata.googleapis.com/v1beta1/$APP/deliveryData" -o fcm.json, with \
            APP=projects/PROJECT/androidApps/ID.
            """,
            """
            A campaign is joined by its id in the payload, or by --names, a table with the columns cid, api_id and name. \
            --propose-names prints such a table of pairs with like names or figures, each with the reason: check each one. \
            Days are those of this machine's time zone or of --timezone; a dashboard has its own.
            """,
            """
            \(LocalTime.timeForms) Without --since and --until the days of the export decide what is compared. The format csv has \
            a row for each campaign, by day and platform if the export has them. The exit status is 1 when a gap of a \
            campaign, or what Braze never saw of it, is a larger share than --fail-over, and when a campaign or a row \
            cannot be compared.
            """,
        ],
        operands: Operands(usage: "FILE...|-", count: 1...Int.max),
        options: [
            .names, .proposeNames, .map, .dateFormat, .timezone, .since.meaning("only events at this time or later"),
            .until.meaning("only events before this time"), .failOver,
            .format.allowing(["text", "csv", "json", "html"]), .json,
        ],
        examples: [
            Example(
                line: "pushctl reconcile braze.csv --since 2026-11-01 --timezone Europe/Berlin",
                meaning: "an export with days of Berlin"),
            Example(
                line: "pushctl reconcile braze.csv --map direct=\"Unique Opens\" --map total=Opened",
                meaning: "with the headings of your export"),
            Example(
                line: "pushctl reconcile braze.csv --propose-names > campaigns.csv",
                meaning: "which campaign is which, to be checked"),
            Example(
                line: "pushctl reconcile braze.csv --names campaigns.csv --fail-over 5%",
                meaning: "in CI: 1 when more than 5 % of a figure is missing"),
        ]
    ) { arguments, session throws(Failure) in
        let format = arguments[.format] ?? (arguments.has(.json) ? "json" : "text")
        if arguments.has(.json), format != "json" {
            throw arguments.usageFailure("--json and --format \(format) exclude each other")
        }
        let limit = try arguments[.failOver].map { text throws(Failure) in
            guard let percent = Percent(text) else {
                throw arguments.usageFailure("--fail-over \(text): a percentage from 0 to 100, such as 5%")
            }
            return percent
        }
        let zone = try LocalTime.use(zone: arguments[.timezone], arguments)
        let window = try arguments.window()
        let names = try session.campaignNames(arguments)
        var export = CampaignExport(
            map: try arguments.headings(), dayOrder: arguments.word(.dateFormat, DayOrder.self), window: window,
            zone: zone)
        for path in arguments.operands { try session.read(path, into: &export) }
        for note in export.notes { session.output.note(note) }
        guard export.hasRows else {
            let reasons = export.leftOut.isEmpty ? "" : ": \(export.leftOut.joined(separator: ", "))"
            throw Failure(.badData, "the export has no row that can be compared\(reasons)")
        }

        let settings = session.settingsOfReport()
        var ledger = LedgerSide(
            beside: export, window: window, zone: zone, idRule: settings.campaignIDRule,
            influencedWindow: settings.routing.tracking.influencedWindow)
        try session.reading { reader throws(StoreError) in
            try reader.snapshot { () throws(StoreError) in try ledger.read(reader, settings.routing) }
        }
        var result = Reconciliation(export, ledger, names: names)
        result.isZoneGiven = arguments.has(.timezone)
        if arguments.has(.proposeNames) {
            session.output.write(result.proposals.utf8)
            session.output.note(result.proposalNote)
            return .done
        }
        switch format {
        case "json": session.output.write(document: result.json)
        case "csv": session.output.write(result.csv.utf8)
        case "html":
            result.maker = .current
            session.output.write(result.html.utf8)
        default:
            let output = session.output
            output.print(result.lines(TextStyle(width: output.width, usesUnicode: output.usesUnicode)))
        }
        let gaps = limit.map { result.gaps(over: $0) } ?? []
        for gap in gaps { session.output.note(gap) }
        return gaps.isEmpty ? .done : .no
    }
}

extension Option {
    static let names = Option(
        "names", .file, "a table cid,api_id,name with the names of campaigns (campaigns.csv beside the configuration)")
    static let proposeNames = Option(
        "propose-names", .none, "print such a table of pairs that may be the same, and no more")
    static let map = Option(
        "map", .text("FIGURE=HEADING"), "the heading of a figure, such as direct=\"Unique Opens\"; can be repeated")
    static let dateFormat = Option(
        "date-format", .words(DayOrder.allCases.map(\.rawValue)),
        "the order of day and month in days such as 11/12/2026")
    static let timezone = Option(
        "timezone", .text("ZONE"), "the zone of the days, such as Europe/Berlin or +02:00 (this machine's)")
    static let failOver = Option("fail-over", .text("PERCENT"), "exit with 1 when a gap is a larger share, such as 5%")
}

extension Arguments {
    /// The headings of `--map`.
    fileprivate func headings() throws(Failure) -> [ExportFigure: String] {
        var map: [ExportFigure: String] = [:]
        for text in all(.map) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
            let figures = ExportFigure.allCases.map(\.rawValue)
            guard parts.count == 2, let figure = ExportFigure(rawValue: parts[0]), !parts[1].isEmpty else {
                throw usageFailure(
                    "--map \(text): FIGURE=HEADING, with a figure of \(figures.joined(separator: ", "))"
                        + suggestion(for: parts[0], among: figures))
            }
            map[figure] = parts[1]
        }
        return map
    }
}

extension Session {
    /// The names of campaigns: of the file in `--names`, else of the first one beside the configuration.
    func campaignNames(_ arguments: Arguments) throws(Failure) -> CampaignNames {
        if let path = arguments[.names] { return try names(path) }
        return try usualNames()
    }

    private func usualNames() throws(Failure) -> CampaignNames {
        let files = directories.configuration.map { "\($0)/\(CampaignNames.fileName)" }
        return try files.first { access($0, R_OK) == 0 }.map { (path) throws(Failure) in try names(path) }
            ?? CampaignNames()
    }

    /// The names of campaigns beside the configuration, by id; none, with a note, if they cannot be read.
    func campaignNamesIfReadable() -> [String: String] {
        do { return try usualNames().names } catch {
            output.note(error.message)
            return [:]
        }
    }

    /// The names of campaigns in a file; lines that cannot be read are told.
    func names(_ path: String) throws(Failure) -> CampaignNames {
        var names = CampaignNames()
        try read(path, into: &names)
        for note in names.notes { output.note(note) }
        return names
    }

    /// Reads a file line by line into a table.
    fileprivate func read(_ path: String, into table: inout some LineTable) throws(Failure) {
        let file = try InputFile(path)
        func tooLong() -> Failure {
            Failure(.badData, "\(file.name): larger than \(CampaignExport.bytesMax >> 20) MiB: give it in parts")
        }
        func failure(_ error: ExportError) -> Failure { Failure(.badData, "\(file.name): \(error.message)") }
        if let size = file.size, size > CampaignExport.bytesMax { throw tooLong() }
        var bytes = 0
        table.begin(file.name)
        while let line = try file.nextLine() {
            bytes += line.count + 1
            guard bytes <= CampaignExport.bytesMax else { throw tooLong() }
            do { try table.add(line, number: file.lineNumber) } catch { throw failure(error) }
        }
        do { try table.end() } catch { throw failure(error) }
    }
}

extension LocalTime {
    /// Makes a zone that of this process, and returns it; `nil`: the machine's own.
    fileprivate static func use(zone text: String?, _ arguments: Arguments) throws(Failure) -> LocalZone {
        guard let text else {
            if let unknown = unknownZone {
                throw arguments.usageFailure("TZ=\(unknown): there is no such time zone; give --timezone Europe/Berlin")
            }
            return zone
        }
        setenv("TZ", offset(text) ?? text, 1)
        tzset()
        guard unknownZone == nil, !text.isEmpty else {
            throw arguments.usageFailure(
                "--timezone \(text): there is no such time zone; write Europe/Berlin, UTC or +02:00")
        }
        return zone(named: text)
    }

    /// `+02:00` as a rule of POSIX, in which hours west are positive; `nil` for another text.
    private static func offset(_ text: String) -> String? {
        let digits = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard let sign = text.first, "+-".contains(sign), digits.count == 2,
            digits.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(\.isDigit) }), digits[0] < "24",
            digits[1] < "60"
        else { return nil }
        return "<\(text.filter { $0 != ":" })>\(sign == "+" ? "-" : "+")\(text.dropFirst())"
    }
}
