import PushModel

// Values of the wrong type, read as the platforms' own code reads them.

extension JSONView {
    /// What `intValue` of Foundation makes of it: a number without its fraction, the digits that a string begins with, 1
    /// for `true`; 0 for anything else.
    var foundationInteger: Int64 {
        switch kind {
        case .number: int64 ?? double.flatMap { $0.magnitude < 0x1p63 ? Int64($0) : nil } ?? 0
        case .bool: bool == true ? 1 : 0
        case .string: withText(Self.leadingInteger)
        case .object, .array, .null: 0
        }
    }

    /// What `boolValue` of Foundation makes of it: a number other than zero, `true`, a string that begins with a digit
    /// other than zero or with one of `YyTt`, after white space, one sign and zeros.
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

    /// The object that a string holds as JSON text; `nil` for anything else.
    var objectInText: JSONDocument? {
        guard isString, let document = try? JSONDocument(scanning: textBytes), document.root.kind == .object
        else { return nil }
        return document
    }

    /// The text of a string, if it has any.
    var nonEmptyString: String? { textLength > 0 ? string : nil }

    /// A string as it is, anything else as its JSON without the white space between tokens.
    var text: String { string ?? String(decoding: compactBytes, as: UTF8.self) }

    private static func leadingInteger(of text: UnsafeBufferPointer<UInt8>) -> Int64 {
        let (negative, digits) = unsigned(text)
        var value: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { break }
            // Saturated, as Foundation does it; what matters is that no text wraps around to 1.
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
