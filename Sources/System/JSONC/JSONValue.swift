import CJSON

/// A value in a ``JSONTree``, which it retains.
public struct JSONValue {
    private let object: OpaquePointer?
    private let tree: JSONTree

    init(_ object: OpaquePointer?, of tree: JSONTree) {
        self.object = object
        self.tree = tree
    }

    /// Whether it is an object.
    public var isObject: Bool { isType(json_type_object) }

    /// The member of an object; `nil` if there is none, or if this is no object.
    public subscript(key: String) -> JSONValue? {
        guard isObject, !key.utf8.contains(0) else { return nil }
        var member: OpaquePointer?
        return json_object_object_get_ex(object, key, &member) != 0 ? JSONValue(member, of: tree) : nil
    }

    /// The elements of an array in their order; empty for anything else.
    public var elements: [JSONValue] {
        guard isType(json_type_array) else { return [] }
        return (0..<json_object_array_length(object)).map {
            JSONValue(json_object_array_get_idx(object, $0), of: tree)
        }
    }

    /// The text of a string; `nil` for anything else.
    public var string: String? {
        guard isType(json_type_string), let text = json_object_get_string(object) else { return nil }
        let length = Int(json_object_get_string_len(object))
        return text.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
        }
    }

    /// The value of `true` or `false`; `nil` for anything else.
    var bool: Bool? { isType(json_type_boolean) ? json_object_get_boolean(object) != 0 : nil }

    /// The value of a whole number of 64 bits, written without fraction and exponent; `nil` for anything else.
    public var int64: Int64? { isType(json_type_int) ? json_object_get_int64(object) : nil }

    /// The value as text, without white space.
    public var bytes: [UInt8] { withExtendedLifetime(tree) { printed(object, .line) } }

    private func isType(_ type: json_type) -> Bool {
        withExtendedLifetime(tree) { json_object_get_type(object) == type }
    }
}
