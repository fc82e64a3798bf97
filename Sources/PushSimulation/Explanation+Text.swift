import PushDispatch
import PushModel

extension Explanation {
    /// The same story for people: lines for a terminal, the last with its line feed.
    public var text: String {
        var lines = [headline, "  \(platform.rawValue), app in state \(state.rawValue), \(mode.rawValue) mode", "Why"]
        for (index, reason) in reasons.enumerated() { lines.append("  \(index + 1). \(reason)") }
        lines.append("What runs")
        lines += invocations.isEmpty ? ["  nothing: the outcome is \(decision.outcome?.rawValue ?? "none")"] : []
        lines += invocations.map { "  \($0.text)" }
        let warnings = decision.warnings
        if !warnings.isEmpty { lines.append("Warnings") }
        lines += warnings.map { "  - \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }

    private var headline: String {
        guard let braze = decision.braze else {
            return decision.provider.map { "A push of \($0)" } ?? "A push of no known provider"
        }
        let campaign = braze.campaignID.map { "campaign \($0)" } ?? "no campaign"
        let facts = [braze.kind.rawValue, campaign] + braze.features.map(\.rawValue)
        let influenced = braze.countsForInfluencedOpen ? "counts" : "does not count"
        return "A push of Braze: \(facts.joined(separator: ", ")); \(influenced) for influenced opens"
    }
}

extension Explanation.Invocation {
    fileprivate var text: String {
        let callback = planned.callback.rawValue
        guard planned.owner == .route else { return "\(callback) -> tracker of opens" }
        guard let route, let handler else { return "\(callback) -> nobody" }
        return "\(callback) -> handler \(handler), by route \(route), within \(budget.milliseconds) ms"
    }
}
