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
