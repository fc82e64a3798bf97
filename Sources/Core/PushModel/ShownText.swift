extension Unicode.Scalar {
    /// Whether it can steer what shows a text instead of being shown: the control characters (category Cc: C0 with the
    /// line feed, DEL, C1) and the marks that change the direction of writing.
    ///
    /// This is the one place that decides: text, tables, CSV, HTML, Markdown, JSON and the journal ask it.
    public var isSteering: Bool {
        switch value {
        case 0x20...0x7E: false
        // To ask for the category takes a search.
        case ..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    /// The text as part of one line: each scalar that ``Unicode/Scalar/isSteering`` is shown as `\x1b`, `\u202e` and
    /// the like.
    ///
    /// Values are made safe so before they are joined into lines: then none of them begins a line.
    public func showingControls() -> String { showing { $0.isSteering } }

    /// Lines that are joined already, each with its line feed; anything else that steers is shown.
    public func showingControlsInLines() -> String { showing { $0.isSteering && $0 != "\n" } }

    private func showing(_ mustBeShown: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: mustBeShown) else { return self }
        return unicodeScalars.reduce(into: "") { shown, scalar in
            guard mustBeShown(scalar) else { return shown.unicodeScalars.append(scalar) }
            let digits = String(scalar.value, radix: 16)
            let isShort = scalar.value <= 0xFF
            shown += isShort ? "\\x" : "\\u"
            shown += String(repeating: "0", count: (isShort ? 2 : 4) - digits.utf8.count) + digits
        }
    }
}

/// JSON text as people may see it: in its strings, what steers a terminal (``Unicode/Scalar/isSteering``) is an escape such as
/// `\u009b`, which means the same. Below U+0020 JSON allows nothing else, so that only what stands behind it is looked for.
///
/// - Parameter json: valid JSON.
public func escapingControls(inJSON json: [UInt8]) -> [UInt8] {
    json.withUnsafeBufferPointer { json in
        guard json.contains(where: mayBeginSteering) else { return Array(json) }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(json.count + 64)
        var written = 0
        for index in json.indices {
            guard index >= written, let mark = steeringMark(at: index, in: json) else { continue }
            escaped.append(contentsOf: json[written..<index])
            escaped.append(contentsOf: jsonEscape(mark.unit))
            written = index + mark.length
        }
        escaped.append(contentsOf: json[written...])
        return escaped
    }
}

/// Whether the UTF-8 of a scalar from U+007F on that steers may begin with this byte.
@inline(__always)
func mayBeginSteering(_ byte: UInt8) -> Bool { byte == 0x7F || byte == 0xC2 || byte == 0xD8 || byte == 0xE2 }

/// The scalar from U+007F on that steers and that stands at a place of valid UTF-8, with its length in bytes.
func steeringMark(at index: Int, in text: UnsafeBufferPointer<UInt8>) -> (unit: UInt32, length: Int)? {
    let first = text[index]
    guard mayBeginSteering(first) else { return nil }
    let length = first == 0x7F ? 1 : first == 0xE2 ? 3 : 2
    guard index + length <= text.count else { return nil }
    let unit: UInt32 =
        switch length {
        case 1: UInt32(first)
        case 2: UInt32(first & 0x1F) << 6 | UInt32(text[index + 1] & 0x3F)
        default:
            UInt32(first & 0xF) << 12 | UInt32(text[index + 1] & 0x3F) << 6 | UInt32(text[index + 2] & 0x3F)
        }
    return Unicode.Scalar(unit)?.isSteering == true ? (unit, length) : nil
}

/// A character below U+10000 as `\u009b`.
func jsonEscape(_ unit: UInt32) -> [UInt8] {
    [UInt8(ascii: "\\"), UInt8(ascii: "u")]
        + [UInt32(12), 8, 4, 0].map { shift in
            let digit = UInt8(unit >> shift & 0xF)
            return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
        }
}
