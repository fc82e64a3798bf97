/// One entry as one line of logfmt, for where there is no journal: the same fields with names in lower case.
enum Logfmt {
    /// The line of `entry`, with its line feed; `time` is RFC 3339.
    static func line(_ entry: JournalEntry, time: String) -> [UInt8] {
        var line = "time=\(time) level=\(entry.priority) message="
        appendText(entry.message, to: &line)
        for field in entry.fields {
            line += " \(field.name.text.lowercased())="
            switch field.value {
            case .text(let text): appendText(text, to: &line)
            case .integer(let number): line += String(number)
            }
        }
        if let id = entry.messageID { line += " message_id=\(id.rawValue)" }
        line += "\n"
        return Array(line.utf8)
    }

    /// Quoted unless it is plainly one word. Control characters are escaped: one entry stays one line, and
    /// what a producer sends cannot drive the terminal that shows it.
    private static func appendText(_ text: String, to line: inout String) {
        guard text.isEmpty || text.unicodeScalars.contains(where: needsQuotes) else {
            line += text
            return
        }
        line += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": line += "\\\(scalar)"
            case "\n": line += "\\n"
            case "\r": line += "\\r"
            case "\t": line += "\\t"
            case _ where isControl(scalar):
                let hexadecimal = String(scalar.value, radix: 16)
                line += "\\u" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
            default: line.unicodeScalars.append(scalar)
            }
        }
        line += "\""
    }

    private static func needsQuotes(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\"" || scalar == "=" || scalar == "\\" || isControl(scalar)
    }

    /// C0, DEL, C1 and the two separators that Unicode counts as line ends.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value || scalar.value == 0x2028 || scalar.value == 0x2029
    }
}
