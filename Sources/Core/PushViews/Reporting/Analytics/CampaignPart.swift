/// Returns the campaign's own part of an id that is the base64 of `campaign_$_...` (T3); `nil` for any other id.
///
/// Braze's ids of in-app messages and content cards have this form. For pushes the form is not published.
func campaignPart(of id: String) -> String? {
    guard let bytes = decodedBase64(id), let text = String(validating: bytes, as: UTF8.self) else { return nil }
    let scalars = Array(text.unicodeScalars)
    let mark = Array("_$_".unicodeScalars)
    guard let end = scalars.indices.first(where: { scalars[$0...].starts(with: mark) }), end > 0 else { return nil }
    return String(String.UnicodeScalarView(scalars[..<end]))
}

/// Decodes base64 of either alphabet, with or without padding; `nil` if the text is not base64.
private func decodedBase64(_ text: String) -> [UInt8]? {
    let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
    guard digits.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for digit in digits {
        guard let value = base64Value(digit) else { return nil }
        bits = bits << 6 | value
        count += 6
        if count >= 8 {
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
    }
    return bytes
}

private func base64Value(_ digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
}
