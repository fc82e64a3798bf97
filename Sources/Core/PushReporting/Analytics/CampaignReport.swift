public import PushModel

/// What became of Braze's campaigns: received, opened and clicked, in all, by campaign, by day, and by any field.
///
/// Events and rows are added one by one, in the order in which they were decided. An event counts where it happened:
/// with a window, an open may be of a delivery that was received before it.
public struct CampaignReport: Sendable {
    /// What is asked for beside the campaigns.
    public struct Selection: Sendable {
        /// The only campaign that counts, by its id or, with the rule `decode`, by its own part of the id.
        public var campaign: String?
        /// A field by which figures are kept apart as well.
        public var field: EventField?
        /// Whether campaigns are grouped by their own part of the id as well (T3).
        public var idRule: CampaignIDRule

        /// Joins the parts.
        public init(campaign: String? = nil, field: EventField? = nil, idRule: CampaignIDRule = .raw) {
            self.campaign = campaign
            self.field = field
            self.idRule = idRule
        }
    }

    /// One campaign.
    public struct Campaign: Sendable {
        /// All of its figures.
        public internal(set) var figures = CampaignFigures()
        /// The same by day.
        var days: [LocalDay: CampaignFigures] = [:]
    }

    /// A group's name; `nil` for what has no such field.
    typealias GroupName = String?

    private struct Recipient: Hashable {
        let name: String
        let isDevice: Bool
    }

    /// The time it covers.
    public let window: ReportWindow
    /// Requests that were accepted before this were deleted, with their events and interactions, as far as the tracker does
    /// not need them; `nil` when the window has all.
    public var rowsBegin: WallTime?
    /// Who made it, where and when; `nil` where nobody said so.
    public var maker: ReportMaker?
    /// What was asked for.
    public let selection: Selection
    /// The zone of its days.
    public let zone: LocalZone
    /// Of all campaigns, or of the selected one.
    public private(set) var total = CampaignFigures()
    /// By the raw id.
    public private(set) var campaigns: [String: Campaign] = [:]
    /// By the campaign's own part of the id, of those that have one; empty unless it was asked for.
    public private(set) var parts: [String: CampaignFigures] = [:]
    /// By day.
    private(set) var days: [LocalDay: CampaignFigures] = [:]
    /// By the selected field.
    private(set) var groups: [GroupName: CampaignFigures] = [:]
    /// What became of the interactions: of the selected campaign, or of all and of none.
    public private(set) var verdicts: [Interaction.Verdict: Int] = [:]
    /// Taps on pushes without a campaign, by day.
    private(set) var unattributedByDay: [LocalDay: Int] = [:]
    /// Opens that cannot be counted.
    private(set) var lost = LostOpens()
    private var recipients: [Recipient: UInt32] = [:]
    private var partOfID: [String: String?] = [:]

    /// A report of nothing.
    /// - Parameters:
    ///   - window: the time it covers; what is outside is not counted.
    ///   - selection: what is asked for.
    ///   - zone: where its days begin.
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

    /// Counts what became of an interaction.
    /// - Parameters:
    ///   - campaign: that of its delivery, as far as there is one.
    ///   - isLostOpen: whether an open is lost if it is unmatched; a dismissal is none.
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

    /// Counts an invocation, if an open is lost by its outcome.
    /// - Parameter campaign: that of its payload; `nil` where it has none, and where the payload was erased.
    public mutating func add(_ row: ReportRow, campaign: String?) {
        let invocation = row.invocation
        guard invocation.provider == "braze", !invocation.isObserver, window.contains(row.acceptedAt),
            isSelected(campaign)
        else { return }
        switch row.platform {
        case .android:
            guard invocation.result?.outcome == .shownBySystem else { return }
            lost.add(.shownBySystem, of: campaign, on: zone.day(of: row.acceptedAt.seconds))
        // The tracker learns of all that they display, without an instance of the SDK too (T9).
        case .ios, .web: break
        }
    }

    /// Taps on deliveries without a campaign: nobody's (T3).
    public var unattributed: Int { verdicts[.unattributed] ?? 0 }

    /// Why opens of what was asked for may be lost: nobody knows of which campaign one is whose push is not known.
    var losses: [LostOpens.Reason] { selection.campaign == nil ? LostOpens.Reason.allCases : [.shownBySystem] }

    /// The days that have figures, or opens beside them, each with both.
    var allDays: [(day: LocalDay, figures: CampaignFigures, unattributed: Int, lost: LostOpens.Counts)] {
        let lostByDay = lost.byDay
        return Set(days.keys).union(unattributedByDay.keys).union(lostByDay.keys).sorted().map {
            (
                day: $0, figures: days[$0] ?? CampaignFigures(), unattributed: unattributedByDay[$0] ?? 0,
                lost: lostByDay[$0] ?? [:]
            )
        }
    }

    /// What heads a column of its days.
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
    /// Whether campaign figures are made of it (T13: custom events never are).
    fileprivate var isOfCampaign: Bool { self == .received || self == .open || self == .influencedOpen }
}
