import PushModel

/// The names of campaigns: a table with the headings `cid`, `api_id` and `name`, which a person keeps.
public struct CampaignNames: LineTable, Sendable {
    /// The most campaigns that are kept.
    private static let campaignsMax = 100_000

    /// The headings, the first of which must be there.
    private enum Heading: String, CaseIterable {
        case cid
        case apiID = "api_id"
        case name
    }

    /// The names by the id in the payload.
    public private(set) var names: [String: String] = [:]
    /// The ids in payloads by the id of Braze's API, and by the name.
    private var ids: [String: [String]] = [:]
    private var problems = ExportProblems()
    private var table = CSVTable()
    private var file = ""
    private var places: [Heading: Int]?
    private var count = 0

    /// The name of the file, in a directory of the configuration, that is read where no other is named.
    public static let fileName = "campaigns.csv"

    /// No names.
    public init() {}

    /// Reads a whole file.
    public init(_ bytes: [UInt8], of file: String) throws(ExportError) {
        begin(file)
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            try add(Array(line), number: index + 1)
        }
        try end()
    }

    public var notes: [String] { problems.notes }

    public mutating func begin(_ file: String) { (self.file, table, places) = (file, CSVTable(), nil) }

    public mutating func add(_ line: [UInt8], number: Int) throws(ExportError) {
        for step in table.add(line, number: number) { try take(step) }
    }

    public mutating func end() throws(ExportError) {
        for step in table.finish() { try take(step) }
        if places == nil { throw ExportError("it has no headings; they are cid,api_id,name") }
    }

    private mutating func take(_ step: CSVTable.Step) throws(ExportError) {
        guard case .record(let line, let cells) = step else {
            if case .fault(let line, let message) = step { problems.add(file, line, message) }
            return
        }
        guard let places else {
            var found: [Heading: Int] = [:]
            for heading in Heading.allCases {
                found[heading] = cells.firstIndex { $0.lowercased() == heading.rawValue }
            }
            guard found[.cid] != nil, found.count > 1 else {
                throw ExportError("its headings are \(cells.joined(separator: ",")), not cid,api_id,name")
            }
            places = found
            return
        }
        func cell(_ heading: Heading) -> String? {
            places[heading].flatMap { cells.indices.contains($0) && !cells[$0].isEmpty ? cells[$0] : nil }
        }
        guard let id = cell(.cid) else {
            return problems.add(file, line, "it has no cid")
        }
        count += 1
        guard count <= Self.campaignsMax else { throw ExportError("more than \(grouped(Self.campaignsMax)) campaigns") }
        if let name = cell(.name) { names[id] = name }
        for key in Set([cell(.apiID), cell(.name)].compactMap(\.self)) where !(ids[key]?.contains(id) ?? false) {
            ids[key, default: []].append(id)
        }
    }

    /// The ids in payloads of a campaign that an export names.
    func ids(of text: String) -> [String] { ids[text] ?? [] }
}

extension [String: String] {
    /// A campaign for people, with its name if a person gave one.
    public func title(ofCampaign id: String) -> String { self[id].map { "\($0) (\(id))" } ?? id }
}

/// A pair of a campaign in an export and one in the ledger that may be the same, for a person to check.
struct ProposedName: Sendable {
    let id: String
    /// The campaign as the export names it.
    let text: String
    /// The name that the export has beside an id, if it has both.
    var name: String?
    /// The reason, for people.
    let why: String

    /// As many campaigns of a side as are compared with each other.
    private static let comparedMax = 2_000

    /// The figures by which two campaigns are compared.
    struct Candidate {
        let name: String
        var counts: [Int]
        var days: Set<LocalDay>

        /// The difference as a share of the figures: 0 for the same, 1 for nothing in common.
        func distance(to other: Candidate) -> Double {
            let sum = (counts + other.counts).reduce(0, +)
            guard sum > 0, days.isEmpty || !other.days.isEmpty && other.days.isSubset(of: days) else { return 1 }
            return Double(zip(counts, other.counts).reduce(0) { $0 + abs($1.0 - $1.1) }) / Double(sum)
        }
    }

    /// The pairs: those with the same letters and digits, then those whose figures are like those of no other campaign.
    static func all(_ theirs: [Candidate], _ ours: [Candidate]) -> [ProposedName] {
        var (theirs, ours) = (theirs.prefix(comparedMax), ours.prefix(comparedMax))
        var found: [ProposedName] = []
        let named = Dictionary(grouping: ours) { $0.name.lettersAndDigits }
        let like = Dictionary(grouping: theirs) { $0.name.lettersAndDigits }
        for one in theirs {
            let letters = one.name.lettersAndDigits
            guard let same = named[letters], same.count == 1, like[letters]?.count == 1, !letters.isEmpty else {
                continue
            }
            found.append(ProposedName(id: same[0].name, text: one.name, why: "the same letters and digits"))
        }
        let (texts, ids) = (Set(found.map(\.text)), Set(found.map(\.id)))
        theirs.removeAll { texts.contains($0.name) }
        ours.removeAll { ids.contains($0.name) }
        for one in theirs {
            guard let near = nearest(to: one, among: ours),
                nearest(to: near, among: theirs, isReversed: true)?.name == one.name
            else { continue }
            let names = ["sent and seen", "direct", "total"]
            let figures = zip(names, zip(one.counts, near.counts)).map { "\($0) \($1.0) and \($1.1)" }
            let days = near.days.isEmpty ? [] : ["on the same \(counted(near.days.count, "day"))"]
            found.append(
                ProposedName(id: near.name, text: one.name, why: (figures + days).joined(separator: "; ")))
        }
        return found
    }

    /// The candidate with like figures, if the next one is much farther away.
    private static func nearest(
        to one: Candidate, among others: ArraySlice<Candidate>, isReversed: Bool = false
    ) -> Candidate? {
        var nearest: (distance: Double, candidate: Candidate)?
        var second = Double.infinity
        for other in others {
            let distance = isReversed ? other.distance(to: one) : one.distance(to: other)
            if let best = nearest, (best.distance, best.candidate.name) < (distance, other.name) {
                second = min(second, distance)
            } else {
                second = nearest?.distance ?? second
                nearest = (distance, other)
            }
        }
        guard let (best, candidate) = nearest, best <= 0.1, second > best * 2 + 0.05 else { return nil }
        return candidate
    }
}
