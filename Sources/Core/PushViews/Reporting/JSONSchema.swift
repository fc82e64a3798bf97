import PushModel

/// A type in a short notation, which it writes as JSON Schema.
///
/// The notation: `integer` (from 0), `positive`, `number`, `amount` (from 0), `share` (0 to 1), `string`, `boolean`;
/// `'one' | 'other'` for words; `[type]`, `(type, type)` for a list of fixed length; `{name: type, name?: type}`, `{*:
/// type}` for an object with any names; `type?` for a nullable type; `type | type`; any other word is a definition.
struct JSONSchema {
    private let text: String

    init(_ text: String) { self.text = text }

    /// Writes the members of the schema's object.
    func writeMembers(to writer: inout JSONWriter) {
        var reader = Reader(rest: Array(text.utf8)[...])
        reader.type().write(to: &writer)
        precondition(reader.rest.isEmpty, "JSONSchema: \(text)")
    }

    private indirect enum Node {
        case simple(String, least: Int? = nil, most: Int? = nil, isNullable: Bool = false)
        case words([String])
        case named(String)
        case list(Node)
        case tuple([Node])
        case object([(name: String, isRequired: Bool, type: Node)])
        case map(Node)
        case any([Node])

        func write(to writer: inout JSONWriter) {
            switch self {
            case .simple(let name, let least, let most, let isNullable):
                if isNullable {
                    writer.member("type", array: { list in [name, "null"].forEach { list.string($0) } })
                } else {
                    writer.member("type", name)
                }
                if let least { writer.member("minimum", least) }
                if let most { writer.member("maximum", most) }
            case .words(let words): writer.member("enum", array: { list in words.forEach { list.string($0) } })
            case .named(let name): writer.member("$ref", "#/$defs/\(name)")
            case .list(let node):
                writer.member("type", "array")
                writer.member("items", object: node.write)
            case .tuple(let nodes):
                writer.member("type", "array")
                writer.member("prefixItems", array: { list in nodes.forEach { list.object($0.write) } })
                writer.member("minItems", nodes.count)
                writer.member("maxItems", nodes.count)
            case .object(let members):
                writer.member("type", "object")
                writer.member(
                    "properties",
                    object: { for member in members { $0.member(member.name, object: member.type.write) } })
                writer.member(
                    "required",
                    array: { list in members.filter(\.isRequired).forEach { list.string($0.name) } })
                writer.member("additionalProperties", false)
            case .map(let node):
                writer.member("type", "object")
                writer.member("additionalProperties", object: node.write)
            case .any(let nodes): writer.member("anyOf", array: { list in nodes.forEach { list.object($0.write) } })
            }
        }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func type() -> Node {
            var nodes = [single()]
            while take("|") { nodes.append(single()) }
            let words = nodes.flatMap { node -> [String] in if case .words(let words) = node { words } else { [] } }
            if words.count == nodes.count { return .words(words) }
            return nodes.count == 1 ? nodes[0] : .any(nodes)
        }

        private mutating func single() -> Node {
            let node = bare()
            guard take("?") else { return node }
            if case .simple(let name, let least, let most, _) = node {
                return .simple(name, least: least, most: most, isNullable: true)
            }
            return .any([.simple("null"), node])
        }

        private mutating func bare() -> Node {
            if take("[") { return .list(items("]")[0]) }
            if take("(") { return .tuple(items(")")) }
            if take("{") {
                if take("*") {
                    _ = take(":")
                    let node = type()
                    _ = take("}")
                    return .map(node)
                }
                var members: [(String, Bool, Node)] = []
                while !take("}") {
                    let name = word()
                    let isRequired = !take("?")
                    _ = take(":")
                    members.append((name, isRequired, type()))
                    _ = take(",")
                }
                return .object(members)
            }
            if take("'") {
                let text = word()
                _ = take("'")
                return .words([text])
            }
            let name = word()
            return switch name {
            case "integer": .simple("integer", least: 0)
            case "positive": .simple("integer", least: 1)
            case "amount": .simple("number", least: 0)
            case "share": .simple("number", least: 0, most: 1)
            case "number", "string", "boolean": .simple(name)
            default: .named(name)
            }
        }

        private mutating func items(_ end: Unicode.Scalar) -> [Node] {
            var nodes: [Node] = []
            while !take(end) {
                nodes.append(type())
                _ = take(",")
            }
            return nodes
        }

        private mutating func word() -> String {
            rest = rest.drop { $0 == UInt8(ascii: " ") }
            let word = rest.prefix {
                $0 == UInt8(ascii: "_") || "0"..."9" ~= Unicode.Scalar($0) || "a"..."z" ~= Unicode.Scalar($0)
            }
            precondition(!word.isEmpty, "JSONSchema: a word is missing before \(String(decoding: rest, as: UTF8.self))")
            rest = rest.dropFirst(word.count)
            return String(decoding: word, as: UTF8.self)
        }

        private mutating func take(_ mark: Unicode.Scalar) -> Bool {
            rest = rest.drop { $0 == UInt8(ascii: " ") }
            guard rest.first == UInt8(ascii: mark) else { return false }
            rest.removeFirst()
            return true
        }
    }
}
