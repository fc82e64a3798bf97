public import PushModel

/// The results of Braze's campaigns: received, opened and clicked, in all, by campaign, by day, and by any field.
///
/// The caller adds events and rows one by one, in the order in which they were decided. An event counts at its own
/// time: in a window, an open may be of a delivery that was received before the window.
public struct CampaignReport: Sendable {
    /// The options of the report.
    public struct Selection: Sendable {
        /// The only campaign to count, by its id or, with the rule `decode`, by its own part of the id.
        public var campaign: String?
        /// An additional field to group the figures by.
        public var field: EventField?
        /// Whether the report also groups campaigns by their own part of the id (T3).
        public var idRule: CampaignIDRule

        /// Joins the fields.
        public init(campaign: String? = nil, field: EventField? = nil, idRule: CampaignIDRule = .raw) {
            self.campaign = campaign
            self.field = field
            self.idRule = idRule
        }
    }

    /// One campaign.
    public struct Campaign: Sendable {
        /// The figures of all days.
        public internal(set) var figures = CampaignFigures()
        /// The figures by day.
        var days: [LocalDay: CampaignFigures] = [:]
    }

    /// A group's name; `nil` for events without the field.
    typealias GroupName = String?

    private struct Recipient: Hashable {
        let name: String
        let isDevice: Bool
    }

    /// The time that the report covers.
    public let window: ReportWindow
    /// The start of the rows. Requests accepted before it were deleted with their events and interactions, except those
    /// that the tracker needs; `nil` when the window is complete.
    public var rowsBegin: WallTime?
    /// The program that made the report, the machine and the time; `nil` if unknown.
    public var maker: ReportMaker?
    /// The options.
    public let selection: Selection
    /// The zone that its days are in.
    public let zone: LocalZone
    /// The figures of all campaigns, or of the selected one.
    public private(set) var total = CampaignFigures()
    /// The figures by raw campaign id.
    public private(set) var campaigns: [String: Campaign] = [:]
    /// The figures by the campaign's own part of the id, for ids that have one; empty unless requested.
    public private(set) var parts: [String: CampaignFigures] = [:]
    /// The figures by day.
    private(set) var days: [LocalDay: CampaignFigures] = [:]
    /// The figures by the selected field.
    private(set) var groups: [GroupName: CampaignFigures] = [:]
    /// The verdicts on interactions, of the selected campaign; without a selection, of all campaigns and of none.
    private(set) var verdicts: [Interaction.Verdict: Int] = [:]
    /// Taps on pushes without a campaign, by day.
    private(set) var unattributedByDay: [LocalDay: Int] = [:]
    /// Opens that cannot be counted.
    private(set) var lost = LostOpens()
    private var recipients: [Recipient: UInt32] = [:]
    private var partOfID: [String: String?] = [:]

    /// A report without events.
    /// - Parameters:
    ///   - window: the time that the report covers; events outside it do not count.
    ///   - selection: the options.
    ///   - zone: the zone that its days are in.
    public init(
        window: ReportWindow = ReportWindow(), selection: Selection = Selection(), zone: LocalZone = .utc
    ) {
        self.window = window
        self.selection = selection
        self.zone = zone
    }

    /// Counts an event.
    public mutating func add(_ event: AnalyticsEvent) {
        guard let id = event.push?.campaignID, event.kind.isOfCampaign, window.contains(seconds: event.time),
            isSelected(id)
        else { return }
        let part = part(of: id)
        let recipient = event.kind == .received ? number(of: event) : nil
        let day = zone.day(of: event.time)
        total.add(event, recipient: recipient)
        campaigns[id, default: Campaign()].figures.add(event, recipient: recipient)
        campaigns[id, default: Campaign()].days[day, default: CampaignFigures()].add(event, recipient: recipient)
        days[day, default: CampaignFigures()].add(event, recipient: recipient)
        if let part { parts[part, default: CampaignFigures()].add(event, recipient: recipient) }
        guard let field = selection.field else { return }
        groups[field.value(of: event, in: zone), default: CampaignFigures()].add(event, recipient: recipient)
    }

    /// Counts an interaction by its verdict.
    /// - Parameters:
    ///   - campaign: the campaign of its delivery, if any.
    ///   - isLostOpen: whether the interaction, if unmatched, is a lost open; a dismissal is not.
    public mutating func add(_ row: InteractionRow, campaign: String?, isLostOpen: Bool = true) {
        guard window.contains(row.at), isSelected(campaign) else { return }
        verdicts[row.verdict, default: 0] += 1
        let day = zone.day(of: row.at.seconds)
        switch row.verdict {
        case .unmatched: if isLostOpen { lost.add(.unmatched, of: nil, on: day) }
        case .unattributed: unattributedByDay[day, default: 0] += 1
        default: break
        }
    }

    /// Counts an invocation if its outcome loses an open.
    /// - Parameter campaign: the campaign of its payload; `nil` if it has none or the payload was erased.
    public mutating func add(_ row: ReportRow, campaign: String?) {
        let invocation = row.invocation
        guard invocation.provider == "braze", !invocation.isObserver, window.contains(row.acceptedAt),
            isSelected(campaign)
        else { return }
        switch row.platform {
        case .android:
            guard invocation.result?.outcome == .shownBySystem else { return }
            lost.add(.shownBySystem, of: campaign, on: zone.day(of: row.acceptedAt.seconds))
        // On iOS and the web the tracker learns of all displayed pushes, even without an SDK instance (T9).
        case .ios, .web: break
        }
    }

    /// Taps on deliveries without a campaign (T3).
    var unattributed: Int { verdicts[.unattributed] ?? 0 }

    /// The reasons for lost opens in this report. The campaign of a push that the tracker does not know is unknown too,
    /// so a selected campaign has one reason only.
    var losses: [LostOpens.Reason] { selection.campaign == nil ? LostOpens.Reason.allCases : [.shownBySystem] }

    /// The days with figures, unattributed taps or lost opens.
    var allDays: [(day: LocalDay, figures: CampaignFigures, unattributed: Int, lost: LostOpens.Counts)] {
        let lostByDay = lost.byDay
        return Set(days.keys).union(unattributedByDay.keys).union(lostByDay.keys).sorted().map {
            (
                day: $0, figures: days[$0] ?? CampaignFigures(), unattributed: unattributedByDay[$0] ?? 0,
                lost: lostByDay[$0] ?? [:]
            )
        }
    }

    /// The heading of a column of days.
    var dayHeading: String { zone.heading("Day", allDays.map(\.day)) }

    private mutating func isSelected(_ campaign: String?) -> Bool {
        guard let wanted = selection.campaign else { return true }
        return campaign.map { $0 == wanted || part(of: $0) == wanted } ?? false
    }

    private mutating func part(of id: String) -> String? {
        guard selection.idRule == .decode else { return nil }
        if let known = partOfID[id] { return known }
        let part = campaignPart(of: id)
        partOfID[id] = .some(part)
        return part
    }

    private mutating func number(of event: AnalyticsEvent) -> UInt32? {
        guard let name = event.externalUserID ?? event.deviceID else { return nil }
        let recipient = Recipient(name: name, isDevice: event.externalUserID == nil)
        if let known = recipients[recipient] { return known }
        let number = UInt32(recipients.count)
        recipients[recipient] = number
        return number
    }
}

extension AnalyticsEvent.Kind {
    /// Whether the kind counts in campaign figures (T13: custom events never do).
    fileprivate var isOfCampaign: Bool { self == .received || self == .open || self == .influencedOpen }
}
