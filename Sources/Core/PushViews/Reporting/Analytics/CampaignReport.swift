public import PushModel

/// The results of Braze's campaigns: received, opened and clicked, in all, by campaign, by day, and by any field.
///
/// The caller adds events and rows one by one, in the order in which they were decided. An event counts at its own
/// time: in a window, an open may be of a delivery that was received before the window.
public struct CampaignReport: Sendable {
    /// The options of the report.
    public struct Selection: Sendable {
        /// The only campaigns to count, by a pattern of their ids or, with the rule `decode`, of their own parts of the ids.
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
        /// The figures by the selected field.
        var groups: [GroupName: CampaignFigures] = [:]
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
    /// The names of campaigns that a person gave, by the id in the payload.
    public var names: [String: String] = [:]
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
    /// Taps while the app had no Braze instance: which campaign each of them is of, the tracker does not know.
    private(set) var tapsWithoutInstance = 0
    /// Opens that cannot be counted.
    private(set) var lost = LostOpens()
    /// Whether there was something of ``exampleCampaign``, which only a selection counts.
    private var hasExample = false
    private var recipients: [Recipient: UInt32] = [:]
    private var partOfID: [String: String?] = [:]
    private let pattern: Glob?
    /// The campaigns that are not selected.
    private var others: Set<String> = []

    /// The campaign of the example that `pushctl dev` sends.
    public static let exampleCampaign = "example-of-pushctl-dev"

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
        pattern = selection.campaign.map { Glob($0) }
    }

    /// Why the selected campaign has no figure: none has its name; `nil` if one has figures, or none is selected.
    public var objection: String? {
        guard let wanted = selection.campaign, campaigns.isEmpty, lost.campaigns.isEmpty else { return nil }
        let time = window.since == nil && window.until == nil ? "" : " in this time"
        return "there is no campaign \(wanted)\(time)\(suggestion(for: wanted, among: others))"
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
        let value = field.value(of: event, in: zone)
        groups[value, default: CampaignFigures()].add(event, recipient: recipient)
        campaigns[id, default: Campaign()].groups[value, default: CampaignFigures()].add(event, recipient: recipient)
    }

    /// Counts an interaction by its verdict.
    /// - Parameters:
    ///   - campaign: the campaign of its delivery, if any; of a push that the tracker does not know, too.
    ///   - isLostOpen: whether the interaction, if unmatched, is a lost open; a dismissal is not.
    public mutating func add(_ row: InteractionRow, campaign: String?, isLostOpen: Bool = true) {
        guard window.contains(row.at), isSelected(campaign) else { return }
        verdicts[row.verdict, default: 0] += 1
        let day = zone.day(of: row.at.seconds)
        switch row.verdict {
        case .unmatched: if isLostOpen { lost.add(.unmatched, of: campaign, on: day) }
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

    /// Counts a tap or a press that ended without a Braze instance.
    public mutating func add(tapWithoutInstance row: ReportRow) {
        guard !row.invocation.isObserver, window.contains(row.acceptedAt), isSelected(nil) else { return }
        tapsWithoutInstance += 1
    }

    /// A campaign's name with its id; the id alone without a name.
    func title(of id: String) -> String { names.title(ofCampaign: id) }

    /// Taps on deliveries without a campaign (T3).
    var unattributed: Int { verdicts[.unattributed] ?? 0 }

    /// The reasons for lost opens in this report. The campaign of a push that nobody knows is unknown too.
    var losses: [LostOpens.Reason] {
        selection.campaign == nil || lost.count(.unmatched) > 0 ? LostOpens.Reason.allCases : [.shownBySystem]
    }

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

    /// The sentence about the example that is left out; empty without one.
    var exampleNote: String { hasExample ? " The example of pushctl dev is left out." : "" }

    private mutating func isSelected(_ campaign: String?) -> Bool {
        guard let pattern else {
            guard campaign == Self.exampleCampaign else { return true }
            hasExample = true
            return false
        }
        guard let campaign else { return false }
        let names = [campaign, part(of: campaign)].compactMap(\.self)
        if names.contains(where: { $0 == selection.campaign || pattern.matches($0) }) { return true }
        if others.count < Self.othersMax { others.formUnion(names) }
        return false
    }

    /// As many names as a misspelt one is compared with.
    private static let othersMax = 10_000

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

extension CampaignReport {
    /// The summary sentence: how many pushes were received, and how many of them were opened.
    ///
    /// `6,253 pushes of 3 campaigns reached 1,200 recipients; 1,020 were opened (16.3 %): 800 directly, 220 influenced.`
    public var answer: String {
        func counted(_ count: Int, _ one: String, _ many: String) -> String {
            "\(grouped(count)) \(count == 1 ? one : many)"
        }
        let unseen = lost.count(.shownBySystem)
        let beside =
            (unseen > 0 ? " Android showed \(grouped(unseen)) by itself, which Braze never saw." : "")
            + (tapsWithoutInstance > 0
                ? " \(counted(tapsWithoutInstance, "tap", "taps")) came while the app had no Braze instance: Braze has no direct open of "
                    + "\(tapsWithoutInstance == 1 ? "it" : "them")." : "") + exampleNote
        guard !total.isEmpty else { return "No campaign's push was received or opened.\(beside)" }
        let of = campaigns.count == 1 ? "" : " of \(grouped(campaigns.count)) campaigns"
        let rate = total.received > 0 ? " (\(share(total.totalOpens, of: total.received).holdingUnit))" : ""
        return counted(total.received, "push", "pushes") + of
            + " reached \(counted(total.uniqueRecipients, "recipient", "recipients")); "
            + "\(counted(total.totalOpens, "was", "were")) opened\(rate): \(grouped(total.directOpens)) directly, "
            + "\(grouped(total.influencedOpens - total.influencedAndDirect)) influenced."
            + beside
    }
}

extension String {
    /// The text with no-break spaces, so that no line ends between a number and its unit.
    fileprivate var holdingUnit: String { String(map { $0 == " " ? "\u{A0}" : $0 }) }
}

/// Returns the campaign's own part of an id that is the base64 of `campaign_$_...` (T3); `nil` for any other id.
///
/// Braze's ids of in-app messages and content cards have this form. For pushes the form is not published.
func campaignPart(of id: String) -> String? {
    guard let bytes = decodedBase64(id), let text = String(validating: bytes, as: UTF8.self) else { return nil }
    let scalars = Array(text.unicodeScalars)
    let mark = Array("_$_".unicodeScalars)
    guard let end = scalars.indices.first(where: { scalars[$0...].starts(with: mark) }), end > 0 else { return nil }
    return String(String.UnicodeScalarView(scalars[..<end]))
}

/// Decodes base64 of either alphabet, with or without padding; `nil` if the text is not base64.
private func decodedBase64(_ text: String) -> [UInt8]? {
    let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
    guard digits.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for digit in digits {
        guard let value = base64Value(digit) else { return nil }
        bits = bits << 6 | value
        count += 6
        if count >= 8 {
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
    }
    return bytes
}

private func base64Value(_ digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
}

/// The figures of a campaign or of another group of events.
///
/// Its size grows with the opened deliveries and the recipients, not with the events.
public struct CampaignFigures: Hashable, Sendable {
    /// A button of a notification.
    struct Button: Hashable, Sendable {
        /// Its id.
        public let id: String
        /// The effect of a press: `uri`, `deep_link`, `none` or `close`.
        public let action: String
    }

    private struct Opening: OptionSet, Hashable, Sendable {
        let rawValue: UInt8

        static let direct = Opening(rawValue: 1)
        static let influenced = Opening(rawValue: 2)
    }

    /// Deliveries that reached a device, without repeats.
    public private(set) var received = 0
    /// Deliveries that were opened by a tap: on the body, or on a button that opens the app or a link.
    private(set) var directOpens = 0
    /// Deliveries that a session followed soon, without a tap on them before it.
    private(set) var influencedOpens = 0
    /// Influenced opens whose delivery was also tapped: ``totalOpens`` counts them as direct opens (T6).
    private(set) var influencedAndDirect = 0
    /// Taps on the body that opened the delivery.
    private(set) var bodyClicks = 0
    /// The first press on each button of a delivery that counts: the press that opened it, and each press on a close
    /// button.
    private(set) var buttonClicks: [Button: Int] = [:]

    private var openings: [SequenceNumber: Opening] = [:]
    private var recipients: Set<UInt32> = []

    /// Figures without events.
    init() {}

    /// Deliveries with a direct or an influenced open, each once.
    var totalOpens: Int { directOpens + influencedOpens - influencedAndDirect }

    /// Users who received at least one delivery; an anonymous user counts by device.
    var uniqueRecipients: Int { recipients.count }

    /// Presses on all the buttons.
    var buttonClicksInAll: Int { buttonClicks.values.reduce(0, +) }

    /// Whether no event was counted.
    var isEmpty: Bool { received == 0 && openings.isEmpty && buttonClicks.isEmpty }

    /// Counts an event; events of other kinds change nothing.
    /// - Parameter recipient: the recipient's number; `nil` when neither user nor device is known.
    mutating func add(_ event: AnalyticsEvent, recipient: UInt32?) {
        switch event.content {
        case .received:
            received += 1
            if let recipient { recipients.insert(recipient) }
        case .open(_, let button):
            if let button, let action = button.action {
                buttonClicks[Button(id: button.id, action: action.rawValue), default: 0] += 1
                // T1: a press on a close button emits the event and leaves the delivery unopened.
                if action != .close { open(event.delivery, .direct) }
            } else {
                bodyClicks += 1
                open(event.delivery, .direct)
            }
        case .influencedOpen: open(event.delivery, .influenced)
        case .iosForeground, .sessionStart, .sessionEnd, .tokenStateChange, .uninstall, .customEvent: break
        }
    }

    private mutating func open(_ delivery: SequenceNumber, _ opening: Opening) {
        let before = openings[delivery] ?? []
        guard !before.contains(opening) else { return }
        openings[delivery] = before.union(opening)
        if opening == .direct { directOpens += 1 } else { influencedOpens += 1 }
        if !before.isEmpty { influencedAndDirect += 1 }
    }
}
