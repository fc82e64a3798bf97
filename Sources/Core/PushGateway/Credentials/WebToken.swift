public import PushModel

/// A JSON Web Token with an unchecked signature: its claims prove nothing before that check.
///
/// Source: RFC 7515 and RFC 7519.
public struct WebToken: Sendable {
    /// `alg`: the algorithm of the signature.
    public let algorithm: String?
    /// `kid`: the id of the key that signed it.
    let keyID: String?
    /// The claims.
    let claims: JSONNode
    /// The bytes that the signature covers.
    public let signedBytes: [UInt8]
    /// The signature.
    public let signature: [UInt8]

    /// Parses a token; `nil` for any other text.
    ///
    /// - Parameters:
    ///   - text: three parts in base64url, separated by dots.
    ///   - longest: the limit of its length in bytes.
    init?(_ text: String, longest: Int = 16 << 10) {
        guard text.utf8.count <= longest else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decoded(parts[2])
        else { return nil }
        algorithm = header["alg"]?.string
        keyID = header["kid"]?.string
        self.claims = claims
        signedBytes = Array(text.utf8.dropLast(parts[2].count + 1))
        self.signature = signature
    }

    /// A claim with a text.
    public func text(_ claim: String) -> String? { claims[claim]?.string }

    /// A claim with a time in whole seconds since 1970. Some clients write a fraction or a text (kalyke).
    public func time(_ claim: String) -> WallTime? {
        guard let value = claims[claim] else { return nil }
        let number = value.double ?? value.string.flatMap(Double.init)
        guard let number, let seconds = Int64(exactly: number.rounded(.down)), abs(seconds) < 1 << 40 else {
            return nil
        }
        return WallTime(milliseconds: seconds * 1000)
    }

    private static func object(_ part: some Collection<UInt8>) -> JSONNode? {
        guard let bytes = Base64URL.decoded(part), let root = try? JSONDocument(scanning: bytes).root,
            root.kind == .object
        else { return nil }
        return root
    }
}

/// Base64 with the alphabet for URLs, without padding (RFC 4648, 5).
enum Base64URL {
    /// Decodes a text; `nil` if it is invalid. Accepts padding, which some clients send.
    static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count = 0
        let padding = text.reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
        let digits = text.dropLast(padding)
        guard digits.count % 4 != 1 else { return nil }
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        // The unused bits of the last digit must be zero.
        guard bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
