import PushModel

/// One entry as one line of logfmt, for where there is no journal: the same fields with names in lower case.
enum Logfmt {
    /// Adds the line of `entry`, with its line feed; `time` is RFC 3339.
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

    /// Quoted unless it is plainly one word. Control characters are escaped: one entry stays one line, and
    /// what a producer sends cannot drive the terminal that shows it.
    private static func append(_ text: String, to line: inout [UInt8]) {
        // Bytes are looked at before characters: almost all texts are plain.
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

    /// Printable ASCII that means nothing in logfmt. Anything else is looked at as a character.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "="), UInt8(ascii: "\\"): false
        default: 0x21...0x7E ~= byte
        }
    }

    private static func needsQuotes(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\"" || scalar == "=" || scalar == "\\" || isControl(scalar)
    }

    /// Characters that steer a terminal, and the two separators that Unicode counts as line ends.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isSteering || scalar.value == 0x2028 || scalar.value == 0x2029
    }
}
