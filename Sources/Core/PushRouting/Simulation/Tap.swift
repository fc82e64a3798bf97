import PushDispatch
public import PushModel

/// The effect of a tap on the counts of opens, as the router and the tracker decide it.
public struct Tap: Hashable, Sendable {
    /// Whether there may be a notification to tap.
    public let isPossible: Bool
    /// The tracker's verdict; `nil` if the push is not Braze's, or cannot be tapped.
    public let verdict: Interaction.Verdict?
    /// The campaign of a Braze push; `nil` if it has none.
    public let campaignID: String?
    /// Whether the system shows the push and Braze's SDK never sees it.
    private let isLost: Bool

    init(_ decision: Decision, _ verdict: Interaction.Verdict?) {
        isPossible = decision.mayBeShown || decision.outcome == .shownBySystem
        self.verdict = isPossible ? verdict : nil
        campaignID = decision.braze?.campaignID
        isLost = decision.losesOpen
    }

    /// Whether the tap counts as a direct open of a campaign.
    public var isDirectOpen: Bool { verdict == .opened }

    /// The verdict in words, for people.
    public var text: String {
        guard isPossible else { return "cannot be tapped" }
        switch verdict {
        case nil: return "no open of Braze's"
        case .opened: return "direct open" + (campaignID.map { " of campaign \($0)" } ?? "")
        case .unattributed: return "an open without a campaign"
        case .unmatched, .elsewhere, .duplicate, .closed, .dismissed, .unknownAction:
            return isLost ? "lost: Braze never saw it" : "not counted"
        }
    }
}

extension JSONWriter {
    /// Writes the members of the object `tap`.
    mutating func members(of tap: Tap) {
        member("possible", tap.isPossible)
        member("verdict", tap.verdict?.rawValue)
        member("campaign_id", tap.isDirectOpen ? tap.campaignID : nil)
    }
}
