import PushModel

/// A figure of an export, which a column of its table has. The raw values are the words of `--map`.
public enum ExportFigure: String, Sendable, CaseIterable {
    case campaign, name, day, platform, variation, sent, bounces, direct, total

    /// The headings that stand for it, the first match counts. They are guesses: no vendor publishes the headings of its
    /// tables.
    var headings: [String] {
        switch self {
        case .campaign: ["campaign_id", "Campaign ID", "campaign_name", "Campaign Name", "Message Name", "Campaign"]
        case .name: ["campaign_name", "Campaign Name", "Message Name"]
        case .day: ["time", "Date", "Day"]
        case .platform: ["Channel", "Platform", "Message Type"]
        case .variation: ["variation_name", "Variation", "Variant"]
        case .sent: ["sent", "Sends", "Total Sends"]
        case .bounces: ["bounces", "Total Bounces"]
        case .direct: ["direct_opens", "Direct Opens", "Unique Direct Opens"]
        case .total: ["total_opens", "Total Opens", "Opens"]
        }
    }

    /// Whether a table without it says too little.
    var isRequired: Bool {
        switch self {
        case .campaign, .sent, .direct, .total: true
        case .name, .day, .platform, .variation, .bounces: false
        }
    }

    /// The meaning, for people.
    var meaning: String {
        switch self {
        case .campaign: "the id or the name of the campaign"
        case .name: "the name beside an id; it counts where the id is unknown"
        case .day: "2026-11-21, also with a time, 21.11.2026 or Nov 21, 2026; without it a row is a whole campaign"
        case .platform: "ios_push, Android Push, web and the like; rows of other channels are left out"
        case .variation: "the ledger knows no variations, so they are added up"
        case .sent: "messages sent"
        case .bounces: "messages that reached no device"
        case .direct: "direct opens"
        case .total: "direct and influenced opens"
        }
    }

    /// Names, with the headings that are recognised and the meaning, for the manual page.
    public static var described: [(name: String, meaning: String)] {
        allCases.map { figure in
            let need = figure.isRequired ? "" : "; optional"
            return (figure.rawValue, "\(figure.headings.joined(separator: ", ")): \(figure.meaning)\(need)")
        }
    }
}

/// A text that is no export, or an option that does not fit it. The message says what to do.
public struct ExportError: Error, Hashable {
    /// One sentence, or several lines.
    public let message: String

    init(_ message: String) { self.message = message }
}

/// The columns of one table.
struct ExportColumns: Sendable {
    /// A column that has a figure.
    struct Known: Sendable {
        let figure: ExportFigure
        let heading: String
        let place: Int
        /// Whether the heading was guessed, not named with `--map`.
        let isGuess: Bool
    }

    /// A column that has none, with its first values.
    struct Unknown: Sendable {
        let heading: String
        let place: Int
        var values: [String] = []

        /// As many values as are shown.
        static let valuesMax = 3
    }

    let headings: [String]
    var count: Int { headings.count }
    private(set) var known: [Known] = []
    var unknown: [Unknown] = []
    private var places: [ExportFigure: Int] = [:]

    /// - Parameter map: the headings that a person named.
    init(_ headings: [String], _ map: [ExportFigure: String]) throws(ExportError) {
        self.headings = headings
        for figure in ExportFigure.allCases {
            if let found = Self.place(of: figure, in: headings, map) {
                // The name that stands for the id is no other column.
                if figure == .name, map[figure] == nil, places[.campaign] == found { continue }
                places[figure] = found
                known.append(
                    Known(figure: figure, heading: headings[found], place: found, isGuess: map[figure] == nil))
            } else if let name = map[figure] {
                let near = suggestion(for: name, among: headings)
                throw ExportError(
                    "--map \(figure.rawValue)=\(name): there is no such heading\(near)\n\(Self.list(headings))")
            }
        }
        let missing = ExportFigure.allCases.filter { $0.isRequired && places[$0] == nil }
        guard missing.isEmpty else {
            let words = missing.map { "--map \($0.rawValue)=HEADING" }.joined(separator: " ")
            let names = missing.map(\.rawValue).joined(separator: ", ")
            throw ExportError("no heading is known for: \(names)\n\(Self.list(headings))\nwrite \(words)")
        }
        let taken = Set(places.values)
        unknown = headings.indices.filter { !taken.contains($0) }.map { Unknown(heading: headings[$0], place: $0) }
    }

    private static func place(
        of figure: ExportFigure, in headings: [String], _ map: [ExportFigure: String]
    ) -> Int? {
        (map[figure].map { [$0] } ?? figure.headings).lazy.compactMap { name in
            headings.firstIndex { $0.lowercased() == name.trimmingSpaces.lowercased() }
        }.first
    }

    /// How many figures a line of headings would have.
    static func count(of headings: [String], _ map: [ExportFigure: String]) -> Int {
        ExportFigure.allCases.count { place(of: $0, in: headings, map) != nil }
    }

    private static func list(_ headings: [String]) -> String {
        "its headings: \(headings.map { "\"\($0.showingControls())\"" }.joined(separator: ", "))"
    }

    /// The cell of a figure; `nil` without its column.
    func cell(_ figure: ExportFigure, of cells: [String]) -> String? { places[figure].map { cells[$0] } }
}

/// The order of day and month where a day is written as 11/12/2026. The raw values are the words of `--date-format`.
public enum DayOrder: String, Sendable, CaseIterable { case dmy, mdy }

/// The forms in which tables have counts, days and platforms.
enum ExportCell {
    /// A count: digits, in groups of three or not; `nil` for other texts. An empty cell and a dash are 0.
    static func count(_ text: String) -> Int? {
        guard !text.isEmpty else { return 0 }
        if text.utf8.count <= 12, text.utf8.allSatisfy(\.isDigit) { return Int(text) }
        guard !["-", "–"].contains(text) else { return 0 }
        let marks: Set<Unicode.Scalar> = [",", ".", " ", "\u{A0}", "\u{202F}", "'", "\u{2019}"]
        let scalars = Array(text.unicodeScalars)
        var used = scalars.filter(marks.contains)
        var parts = scalars.split(omittingEmptySubsequences: false, whereSeparator: marks.contains).map { Array($0) }
        guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { ("0"..."9").contains($0) } }) else { return nil }
        // The decimals of a whole number, as programs write it.
        if let mark = used.last, ".,".unicodeScalars.contains(mark), let last = parts.last, last.count != 3,
            last.allSatisfy({ $0 == "0" })
        {
            used.removeLast()
            parts.removeLast()
        }
        let isGrouped =
            parts.count == 1
            || (1...3).contains(parts[0].count) && parts.dropFirst().allSatisfy { $0.count == 3 }
                && Set(used).count == 1
        let digits = String(String.UnicodeScalarView(parts.joined()))
        // As many digits as a sum of many files cannot make overflow.
        return isGrouped && digits.utf8.count <= 12 ? Int(digits) : nil
    }

    /// The first letters of the months.
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// A day: `2026-11-21`, also with a time behind it, `2026/11/21`, `21.11.2026` and `Nov 21, 2026`; `nil` for other
    /// texts.
    ///
    /// - Parameter order: the order of day and month; without it `11/12/2026` is one of two days, and `nil`.
    static func day(_ text: String, in zone: LocalZone = .utc, _ order: DayOrder? = nil) -> LocalDay? {
        if let (mark, first, second, year) = yearLast(text) {
            let (day, month) = order == .mdy ? (second, first) : (first, second)
            guard order != nil || mark == ".", (1...12).contains(month), (1...31).contains(day) else { return nil }
            func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
            return LocalDay(iso: "\(year)-\(padded(month))-\(padded(day))")
        }
        // Midnight stands for the day in whichever zone it is written.
        if text.utf8.count > 10, !text.has("T00:00:00"), let time = WallTime(rfc3339: text) {
            return zone.day(of: time.seconds)
        }
        let words = text.split { $0 == " " || $0 == "," }
        if words.count == 3, words[2].count == 4,
            let place = words.firstIndex(where: { $0.first?.isLetter == true }), place < 2,
            let month = months.firstIndex(of: words[place].prefix(3).lowercased()), words[1 - place].count <= 2
        {
            return day("\(words[1 - place]).\(month + 1).\(words[2])", in: zone, .dmy)
        }
        let text = text.utf8.count == 10 ? String(text.map { $0 == "/" ? "-" : $0 }) : text
        let rest = text.dropFirst(10)
        guard rest.isEmpty || rest.first == "T" || rest.first == " " else { return nil }
        return LocalDay(iso: String(text.prefix(10)))
    }

    /// The numbers of a day whose year comes last, also with a time behind it.
    private static func yearLast(_ text: String) -> (mark: Character, first: Int, second: Int, year: Substring)? {
        let date = text.prefix { !" T,".contains($0) }
        guard let mark = date.first(where: { "/.-".contains($0) }) else { return nil }
        let parts = date.split(separator: mark, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].count == 4, Int(parts[2]) != nil, let first = Int(parts[0]),
            let second = Int(parts[1]), parts.prefix(2).allSatisfy({ (1...2).contains($0.count) })
        else { return nil }
        return (mark, first, second, parts[2])
    }

    /// The question about a day that may be one of two, with the option that answers it; `nil` for another text.
    static func question(_ text: String) -> String? {
        guard let (_, first, second, _) = yearLast(text), first <= 31, second <= 31 else { return nil }
        let shown = "\"\(text.prefix(32).description.showingControls())\""
        if first > 12 { return "\(shown) begins with the day: write --date-format \(DayOrder.dmy.rawValue)" }
        if second > 12 { return "\(shown) begins with the month: write --date-format \(DayOrder.mdy.rawValue)" }
        return "\(shown) begins with the day or with the month: write --date-format \(DayOrder.dmy.rawValue) or "
            + "--date-format \(DayOrder.mdy.rawValue)"
    }

    /// The platforms of a channel.
    enum Channel: Hashable {
        case every
        case one(Platform)
        /// Not a push.
        case other
    }

    static func channel(_ text: String) -> Channel {
        switch withoutPush(text.lettersAndDigits) {
        case "", "all", "mobile": .every
        case "android", "kindle", "fire": .one(.android)
        case "ios", "iphone", "ipad", "apple": .one(.ios)
        case "web", "browser": .one(.web)
        default: .other
        }
    }

    /// `androidpush` and `pushnotificationandroid` as `android`.
    private static func withoutPush(_ text: String) -> Substring {
        var rest = text[...]
        for word in ["notifications", "notification", "push"] {
            if rest.hasSuffix(word) { rest = rest.dropLast(word.count) }
        }
        for word in ["push", "notifications", "notification"] where rest.hasPrefix(word) {
            rest = rest.dropFirst(word.count)
        }
        return rest
    }
}

extension LocalDay {
    /// A day that is written as `2026-11-21`.
    fileprivate init?(iso text: String) {
        guard let time = WallTime(rfc3339: "\(text)T00:00:00Z") else { return nil }
        self.init(number: time.seconds / 86_400)
    }
}
