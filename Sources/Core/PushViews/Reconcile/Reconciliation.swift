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

        /// Pushes that could have been seen.
        var sent: Int { max(0, theirs.sent - theirs.bounces) }
        /// Pushes that could have been seen, and were not.
        var unseen: Int { max(0, sent - ours.seen) }
        /// Pushes that were seen, and that the export does not have.
        var unsent: Int { max(0, ours.seen - sent) }
        /// Whether too few were seen for a word about the others.
        var isBelowShare: Bool { (sent - unseen) * 100 < sent * Reconciliation.leastShare }
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
        /// The parts of the export by platform: too many opens on one hide no missing ones on another. A day is no part:
        /// a session after midnight counts on another day than its push.
        let parts: [Row]
        /// Pushes here on platforms of which the export has no row, though it has rows of platforms.
        let unlisted: [(platform: Platform, count: Int)]
        /// The figures that the export cannot have.
        let lacking: Set<ExportFigure>
        /// Sessions here that may count as influenced opens, and are undecided.
        let undecided: LedgerSide.Found
        var sentences: [Sentence] = []
        /// The gaps that the sums prove, each with the figure that it is a part of.
        var gaps: [(count: Int, of: Int)] = []

        /// Pushes that could have been seen.
        var sent: Int { parts.reduce(0) { $0 + $1.sent } }
        /// Pushes that could have been seen, and were not.
        var unseen: Int { parts.reduce(0) { $0 + $1.unseen } }
        /// Pushes of those sent that were seen.
        var seen: Int { sent - unseen }
        /// Whether too few were seen for a word about the others.
        var isBelowShare: Bool { seen * 100 < sent * Reconciliation.leastShare }
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
    /// Taps without a Braze instance: those that sentences count, and those that they do not, because there are too many.
    let taps: (kept: Int, leftOut: Int)
    /// Whether no other window of influenced opens is tried, because there are too many pushes.
    let isWindowUntried: Bool
    /// The campaigns that both sides have, by name.
    private(set) var campaigns: [Campaign] = []
    /// The campaigns that one side alone has, by name.
    private(set) var onlyInExport: [String] = []
    private(set) var onlyHere: [String] = []
    /// The pairs that may be the same campaign.
    private(set) var proposed: [ProposedName] = []
    /// Doubts about the figures: a sentence each, for people.
    private(set) var checks: [String] = []
    /// Whether a person named the zone of the days.
    public var isZoneGiven = true
    /// The program that made it, the machine and the time; `nil` if unknown.
    public var maker: ReportMaker?

    /// Compares an export with the ledger.
    public init(_ export: CampaignExport, _ ledger: LedgerSide, names: CampaignNames = CampaignNames()) {
        (self.export, self.names) = (export, names)
        (window, zone, rowsBegin) = (ledger.window, ledger.zone, ledger.rowsBegin)
        (taps, isWindowUntried) = ((ledger.tapsKept, ledger.tapsLeftOut), ledger.hasTooManyDelays)
        let here = ledger.campaigns
        let parts = ledger.idRule == .decode ? Dictionary(grouping: here) { campaignPart(of: $0) } : [:]
        var joined: [[String]: (names: [String], places: [CampaignExport.Place: CampaignExport.Figures])] = [:]
        for (text, places) in export.campaigns.sorted(by: { $0.key < $1.key }) {
            // The name beside an id counts if the id is unknown.
            let ids =
                [text, export.names[text] ?? text].lazy.map { name -> [String] in
                    let listed = names.ids(of: name).isEmpty ? [name] : names.ids(of: name)
                    return listed.flatMap { here.contains($0) ? [$0] : parts[$0] ?? [] }.sorted()
                }
                .first { !$0.isEmpty } ?? []
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
            Self.campaign(part.names.joined(separator: ", "), ids, part.places, ledger, days, export.lacking)
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
            let sum = export.sum(of: text)
            return ProposedName.Candidate(
                name: export.names[text] ?? text, counts: [max(0, sum.sent - sum.bounces), sum.direct, sum.total],
                days: Set(places.filter { $0.value.sent > 0 }.compactMap(\.key.day)))
        }
        let textOfName = Dictionary(
            onlyInExport.map { (export.names[$0] ?? $0, $0) }, uniquingKeysWith: { first, _ in first })
        proposed = ProposedName.all(theirs, ours).map { pair in
            ProposedName(
                id: pair.id, text: textOfName[pair.text] ?? pair.text,
                name: textOfName[pair.text] == pair.text ? nil : pair.text, why: pair.why)
        }
        checks = Self.checks(export, ledger, campaigns)
    }

    /// Returns the doubts about the figures, for people.
    private static func checks(
        _ export: CampaignExport, _ ledger: LedgerSide, _ campaigns: [Campaign]
    ) -> [String] {
        var checks = export.checks
        guard let days = export.daysRead, !campaigns.isEmpty else { return checks }
        let ids = campaigns.flatMap(\.ids)
        let near = ledger.figures(of: ids, on: Set(Platform.allCases), in: nil).seen
        let seen = campaigns.reduce(0) { $0 + $1.ours.seen }
        if near > 0, seen * 10 < near {
            checks.append(
                """
                of the pushes of these campaigns \(grouped(seen)) are of these days here, and \(grouped(near - seen)) of the \
                day before or after: --timezone names the dashboard's zone
                """)
        }
        let first = ids.flatMap { ledger.days(of: $0) }.min()
        if let first, first > days.lowerBound, campaigns.contains(where: \.isBelowShare) {
            checks.append("the first push of them here is of \(first): --since \(first) compares from there")
        }
        return checks
    }

    private static func campaign(
        _ name: String, _ ids: [String], _ places: [CampaignExport.Place: CampaignExport.Figures],
        _ ledger: LedgerSide, _ days: ClosedRange<LocalDay>?, _ lacking: Set<ExportFigure>
    ) -> Campaign {
        func platforms(_ platform: Platform?) -> Set<Platform> { platform.map { [$0] } ?? Set(Platform.allCases) }
        let all = places.keys.contains { $0.platform == nil } ? platforms(nil) : Set(places.keys.compactMap(\.platform))
        let rows = places.map { place, figures in
            Row(
                place: place, theirs: figures,
                ours: ledger.figures(of: ids, on: platforms(place.platform), in: place.day.map { $0...$0 } ?? days))
        }
        .sortedByPlace
        let theirs = places.values.reduce(into: CampaignExport.Figures()) { $0 += $1 }
        let whole = Row(place: .init(), theirs: theirs, ours: ledger.figures(of: ids, on: all, in: days))
        let byPlatform = Dictionary(grouping: places) { $0.key.platform }
        // A row of all platforms has no share of one.
        let parts =
            byPlatform.count < 2 || byPlatform[nil] != nil
            ? [whole]
            : byPlatform.map { platform, places in
                Row(
                    place: .init(platform: platform),
                    theirs: places.reduce(into: CampaignExport.Figures()) { $0 += $1.value },
                    ours: ledger.figures(of: ids, on: platforms(platform), in: days))
            }
            .sorted { ($0.place.platform?.rawValue ?? "") < ($1.place.platform?.rawValue ?? "") }
        let unlisted = Platform.allCases.filter { !all.contains($0) }
            .map { (platform: $0, count: ledger.figures(of: ids, on: [$0], in: days).seen) }
        var campaign = Campaign(
            name: name, ids: ids, theirs: theirs, ours: whole.ours, rows: rows, parts: parts,
            unlisted: unlisted.filter { $0.count > 0 }, lacking: lacking,
            undecided: ledger.undecidedSessions(of: ids, on: all, in: days))
        campaign.judge { ours, wanted in
            ledger.fittingWindow(of: ids, on: all, in: days, ours: ours, wanted: wanted).map {
                ($0.window, $0.opens, ledger.influencedWindow)
            }
        }
        return campaign
    }

    /// The campaigns with a gap that is larger than a share of what was seen, each with the gap, and what could not be
    /// compared.
    public func gaps(over limit: Percent) -> [String] {
        let gaps = campaigns.flatMap { campaign in
            campaign.gaps.filter { Int128($0.count) * 100_000_000 > Int128($0.of) * Int128(limit.millionths) }
                .map {
                    "\(campaign.name): a gap of \(grouped($0.count)) of \(grouped($0.of)) (\(share($0.count, of: $0.of)))"
                }
                + (campaign.isBelowShare
                    ? ["\(campaign.name): not compared: we saw \(grouped(campaign.seen)) of \(grouped(campaign.sent))"]
                    : campaign.partsBelowShare.map { part in
                        let place = part.place.platform.map { " on \($0.name)" } ?? ""
                        return
                            "\(campaign.name): not compared\(place): we saw \(grouped(part.sent - part.unseen)) of \(grouped(part.sent))"
                    })
        }
        let unseen = onlyInExport.filter { export.sum(of: $0).sent > 0 }.map {
            "\($0): not compared: we saw none of \(grouped(export.sum(of: $0).sent))"
        }
        let broken = export.problems.count
        return gaps + unseen + (broken > 0 ? ["not compared: \(counted(broken, "row")) that cannot be read"] : [])
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
        case platformUnseen = "platform_unseen"
        case platformUnlisted = "platform_unlisted"
        case undecided
        case unsent
        case directMissing = "direct_missing"
        case directExtra = "direct_extra"
        case influencedMissing = "influenced_missing"
        case influencedExtra = "influenced_extra"

        /// Whether the ledger proves it, or suggests it.
        fileprivate var isFact: Bool {
            switch self {
            case .shownBySystem, .noInstance, .otherOwner, .notWoken, .platformUnseen, .platformUnlisted: true
            case .undecided, .unsent, .directMissing, .directExtra, .influencedMissing, .influencedExtra: false
            }
        }

        /// Whether it is about opens that one side lacks.
        var isOfOpens: Bool { !isFact && self != .unsent && self != .undecided }
    }

    let code: Code
    /// The least and the largest number that it can be.
    let bounds: ClosedRange<Int>
    /// The text, for people, without a full stop.
    let text: String
    /// The query that opens the pushes.
    let query: String
    /// Whether the export contradicts what the ledger proves.
    var isContradicted = false

    /// Whether the ledger proves it; else it suggests it.
    var isCertain: Bool { code.isFact && !isContradicted }
    /// The word for how sure it is.
    var sure: String { isCertain ? "certain" : "possible" }
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
        let parts = parts.count < 2 ? parts : parts.filter { !$0.isBelowShare }
        add(parts.map { ($0, $0.unsent...$0.unsent) }, .unsent) {
            """
            \($0) more here than the export has as sent: test sends, another zone of the days, or an id that several \
            campaigns have
            """
        }
        guard !lacking.contains(.direct) else { return }
        let direct = parts.map { ($0, Gap(ours: $0.ours.direct, theirs: $0.theirs.direct, unseen: $0.unseen)) }
        let influenced = parts.map {
            ($0, Gap(ours: $0.ours.influenced, theirs: $0.theirs.influenced, unseen: $0.unseen))
        }
        add(direct.map { ($0.0, $0.1.missing) }, .directMissing) {
            """
            Braze lacks \($0) of those made here: so does a dispatcher that passes no taps to Braze; their \
            sessions may count as influenced opens
            """
        }
        let taps = [
            (ours.count(.repeatedTap), "repeated taps"), (ours.count(.closeButton), "presses on a close button"),
        ].filter { $0.0 > 0 }.map { "\($0.1) (\(grouped($0.0)) here)" }
        let causes = (taps + ["taps that nobody reported here", "opens that SDK and app both log"])
            .joined(separator: ", ")
        add(direct.map { ($0.0, $0.1.extra) }, .directExtra) { "Braze has \($0) more than were made here: \(causes)" }
        guard !lacking.contains(.total) else { return }
        // An open that Braze lacks comes back as an influenced one: its session is there.
        let others = zip(direct, influenced).filter { $0.1.missing.lowerBound == 0 || $1.1.extra.lowerBound == 0 }
            .map { $1 }
        let fit = unseen == 0 ? window(ours.influenced, theirs.influenced) : nil
        let setting = fit.map { best, opens, set in
            """
            ; InfluencedWindow=\(words(best)) would give \(grouped(opens)) here (\(words(set)) is set, and stays)
            """
        }
        add(others.map { ($0.0, $0.1.missing) }, .influencedMissing) {
            "Braze lacks \($0) of those counted here"
                + (setting ?? ": sessions that the app does not log, or another rule")
        }
        let undecided = undecided
        let waits = undecided.count == 0 ? "" : "sessions that are undecided here, or "
        add(others.map { ($0.0, $0.1.extra) }, .influencedExtra) {
            "Braze has \($0) more than are counted here" + (setting ?? ": \(waits)another rule of Braze's")
        }
        guard others.contains(where: { $0.1.extra.upperBound > 0 }) else { return }
        add(undecided.count, .undecided, query(undecided, queryOfIDs("campaign"))) {
            """
            \(counted($0, "session")) after a push \($0 == 1 ? "is" : "are") undecided here: the daemon stopped before it \
            decided, or waits for the grace; each may count as an influenced open once it runs
            """
        }
    }

    private func words(_ window: Duration) -> String {
        let minutes = window.milliseconds / 60_000
        return minutes % 60 == 0 ? "\(minutes / 60)h" : "\(minutes)min"
    }

    private mutating func addCertain() {
        func them(_ count: Int) -> String { count == 1 ? "it" : "them" }
        let shown = parts.filter { $0.ours.shown > 0 }
        // More direct opens than there are pushes that Braze's SDK could see.
        let isContradicted = shown.contains { $0.theirs.direct > max(0, $0.sent - $0.ours.shown) }
        add(
            ours.shown, .shownBySystem, "\(queryOfIDs("campaign")) outcome:\(Outcome.shownBySystem.rawValue)",
            isContradicted
        ) {
            "Android showed \(counted($0, "push", "pushes")) by itself: "
                + (isContradicted
                    ? "Braze's SDK logs no open of \(them($0)), and the export has some: the app may log them"
                    : "no open of \(them($0)) can be in Braze")
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
        // A platform of which nothing came says more than the sum of all.
        let (missing, unlisted) = (isBelowShare ? [] : partsBelowShare, unlisted)
        func listed(_ platforms: [Platform]) -> String { platforms.map(\.name).joined(separator: " and ") }
        let places = missing.compactMap(\.place.platform)
        func pushes(_ platforms: [Platform]) -> String {
            "\(queryOfIDs("campaign")) platform:\(platforms.map(\.rawValue).joined(separator: ","))"
        }
        add(missing.reduce(0) { $0 + $1.unseen }, .platformUnseen, pushes(places)) {
            """
            \(counted($0, "push", "pushes")) of \(grouped(missing.reduce(0) { $0 + $1.sent })) on \(listed(places)) never came \
            here: opens on \(listed(places)) are not compared
            """
        }
        add(unlisted.reduce(0) { $0 + $1.count }, .platformUnlisted, pushes(unlisted.map(\.platform))) {
            """
            \(counted($0, "push", "pushes")) came here on \(listed(unlisted.map(\.platform))), of which the export has no row
            """
        }
    }

    /// The platforms of which too few pushes were seen for a word about the others.
    var partsBelowShare: [Reconciliation.Row] { parts.count < 2 ? [] : parts.filter(\.isBelowShare) }

    private mutating func add(
        _ count: Int, _ code: Sentence.Code, _ query: String, _ isContradicted: Bool = false, _ text: (Int) -> String
    ) {
        guard count > 0 else { return }
        sentences.append(
            Sentence(
                code: code, bounds: count...count, text: text(count), query: query, isContradicted: isContradicted))
    }

    /// Adds a sentence about a gap that is there in some parts, and the gap.
    private mutating func add(
        _ gaps: [(part: Reconciliation.Row, gap: ClosedRange<Int>)], _ code: Sentence.Code, _ text: (String) -> String
    ) {
        let found = gaps.filter { $0.gap.lowerBound > 0 }
        guard !found.isEmpty else { return }
        let gap = found.reduce(0) { $0 + $1.gap.lowerBound }...found.reduce(0) { $0 + $1.gap.upperBound }
        let (noun, term, of): (String, String, (Reconciliation.Row) -> Int) =
            switch code {
            case .unsent: ("push\(gap.upperBound == 1 ? "" : "es")", "", { $0.sent })
            case .directMissing, .directExtra: ("direct open", " is:opened", { max($0.ours.direct, $0.theirs.direct) })
            default: ("influenced open", "", { max($0.ours.influenced, $0.theirs.influenced) })
            }
        self.gaps.append((gap.lowerBound, gaps.reduce(0) { $0 + of($1.part) }))
        let (low, high) = (grouped(gap.lowerBound), grouped(gap.upperBound))
        let plural = gap.upperBound == 1 || code == .unsent ? "" : "s"
        let platforms = parts.count > 1 ? found.compactMap(\.part.place.platform) : []
        let places = platforms.isEmpty ? "" : " on \(platforms.map(\.name).joined(separator: " and "))"
        let count = "\(gap.count == 1 ? low : "between \(low) and \(high)") \(noun)\(plural)\(places)"
        let ofPlatforms = platforms.isEmpty ? "" : " platform:\(platforms.map(\.rawValue).joined(separator: ","))"
        sentences.append(
            Sentence(code: code, bounds: gap, text: text(count), query: queryOfIDs("campaign") + ofPlatforms + term))
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
