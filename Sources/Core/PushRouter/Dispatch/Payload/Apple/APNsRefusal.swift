public import PushModel

/// The reason why APNs would refuse the request with a payload. FCM forwards the request and returns the refusal.
///
/// Source: Apple's "Sending notification requests to APNs" and "Handling notification responses from APNs", as quoted
/// in apns2 (response.go, notification.go).
public enum APNsRefusal: Hashable, Sendable, CustomStringConvertible {
    /// An unknown push type.
    case invalidPushType(String)
    /// A priority other than 10, 5 and 1.
    case badPriority(String)
    /// A background notification without priority 5; `nil`: the header is missing, which means 10.
    case badBackgroundPriority(String?)
    /// A collapse id longer than 64 bytes.
    case badCollapseID(length: Int)
    /// An expiration that is not an integer of seconds.
    case badExpirationDate(String)
    /// An id that is not a UUID in canonical form.
    case badMessageID(String)
    /// A payload over the limit of its push type.
    case payloadTooLarge(length: Int, limit: Int)

    /// APNs' reason, which has the HTTP status.
    public var reason: APNsReason {
        switch self {
        case .invalidPushType: .invalidPushType
        case .badPriority, .badBackgroundPriority: .badPriority
        case .badCollapseID: .badCollapseID
        case .badExpirationDate: .badExpirationDate
        case .badMessageID: .badMessageID
        case .payloadTooLarge: .payloadTooLarge
        }
    }

    public var description: String { "\(problem): APNs refuses it with \(reason.status) \(reason.rawValue)" }

    private var problem: String {
        switch self {
        case .invalidPushType(let type): #"apns-push-type is "\#(type)", which is none"#
        case .badPriority(let priority): #"apns-priority is "\#(priority)" rather than 10, 5 or 1"#
        case .badBackgroundPriority(let priority?):
            #"apns-push-type is background and apns-priority "\#(priority)" rather than 5"#
        case .badBackgroundPriority(nil):
            "apns-push-type is background without apns-priority, which then is 10 rather than 5"
        case .badCollapseID(let length): "apns-collapse-id has \(length) bytes, more than 64"
        case .badExpirationDate(let date): #"apns-expiration is "\#(date)", no whole number of seconds"#
        case .badMessageID(let id): #"apns-id is "\#(id)", no UUID of 8-4-4-4-12 hexadecimal digits"#
        case .payloadTooLarge(let length, let limit): "the payload has \(length) bytes, more than \(limit)"
        }
    }
}

// The checks.
extension APNsRefusal {
    /// Returns all refusals of a request's headers, in the order of Apple's table.
    ///
    /// - Parameter header: returns the value of a header.
    public static func ofHeaders(_ header: (_ name: APNsHeader) -> String?) -> [APNsRefusal] {
        var refusals: [APNsRefusal] = []
        let type = header(.pushType)
        if let type, APNsPushType(rawValue: type) == nil { refusals.append(.invalidPushType(type)) }
        if let id = header(.id), !isUUID(id) { refusals.append(.badMessageID(id)) }
        if let date = header(.expiration), Int64(date) == nil { refusals.append(.badExpirationDate(date)) }
        let priority = header(.priority)
        if type == APNsPushType.background.rawValue {
            if priority != "5" { refusals.append(.badBackgroundPriority(priority)) }
        } else if let priority, !["10", "5", "1"].contains(priority) {
            refusals.append(.badPriority(priority))
        }
        if let id = header(.collapseID), id.utf8.count > 64 {
            refusals.append(.badCollapseID(length: id.utf8.count))
        }
        return refusals
    }

    /// Returns the limit of a payload in bytes, by push type.
    public static func longestPayload(ofType pushType: String?) -> Int {
        pushType == APNsPushType.voip.rawValue ? 5120 : 4096
    }

    private static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.joined().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }
}

/// The reasons for which APNs refuses a request. The raw values are the words in its responses.
///
/// Source: Apple's "Handling notification responses from APNs", as in apns2 (response.go) and APNSwift
/// (APNSError.swift). It omits the reasons of channels, whose statuses are unknown.
public enum APNsReason: String, Error, Sendable, CaseIterable {
    case badCollapseID = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badMessageID = "BadMessageId"
    case badPriority = "BadPriority"
    case badTopic = "BadTopic"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case duplicateHeaders = "DuplicateHeaders"
    case idleTimeout = "IdleTimeout"
    case invalidPushType = "InvalidPushType"
    case missingDeviceToken = "MissingDeviceToken"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case topicDisallowed = "TopicDisallowed"
    case badCertificate = "BadCertificate"
    case badCertificateEnvironment = "BadCertificateEnvironment"
    /// Newer than most client libraries.
    case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
    /// Another spelling, which Apple has been seen to send too.
    case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
    case expiredProviderToken = "ExpiredProviderToken"
    case forbidden = "Forbidden"
    case invalidProviderToken = "InvalidProviderToken"
    case missingProviderToken = "MissingProviderToken"
    /// Newer than most client libraries.
    case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"
    case expiredToken = "ExpiredToken"
    case unregistered = "Unregistered"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    case tooManyRequests = "TooManyRequests"
    case internalServerError = "InternalServerError"
    case serviceUnavailable = "ServiceUnavailable"
    case shutdown = "Shutdown"

    /// The HTTP status of a response with this reason.
    public var status: Int {
        switch self {
        case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
            .missingTopic, .payloadEmpty, .topicDisallowed:
            400
        case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken,
            .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken, .unrelatedKeyIDInToken:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        }
    }

    /// Whether the response has the time since which the token is invalid.
    public var hasTimestamp: Bool { status == 410 }
}

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
    /// A topic whose suffix does not fit the push type. `suffix` is the one that fits; `nil`: the type has none.
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

/// The topic of a request to APNs: the bundle id of an app, with a suffix for some push types.
///
/// Source: APNSwift (`APNSPushType.swift`, `Widgets`), apns2; the suffix of controls is from third-party code.
public struct APNsTopic: Hashable, Sendable {
    /// The topic, unchanged.
    public let text: String
    /// The bundle id of the app.
    public let app: String
    /// The suffix; `nil` if there is none.
    public let suffix: Suffix?

    /// The suffixes. The raw values follow the bundle id.
    public enum Suffix: String, Sendable, CaseIterable {
        case complication = ".complication"
        case controls = ".push-type.controls"
        case fileProvider = ".pushkit.fileprovider"
        case liveActivity = ".push-type.liveactivity"
        case locationQuery = ".location-query"
        case pushToTalk = ".voip-ptt"
        case voip = ".voip"
        case widgets = ".push-type.widgets"

        /// The push type of the suffix.
        public var pushType: String {
            switch self {
            case .complication: "complication"
            case .controls: "controls"
            case .fileProvider: "fileprovider"
            case .liveActivity: "liveactivity"
            case .locationQuery: "location"
            case .pushToTalk: "pushtotalk"
            case .voip: "voip"
            case .widgets: "widgets"
            }
        }
    }

    /// Splits a topic into bundle id and suffix.
    ///
    /// - Parameter text: the value of the header; the result is `nil` if it has no bundle id.
    public init?(_ text: String) {
        let suffix = Suffix.allCases.first { text.hasSuffix($0.rawValue) }
        let app = text.dropLast(suffix?.rawValue.count ?? 0)
        guard !app.isEmpty else { return nil }
        self.text = text
        self.app = String(app)
        self.suffix = suffix
    }

    /// Whether the topic has the suffix of the push type; for a type without one, whether it has none.
    public func suits(pushType: String?) -> Bool {
        let wanted = Suffix.allCases.first { $0.pushType == pushType }
        return suffix == wanted
    }
}
