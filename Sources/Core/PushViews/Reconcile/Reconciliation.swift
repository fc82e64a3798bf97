public import PushModel

/// The figures of an export beside those of the ledger, with the reasons that the ledger has for each gap.
///
/// An export has sums alone. Of the pushes that the ledger has not seen nobody knows which were opened, so a gap has two
/// bounds. They meet where the ledger has seen every push.
public struct Reconciliation: Sendable {
    /// The figures of a platform and a day on both sides.
    struct Row: Sendable {
        let place: CampaignExport.Place
        let theirs: CampaignExport.Figures
        let ours: LedgerSide.Figures
    }

    /// A campaign that both sides have.
    struct Campaign: Sendable {
        /// The campaign as the export names it.
        let name: String
        /// Its ids in payloads.
        let ids: [String]
        let theirs: CampaignExport.Figures
        let ours: LedgerSide.Figures
        /// The parts of the export, by day and platform.
        let rows: [Row]
        var sentences: [Sentence] = []
        /// The gaps that the sums prove, each with the figure that it is a part of.
        var gaps: [(count: Int, of: Int)] = []

        /// Pushes that could have been seen.
        var sent: Int { max(0, theirs.sent - theirs.bounces) }
        /// Pushes that could have been seen, and were not.
        var unseen: Int { max(0, sent - ours.seen) }
        /// Whether too few were seen for a word about the others.
        var isBelowShare: Bool { ours.seen * 100 < sent * Reconciliation.leastShare }
        /// The sentences with the largest counts, those that are certain first.
        var foremost: [Sentence] {
            let sorted = sentences.enumerated().sorted {
                ($1.element.bounds.lowerBound, $0.offset) < ($0.element.bounds.lowerBound, $1.offset)
            }
            return sorted.prefix(Reconciliation.sentencesMax).sorted { $0.offset < $1.offset }.map(\.element)
        }
    }

    /// The least share of the sent pushes, in percent, that the ledger must have seen to be compared.
    public static let leastShare = 10
    /// As many sentences of a campaign as people read.
    static let sentencesMax = 3

    let export: CampaignExport
    let names: CampaignNames
    let window: ReportWindow
    let zone: LocalZone
    let rowsBegin: WallTime?
    /// The campaigns that both sides have, by name.
    private(set) var campaigns: [Campaign] = []
    /// The campaigns that one side alone has, by name.
    private(set) var onlyInExport: [String] = []
    private(set) var onlyHere: [String] = []
    /// The pairs that may be the same campaign.
    private(set) var proposed: [ProposedName] = []
    /// Whether a person named the zone of the days.
    public var isZoneGiven = true
    /// The program that made it, the machine and the time; `nil` if unknown.
    public var maker: ReportMaker?

    /// Compares an export with the ledger.
    public init(_ export: CampaignExport, _ ledger: LedgerSide, names: CampaignNames = CampaignNames()) {
        (self.export, self.names) = (export, names)
        (window, zone, rowsBegin) = (ledger.window, ledger.zone, ledger.rowsBegin)
        let here = ledger.campaigns
        let parts = ledger.idRule == .decode ? Dictionary(grouping: here) { campaignPart(of: $0) } : [:]
        var joined: [[String]: (names: [String], places: [CampaignExport.Place: CampaignExport.Figures])] = [:]
        for (text, places) in export.campaigns.sorted(by: { $0.key < $1.key }) {
            let listed = names.ids(of: text).isEmpty ? [text] : names.ids(of: text)
            let ids = listed.flatMap { here.contains($0) ? [$0] : parts[$0] ?? [] }.sorted()
            guard !ids.isEmpty else {
                onlyInExport.append(text)
                continue
            }
            joined[ids, default: ([], [:])].names.append(text)
            joined[ids]?.places.merge(places) { both, other in
                var both = both
                both += other
                return both
            }
        }
        let days = export.daysRead
        campaigns = joined.map { ids, part in
            Self.campaign(part.names.joined(separator: ", "), ids, part.places, ledger, days)
        }.sorted { $0.name < $1.name }
        let used = Set(joined.keys.flatMap(\.self))
        onlyHere = here.subtracting(used).sorted()
        let ours = onlyHere.map { id in
            let figures = ledger.figures(of: [id], on: Set(Platform.allCases), in: days)
            return ProposedName.Candidate(
                name: id, counts: [figures.seen, figures.direct, figures.total],
                days: days == nil ? [] : ledger.days(of: id))
        }
        let theirs = onlyInExport.map { text in
            let places = export.campaigns[text] ?? [:]
            let sum = places.values.reduce(into: CampaignExport.Figures()) { $0 += $1 }
            return ProposedName.Candidate(
                name: text, counts: [max(0, sum.sent - sum.bounces), sum.direct, sum.total],
                days: Set(places.filter { $0.value.sent > 0 }.compactMap(\.key.day)))
        }
        proposed = ProposedName.all(theirs, ours)
    }

    private static func campaign(
        _ name: String, _ ids: [String], _ places: [CampaignExport.Place: CampaignExport.Figures],
        _ ledger: LedgerSide, _ days: ClosedRange<LocalDay>?
    ) -> Campaign {
        func platforms(_ platform: Platform?) -> Set<Platform> { platform.map { [$0] } ?? Set(Platform.allCases) }
        let all = places.keys.contains { $0.platform == nil } ? platforms(nil) : Set(places.keys.compactMap(\.platform))
        let rows = places.map { place, figures in
            Row(
                place: place, theirs: figures,
                ours: ledger.figures(of: ids, on: platforms(place.platform), in: place.day.map { $0...$0 } ?? days))
        }
        .sorted {
            ($0.place.day?.number ?? 0, $0.place.platform?.rawValue ?? "")
                < ($1.place.day?.number ?? 0, $1.place.platform?.rawValue ?? "")
        }
        let theirs = places.values.reduce(into: CampaignExport.Figures()) { $0 += $1 }
        var campaign = Campaign(
            name: name, ids: ids, theirs: theirs, ours: ledger.figures(of: ids, on: all, in: days),
            rows: rows)
        campaign.judge { ours, wanted in
            ledger.fittingWindow(of: ids, on: all, in: days, ours: ours, wanted: wanted).map {
                ($0.window, $0.opens, ledger.influencedWindow)
            }
        }
        return campaign
    }

    /// The campaigns with a gap that is larger than a share of what was seen, each with the gap.
    public func gaps(over limit: Percent) -> [String] {
        campaigns.flatMap { campaign in
            campaign.gaps.filter { Int128($0.count) * 100_000_000 > Int128($0.of) * Int128(limit.millionths) }
                .map {
                    "\(campaign.name): a gap of \(grouped($0.count)) of \(grouped($0.of)) (\(share($0.count, of: $0.of)))"
                }
        }
    }
}

/// A sentence about a gap.
struct Sentence: Sendable {
    /// The kinds of sentences. The raw values are codes for programs.
    enum Code: String, Sendable, CaseIterable {
        case shownBySystem = "shown_by_system"
        case noInstance = "no_instance"
        case otherOwner = "other_owner"
        case notWoken = "not_woken"
        case directMissing = "direct_missing"
        case directExtra = "direct_extra"
        case influencedMissing = "influenced_missing"
        case influencedExtra = "influenced_extra"

        /// Whether the ledger proves it; else it suggests it.
        var isCertain: Bool {
            switch self {
            case .shownBySystem, .noInstance, .otherOwner, .notWoken: true
            case .directMissing, .directExtra, .influencedMissing, .influencedExtra: false
            }
        }
    }

    let code: Code
    /// The least and the largest number that it can be.
    let bounds: ClosedRange<Int>
    /// The text, for people, without a full stop.
    let text: String
    /// The query that opens the pushes.
    let query: String

    /// The word for how sure it is.
    var sure: String { code.isCertain ? "certain" : "possible" }
}

extension Reconciliation.Campaign {
    /// Finds the sentences and the gaps.
    ///
    /// - Parameter window: returns the window of influenced opens that fits best, its opens, and the one that is set.
    fileprivate mutating func judge(_ window: (_ ours: Int, _ wanted: Int) -> (Duration, Int, Duration)?) {
        addCertain()
        let lost = ours.shown + ours.count(.otherOwner) + ours.count(.notWoken)
        gaps = [(lost, ours.seen), (ours.count(.withoutInstance), ours.count(.withoutInstance) + ours.direct)]
        guard !isBelowShare else { return }
        let direct = Gap(ours: ours.direct, theirs: theirs.direct, unseen: unseen)
        let influenced = Gap(ours: ours.influenced, theirs: theirs.influenced, unseen: unseen)
        add(direct.missing, .directMissing) {
            """
            Braze lacks \($0) of those made here: so does a dispatcher that passes no taps to Braze; their \
            sessions may count as influenced opens
            """
        }
        let taps = [
            (ours.count(.repeatedTap), "repeated taps"), (ours.count(.closeButton), "presses on a close button"),
        ].filter { $0.0 > 0 }.map { "\($0.1) (\(grouped($0.0)) here)" }
        let causes = (taps + ["opens that both the SDK and the app log"]).joined(separator: ", ")
        add(direct.extra, .directExtra) { "Braze has \($0) more than were made here: \(causes)" }
        gaps += [direct.missing, direct.extra].map { ($0.lowerBound, max(ours.direct, theirs.direct)) }
        // An open that Braze lacks comes back as an influenced one: its session is there.
        guard influenced.extra.lowerBound == 0 || direct.missing.lowerBound == 0 else { return }
        let fit = unseen == 0 ? window(ours.influenced, theirs.influenced) : nil
        let setting = fit.map { best, opens, set in
            """
            ; InfluencedWindow=\(words(best)) would give \(grouped(opens)) here (\(words(set)) is set, and stays)
            """
        }
        add(influenced.missing, .influencedMissing) {
            "Braze lacks \($0) of those counted here"
                + (setting ?? ": sessions that the app does not log, or another rule")
        }
        add(influenced.extra, .influencedExtra) {
            "Braze has \($0) more than are counted here" + (setting ?? ": another rule of Braze's")
        }
        gaps += [influenced.missing, influenced.extra].map {
            ($0.lowerBound, max(ours.influenced, theirs.influenced))
        }
    }

    private func words(_ window: Duration) -> String {
        let minutes = window.milliseconds / 60_000
        return minutes % 60 == 0 ? "\(minutes / 60)h" : "\(minutes)min"
    }

    private mutating func addCertain() {
        func them(_ count: Int) -> String { count == 1 ? "it" : "them" }
        add(ours.shown, .shownBySystem, "\(queryOfIDs("campaign")) outcome:\(Outcome.shownBySystem.rawValue)") {
            "Android showed \(counted($0, "push", "pushes")) by itself: no open of \(them($0)) can be in Braze"
        }
        let taps = ours.findings[.withoutInstance]
        add(taps?.count ?? 0, .noInstance, query(taps, "op:interact outcome:\(Outcome.sdkNotReady.rawValue)")) {
            """
            \(counted($0, "tap")) came while the app had no Braze instance: Braze has no direct open of \(them($0)), and \
            a session may count in its place
            """
        }
        add(ours.count(.otherOwner), .otherOwner, "\(queryOfIDs("data.\(LedgerSide.campaignKey)")) -owner:braze") {
            """
            \(counted($0, "push", "pushes")) with the id of the campaign \($0 == 1 ? "is" : "are") not Braze's by the \
            rule of its SDK: a handler or another SDK took \(them($0))
            """
        }
        let asleep = ours.findings[.notWoken]
        add(asleep?.count ?? 0, .notWoken, query(asleep, "owner:braze outcome:\(Outcome.notWoken.rawValue)")) {
            "\(counted($0, "push", "pushes")) did not wake the app, which was stopped: Braze never saw \(them($0))"
        }
    }

    private mutating func add(_ count: Int, _ code: Sentence.Code, _ query: String, _ text: (Int) -> String) {
        guard count > 0 else { return }
        sentences.append(Sentence(code: code, bounds: count...count, text: text(count), query: query))
    }

    /// Adds a sentence about a gap that is there.
    private mutating func add(_ gap: ClosedRange<Int>, _ code: Sentence.Code, _ text: (String) -> String) {
        guard gap.lowerBound > 0 else { return }
        let (low, high) = (grouped(gap.lowerBound), grouped(gap.upperBound))
        let isOpen = code == .directMissing || code == .directExtra
        let noun = "\(isOpen ? "direct" : "influenced") open\(gap.upperBound == 1 ? "" : "s")"
        let count = "\(gap.count == 1 ? low : "between \(low) and \(high)") \(noun)"
        sentences.append(
            Sentence(
                code: code, bounds: gap, text: text(count),
                query: queryOfIDs("campaign") + (isOpen ? " is:opened" : "")))
    }

    /// The term with the campaign's ids.
    private func queryOfIDs(_ word: String) -> String {
        "\(word):\(ids.map(\.asQueryValue).joined(separator: ","))"
    }

    /// The query for some requests; `more`: for all of their kind, if they are too many for one query.
    private func query(_ found: LedgerSide.Found?, _ more: String) -> String {
        guard let found, found.count == found.requests.count else { return more }
        return "id:\(found.requests.map { "\($0)" }.joined(separator: ","))"
    }
}

/// The difference of a figure between an export and the ledger, of the pushes that the ledger has seen.
struct Gap {
    /// Opens that the ledger has and Braze lacks.
    let missing: ClosedRange<Int>
    /// Opens that Braze has and the ledger lacks.
    let extra: ClosedRange<Int>

    /// - Parameters:
    ///   - ours: opens of the pushes that were seen.
    ///   - theirs: opens of all pushes.
    ///   - unseen: pushes that were not seen: none of them was opened, or each.
    init(ours: Int, theirs: Int, unseen: Int) {
        let least = max(0, theirs - unseen)
        missing = max(0, ours - theirs)...max(0, ours - least)
        extra = max(0, least - ours)...max(0, theirs - ours)
    }
}

extension String {
    /// The text as a value of the query language. A character that means something there becomes one that matches any.
    var asQueryValue: String {
        let plain = unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0))
                || "._-=+/".unicodeScalars.contains($0)
        }
        guard !plain || isEmpty else { return self }
        return "\""
            + String(String.UnicodeScalarView(unicodeScalars.map { "\"*?[]\\".unicodeScalars.contains($0) ? "?" : $0 }))
            + "\""
    }
}
