public import PushModel
public import PushRouter

/// The ledger's side of a comparison with an export: the figures of `pushctl campaigns` for each platform, and facts that
/// explain why Braze has others.
///
/// The caller adds rows, then events and interactions, each in the order in which they were decided.
public struct LedgerSide: Sendable {
    /// A fact about a push that Braze's figures lack, or may have more often.
    enum Finding: Hashable, CaseIterable {
        /// A tap while the app had no Braze instance.
        case withoutInstance
        /// A push that names the campaign and is not Braze's.
        case otherOwner
        /// A push to an app that was stopped.
        case notWoken
        /// A tap on a push that was opened before.
        case repeatedTap
        /// A press on a button that closes the notification.
        case closeButton
    }

    /// The requests of a fact: their number, and the first of them.
    struct Found: Hashable, Sendable {
        private(set) var count = 0
        private(set) var requests: [SequenceNumber] = []

        /// As many requests as one query names.
        static let requestsMax = 20

        mutating func add(_ seq: SequenceNumber) {
            count += 1
            if requests.count < Self.requestsMax { requests.append(seq) }
        }

        static func += (left: inout Found, right: Found) {
            left.count += right.count
            left.requests = Array((left.requests + right.requests).sorted().prefix(requestsMax))
        }
    }

    /// The figures of some campaigns, on some platforms and days.
    struct Figures: Hashable, Sendable {
        /// Pushes that reached Braze's SDK.
        var received = 0
        var direct = 0
        var total = 0
        /// Pushes that Android showed by itself.
        var shown = 0
        var findings: [Finding: Found] = [:]

        func count(_ finding: Finding) -> Int { findings[finding]?.count ?? 0 }
        /// Pushes that this ledger has.
        var seen: Int { received + shown + count(.otherOwner) + count(.notWoken) }
        /// Opens that are influenced and not direct.
        var influenced: Int { total - direct }

        fileprivate mutating func add(_ figures: CampaignFigures) {
            received += figures.received
            direct += figures.directOpens
            total += figures.totalOpens
        }
    }

    /// The time that was read.
    public let window: ReportWindow
    /// The zone of the days.
    public let zone: LocalZone
    /// The start of the rows; `nil` when the window is complete.
    public var rowsBegin: WallTime?
    let idRule: CampaignIDRule
    /// The window of influenced opens that is set.
    let influencedWindow: Duration
    private var reports: [Platform: CampaignReport] = [:]
    private var findings: [String: [CampaignExport.Place: [Finding: Found]]] = [:]
    private var delays: SessionDelays
    /// The requests that began a session of which the influenced opens are not decided.
    private var undecided: Set<SequenceNumber> = []
    /// Taps without an instance that name a push by its message id, until its receipt names the campaign.
    private var taps: [String: [Tap]] = [:]
    private let tapsMax: Int
    private(set) var tapsKept = 0
    /// Taps without an instance beyond those that are kept: they are in no finding.
    public private(set) var tapsLeftOut = 0

    /// As many taps without an instance as are kept until their push is known: about 200 bytes each.
    public static let tapsMax = 100_000

    /// A tap without an instance, whose campaign is not known yet.
    public struct Tap: Sendable {
        fileprivate let seq: SequenceNumber
        fileprivate let place: CampaignExport.Place
        /// The delivery that it names by its number; `nil`: it names a message id.
        public let delivery: SequenceNumber?
    }

    /// - Parameters:
    ///   - export: the tables to compare with: their days limit what is read.
    ///   - window: the time that a person chose.
    ///   - zone: the zone of the days.
    ///   - idRule: the rule that distinguishes campaigns.
    ///   - influencedWindow: the window of influenced opens.
    ///   - tapsMax: as many taps without an instance as are kept.
    public init(
        beside export: CampaignExport, window: ReportWindow = ReportWindow(), zone: LocalZone = .utc,
        idRule: CampaignIDRule = .raw, influencedWindow: Duration = TrackerRules().influencedWindow,
        tapsMax: Int = Self.tapsMax
    ) {
        var window = window
        if let days = export.daysRead {
            // Whole days, of which a person's window chose the first and the last. One more on each side: zones, and sessions
            // after a push of the day before.
            let first = WallTime(milliseconds: (days.lowerBound.number - 1) * 86_400_000)
            let last = WallTime(milliseconds: (days.upperBound.number + 2) * 86_400_000)
            window = ReportWindow(since: first, until: last)
        }
        (self.window, self.zone, self.idRule) = (window, zone, idRule)
        (self.influencedWindow, self.tapsMax) = (influencedWindow, tapsMax)
        delays = SessionDelays(zone: zone)
        for platform in Platform.allCases {
            reports[platform] = CampaignReport(window: window, selection: .init(idRule: idRule), zone: zone)
        }
    }

    // MARK: Reading

    /// The outcomes of the rows that it wants.
    public static let outcomes: [Outcome] = [
        .shownBySystem, .sdkNotReady, .notWoken, .handled, .failed, .timedOut, .expired, .unrouted, .ownReceiver,
    ]

    /// Names a session that began, and of which the influenced opens are not decided; before its event.
    public mutating func add(undecided start: PendingStart) { undecided.insert(start.cause) }

    /// Whether there are too many pushes to try other windows of influenced opens.
    var hasTooManyDelays: Bool { delays.isFull }

    /// Counts an event.
    public mutating func add(_ event: AnalyticsEvent) {
        reports[event.platform]?.add(event)
        delays.add(event)
        guard !taps.isEmpty, event.kind == .received, let id = event.push?.messageID,
            let ended = taps.removeValue(forKey: id)
        else { return }
        for tap in ended { add(.withoutInstance, tap.seq, tap.place, of: event.push?.campaignID) }
    }

    /// Counts an interaction by its verdict.
    public mutating func add(_ row: InteractionRow, campaign: String?, on platform: Platform) {
        guard let campaign, window.contains(row.at) else { return }
        let finding: Finding? =
            switch row.verdict {
            case .duplicate: .repeatedTap
            case .closed: .closeButton
            case .opened, .unattributed, .dismissed, .unknownAction, .elsewhere, .unmatched: nil
            }
        guard let finding else { return }
        let place = CampaignExport.Place(platform: platform, day: zone.day(of: row.at.seconds))
        findings[campaign, default: [:]][place, default: [:]][finding, default: Found()].add(row.delivery ?? row.cause)
    }

    /// Counts a row.
    ///
    /// - Returns: a tap without an instance that names a delivery by its number: the caller gives the delivery's line to
    ///   ``add(_:ofLine:_:)``.
    public mutating func add(
        _ row: ReportRow, _ operation: Operation, line: [UInt8], _ detection: DetectionSettings
    ) -> Tap? {
        let invocation = row.invocation
        func timed() -> ReportRow? { self.timed(row, line) }
        guard !invocation.isObserver, invocation.id.n == 0, let outcome = invocation.result?.outcome else { return nil }
        let isBraze = invocation.provider == ProviderRule.brazeName
        switch (operation, outcome) {
        case (.deliver, .shownBySystem):
            guard let row = timed() else { return nil }
            reports[row.platform]?.add(row, campaign: detection.campaign(ofLine: line, row.platform))
        case (.deliver, .notWoken):
            guard isBraze, let row = timed() else { return nil }
            add(.notWoken, row, of: detection.campaign(ofLine: line, row.platform))
        case (.deliver, .sdkNotReady): break
        case (.deliver, _):
            guard !isBraze, let campaign = Self.campaign(ofOther: line), let row = timed() else { return nil }
            add(.otherOwner, row, of: campaign)
        case (.interact, .sdkNotReady):
            guard let row = timed(), let request = try? Request(acceptedLine: line),
                case .interact(let interact) = request.action,
                interact.kind != .dismissed
            else { return nil }
            switch interact.subject {
            case .delivery(let seq): return kept(row, delivery: seq)
            case .message(let id):
                if let tap = kept(row, delivery: nil) { taps[id, default: []].append(tap) }
            case .payload(let payload):
                let handed = try? HandedBackPayload(payload, platform: row.platform, settings: detection)
                add(.withoutInstance, row, of: handed?.campaignID)
            }
        default: break
        }
        return nil
    }

    /// Counts a tap without an instance on the delivery with this line.
    public mutating func add(_ tap: Tap, ofLine line: [UInt8], _ detection: DetectionSettings) {
        guard let platform = tap.place.platform else { return }
        add(.withoutInstance, tap.seq, tap.place, of: detection.campaign(ofLine: line, platform))
    }

    /// A tap that waits for its campaign; `nil` if too many do.
    private mutating func kept(_ row: ReportRow, delivery: SequenceNumber?) -> Tap? {
        guard tapsKept < tapsMax else {
            tapsLeftOut += 1
            return nil
        }
        tapsKept += 1
        return Tap(seq: row.invocation.id.seq, place: place(of: row), delivery: delivery)
    }

    /// The row at the time that its request names, as its events are; `nil`: it is not of the window.
    private func timed(_ row: ReportRow, _ line: [UInt8]) -> ReportRow? {
        var row = row
        if line.has("\"at\"".utf8), let time = (try? Request(acceptedLine: line))?.at { row.acceptedAt = time }
        return window.contains(row.acceptedAt) ? row : nil
    }

    private func place(of row: ReportRow) -> CampaignExport.Place {
        CampaignExport.Place(platform: row.platform, day: zone.day(of: row.acceptedAt.seconds))
    }

    private mutating func add(_ finding: Finding, _ row: ReportRow, of campaign: String?) {
        add(finding, row.invocation.id.seq, place(of: row), of: campaign)
    }

    private mutating func add(
        _ finding: Finding, _ seq: SequenceNumber, _ place: CampaignExport.Place, of campaign: String?
    ) {
        guard let campaign, campaign != CampaignReport.exampleCampaign else { return }
        findings[campaign, default: [:]][place, default: [:]][finding, default: Found()].add(seq)
    }

    /// The key with the campaign in the data of a push for Android.
    static let campaignKey = "cid"

    /// The campaign that a push names which is not Braze's by the rule of its SDK.
    private static func campaign(ofOther line: [UInt8]) -> String? {
        guard line.has(campaignKey.utf8),
            let root = try? JSONDocument(scanning: line, limits: JSONLimits(depth: .max)).root
        else { return nil }
        return PushFacts.data(of: root)?[campaignKey]?.string
    }

    // MARK: Figures

    /// The campaigns with a push here.
    var campaigns: Set<String> {
        reports.values.reduce(into: Set(findings.keys)) { names, report in
            names.formUnion(report.campaigns.keys)
            names.formUnion(report.lost.campaigns)
        }
    }

    /// The figures of some campaigns.
    ///
    /// - Parameter days: `nil`: all that was read.
    func figures(
        of campaigns: [String], on platforms: Set<Platform>, in days: ClosedRange<LocalDay>?
    ) -> Figures {
        var sum = Figures()
        // A row of an export has one day: it must not look at all days of its campaign.
        let oneDay = days.flatMap { $0.lowerBound == $0.upperBound ? $0.lowerBound : nil }
        func counts(_ day: LocalDay?) -> Bool { days.map { days in day.map(days.contains) ?? false } ?? true }
        func chosen<Value>(_ all: [LocalDay: Value]) -> [LocalDay: Value] {
            if let oneDay { return all[oneDay].map { [oneDay: $0] } ?? [:] }
            return days == nil ? all : all.filter { counts($0.key) }
        }
        for id in campaigns {
            for platform in platforms {
                guard let report = reports[platform] else { continue }
                let campaign = report.campaigns[id] ?? CampaignReport.Campaign()
                if days == nil {
                    sum.add(campaign.figures)
                } else {
                    for figures in chosen(campaign.days).values { sum.add(figures) }
                }
                let lost = chosen(report.lost.byDay(of: id))
                sum.shown += LostOpens.sum(lost)[.shownBySystem] ?? 0
            }
            for (place, found) in findings[id] ?? [:] where counts(place.day) {
                guard place.platform.map(platforms.contains) ?? false else { continue }
                for (finding, requests) in found { sum.findings[finding, default: Found()] += requests }
            }
        }
        return sum
    }

    /// The sessions that are undecided, and may count for a push of some campaigns that nobody tapped.
    func undecidedSessions(
        of campaigns: [String], on platforms: Set<Platform>, in days: ClosedRange<LocalDay>?
    ) -> Found {
        guard !undecided.isEmpty else { return Found() }
        let causes = delays.found(of: Set(campaigns), on: platforms, in: days)
            .filter { Duration.seconds($0.seconds) < influencedWindow }.map(\.cause)
        return Set(causes).intersection(undecided).sorted().reduce(into: Found()) { $0.add($1) }
    }

    /// The days on which a campaign's pushes came.
    func days(of campaign: String) -> Set<LocalDay> {
        reports.values.reduce(into: []) { days, report in
            days.formUnion(report.campaigns[campaign]?.days.filter { $0.value.received > 0 }.map(\.key) ?? [])
        }
    }

    /// The influenced opens that another window would give; `nil` where the simple rule does not give what the ledger has.
    ///
    /// - Parameter wanted: the influenced opens that Braze has.
    func fittingWindow(
        of campaigns: [String], on platforms: Set<Platform>, in days: ClosedRange<LocalDay>?, ours: Int, wanted: Int
    ) -> (window: Duration, opens: Int)? {
        let spans = delays.found(of: Set(campaigns), on: platforms, in: days).map(\.seconds)
        func opens(_ window: Duration) -> Int { spans.count { Duration.seconds($0) < window } }
        guard opens(influencedWindow) == ours else { return nil }
        let best = SessionDelays.windows.filter { $0 != influencedWindow }
            .map { (window: $0, opens: opens($0)) }.filter { $0.opens > 0 }
            .min { abs($0.opens - wanted) < abs($1.opens - wanted) }
        // A twentieth: two clocks, and two days' ends.
        guard let best, abs(best.opens - wanted) * 20 <= wanted, abs(best.opens - wanted) < abs(ours - wanted) else {
            return nil
        }
        return best
    }
}

/// The times from each push that nobody tapped to the next session of its user on the device: what windows of influenced
/// opens would count.
struct SessionDelays: Sendable {
    private struct Person: Hashable {
        let app, device, user: String?
    }

    private struct Push {
        let delivery: SequenceNumber
        let campaign: String
        let time: Int64
    }

    struct Delay {
        /// The request that began the session.
        let cause: SequenceNumber
        let platform: Platform
        let day: LocalDay
        let seconds: Int64
    }

    /// The windows that are tried.
    static let windows: [Duration] = [5, 10, 15, 30, 60, 120, 240, 360, 720, 1440].map { .seconds($0 * 60) }
    /// As many pushes of a person as wait for a session.
    private static let waitingMax = 256
    /// As many pushes as are kept: about 200 bytes each.
    static let pushesMax = 250_000

    private let zone: LocalZone
    private var waiting: [Person: [Push]] = [:]
    /// By campaign, and by delivery.
    private var delays: [String: [SequenceNumber: Delay]] = [:]
    private var opened: Set<SequenceNumber> = []
    private var count = 0
    private let pushesMax: Int
    /// Whether there were too many pushes: then it has no delays.
    private(set) var isFull = false

    init(zone: LocalZone, pushesMax: Int = Self.pushesMax) { (self.zone, self.pushesMax) = (zone, pushesMax) }

    /// Counts an event.
    mutating func add(_ event: AnalyticsEvent) {
        guard !isFull else { return }
        let person = Person(app: event.appID, device: event.deviceID, user: event.externalUserID)
        switch event.content {
        case .received(let push):
            guard let campaign = push.campaignID else { return }
            count += 1
            guard count <= pushesMax else {
                (waiting, delays, opened, isFull) = ([:], [:], [], true)
                return
            }
            var pushes = waiting[person] ?? []
            if pushes.count == Self.waitingMax { pushes.removeFirst() }
            pushes.append(Push(delivery: event.delivery, campaign: campaign, time: event.time))
            waiting[person] = pushes
        case .open(_, let button): if button?.action != .close { opened.insert(event.delivery) }
        case .sessionStart:
            guard let pushes = waiting.removeValue(forKey: person) else { return }
            let longest = Self.windows.last?.components.seconds ?? 0
            let day = zone.day(of: event.time)
            for push in pushes where (0..<longest).contains(event.time - push.time) {
                delays[push.campaign, default: [:]][push.delivery] = Delay(
                    cause: event.seq, platform: event.platform, day: day, seconds: event.time - push.time)
            }
        case .influencedOpen, .iosForeground, .sessionEnd, .tokenStateChange, .uninstall, .customEvent: break
        }
    }

    /// The delays of pushes that nobody tapped.
    func found(of campaigns: Set<String>, on platforms: Set<Platform>, in days: ClosedRange<LocalDay>?) -> [Delay] {
        campaigns.flatMap { delays[$0] ?? [:] }.compactMap { delivery, delay in
            let counts =
                platforms.contains(delay.platform) && days.map { $0.contains(delay.day) } ?? true
                && !opened.contains(delivery)
            return counts ? delay : nil
        }
    }
}
