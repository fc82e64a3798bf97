/// Opens that cannot be counted, by the campaign of their push and by day.
public struct LostOpens: Sendable {
    /// Why an open cannot be counted. The raw values are the names in JSON.
    public enum Reason: String, Sendable, CaseIterable {
        /// Android showed it by itself: Braze never learns of it (T9).
        case shownBySystem = "shown_by_system"
        /// A tap on a delivery that is not known (T15).
        case unmatched

        /// For people.
        var words: String { rawValue.replacingUnderscores }

        /// What people read in place of a campaign where there is none.
        var withoutCampaign: String {
            switch self {
            case .shownBySystem: "(none in the push)"
            case .unmatched: "(not known: no such push)"
            }
        }
    }

    /// How many, by why.
    typealias Counts = [Reason: Int]

    /// By campaign, `nil` for what has none, and by day.
    private var days: [String?: [LocalDay: Counts]] = [:]

    mutating func add(_ reason: Reason, of campaign: String?, on day: LocalDay) {
        days[campaign, default: [:]][day, default: [:]][reason, default: 0] += 1
    }

    /// The campaigns with lost opens.
    var campaigns: [String] { days.keys.compactMap(\.self) }

    /// Those of a campaign, `nil` for what has none, by day.
    func byDay(of campaign: String?) -> [LocalDay: Counts] { days[campaign] ?? [:] }

    /// All of them by day.
    var byDay: [LocalDay: Counts] {
        days.values.reduce(into: [:]) { merged, days in
            merged.merge(days) { $0.merging($1, uniquingKeysWith: +) }
        }
    }

    /// How many of a campaign, `nil` for what has none.
    func counts(of campaign: String?) -> Counts { Self.sum(byDay(of: campaign)) }

    /// How many in all.
    func count(_ reason: Reason) -> Int { Self.sum(byDay)[reason] ?? 0 }

    /// A row for each campaign, sorted, and below them one for each reason for which there is none.
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

    /// The counts of some days together.
    static func sum(_ days: [LocalDay: Counts]) -> Counts {
        days.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }
}
