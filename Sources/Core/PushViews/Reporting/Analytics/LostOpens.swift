/// Opens that cannot be counted, by the campaign of their push and by day.
struct LostOpens: Sendable {
    /// The reason why an open cannot be counted. The raw values are the names in JSON.
    enum Reason: String, Sendable, CaseIterable {
        /// Android showed the push by itself: Braze never learns of it (T9).
        case shownBySystem = "shown_by_system"
        /// A tap on an unknown delivery (T15).
        case unmatched

        /// The name for people.
        var words: String { rawValue.replacingUnderscores }

        /// The text for people in place of a missing campaign.
        var withoutCampaign: String {
            switch self {
            case .shownBySystem: "(none in the push)"
            case .unmatched: "(not known: no such push)"
            }
        }
    }

    /// The number of lost opens by reason.
    typealias Counts = [Reason: Int]

    /// The counts by campaign, `nil` for opens without one, and by day.
    private var days: [String?: [LocalDay: Counts]] = [:]

    mutating func add(_ reason: Reason, of campaign: String?, on day: LocalDay) {
        days[campaign, default: [:]][day, default: [:]][reason, default: 0] += 1
    }

    /// The campaigns with lost opens.
    var campaigns: [String] { days.keys.compactMap(\.self) }

    /// Returns the counts of a campaign by day; `nil`: of opens without a campaign.
    func byDay(of campaign: String?) -> [LocalDay: Counts] { days[campaign] ?? [:] }

    /// All counts by day.
    var byDay: [LocalDay: Counts] {
        days.values.reduce(into: [:]) { merged, days in
            merged.merge(days) { $0.merging($1, uniquingKeysWith: +) }
        }
    }

    /// Returns the counts of a campaign; `nil`: of opens without a campaign.
    func counts(of campaign: String?) -> Counts { Self.sum(byDay(of: campaign)) }

    /// Returns the number of lost opens for a reason.
    func count(_ reason: Reason) -> Int { Self.sum(byDay)[reason] ?? 0 }

    /// A row for each campaign, sorted, followed by a row for each reason of opens without a campaign.
    var rows: [(name: String, days: [LocalDay: Counts])] {
        let nobodys = byDay(of: nil)
        let withoutCampaign = Reason.allCases.map { reason in
            (
                name: reason.withoutCampaign,
                days: nobodys.mapValues { $0.filter { $0.key == reason } }.filter { !$0.value.isEmpty }
            )
        }
        return campaigns.sorted().map { (name: $0, days: byDay(of: $0)) } + withoutCampaign.filter { !$0.days.isEmpty }
    }

    /// Returns the sum of the counts of some days.
    static func sum(_ days: [LocalDay: Counts]) -> Counts {
        days.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }
}
