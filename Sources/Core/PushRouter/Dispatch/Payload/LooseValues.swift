import PushModel

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
