public import PushModel

/// A value of the daemon's status: from it the answer to `status` is written, and the metrics.
public indirect enum StatusValue: Sendable {
    case null
    case flag(Bool)
    case integer(Int64)
    case text(String)
    /// For metrics alone.
    case histogram(DurationHistogram)
    case list([StatusValue])
    case object([(name: String, value: StatusValue)])

    /// An object, whose members `content` adds.
    public static func object(_ content: (inout StatusObject) -> Void) -> StatusValue {
        var object = StatusObject()
        content(&object)
        return .object(object.members)
    }

    /// The member of that name.
    subscript(name: String) -> StatusValue? { members.first { $0.name == name }?.value }

    /// What an object has; nothing of any other.
    var members: [(name: String, value: StatusValue)] {
        if case .object(let members) = self { members } else { [] }
    }

    var elements: [StatusValue] { if case .list(let elements) = self { elements } else { [] } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }

    /// Writes it as JSON.
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

/// Takes the members of an object, in their order.
public struct StatusObject {
    fileprivate(set) var members: [(name: String, value: StatusValue)] = []

    /// Adds a text, or `null`.
    public mutating func member(_ name: String, _ text: String?) { add(name, text.map(StatusValue.text)) }

    /// Adds a whole number, or `null`; one beyond 64 bits is the largest.
    public mutating func member(_ name: String, _ number: (some BinaryInteger)?) {
        add(name, number.map { .integer(Int64(clamping: $0)) })
    }

    /// Adds `true` or `false`.
    public mutating func member(_ name: String, _ flag: Bool) { add(name, .flag(flag)) }

    /// Adds what is counted of durations.
    public mutating func member(_ name: String, _ histogram: DurationHistogram) { add(name, .histogram(histogram)) }

    /// Adds a list.
    public mutating func member(_ name: String, list: [StatusValue]) { add(name, .list(list)) }

    /// Adds an object, whose members `content` adds.
    public mutating func member(_ name: String, object content: (inout StatusObject) -> Void) {
        add(name, .object(content))
    }

    private mutating func add(_ name: String, _ value: StatusValue?) { members.append((name, value ?? .null)) }
}
