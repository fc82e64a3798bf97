extension Unicode.Scalar {
    /// Whether a scalar can steer a terminal or a viewer instead of being shown: the control characters (category Cc:
    /// C0 with the line feed, DEL, C1) and the marks that change the direction of writing.
    ///
    /// Only this property decides; text, tables, CSV, HTML, Markdown, JSON and the journal ask it.
    public var isSteering: Bool {
        switch value {
        case 0x20...0x7E: false
        // A comparison of ranges: `generalCategory` would cost a search.
        case ..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    /// The text as part of one line: `\x1b`, `\u202e` and the like replace each scalar that
    /// ``Unicode/Scalar/isSteering``.
    ///
    /// Callers escape values before they join them into lines, so that no value begins a line of its own.
    public func showingControls() -> String { showing { $0.isSteering } }

    /// Escapes text that is already joined into lines: keeps the line feeds, and replaces all other steering scalars.
    public func showingControlsInLines() -> String { showing { $0.isSteering && $0 != "\n" } }

    /// The text as one word of a POSIX shell; letters, digits and `._@-` need no quotes.
    public var asShellWord: String {
        let isPlain = utf8.allSatisfy {
            $0.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) || "._@-".utf8.contains($0)
        }
        guard isEmpty || !isPlain else { return self }
        // Scalar by scalar: to Swift a quote with an accent behind it is another character.
        return unicodeScalars.reduce(into: "'") { word, scalar in
            if scalar == "'" { word += "'\\''" } else { word.unicodeScalars.append(scalar) }
        } + "'"
    }

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

/// Returns JSON text that is safe to show: in its strings an escape such as `\u009b` with the same meaning replaces
/// each scalar that steers a terminal (``Unicode/Scalar/isSteering``). JSON already demands escapes below U+0020, so
/// the function searches only from U+007F on.
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

/// Whether a steering scalar from U+007F on may begin with this byte in UTF-8.
@inline(__always)
func mayBeginSteering(_ byte: UInt8) -> Bool { byte == 0x7F || byte == 0xC2 || byte == 0xD8 || byte == 0xE2 }

/// The steering scalar from U+007F on at an index of valid UTF-8, with its length in bytes; `nil` for any other.
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

/// Returns a UTF-16 code unit as an escape such as `\u009b`.
func jsonEscape(_ unit: UInt32) -> [UInt8] {
    [UInt8(ascii: "\\"), UInt8(ascii: "u")]
        + [UInt32(12), 8, 4, 0].map { shift in
            let digit = UInt8(unit >> shift & 0xF)
            return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
        }
}

extension StringProtocol {
    /// The lines of a text from outside, each safe to be shown as one line. A carriage return before a line feed
    /// belongs to no line. A tab becomes four spaces, because stack traces have many tabs.
    public var shownLines: [String] {
        split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map { line in
            line.reduce(into: "") { $0 += $1 == "\t" ? "    " : String($1) }.showingControls()
        }
    }
}
