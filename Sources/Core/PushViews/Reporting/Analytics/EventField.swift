import PushModel

/// A field of an analytics event to group figures by. The raw values are the members of the event in JSON; `day`
/// derives from its time.
public enum EventField: String, Sendable, CaseIterable {
    case day
    case platform
    case appID = "app_id"
    case campaignID = "campaign_id"
    case externalUserID = "external_user_id"
    case deviceID = "device_id"
    case messageID = "message_id"
    case buttonString = "button_string"
    case buttonActionType = "button_action_type"

    /// The name for people: `external user id`.
    var words: String { rawValue.replacingUnderscores }

    /// Returns the value of an event; `nil` when it has none.
    func value(of event: AnalyticsEvent, in zone: LocalZone) -> String? {
        switch self {
        case .day: zone.day(of: event.time).description
        case .platform: event.platform.rawValue
        case .appID: event.appID
        case .campaignID: event.push?.campaignID
        case .externalUserID: event.externalUserID
        case .deviceID: event.deviceID
        case .messageID: event.push?.messageID
        case .buttonString: event.button?.id
        case .buttonActionType: event.button?.action?.rawValue
        }
    }
}
