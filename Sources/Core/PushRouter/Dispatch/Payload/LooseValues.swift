public import PushModel

// Values of the wrong type, parsed as the platforms' own code does.

extension JSONView {
    /// The value by Foundation's `intValue`: a number without its fraction, the leading digits of a string, 1 for
    /// `true`; 0 for any other value.
    var foundationInteger: Int64 {
        switch kind {
        case .number: int64 ?? double.flatMap { $0.magnitude < 0x1p63 ? Int64($0) : nil } ?? 0
        case .bool: bool == true ? 1 : 0
        case .string: withText(Self.leadingInteger)
        case .object, .array, .null: 0
        }
    }

    /// The value by Foundation's `boolValue`. True are: a number other than zero, `true`, and a string that begins with
    /// a digit other than zero or one of `YyTt`, after optional white space, one sign and zeros.
    var foundationBool: Bool {
        switch kind {
        case .number: double != 0
        case .bool: bool == true
        case .string:
            withText { text in
                switch Self.unsigned(text).rest.drop(while: { $0 == UInt8(ascii: "0") }).first {
                case .some(UInt8(ascii: "1")...UInt8(ascii: "9")): true
                case UInt8(ascii: "Y"), UInt8(ascii: "y"), UInt8(ascii: "T"), UInt8(ascii: "t"): true
                default: false
                }
            }
        case .object, .array, .null: false
        }
    }

    /// Whether the value is a string of only white space: Kotlin's `isNullOrBlank`, for which white space is Unicode's
    /// and the separators U+001C to U+001F.
    var isBlank: Bool {
        isString
            && withText { text in
                var place = 0
                while place < text.count {
                    let length = Self.whiteSpaceLength(text, at: place)
                    guard length > 0 else { return false }
                    place += length
                }
                return true
            }
    }

    /// Returns the length in bytes of the white space at a position; 0 if there is none.
    private static func whiteSpaceLength(_ text: UnsafeBufferPointer<UInt8>, at place: Int) -> Int {
        switch text[place] {
        case 0x09...0x0D, 0x1C...0x20: return 1
        case 0xC2: return text[place + 1] == 0x85 || text[place + 1] == 0xA0 ? 2 : 0
        case 0xE1, 0xE2, 0xE3:
            let scalar =
                UInt32(text[place] & 0xF) << 12 | UInt32(text[place + 1] & 0x3F) << 6 | UInt32(text[place + 2] & 0x3F)
            switch scalar {
            case 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000: return 3
            default: return 0
            }
        default: return 0
        }
    }

    /// The JSON object in a string; `nil` for any other value.
    var objectInText: JSONDocument? {
        guard isString, let document = try? JSONDocument(scanning: textBytes), document.root.kind == .object
        else { return nil }
        return document
    }

    /// The text of a string that is not empty; `nil` for any other value.
    var nonEmptyString: String? { textLength > 0 ? string : nil }

    /// A string unchanged, or the JSON of any other value without white space between tokens.
    var text: String { string ?? String(decoding: compactBytes, as: UTF8.self) }

    private static func leadingInteger(of text: UnsafeBufferPointer<UInt8>) -> Int64 {
        let (negative, digits) = unsigned(text)
        var value: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { break }
            // Saturates like Foundation; above all, no text may wrap around to 1.
            value = min(value * 10 + Int64(digit - UInt8(ascii: "0")), Int64(Int32.max))
        }
        return negative ? -value : value
    }

    private static func unsigned(
        _ text: UnsafeBufferPointer<UInt8>
    ) -> (negative: Bool, rest: Slice<UnsafeBufferPointer<UInt8>>) {
        let rest = text.drop(while: \.isJSONWhiteSpace)
        let negative = rest.first == UInt8(ascii: "-")
        let signed = negative || rest.first == UInt8(ascii: "+")
        return (negative, rest.dropFirst(signed ? 1 : 0))
    }
}

/// The time for which the push service keeps a message that it cannot deliver, as the message states it.
enum TimeToLive: Hashable, Sendable {
    /// Seconds from the acceptance: FCM's `ttl`, and the header `TTL` of web push. With 0 the service tries once.
    case seconds(Int64)
    /// A time of the wall clock, in seconds since 1970: `apns-expiration`. With 0 the service tries once.
    case until(Int64)

    /// Returns the time that is left at the acceptance of the message, at least zero and at most `longest`.
    public func span(from acceptance: WallTime, atMost longest: Duration) -> Duration {
        let left: Int64
        switch self {
        case .seconds(let seconds): left = Self.milliseconds(seconds)
        case .until(let time):
            let (span, isTooLong) = Self.milliseconds(time).subtractingReportingOverflow(acceptance.milliseconds)
            left = isTooLong ? .max : span
        }
        return min(max(.zero, .milliseconds(left)), longest)
    }

    /// Thousands of years are as good as for ever, and fit.
    private static func milliseconds(_ seconds: Int64) -> Int64 { min(max(seconds, 0), 1 << 40) * 1000 }
}

extension AndroidPayload {
    /// FCM's `ttl`; `nil` if the payload does not state it. Other transports have none.
    var timeToLive: TimeToLive? {
        guard transport == .fcm else { return nil }
        if case .v1(let message) = form { return message.secondsToLive.map(TimeToLive.seconds) }
        return integerExtra("google.ttl").map(TimeToLive.seconds)
    }
}

extension ApplePayload {
    /// `apns-expiration`, of the request or of an FCM v1 message.
    var timeToLive: TimeToLive? { header(.expiration).flatMap { Int64($0) }.map(TimeToLive.until) }
}

/// A `google.protobuf.Duration` in JSON: seconds with up to nine decimals, followed by `s`.
struct V1Duration: Hashable, Sendable {
    /// The absolute value in seconds, without the fraction.
    let seconds: Int64
    /// Whether the fraction is other than zero.
    let hasFraction: Bool
    /// Whether the duration is below zero.
    let isNegative: Bool

    /// Four weeks in seconds: FCM's longest storage of a message, and the default of `ttl`.
    static let longestTTL: Int64 = 2_419_200

    /// Whether FCM accepts it as `ttl`.
    var isTaken: Bool {
        !isNegative && (seconds < Self.longestTTL || seconds == Self.longestTTL && !hasFraction)
    }

    private static let secondsMax: Int64 = 315_576_000_000

    /// Parses a string; returns `nil` if it is no duration.
    init?(_ value: JSONView) {
        guard let duration = value.withText({ V1Duration($0) }) else { return nil }
        self = duration
    }

    private init?(_ text: UnsafeBufferPointer<UInt8>) {
        let isNegative = text.first == UInt8(ascii: "-")
        var rest = text.dropFirst(isNegative ? 1 : 0)
        guard rest.popLast() == UInt8(ascii: "s") else { return nil }
        var seconds: Int64 = 0
        var decimals: Int?
        var hasFraction = false
        var isEmpty = true
        for byte in rest {
            if byte == UInt8(ascii: "."), decimals == nil {
                guard !isEmpty else { return nil }
                decimals = 0
                isEmpty = true
                continue
            }
            guard byte.isDigit else { return nil }
            isEmpty = false
            if let count = decimals {
                decimals = count + 1
                hasFraction = hasFraction || byte != UInt8(ascii: "0")
            } else {
                seconds = seconds * 10 + Int64(byte - UInt8(ascii: "0"))
                guard seconds <= Self.secondsMax else { return nil }
            }
        }
        guard !isEmpty, decimals ?? 0 <= 9 else { return nil }
        self.seconds = seconds
        self.hasFraction = hasFraction
        self.isNegative = isNegative && (seconds > 0 || hasFraction)
    }
}

/// Returns the payload's own message id: FCM's id at the place of the payload's form. Plain APNs and web push have
/// none.
///
/// Also for a payload that the platform hands back with an interaction. `nil` for an id that is empty or not a string.
public func messageID(of payload: JSONNode, platform: Platform) -> String? {
    payload.withView { messageID(of: $0, platform: platform) }
}

func messageID(of payload: JSONView, platform: Platform) -> String? {
    if let message = V1Message.message(in: payload, platform: platform) {
        return message.member("name").flatMap(messageIDInName)
    }
    switch platform {
    case .android:
        // FCM's RemoteMessage.getMessageId reads `google.message_id`, and `message_id` if that is absent; `messageId`
        // is the name in SDKs that print a RemoteMessage as JSON.
        let holder = payload.member("extras").flatMap { $0.isObject ? $0 : nil } ?? payload
        return holder.member("google.message_id")?.nonEmptyString ?? holder.member("message_id")?.nonEmptyString
            ?? holder.member("messageId")?.nonEmptyString ?? holder.member("gcm.message_id")?.nonEmptyString
    case .ios: return (ApplePayload.wrappedUserInfo(in: payload) ?? payload).member("gcm.message_id")?.nonEmptyString
    case .web: return payload.member("messageId")?.nonEmptyString
    }
}

/// Returns the id in the name of an FCM v1 message. FCM answers a send with `projects/*/messages/{id}`; the device gets
/// the id.
func messageIDInName(_ name: JSONView) -> String? {
    guard let id = name.string?.split(separator: "/", omittingEmptySubsequences: false).last, !id.isEmpty else {
        return nil
    }
    return String(id)
}
