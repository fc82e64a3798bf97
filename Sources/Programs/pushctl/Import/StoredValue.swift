import PushModel

/// A value from an app's property list or JSON.
indirect enum StoredValue {
    case text(String)
    /// A number, as JSON writes it.
    case number(String)
    case flag(Bool)
    case null
    /// Bytes, in an encoding of the app.
    case data([UInt8])
    case list([StoredValue])
    case object([(key: String, value: StoredValue)])
    /// An index in an archive's list of objects.
    case reference(Int)

    init(_ node: JSONNode) {
        switch node.kind {
        case .string: self = .text(node.string ?? "")
        case .number: self = .number(String(decoding: node.rawBytes, as: UTF8.self))
        case .bool: self = .flag(node.bool ?? false)
        case .null: self = .null
        case .array: self = .list(node.elements.map(StoredValue.init))
        case .object: self = .object(node.members.map { ($0.key, StoredValue($0.value)) })
        }
    }

    /// The member of an object.
    subscript(key: String) -> StoredValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    var text: String? { if case .text(let text) = self { text } else { nil } }

    var list: [StoredValue]? { if case .list(let elements) = self { elements } else { nil } }

    /// The noun for the value, in messages.
    var noun: String {
        switch self {
        case .text: "a string"
        case .number: "a number"
        case .flag: "a boolean"
        case .null: "null"
        case .data: "data"
        case .list: "an array"
        case .object: "an object"
        case .reference: "a reference of an archive"
        }
    }

    /// Whether JSON can represent the value; it has no form for bytes.
    var isJSON: Bool {
        switch self {
        case .text, .number, .flag, .null: true
        case .data, .reference: false
        case .list(let elements): elements.allSatisfy(\.isJSON)
        case .object(let members): members.allSatisfy(\.value.isJSON)
        }
    }

    /// Writes the value as JSON; values without a JSON form become null. Members are sorted by name, because a property
    /// list's order changes each time it is written.
    func write(to writer: inout JSONWriter) {
        switch self {
        case .text(let text): writer.string(text)
        case .number(let text): writer.raw(text.utf8)
        case .flag(let flag): writer.bool(flag)
        case .null, .data, .reference: writer.null()
        case .list(let elements): writer.array { list in elements.forEach { $0.write(to: &list) } }
        case .object(let members):
            writer.object { object in
                for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                    object.key(key)
                    value.write(to: &object)
                }
            }
        }
    }
}

/// The reason why a file is no property list.
struct PropertyListError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// Property lists as Apple's systems write them.
enum PropertyList {
    /// The deepest nesting.
    static let depthMax = 64

    /// The limits of a property list's value.
    struct Limits {
        /// The number of values, counted for each reference.
        let values: Int
        /// The bytes of texts and data, counted for each reference.
        let bytes: Int

        /// The limits of a file: an app's defaults are small.
        static let ofFile = Limits(values: 1_000_000, bytes: 64 << 20)

        /// The limits of a list within another, from its length: the file may reference it in many places.
        static func nested(length: Int) -> Limits { Limits(values: length, bytes: 4 * length) }
    }

    /// Reads the binary or XML form; `nil` for other bytes.
    static func read(_ bytes: [UInt8], _ limits: Limits = .ofFile) throws(PropertyListError) -> StoredValue? {
        if bytes.starts(with: BinaryPropertyList.magic) {
            var list = try BinaryPropertyList(bytes, limits)
            return try list.root()
        }
        let start = bytes.drop { $0.isJSONWhiteSpace }
        guard
            start.starts(with: "<?xml".utf8) || start.starts(with: "<!DOCTYPE plist".utf8)
                || start.starts(with: "<plist".utf8)
        else { return nil }
        var list = XMLPropertyList(bytes)
        return try list.root()
    }
}
