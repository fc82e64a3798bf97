public import PushModel

extension JSONWriter {
    /// The members of an analytics event, flat (design, section 5.5); what is not known is left out.
    public mutating func members(of event: AnalyticsEvent) {
        member("event_type", event.kind.rawValue)
        member("id", event.id.description)
        member("time", event.time)
        if let user = event.externalUserID { member("external_user_id", user) }
        if let device = event.deviceID { member("device_id", device) }
        if let app = event.appID { member("app_id", app) }
        member("platform", event.platform.rawValue)
        if let campaign = event.campaignID { member("campaign_id", campaign) }
        if let message = event.messageID { member("message_id", message) }
        guard event.kind == .open else { return }
        member("button_action_type", event.buttonActionType)
        member("button_string", event.buttonString)
    }
}
