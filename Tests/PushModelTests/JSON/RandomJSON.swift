import TestSupport

@testable import PushModel

/// A random JSON value that the tests render in more than one way.
indirect enum RandomJSON {
    case object([(key: String, value: RandomJSON)])
    case array([RandomJSON])
    case string(String)
    case number(String)
    case bool(Bool)
    case null

    /// A value that nests at most `depth` levels.
    static func make(depth: Int, using generator: inout SeededGenerator) -> RandomJSON {
        switch Int.random(in: depth > 0 ? 0...9 : 4...9, using: &generator) {
        case 0, 1:
            var members: [(key: String, value: RandomJSON)] = []
            for index in 0..<Int.random(in: 0...5, using: &generator) {
                // The index keeps keys distinct; a key has no U+0000.
                let key = text(using: &generator).replacing("\0", with: "") + "\(index)"
                members.append((key, make(depth: depth - 1, using: &generator)))
            }
            return .object(members)
        case 2, 3:
            return .array(
                (0..<Int.random(in: 0...5, using: &generator)).map { _ in make(depth: depth - 1, using: &generator) })
        case 4, 5: return .string(text(using: &generator))
        case 6, 7: return .number(number(using: &generator))
        case 8: return .bool(Bool.random(using: &generator))
        default: return .null
        }
    }

    private static func text(using generator: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            let limits: [UInt32] = [0x7F, 0x7F, 0x7F, 0x7FF, 0xFFFF, 0x10FFFF]
            let limit = limits[Int.random(in: limits.indices, using: &generator)]
            text.unicodeScalars.append(Unicode.Scalar(UInt32.random(in: 0...limit, using: &generator)) ?? "\"")
        }
        return text
    }

    private static func number(using generator: inout SeededGenerator) -> String {
        switch Int.random(in: 0...4, using: &generator) {
        case 0: "\(Int64.random(in: .min ... .max, using: &generator))"
        case 1: "\(Int.random(in: -99...99, using: &generator))"
        case 2: "\(Double.random(in: -1e6...1e6, using: &generator))"
        case 3: "\(Int.random(in: 0...9, using: &generator)).0\(UInt64.random(in: 0 ... .max, using: &generator))"
        default: "-1.5E+\(Int.random(in: 0...300, using: &generator))"
        }
    }

    /// Writes the value with the writer under test.
    func write(to writer: inout JSONWriter) {
        switch self {
        case .object(let members):
            writer.beginObject()
            for (key, value) in members {
                writer.key(key)
                value.write(to: &writer)
            }
            writer.endObject()
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .string(let text): writer.string(text)
        case .number(let literal): writer.raw(literal.utf8)
        case .bool(let value): writer.bool(value)
        case .null: writer.null()
        }
    }

    /// Writes the value with white space and escapes at random places and the members in reverse.
    func writeOddly(to text: inout String, using generator: inout SeededGenerator) {
        text += Self.whiteSpace(using: &generator)
        switch self {
        case .object(let members):
            text += "{"
            for (index, member) in members.reversed().enumerated() {
                text += (index > 0 ? "," : "") + Self.whiteSpace(using: &generator)
                Self.writeOddly(member.key, to: &text, using: &generator)
                text += Self.whiteSpace(using: &generator) + ":"
                member.value.writeOddly(to: &text, using: &generator)
            }
            text += members.isEmpty ? Self.whiteSpace(using: &generator) + "}" : "}"
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                text += index > 0 ? "," : ""
                element.writeOddly(to: &text, using: &generator)
            }
            text += elements.isEmpty ? Self.whiteSpace(using: &generator) + "]" : "]"
        case .string(let string): Self.writeOddly(string, to: &text, using: &generator)
        case .number(let literal): text += literal
        case .bool(let value): text += value ? "true" : "false"
        case .null: text += "null"
        }
        text += Self.whiteSpace(using: &generator)
    }

    private static func whiteSpace(using generator: inout SeededGenerator) -> String {
        ["", "", "", " ", "\n", "\r\n", "\t  "].randomElement(using: &generator) ?? ""
    }

    private static func writeOddly(_ string: String, to text: inout String, using generator: inout SeededGenerator) {
        text += "\""
        for scalar in string.unicodeScalars {
            let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
            if scalar == "/", Bool.random(using: &generator) {
                text += "\\/"
            } else if mustEscape || Int.random(in: 0...3, using: &generator) == 0 {
                for unit in UTF16.encode(scalar) ?? .init() {
                    let digits = String(unit, radix: 16, uppercase: Bool.random(using: &generator))
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    /// Whether `node` reads as this value.
    func isRead(by node: JSONNode) -> Bool {
        switch self {
        case .object(let members):
            node.kind == .object && node.count == members.count
                && members.allSatisfy { key, value in node[key].map(value.isRead) == true }
        case .array(let elements):
            node.kind == .array && node.count == elements.count
                && zip(elements, node.elements).allSatisfy { $0.isRead(by: $1) }
        case .string(let text): node.string.map { $0.utf8.elementsEqual(text.utf8) } == true
        case .number(let literal):
            node.kind == .number && node.rawBytes.elementsEqual(literal.utf8) && node.double == Double(literal)
                && node.int64 == Int64(literal)
        case .bool(let value): node.bool == value
        case .null: node.kind == .null
        }
    }
}
