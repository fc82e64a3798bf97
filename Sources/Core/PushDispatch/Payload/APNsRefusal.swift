import PushModel

/// Why APNs would refuse the request that carries a payload. FCM passes the request on and hands the refusal back.
///
/// Source: Apple's "Sending notification requests to APNs" and "Handling notification responses from APNs", as apns2
/// (response.go, notification.go) quotes them.
public enum APNsRefusal: Hashable, Sendable, CustomStringConvertible {
    /// 400 `InvalidPushType`: no such type.
    case invalidPushType(String)
    /// 400 `BadPriority`: none of 10, 5 and 1.
    case badPriority(String)
    /// 400 `BadPriority`: what is sent in the background has priority 5; `nil`: the header is left out, which means 10.
    case badBackgroundPriority(String?)
    /// 400 `BadCollapseId`: longer than 64 bytes.
    case badCollapseID(length: Int)
    /// 400 `BadExpirationDate`: no whole number of seconds.
    case badExpirationDate(String)
    /// 400 `BadMessageId`: no UUID in its canonical form.
    case badMessageID(String)
    /// 413 `PayloadTooLarge`.
    case payloadTooLarge(length: Int, limit: Int)

    public var description: String {
        switch self {
        case .invalidPushType(let type):
            #"apns-push-type is "\#(type)", which is none: APNs refuses it with 400 InvalidPushType"#
        case .badPriority(let priority):
            #"apns-priority is "\#(priority)" rather than 10, 5 or 1: APNs refuses it with 400 BadPriority"#
        case .badBackgroundPriority(let priority?):
            #"apns-push-type is background and apns-priority "\#(priority)" rather than 5: APNs refuses it with 400 BadPriority"#
        case .badBackgroundPriority(nil):
            "apns-push-type is background without apns-priority, which then is 10 rather than 5: APNs refuses it with 400 BadPriority"
        case .badCollapseID(let length):
            "apns-collapse-id has \(length) bytes, more than 64: APNs refuses it with 400 BadCollapseId"
        case .badExpirationDate(let date):
            #"apns-expiration is "\#(date)", no whole number of seconds: APNs refuses it with 400 BadExpirationDate"#
        case .badMessageID(let id):
            #"apns-id is "\#(id)", no UUID of 8-4-4-4-12 hexadecimal digits: APNs refuses it with 400 BadMessageId"#
        case .payloadTooLarge(let length, let limit):
            "the payload has \(length) bytes, more than \(limit): APNs refuses it with 413 PayloadTooLarge"
        }
    }
}

extension ApplePayload {
    /// Everything that APNs would refuse the payload for, in the order of the headers' names in Apple's table.
    var refusals: [APNsRefusal] {
        var refusals: [APNsRefusal] = []
        let type = header("apns-push-type")
        if let type, !Self.pushTypes.contains(type) { refusals.append(.invalidPushType(type)) }
        if let id = header("apns-id"), !Self.isUUID(id) { refusals.append(.badMessageID(id)) }
        if let date = header("apns-expiration"), Int64(date) == nil { refusals.append(.badExpirationDate(date)) }
        let priority = header("apns-priority")
        if type == "background" {
            if priority != "5" { refusals.append(.badBackgroundPriority(priority)) }
        } else if let priority, !["10", "5", "1"].contains(priority) {
            refusals.append(.badPriority(priority))
        }
        if let id = header("apns-collapse-id"), id.utf8.count > 64 {
            refusals.append(.badCollapseID(length: id.utf8.count))
        }
        // What goes to the simulator does not go to APNs.
        let limit = type == "voip" ? 5120 : 4096
        if app == nil, let userInfo, userInfo.view.rawBytes.count > limit {
            let length = userInfo.view.text.utf8.count
            if length > limit { refusals.append(.payloadTooLarge(length: length, limit: limit)) }
        }
        return refusals
    }

    private static let pushTypes: Set<String> = [
        "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk",
        "controls", "widgets",
    ]

    /// A header's value; names of headers have no case.
    private func header(_ name: String) -> String? {
        headers?.members.first { $0.key.text.lowercased() == name }?.value.string
    }

    private static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.joined().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }
}
