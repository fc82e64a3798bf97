import TestSupport

@testable import PushModel

/// Random documents with values that json-c would change.
enum HostileJSON {
    private static let strings = [
        "", "a", "é\u{1F600}", #"\ud83d\ude00"#, #"\u0000"#, #"x\u0000y"#, #"\n\u000a\/"#, #"\"\\"#, "\u{7F}",
        "\u{2028}",
        #"\uFFFD"#,
    ]
    private static let numbers = [
        "0", "-0", "7", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
        "18446744073709551616", "1.0", "1.50", "1E5", "1e-400", "0.1000000000000000055511151231257827", "-1.5e+300",
    ]
    private static let spaces = ["", "", " ", "\n", "\t \r\n"]

    /// A document that passes the scan, with at most this depth.
    static func text(depth: Int, using generator: inout SeededGenerator) -> String {
        let space = spaces.randomElement(using: &generator) ?? ""
        switch Int.random(in: depth > 0 ? 0...7 : 3...7, using: &generator) {
        case 0, 1:
            let members = (0..<Int.random(in: 0...4, using: &generator)).map { index in
                // A key has no U+0000, and the index keeps keys distinct. json-c writes the short escape of a line
                // feed.
                let key = (strings.randomElement(using: &generator) ?? "").replacing(#"\u0000"#, with: "")
                    .replacing(#"\n\u000a"#, with: #"\u0001"#)
                return "\(space)\"\(key)\(index)\"\(space):\(text(depth: depth - 1, using: &generator))"
            }
            return "{\(members.joined(separator: ","))\(space)}"
        case 2:
            let elements = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                text(depth: depth - 1, using: &generator) + space
            }
            return "[\(space)\(elements.joined(separator: ","))]"
        case 3, 4: return "\"\(strings.randomElement(using: &generator) ?? "")\""
        case 5, 6: return numbers.randomElement(using: &generator) ?? "0"
        default: return ["true", "false", "null"].randomElement(using: &generator) ?? "null"
        }
    }

    /// Writes a value without white space: scalars unchanged, keys with the necessary escapes.
    static func write(_ node: JSONNode, to writer: inout JSONWriter) {
        switch node.kind {
        case .object:
            writer.beginObject()
            for (key, value) in node.members {
                writer.key(key)
                write(value, to: &writer)
            }
            writer.endObject()
        case .array: writer.array { for element in node.elements { write(element, to: &$0) } }
        case .string, .number, .bool, .null: writer.raw(node.rawBytes)
        }
    }
}
