import PushModel

/// A table that is read line by line, so that its size does not matter for memory.
public protocol LineTable {
    /// Begins a file.
    mutating func begin(_ file: String)
    /// Takes a line without its line feed.
    ///
    /// - Throws: an error that makes the file useless.
    mutating func add(_ line: [UInt8], number: Int) throws(ExportError)
    /// Ends the file.
    mutating func end() throws(ExportError)
    /// Lines for a person about what could not be read.
    var notes: [String] { get }
}

/// Lines that cannot be read: the first of them with their places and reasons, and how many there are.
struct ExportProblems: Sendable {
    /// As many lines as are named.
    static let namedMax = 10

    private(set) var count = 0
    private var named: [String] = []

    mutating func add(_ file: String, _ line: Int, _ message: String) {
        count += 1
        if named.count < Self.namedMax { named.append("\(file):\(line): \(message.showingControls())") }
    }

    /// The lines for a person.
    var notes: [String] {
        let more = count - named.count
        return named + (more > 0 ? ["and \(counted(more, "more line")) that cannot be read"] : [])
    }
}

/// The figures of a dashboard, read from its tables and added up while they are read.
public struct CampaignExport: LineTable, Sendable {
    /// The figures of a row, and of several.
    struct Figures: Hashable, Sendable {
        var sent = 0
        var bounces = 0
        var direct = 0
        var total = 0

        static func += (left: inout Figures, right: Figures) {
            left.sent += right.sent
            left.bounces += right.bounces
            left.direct += right.direct
            left.total += right.total
        }

        /// Opens that are influenced and not direct.
        var influenced: Int { max(0, total - direct) }
    }

    /// A place of figures; `nil`: all platforms, all days.
    struct Place: Hashable, Sendable {
        var platform: Platform?
        var day: LocalDay?
    }

    /// One table that was read.
    struct File: Sendable {
        let name: String
        var columns: ExportColumns?
        /// The lines before the headings.
        var skipped: [String] = []
        fileprivate(set) var isJSON = false
        /// The line before the table that is most like one of headings: how many it has, and the error.
        fileprivate var candidate: (headings: Int, error: ExportError)?

        /// As many lines as may stand before the headings, and as many characters of one as are shown.
        fileprivate static let (skippedMax, shownMax) = (30, 60)
    }

    /// The largest table, in bytes.
    public static let bytesMax = 256 << 20
    /// The most campaigns, each by day and platform, that are kept; and the longest name of one, in bytes.
    static let (placesMax, nameMax) = (100_000, 1024)
    /// The most rows that are looked at for one that repeats another.
    private static let knownMax = 1_000_000

    /// The figures by the name of the campaign, as the tables have it.
    private(set) var campaigns: [String: [Place: Figures]] = [:]
    var files: [File] = []
    /// Rows with figures, of other channels, and of other days.
    private(set) var (rows, otherChannels, otherDays) = (0, 0, 0)
    /// Events without a campaign, and those that came before.
    private(set) var (withoutCampaign, repeatedEvents) = (0, 0)
    /// The form of the files.
    private(set) var form: ExportForm?
    /// Whether an event is an influenced open; the numbers of FCM's answers, and of those that have a next page.
    var hasInfluenced = false
    var answers = (all: 0, continued: 0)
    /// Lines that cannot be read.
    private(set) var problems = ExportProblems()
    private(set) var variations: Set<String> = []
    /// The names of campaigns that the tables have beside their ids.
    private(set) var names: [String: String] = [:]
    /// Rows that repeat a campaign, day, platform and variation, and rows with more direct opens than opens in all.
    private var (repeated, impossible) = (0, 0)
    /// The hashes of the rows' campaigns, days, platforms and variations, while they are few.
    private var known: Set<Int> = []

    let map: [ExportFigure: String]
    let zone: LocalZone
    private let dayOrder: DayOrder?
    private let days: @Sendable (LocalDay) -> Bool
    private var table = CSVTable()
    private var documents = JSONLines()
    private var places = 0
    /// The platforms and days of texts that were read: a table has few of them, many times.
    private var channels: [String: ExportCell.Channel] = [:]
    private var dates: [String: LocalDay] = [:]
    private static let textsMax = 4096

    /// - Parameters:
    ///   - map: the headings that a person named.
    ///   - dayOrder: the order of day and month, where a day is written as 11/12/2026.
    ///   - window: only rows of days in this time.
    ///   - zone: the zone of the days.
    public init(
        map: [ExportFigure: String] = [:], dayOrder: DayOrder? = nil, window: ReportWindow = ReportWindow(),
        zone: LocalZone = .utc
    ) {
        (self.map, self.dayOrder, self.zone) = (map, dayOrder, zone)
        let first = window.since.map { zone.day(of: $0.seconds) }
        let last = window.until.map { zone.day(of: WallTime(milliseconds: $0.milliseconds - 1).seconds) }
        days = { day in first.map { $0 <= day } ?? true && last.map { day <= $0 } ?? true }
    }

    /// The figures of a campaign, as it is named here, in all its rows.
    func sum(of campaign: String) -> Figures {
        (campaigns[campaign] ?? [:]).values.reduce(into: Figures()) { $0 += $1 }
    }

    /// Rows that were left out, by reason, for people.
    public var leftOut: [String] {
        [
            (otherChannels, "of other channels or events"), (otherDays, "of other days"),
            (withoutCampaign, "of no campaign"), (repeatedEvents, "that came before"), (problems.count, "broken"),
        ]
        .filter { $0.0 > 0 }.map { "\(counted($0.0, "row")) \($0.1)" }
    }

    /// Doubts about the sums, for people.
    var checks: [String] {
        var checks: [String] = []
        if repeated > 0 {
            checks.append(
                "\(counted(repeated, "row")) repeat a campaign, day, platform and variation, and all are added up: is a table given twice?"
            )
        }
        let places = campaigns.values.map(\.keys)
        if places.contains(where: { $0.contains { $0.day == nil } && $0.contains { $0.day != nil } }) {
            checks.append("a campaign has rows of days and a row without a day, and all are added up")
        }
        if places.contains(where: { $0.contains { $0.platform == nil } && $0.contains { $0.platform != nil } }) {
            checks.append("a campaign has rows of platforms and a row of all platforms, and all are added up")
        }
        if form == .fcm {
            checks.append(
                "FCM counts devices that share usage data alone; pushes that reached no device are a share of them in percent"
            )
            if answers.all == answers.continued {
                checks.append("each file has a nextPageToken: the last page is missing")
            }
        }
        if impossible > 0 {
            checks.append(
                "\(counted(impossible, "row")) with more direct opens than opens in all: are the headings right?")
        }
        return checks
    }

    /// Whether anything was read.
    public var hasRows: Bool { rows > 0 }

    /// The days from the first one to the last; `nil` if the tables have no days.
    var daysRead: ClosedRange<LocalDay>? {
        let days = campaigns.values.flatMap { $0.keys.compactMap(\.day) }
        guard let first = days.min(), let last = days.max() else { return nil }
        return first...last
    }

    public var notes: [String] { problems.notes }

    /// Begins a table.
    public mutating func begin(_ file: String) {
        files.append(File(name: file))
        (table, documents) = (CSVTable(), JSONLines())
    }

    /// The figures that the files cannot have.
    var lacking: Set<ExportFigure> {
        switch form {
        case .fcm: [.direct, .total]
        case .currents where !hasInfluenced: [.total]
        case .currents, .series, .table, nil: []
        }
    }

    /// Sets the form of the files.
    ///
    /// - Throws: an error if a file before has another.
    mutating func use(_ form: ExportForm) throws(ExportError) {
        if let before = self.form, before != form {
            throw ExportError(
                "it is \(form.meaning), and what was read before is \(before.meaning): give files of one form")
        }
        self.form = form
    }

    /// Takes a line without its line feed.
    public mutating func add(_ line: [UInt8], number: Int) throws(ExportError) {
        if number == 1, line.starts(with: [0xFF, 0xFE]) || line.starts(with: [0xFE, 0xFF]) || line.contains(0) {
            throw ExportError("UTF-16; write it as UTF-8: iconv -f UTF-16 -t UTF-8")
        }
        let last = files.count - 1
        if files[last].columns == nil, files[last].skipped.isEmpty, !files[last].isJSON,
            let first = line.first(where: { !$0.isJSONWhiteSpace })
        {
            files[last].isJSON = "{[".utf8.contains(first)
        }
        guard files[last].isJSON else {
            for step in table.add(line, number: number) { try take(step) }
            return
        }
        for step in documents.add(line, number: number) { try take(step) }
    }

    /// Ends the table.
    public mutating func end() throws(ExportError) {
        let last = files.count - 1
        guard !files[last].isJSON else {
            for step in documents.finish() { try take(step) }
            return
        }
        for step in table.finish() { try take(step) }
        if files[last].columns == nil { throw files[last].candidate?.error ?? ExportError("it has no headings") }
    }

    private mutating func take(_ step: JSONLines.Step) throws(ExportError) {
        switch step {
        case .document(let line, let root): try take(root, line)
        case .fault(let line, let message): tell(line, message)
        }
    }

    private mutating func take(_ step: CSVTable.Step) throws(ExportError) {
        let index = files.count - 1
        switch step {
        case .fault(let line, let message):
            if files[index].columns == nil {
                return try skip("line \(line)", (1, ExportError("line \(line): \(message)")))
            }
            tell(line, message)
        case .record(let line, let cells):
            guard let columns = files[index].columns else {
                let headings = 2 * ExportColumns.count(of: cells, map)
                do { files[index].columns = try ExportColumns(cells, map) } catch {
                    return try skip(cells.joined(separator: ", "), (headings, error))
                }
                return try use(.table)
            }
            guard cells.count == columns.count else {
                return tell(line, "\(counted(cells.count, "cell")), where the headings are \(columns.count)")
            }
            try add(row: cells, line)
        }
    }

    /// Passes over a line that is not one of headings, while others may follow.
    private mutating func skip(
        _ text: String, _ candidate: (headings: Int, error: ExportError)
    ) throws(ExportError) {
        let last = files.count - 1
        let best = files[last].candidate.map { $0.headings >= candidate.headings ? $0 : candidate } ?? candidate
        files[last].candidate = best
        files[last].skipped.append(String(text.prefix(File.shownMax)))
        guard files[last].skipped.count <= File.skippedMax else { throw best.error }
        table.forgetSeparator()
    }

    /// Names a line that cannot be read.
    mutating func tell(_ line: Int, _ message: String) { problems.add(files.last?.name ?? "", line, message) }

    /// Adds a row that has a cell for each heading of its file.
    mutating func add(row cells: [String], _ line: Int) throws(ExportError) {
        let index = files.count - 1
        guard let columns = files[index].columns else { return }
        for place in columns.unknown.indices
        where columns.unknown[place].values.count < ExportColumns.Unknown.valuesMax {
            let value = cells[columns.unknown[place].place]
            files[index].columns?.unknown[place].values.append(String(value.prefix(32)))
        }
        var row = Row()
        if let text = columns.cell(.platform, of: cells) {
            let channel = channels[text] ?? ExportCell.channel(text)
            if channels.count < Self.textsMax { channels[text] = channel }
            switch channel {
            case .every: break
            case .one(let platform): row.place.platform = platform
            case .other: return leaveOut(.otherChannel)
            }
        }
        row.campaign = columns.cell(.campaign, of: cells) ?? ""
        guard !row.campaign.isEmpty else { return tell(line, "it names no campaign") }
        if let text = columns.cell(.day, of: cells) {
            guard let day = dates[text] ?? ExportCell.day(text, in: zone, dayOrder) else {
                if dayOrder == nil, let question = ExportCell.question(text) {
                    throw ExportError("line \(line): \(question)")
                }
                return tell(
                    line, "day: \"\(text.prefix(32))\": a day is written as 2026-11-21, 21.11.2026 or Nov 21, 2026")
            }
            if dates.count < Self.textsMax { dates[text] = day }
            row.place.day = day
        }
        var counts: [ExportFigure: Int] = [:]
        for figure in [ExportFigure.sent, .bounces, .direct, .total] {
            guard let text = columns.cell(figure, of: cells) else { continue }
            guard let count = ExportCell.count(text) else {
                return tell(line, "\(figure.rawValue): \"\(text.prefix(32))\" is no count")
            }
            counts[figure] = count
        }
        row.variation = columns.cell(.variation, of: cells)
        if counts[.direct] ?? 0 > counts[.total] ?? 0 { impossible += 1 }
        row.name = columns.cell(.name, of: cells)
        row.figures = Figures(
            sent: counts[.sent] ?? 0, bounces: counts[.bounces] ?? 0, direct: counts[.direct] ?? 0,
            total: counts[.total] ?? 0)
        var hasher = Hasher()
        hasher.combine(row.campaign)
        hasher.combine(row.place)
        hasher.combine(row.variation)
        let isNew = isNew(hasher.finalize())
        if try add(row, line), !isNew { repeated += 1 }
    }

    /// Whether this is the first row, or event, with this hash.
    mutating func isNew(_ hash: Int) -> Bool { known.count >= Self.knownMax || known.insert(hash).inserted }

    /// A reason why a row is left out, beside a broken line.
    enum Omission { case otherChannel, noCampaign, repeated }

    /// Counts a row that is left out.
    mutating func leaveOut(_ reason: Omission) {
        switch reason {
        case .otherChannel: otherChannels += 1
        case .noCampaign: withoutCampaign += 1
        case .repeated: repeatedEvents += 1
        }
    }

    /// One row of a table, or one event.
    struct Row {
        var campaign = ""
        var name: String?
        var variation: String?
        var place = Place()
        var figures = Figures()
    }

    /// Adds the figures of a row.
    ///
    /// - Returns: whether it counts.
    @discardableResult
    mutating func add(_ row: Row, _ line: Int) throws(ExportError) -> Bool {
        let (campaign, place) = (row.campaign, row.place)
        guard campaign.utf8.count <= Self.nameMax else {
            tell(line, "the name of the campaign is too long")
            return false
        }
        guard place.day.map(days) ?? true else {
            otherDays += 1
            return false
        }
        if let variation = row.variation, variations.count < ExportProblems.namedMax { variations.insert(variation) }
        if let name = row.name, !name.isEmpty, name.utf8.count <= Self.nameMax { names[campaign] = name }
        if campaigns[campaign]?[place] == nil {
            places += 1
            guard places <= Self.placesMax else {
                throw ExportError(
                    "more than \(grouped(Self.placesMax)) campaigns by day and platform: give it in parts")
            }
        }
        campaigns[campaign, default: [:]][place, default: Figures()] += row.figures
        rows += 1
        return true
    }
}
