import PushModel

/// A request to APNs whose headers and payload do not fit together. APNs accepts some of them and delivers nothing.
///
/// Source: Apple's "Sending notification requests to APNs", the table of `apns-push-type`, and "Pushing background updates
/// to your App"; for a silent push of the type alert reports (codedge-llc/pigeon#155, malliina/mobile-push#19,
/// jchambers/pushy#701); for topics AndrewBarba/apns2#23, Pr0Ger/PyAPNs2#87.
public enum APNsMismatch: Hashable, Sendable, CustomStringConvertible {
    /// The type alert, or none, for a payload that shows nothing.
    case alertWithoutContent
    /// The type background for a payload that shows something, with the keys.
    case backgroundWithContent([String])
    /// The type background for a payload that does not wake the app.
    case backgroundWithoutWaking
    /// A silent push with priority 10.
    case silentAtPriority10
    /// A topic with the suffix of another type; the wanted suffix, `nil`: none.
    case topic(String, type: String, suffix: String?)
    /// A push for a Live Activity of another type.
    case liveActivityOfType(String)
    /// A push of the type liveactivity without `content-state`.
    case liveActivityWithoutState
    /// A call or a transmission that APNs would keep and deliver late.
    case expires(type: String)
    /// A priority that Apple does not give to the type.
    case priority(String, type: String, wanted: String)

    public var description: String {
        switch self {
        case .alertWithoutContent:
            "apns-push-type is alert, and aps has no alert, badge or sound: APNs accepts it, and reports say that iOS never delivers it; the type of a silent push is background, with apns-priority 5"
        case .backgroundWithContent(let keys):
            "apns-push-type is background, and aps has \(keys.joined(separator: ", ")): Apple allows none of alert, badge and sound in a background push; the type is alert"
        case .backgroundWithoutWaking:
            "apns-push-type is background, and aps.content-available is not 1: iOS does not wake the app"
        case .silentAtPriority10:
            "apns-priority is 10, and aps has content-available alone: Apple demands priority 5 for it"
        case .topic(let topic, let type, let suffix):
            "apns-topic is \(topic), and apns-push-type is \(type), whose topic is the bundle id\(suffix.map { " with \($0)" } ?? " alone"): APNs refuses it with DeviceTokenNotForTopic or InvalidPushType"
        case .liveActivityOfType(let type):
            "aps has the keys of a Live Activity, and apns-push-type is \(type): the type is liveactivity, with a topic that ends in .push-type.liveactivity"
        case .liveActivityWithoutState:
            "apns-push-type is liveactivity, and aps has no content-state: iOS has no new state to show"
        case .expires(let type):
            "apns-push-type is \(type), and apns-expiration is not 0: APNs keeps the push for a device that is offline, and delivers it late"
        case .priority(let priority, let type, let wanted):
            "apns-push-type is \(type), and apns-priority is \(priority): Apple gives \(wanted) to this type"
        }
    }

    /// Returns what does not fit in a request.
    ///
    /// - Parameters:
    ///   - content: the facts about the payload.
    ///   - header: returns the value of a header.
    static func all(_ content: Content, _ header: (_ name: APNsHeader) -> String?) -> [APNsMismatch] {
        var found: [APNsMismatch] = []
        let name = header(.pushType)
        let type = name.flatMap(APNsPushType.init)
        let shows = !content.shown.isEmpty
        let isForLiveActivity = content.isForLiveActivity && type != .liveactivity
        switch type {
        case .alert where !shows && !isForLiveActivity: found.append(.alertWithoutContent)
        case .background:
            if shows { found.append(.backgroundWithContent(content.shown)) }
            if !content.wakes { found.append(.backgroundWithoutWaking) }
        case .liveactivity where !content.hasState: found.append(.liveActivityWithoutState)
        case .voip, .pushtotalk:
            let expiration = header(.expiration)
            if let expiration, expiration != "0" { found.append(.expires(type: name ?? "")) }
        default: break
        }
        if isForLiveActivity, let name { found.append(.liveActivityOfType(name)) }
        let isSilent = content.wakes && !shows && !content.isForLiveActivity
        if isSilent, type != .background, header(.priority) == "10" { found.append(.silentAtPriority10) }
        if type == .pushtotalk, let priority = header(.priority), priority != "10" {
            found.append(.priority(priority, type: "pushtotalk", wanted: "10"))
        }
        if let text = header(.topic), let topic = APNsTopic(text), type != .mdm, type != nil || topic.suffix != nil,
            !topic.suits(pushType: name)
        {
            let wanted = APNsTopic.Suffix.allCases.first { $0.pushType == name }?.rawValue
            found.append(.topic(text, type: name ?? "alert", suffix: wanted))
        }
        return found
    }

    /// The facts about a payload that its headers have to fit.
    struct Content {
        /// The keys with content for the user.
        var shown: [String]
        /// Whether it wakes the app.
        var wakes: Bool
        /// Whether it has the keys of a Live Activity.
        var isForLiveActivity: Bool
        /// Whether it has `content-state`.
        var hasState: Bool
    }
}
