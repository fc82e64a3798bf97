public import PushModel

/// What is wrong with something that was logged.
struct Problem: Error, Hashable {
    /// Where: a path such as `properties.cart[2].name`; empty: all of it.
    var field: String
    /// Which rule it breaks, and what to do.
    var reason: String

    /// - Parameter reason: what is wrong with the value itself; who knows where it is adds that.
    init(_ reason: String) {
        field = ""
        self.reason = reason
    }

    /// The same problem, seen from the object that has the value as member `key`.
    func inside(_ key: String) -> Problem {
        var problem = self
        problem.field = shortened(key) + (field.isEmpty || field.hasPrefix("[") ? "" : ".") + field
        return problem
    }

    /// The same problem, seen from the array that has the value at `index`.
    func inside(at index: Int) -> Problem {
        var problem = self
        problem.field = "[\(index)]" + (field.isEmpty || field.hasPrefix("[") ? "" : ".") + field
        return problem
    }

    /// With the place before it, for people.
    var text: String { field.isEmpty ? reason : "\(field): \(reason)" }
}

/// A name as a path shows it: one that is far too long is cut, and one that would be taken for more than a name, or for
/// none, has quotes.
private func shortened(_ name: String) -> String {
    let scalars = name.unicodeScalars
    let rest = scalars.count <= 64 ? "" : "..."
    let start = rest.isEmpty ? name : String(String.UnicodeScalarView(scalars.prefix(64)))
    guard name.isEmpty || start.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || ".:[]\"\\".utf8.contains($0) }) else {
        return start + rest
    }
    var writer = JSONWriter()
    writer.string(start)
    return String(decoding: writer.bytes, as: UTF8.self) + rest
}

extension Rejection {
    /// Reads what the ledger has of one that ``CustomData/log(_:_:_:now:into:)`` told of.
    ///
    /// - Parameters:
    ///   - number: the entry under which it is kept.
    ///   - text: the reason in the ledger; the field stands before it, if it is about one.
    public init(number: EntryNumber, text: String) {
        self.init(number: number, field: "", reason: text)
        let field = text.prefix(upTo: text.endOfPath)
        let root = field.prefix { $0 != "." && $0 != "[" }
        guard Self.fields.contains(root) else { return }
        self.field = String(field)
        reason = String(text[field.endIndex...].dropFirst(2))
    }
}

extension Rejection {
    /// What a path may begin with: what was logged, and whose profile it is.
    private static let fields: Set<Substring> = [
        "name", "properties", "attributes", "braze_id", "external_id", "alias", "alias_name", "alias_label",
    ]
}

extension String {
    /// Where the path at the beginning ends: at the first colon that is not within quotes.
    fileprivate var endOfPath: Index {
        var isQuoted = false
        var isEscaped = false
        for index in utf8.indices {
            switch utf8[index] {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = true
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ":") where !isQuoted: return index
            default: break
            }
        }
        return endIndex
    }
}
