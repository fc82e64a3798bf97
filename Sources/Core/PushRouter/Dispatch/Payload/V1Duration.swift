import PushModel

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
