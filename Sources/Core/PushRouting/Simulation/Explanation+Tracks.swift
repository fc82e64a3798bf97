public import PushDispatch
import PushModel

extension Explanation {
    /// The entries that the tracks would make of a person's act on the notification.
    public struct TrackedAct: Sendable {
        /// The act.
        public var act: UserAct
        /// The entries to be queued or rejected; never empty.
        public var entries: [TrackedData]
    }

    /// Returns each possible act on the notification that leads to a track's entry. It knows only the payload's own
    /// buttons.
    static func trackedActs(
        _ deliver: DeliverRequest, _ decision: Decision, _ platform: Platform, _ table: RoutingTable
    ) -> [TrackedAct] {
        guard !table.tracks.isEmpty, decision.mayBeShown else { return [] }
        let handedBack = try? HandedBackPayload(deliver.payload, platform: platform, settings: table.detection)
        var buttons: Set<String> = []
        let ids = decision.braze?.actions.compactMap(\.id).filter { buttons.insert($0).inserted } ?? []
        let acts = [UserAct.opened] + ids.map { .button(id: $0, text: nil) } + [.dismissed]
        return acts.compactMap { act in
            // A platform that hands back other data than the delivered payload needs none for the decision.
            let interaction = decide(
                act, on: platform.handsBackPayload ? handedBack : nil, of: decision.provider, platform: platform,
                rules: table.interaction)
            guard interaction.outcome == nil else { return nil }
            let facts = TrackFacts(
                act: act, provider: decision.provider, campaignID: decision.braze?.campaignID,
                messageID: decision.messageID, platform: platform, app: decision.app,
                device: deliver.target.device, externalID: deliver.target.externalID, keys: decision.keys)
            let entries = table.tracked(facts).flatMap { $0.checked(table.customData, platform) }
            return entries.isEmpty ? nil : TrackedAct(act: act, entries: entries)
        }
    }
}

extension Decision {
    /// Whether the person may see a notification to act on.
    var mayBeShown: Bool {
        if braze != nil { return displayed }
        guard providers.first?.provider.purpose != .uninstallProbe else { return false }
        switch outcome {
        case nil: return !callbacks.allSatisfy(\.isBroadcast)
        case .shownBySystem, .ownReceiver: return true
        case .notWoken, .swallowed, .handedToTracker, .handled, .failed, .timedOut, .expired, .unrouted, .duplicate,
            .sdkNotReady:
            return false
        }
    }
}

extension UserAct {
    /// The occasion in the words of `On=`, and the button.
    var track: (occasion: TrackRule.Occasion, button: String?) {
        switch self {
        case .opened: (.opened, nil)
        case .button(let id, _): (.action, id)
        case .dismissed: (.dismissed, nil)
        }
    }
}
