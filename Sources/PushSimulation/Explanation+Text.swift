import PushDispatch
import PushModel

extension Explanation {
    /// The same story for people: lines for a terminal, the last with its line feed.
    public var text: String {
        var lines = [headline, "  \(platform.rawValue), app in state \(state.rawValue), \(mode.rawValue) mode", "Why"]
        for (index, reason) in reasons.enumerated() { lines.append("  \(index + 1). \(reason)") }
        lines.append("What runs")
        if let outcome = decision.outcome {
            let nobody = outcome == .ownReceiver ? "no service of the app" : "no code of the app"
            lines.append("  \(nobody); the outcome is \(outcome.rawValue)")
        }
        lines += invocations.map { "  \($0.text)" }
        let warnings = warnings.map { "  - \($0)" }
        lines += warnings.isEmpty ? [] : ["Warnings"] + warnings
        return lines.joined(separator: "\n") + "\n"
    }

    private var headline: String {
        guard let braze = decision.braze else {
            guard let owner = decision.providers.first else { return "a push of no known provider" }
            let names = decision.matches.dropFirst().joined(separator: ", ")
            return "a push of \(owner.provider.name)"
                + (owner.confidence == .low ? ", by a rule of low confidence" : "")
                + (names.isEmpty ? "" : "; ambiguous, \(names) would match too")
        }
        let campaign = braze.campaignID.map { "campaign \($0)" } ?? "no campaign"
        let facts = ["a Braze push", braze.kind.rawValue, campaign] + braze.features.map(\.rawValue)
        return facts.joined(separator: ", ")
            + (braze.countsForInfluencedOpen ? "; counts" : "; does not count") + " for influenced opens"
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
