public import PushModel

/// The reason why APNs would refuse the request with a payload. FCM passes the request on and returns the refusal.
///
/// Source: Apple's "Sending notification requests to APNs" and "Handling notification responses from APNs", as apns2
/// (response.go, notification.go) quotes them.
public enum APNsRefusal: Hashable, Sendable, CustomStringConvertible {
    /// An unknown push type.
    case invalidPushType(String)
    /// A priority other than 10, 5 and 1.
    case badPriority(String)
    /// A background notification with a priority other than 5; `nil`: the header is missing, which means 10.
    case badBackgroundPriority(String?)
    /// A collapse id longer than 64 bytes.
    case badCollapseID(length: Int)
    /// An expiration that is no whole number of seconds.
    case badExpirationDate(String)
    /// An id that is no UUID in its canonical form.
    case badMessageID(String)
    /// A payload longer than the limit of its push type.
    case payloadTooLarge(length: Int, limit: Int)

    /// The word in APNs' answer, which determines the status.
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
    /// Returns the refusals for the headers of a request, in the order of Apple's table.
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

    /// Returns the limit of a payload of a push type, in bytes.
    public static func longestPayload(ofType pushType: String?) -> Int {
        pushType == APNsPushType.voip.rawValue ? 5120 : 4096
    }

    private static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.joined().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }
}
