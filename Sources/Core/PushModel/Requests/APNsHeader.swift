/// A header of a request to APNs that controls the push. The raw values are the header names, in alphabetical order.
///
/// Source: Apple's "Sending notification requests to APNs".
public enum APNsHeader: String, Sendable, CaseIterable {
    case collapseID = "apns-collapse-id"
    case expiration = "apns-expiration"
    case id = "apns-id"
    case priority = "apns-priority"
    case pushType = "apns-push-type"
    case topic = "apns-topic"
}

/// `apns-push-type`: the kind of push, which selects the code that receives it. The raw values are the header's.
///
/// Source: Apple's "Sending notification requests to APNs"; `APNSPushType.swift` of APNSwift.
public enum APNsPushType: String, Sendable, CaseIterable {
    case alert, background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, controls, widgets
}

extension Platform {
    /// Whether its pushes come from APNs, with headers.
    public var hasAPNsHeaders: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }
}
