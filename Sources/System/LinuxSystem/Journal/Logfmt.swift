import PushModel

/// Formats an entry as one line of logfmt, for use without a journal: the same fields with names in lower case.
enum Logfmt {
    /// Appends the line of `entry`, with its line feed; `time` is RFC 3339.
    static func append(_ entry: JournalEntry, time: String, to line: inout [UInt8]) {
        line += "time=\(time) level=\(entry.priority.name) message=".utf8
        append(entry.message, to: &line)
        for field in entry.fields {
            line.append(UInt8(ascii: " "))
            line += field.name.lowerCase.utf8
            line.append(UInt8(ascii: "="))
            switch field.value {
            case .text(let text): append(text, to: &line)
            case .integer(let number): line += String(number).utf8
            }
        }
        if let id = entry.messageID { line += " message_id=\(id.rawValue)".utf8 }
        line.append(UInt8(ascii: "\n"))
    }

    /// Appends a text, quoted unless it is a plain word. Control characters are escaped: an entry stays one line, and a
    /// producer's text cannot send control sequences to a terminal.
    private static func append(_ text: String, to line: inout [UInt8]) {
        // Checks bytes before characters: almost all texts are plain.
        let isWord = text.utf8.allSatisfy(isPlain) || !text.unicodeScalars.contains(where: needsQuotes)
        guard !isWord || text.isEmpty else {
            line += text.utf8
            return
        }
        line.append(UInt8(ascii: "\""))
        if text.utf8.allSatisfy({ isPlain($0) || $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "=") }) {
            line += text.utf8
        } else {
            for scalar in text.unicodeScalars { appendEscaped(scalar, to: &line) }
        }
        line.append(UInt8(ascii: "\""))
    }

    private static func appendEscaped(_ scalar: Unicode.Scalar, to line: inout [UInt8]) {
        switch scalar {
        case "\"", "\\": line += "\\\(scalar)".utf8
        case "\n": line += "\\n".utf8
        case "\r": line += "\\r".utf8
        case "\t": line += "\\t".utf8
        case _ where isControl(scalar):
            let hexadecimal = String(scalar.value, radix: 16)
            line += "\\u\(String(repeating: "0", count: 4 - hexadecimal.count))\(hexadecimal)".utf8
        default: line += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        }
    }

    /// Returns whether a byte is printable ASCII without a meaning in logfmt. Other bytes need a check by character.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "="), UInt8(ascii: "\\"): false
        default: 0x21...0x7E ~= byte
        }
    }

    private static func needsQuotes(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\"" || scalar == "=" || scalar == "\\" || isControl(scalar)
    }

    /// Returns whether a character controls a terminal, or is one of the two separators that Unicode counts as line
    /// ends.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isSteering || scalar.value == 0x2028 || scalar.value == 0x2029
    }
}
