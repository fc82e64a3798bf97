public import PushModel

/// A value of the daemon's status, source of the answer to `status` and of the metrics.
public indirect enum StatusValue: Sendable {
    case null
    case flag(Bool)
    case integer(Int64)
    case text(String)
    /// A histogram for metrics; JSON has `null` for it.
    case histogram(DurationHistogram)
    case list([StatusValue])
    case object([(name: String, value: StatusValue)])

    /// Returns an object with the members that `content` adds.
    public static func object(_ content: (inout StatusObject) -> Void) -> StatusValue {
        var object = StatusObject()
        content(&object)
        return .object(object.members)
    }

    /// Reads a value from JSON.
    public init(_ node: JSONNode) {
        self =
            switch node.kind {
            case .object: .object(node.members.map { (name: $0.key, value: StatusValue($0.value)) })
            case .array: .list(node.elements.map(StatusValue.init))
            case .string: .text(node.string ?? "")
            case .number: .integer(node.int64 ?? 0)
            case .bool: .flag(node.bool == true)
            case .null: .null
            }
    }

    /// The member of that name.
    subscript(name: String) -> StatusValue? { members.first { $0.name == name }?.value }

    /// The members of an object; empty for other values.
    var members: [(name: String, value: StatusValue)] {
        if case .object(let members) = self { members } else { [] }
    }

    var elements: [StatusValue] { if case .list(let elements) = self { elements } else { [] } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }

    /// Writes the value as JSON.
    public func write(to writer: inout JSONWriter) {
        switch self {
        case .null, .histogram: writer.null()
        case .flag(let flag): writer.bool(flag)
        case .integer(let integer): writer.int(integer)
        case .text(let text): writer.string(text)
        case .list(let elements): writer.array { list in for element in elements { element.write(to: &list) } }
        case .object(let members):
            writer.object { object in
                for (name, value) in members {
                    object.key(name)
                    value.write(to: &object)
                }
            }
        }
    }
}

/// Collects the members of an object, in their order.
public struct StatusObject {
    fileprivate(set) var members: [(name: String, value: StatusValue)] = []

    /// Adds a text, or `null`.
    public mutating func member(_ name: String, _ text: String?) { add(name, text.map(StatusValue.text)) }

    /// Adds an integer, or `null`; clamps it to 64 bits.
    public mutating func member(_ name: String, _ number: (some BinaryInteger)?) {
        add(name, number.map { .integer(Int64(clamping: $0)) })
    }

    /// Adds `true` or `false`.
    public mutating func member(_ name: String, _ flag: Bool) { add(name, .flag(flag)) }

    /// Adds a histogram of durations.
    public mutating func member(_ name: String, _ histogram: DurationHistogram) { add(name, .histogram(histogram)) }

    /// Adds a list.
    public mutating func member(_ name: String, list: [StatusValue]) { add(name, .list(list)) }

    /// Adds an object with the members that `content` adds.
    public mutating func member(_ name: String, object content: (inout StatusObject) -> Void) {
        add(name, .object(content))
    }

    /// Adds the members of an object in JSON.
    mutating func members(of node: JSONNode) { members += StatusValue(node).members }

    private mutating func add(_ name: String, _ value: StatusValue?) { members.append((name, value ?? .null)) }
}
