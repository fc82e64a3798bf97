import PushModel

/// Returns a text for an element or a quoted attribute of XML and HTML, with its control characters made visible.
func markup(_ text: String) -> String { text.showingControls().escapedForMarkup }

/// Returns external text for GitHub's Markdown, escaped so that it starts no table cell, markup or mention.
public func markdownCell(_ text: String) -> String {
    text.showingControls().unicodeScalars.reduce(into: "") { escaped, scalar in
        switch scalar {
        case "|", "*", "_", "`", "[", "]", "#", "~", "\\", "!": escaped += "\\" + String(scalar)
        case "@": escaped += "@\u{200B}"
        case "'", "\"": escaped.unicodeScalars.append(scalar)
        default: escaped += markup(String(scalar))
        }
    }
}

extension String {
    /// The text as a string of JSON.
    var asJSON: String {
        var writer = JSONWriter()
        writer.string(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The text for a query or a part of a path.
    var percentEncoded: String {
        utf8.reduce(into: "") { encoded, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }
    }
}
