import PushModel
import PushRouter

extension Decision {
    /// Why no session can count as an influenced open of a push of Braze's; `nil`: one can, or it is another's push.
    ///
    /// - Parameter rules: the rules of the tracker.
    func obstacleToInfluence(_ rules: TrackerRules) -> String? {
        guard let braze else { return nil }
        if braze.campaignID == nil { return "it names no campaign" }
        if losesOpen { return "the system shows it in place of Braze's SDK" }
        if braze.isInternal { return "it is for Braze's SDK, and not for the user" }
        if braze.features.contains(.testInAppMessage) { return "it is the test of an in-app message" }
        if outcome == .notWoken { return "it does not reach the app" }
        if !displayed { return "it is not displayed" }
        return rules.emitsCampaignEvents(for: app) ? nil : "CampaignEventsOff= matches the app"
    }
}
