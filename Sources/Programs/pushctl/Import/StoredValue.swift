import PushModel

/// A value that an app stored: of a property list, or of JSON.
indirect enum StoredValue {
    case text(String)
    /// A number, as JSON writes it.
    case number(String)
    case flag(Bool)
    case null
    /// Bytes: an app's own encoding of something.
    case data([UInt8])
    case list([StoredValue])
    case object([(key: String, value: StoredValue)])
    /// A place in the list of objects of an archive.
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

    /// What it is, for messages.
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

    /// Whether JSON can say it: bytes have no form there.
    var isJSON: Bool {
        switch self {
        case .text, .number, .flag, .null: true
        case .data, .reference: false
        case .list(let elements): elements.allSatisfy(\.isJSON)
        case .object(let members): members.allSatisfy(\.value.isJSON)
        }
    }

    /// Writes it as JSON; what JSON cannot say becomes null. The members of an object are in the order of their names: that
    /// of a property list changes from one writing to the next.
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

/// Why a file is no property list.
struct PropertyListError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// Property lists as Apple's systems write them.
enum PropertyList {
    /// How deep one may nest.
    static let depthMax = 64

    /// How much a property list may stand for.
    struct Limits {
        /// How many values, each as often as it stands.
        let values: Int
        /// How many bytes of texts and data, each as often as it stands.
        let bytes: Int

        /// Those of a file: an app's defaults are small.
        static let ofFile = Limits(values: 1_000_000, bytes: 64 << 20)

        /// Those of a list within another, in so many bytes: the file may have it in many places.
        static func nested(length: Int) -> Limits { Limits(values: length, bytes: 4 * length) }
    }

    /// Reads the binary form or the XML form; `nil` for what is neither.
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
