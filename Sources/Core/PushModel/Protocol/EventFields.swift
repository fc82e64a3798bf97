extension JSONWriter {
    /// Writes the members of an analytics event, flat, named as in the provider's Currents. Leaves out facts that a
    /// tracker on the device cannot know; a missing button of an open is null, as in Currents.
    public mutating func members(of event: AnalyticsEvent) {
        member("event_type", event.kind.rawValue)
        member("id", event.id.description)
        member("time", event.time)
        if let user = event.externalUserID { member("external_user_id", user) }
        if let device = event.deviceID { member("device_id", device) }
        properties(of: event)
    }

    /// Writes the members of the envelope that the provider's custom HTTP export gives an event: the user and the
    /// device in `user`, the facts in `properties`.
    public mutating func envelopeMembers(of event: AnalyticsEvent) {
        member("event_type", event.kind.rawValue)
        member("id", event.id.description)
        member("properties", object: { $0.properties(of: event) })
        member("time", event.time)
        member(
            "user",
            object: {
                if let device = event.deviceID { $0.member("device_id", device) }
                if let user = event.externalUserID { $0.member("external_user_id", user) }
            })
    }

    private mutating func properties(of event: AnalyticsEvent) {
        if let app = event.appID { member("app_id", app) }
        member("platform", event.platform.rawValue)
        if let campaign = event.push?.campaignID { member("campaign_id", campaign) }
        if let message = event.push?.messageID { member("message_id", message) }
        switch event.content {
        case .open(_, let button):
            member("button_action_type", button?.action?.rawValue)
            member("button_string", button?.id)
        case .sessionEnd(let duration): member("duration", raw: seconds(duration).utf8)
        case .tokenStateChange(let change, let token):
            if let token { member("push_token", token) }
            if let device = event.deviceID { member("push_token_device_id", device) }
            member("push_token_state_change_type", change.rawValue)
        case .customEvent(let name, let properties):
            member("name", name)
            if let properties { member("properties", properties) }
        case .received, .influencedOpen, .iosForeground, .sessionStart, .uninstall: break
        }
    }
}

/// Returns seconds with three decimals, so that a reader parses a number with a fraction: `12.500`.
private func seconds(_ duration: Duration) -> String {
    let milliseconds = duration.milliseconds
    return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
}
