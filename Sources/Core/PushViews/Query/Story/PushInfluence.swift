import PushModel
public import PushRouter

extension PushFacts {
    /// Why no session counted as an influenced open of the push, behind "No influenced open:"; `nil` if one did, or it was opened
    /// by a tap, or it is no push of Braze's. It needs ``RequestStory/sessionAfter``.
    ///
    /// - Parameter rules: the rules of the tracker.
    public func obstacleToInfluence(_ rules: TrackerRules) -> String? {
        let request = story.request
        let isOpened = opens.contains { $0.button?.action != .close }
        guard !isOpened, let decision, decision.braze != nil else { return nil }
        if let obstacle = decision.obstacleToInfluence(rules) { return obstacle }
        if story.invocations.contains(where: { $0.result?.outcome == .duplicate }) { return "it is a repeat" }
        guard let device = request.device else { return "it names no device" }
        let window = spanInWords(rules.influencedWindow)
        let place = request.app.map { "\($0) on \(device)" } ?? device
        switch story.sessionAfter {
        case nil: return nil
        case .unknown: return "no session of \(place) is among the \(grouped(SessionAfter.eventsMax)) events after it"
        case .noSession: return "no session of \(place) began after it (the window is \(window))"
        case .began(let start):
            let receipt = story.events.first { $0.kind == .received && $0.seq == request.seq }
            let received = receipt?.time ?? request.acceptedAt.wall.seconds
            let time = spanInWords(.seconds(max(0, start.time - received)))
            guard start.externalUserID == request.externalID else {
                let user = start.externalUserID.map { "of the user \($0)" } ?? "without a user"
                let own = request.externalID.map { "for \($0)" } ?? "for no user"
                return "the session that began \(time) later is \(user), and the push is \(own)"
            }
            guard start.time - received < rules.influencedWindow.components.seconds else {
                return "the next session began \(time) later (the window is \(window))"
            }
            return rules.influencedCredit == .latest
                ? "a later push has the session that began \(time) later (InfluencedCredit=latest)"
                : "the session that began \(time) later has not counted it: its decision is to come (Grace=), or its own "
                    + "window is shorter (InfluencedWindowRule=)"
        }
    }

    /// The decision on a push, by the rules that decided it; `nil` for a request that is no push, or cannot be read.
    var decision: Decision? { decided?.decision }

    private var decided: (decision: Decision, deliver: DeliverRequest)? {
        guard story.request.operation == .deliver, !story.request.isErased,
            let request = try? Request(acceptedLine: story.request.body), case .deliver(let deliver) = request.action,
            let decision = try? decide(Delivery(deliver, platform: story.request.platform), settings: detection)
        else { return nil }
        return (decision, deliver)
    }

    /// The notification as a person sees it; `nil` for a request that is no push, or cannot be read.
    public var shown: ShownNotification? {
        decided.map {
            ShownNotification($0.decision, $0.deliver.payload, notifications: $0.deliver.notifications)
        }
    }
}

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
