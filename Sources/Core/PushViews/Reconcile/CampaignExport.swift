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
    }

    /// The largest table, in bytes.
    public static let bytesMax = 256 << 20
    /// The most campaigns, each by day and platform, that are kept; and the longest name of one, in bytes.
    static let (placesMax, nameMax) = (100_000, 1024)
    /// The most rows that are looked at for one that repeats another.
    private static let knownMax = 1_000_000

    /// The figures by the name of the campaign, as the tables have it.
    private(set) var campaigns: [String: [Place: Figures]] = [:]
    private(set) var files: [File] = []
    /// Rows with figures, of other channels, and of other days.
    private(set) var (rows, otherChannels, otherDays) = (0, 0, 0)
    /// Lines that cannot be read.
    private(set) var problems = ExportProblems()
    private(set) var variations: Set<String> = []
    /// The names of campaigns that the tables have beside their ids.
    private(set) var names: [String: String] = [:]
    /// Rows that repeat a campaign, day, platform and variation, and rows with more direct opens than opens in all.
    private var (repeated, impossible) = (0, 0)
    /// The hashes of the rows' campaigns, days, platforms and variations, while they are few.
    private var known: Set<Int> = []

    private let map: [ExportFigure: String]
    private let zone: LocalZone
    private let days: @Sendable (LocalDay) -> Bool
    private var table = CSVTable()
    private var places = 0

    /// - Parameters:
    ///   - map: the headings that a person named.
    ///   - window: only rows of days in this time.
    ///   - zone: the zone of the days.
    public init(map: [ExportFigure: String] = [:], window: ReportWindow = ReportWindow(), zone: LocalZone = .utc) {
        (self.map, self.zone) = (map, zone)
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
        [(otherChannels, "of other channels"), (otherDays, "of other days"), (problems.count, "broken")]
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
        table = CSVTable()
    }

    /// Takes a line without its line feed.
    public mutating func add(_ line: [UInt8], number: Int) throws(ExportError) {
        if number == 1, line.starts(with: [0xFF, 0xFE]) || line.starts(with: [0xFE, 0xFF]) || line.contains(0) {
            throw ExportError("UTF-16; write it as UTF-8: iconv -f UTF-16 -t UTF-8")
        }
        for step in table.add(line, number: number) { try take(step) }
    }

    /// Ends the table.
    public mutating func end() throws(ExportError) {
        for step in table.finish() { try take(step) }
        if files[files.count - 1].columns == nil { throw ExportError("it has no headings") }
    }

    private mutating func take(_ step: CSVTable.Step) throws(ExportError) {
        let index = files.count - 1
        switch step {
        case .fault(let line, let message):
            if files[index].columns == nil { throw ExportError("line \(line): \(message)") }
            tell(line, message)
        case .record(let line, let cells):
            guard let columns = files[index].columns else {
                files[index].columns = try ExportColumns(cells, map)
                return
            }
            guard cells.count == columns.count else {
                return tell(line, "\(counted(cells.count, "cell")), where the headings are \(columns.count)")
            }
            for place in columns.unknown.indices
            where columns.unknown[place].values.count < ExportColumns.Unknown.valuesMax {
                let value = cells[columns.unknown[place].place]
                files[index].columns?.unknown[place].values.append(String(value.prefix(32)))
            }
            try add(cells, columns, line)
        }
    }

    private mutating func tell(_ line: Int, _ message: String) { problems.add(files.last?.name ?? "", line, message) }

    private mutating func add(_ cells: [String], _ columns: ExportColumns, _ line: Int) throws(ExportError) {
        var place = Place()
        if let text = columns.cell(.platform, of: cells) {
            switch ExportCell.channel(text) {
            case .every: break
            case .one(let platform): place.platform = platform
            case .other:
                otherChannels += 1
                return
            }
        }
        let campaign = columns.cell(.campaign, of: cells) ?? ""
        guard !campaign.isEmpty, campaign.utf8.count <= Self.nameMax else {
            return tell(line, campaign.isEmpty ? "it names no campaign" : "the name of the campaign is too long")
        }
        if let text = columns.cell(.day, of: cells) {
            guard let day = ExportCell.day(text, in: zone) else {
                return tell(
                    line, "day: \"\(text.prefix(32))\": a day is written as 2026-11-21, 21.11.2026 or Nov 21, 2026")
            }
            guard days(day) else {
                otherDays += 1
                return
            }
            place.day = day
        }
        var counts: [ExportFigure: Int] = [:]
        for figure in [ExportFigure.sent, .bounces, .direct, .total] {
            guard let text = columns.cell(figure, of: cells) else { continue }
            guard let count = ExportCell.count(text) else {
                return tell(line, "\(figure.rawValue): \"\(text.prefix(32))\" is no count")
            }
            counts[figure] = count
        }
        let variation = columns.cell(.variation, of: cells)
        if let variation, variations.count < ExportProblems.namedMax { variations.insert(variation) }
        if known.count < Self.knownMax {
            var hasher = Hasher()
            hasher.combine(campaign)
            hasher.combine(place)
            hasher.combine(variation)
            if !known.insert(hasher.finalize()).inserted { repeated += 1 }
        }
        if counts[.direct] ?? 0 > counts[.total] ?? 0 { impossible += 1 }
        if let name = columns.cell(.name, of: cells), !name.isEmpty, name.utf8.count <= Self.nameMax {
            names[campaign] = name
        }
        if campaigns[campaign]?[place] == nil {
            places += 1
            guard places <= Self.placesMax else {
                throw ExportError(
                    "more than \(grouped(Self.placesMax)) campaigns by day and platform: give it in parts")
            }
        }
        campaigns[campaign, default: [:]][place, default: Figures()] += Figures(
            sent: counts[.sent] ?? 0, bounces: counts[.bounces] ?? 0, direct: counts[.direct] ?? 0,
            total: counts[.total] ?? 0)
        rows += 1
    }
}
