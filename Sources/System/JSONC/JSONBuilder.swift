import CJSON
public import PushModel

extension JSONTree {
    /// Builds an object, whose members `content` adds.
    public static func object(_ content: (JSONObjectBuilder) -> Void) -> JSONTree {
        let object = made(json_object_new_object())
        content(JSONObjectBuilder(object))
        return JSONTree(owning: object)
    }
}

/// Adds members to an object, in their order; one of the same key is replaced. To be used only while the closure runs that it
/// is shown to.
public struct JSONObjectBuilder {
    private let object: OpaquePointer

    init(_ object: OpaquePointer) { self.object = object }

    /// Adds a string, or `null`.
    public func member(_ key: String, _ value: String?) { add(value.map(string), to: object, key: key) }

    /// Adds a whole number of 64 bits at most, or `null`.
    public func member(_ key: String, _ value: (some FixedWidthInteger)?) {
        add(value.map { made(json_object_new_int64(Int64($0))) }, to: object, key: key)
    }

    /// Adds `true` or `false`.
    public func member(_ key: String, _ value: Bool) {
        add(made(json_object_new_boolean(value ? 1 : 0)), to: object, key: key)
    }

    /// Adds a value that is JSON already, without a NUL: it is printed as it is, and not read.
    public func member(_ key: String, raw bytes: [UInt8]) {
        let value = made(json_object_new_string_len("", 0))
        bytes.withUnsafeBufferPointer { print(value, as: $0) }
        add(value, to: object, key: key)
    }

    /// Adds a value of a document that was scanned.
    public func member(_ key: String, _ node: JSONNode) { add(node.withView(copied), to: object, key: key) }

    /// Adds an object, whose members `content` adds.
    public func member(_ key: String, object content: (JSONObjectBuilder) -> Void) {
        let value = made(json_object_new_object())
        content(JSONObjectBuilder(value))
        add(value, to: object, key: key)
    }

    /// Adds an array, whose elements `content` adds.
    public func member(_ key: String, array content: (JSONArrayBuilder) -> Void) {
        let value = made(json_object_new_array())
        content(JSONArrayBuilder(value))
        add(value, to: object, key: key)
    }

    /// Adds the members of an object of a document that was scanned.
    public func members(of node: JSONNode) {
        node.withView { for (key, value) in $0.members { add(copied(value), to: object, key: key.string ?? "") } }
    }
}

/// Adds elements to an array, in their order. To be used only while the closure runs that it is shown to.
public struct JSONArrayBuilder {
    private let array: OpaquePointer

    init(_ array: OpaquePointer) { self.array = array }

    /// Adds a string.
    public func string(_ value: String) { append(JSONC.string(value)) }

    /// Adds a whole number.
    public func int(_ value: Int64) { append(made(json_object_new_int64(value))) }

    /// Adds an object, whose members `content` adds.
    public func object(_ content: (JSONObjectBuilder) -> Void) {
        let value = made(json_object_new_object())
        content(JSONObjectBuilder(value))
        append(value)
    }

    private func append(_ value: OpaquePointer) {
        precondition(json_object_array_add(array, value) == 0, "no memory for a JSON element")
    }
}

/// A string, which is printed as the rest of the product prints it: json-c has short escapes for some control characters.
private func string(_ value: String) -> OpaquePointer {
    var value = value
    let object = value.withUTF8(made(stringOf:))
    if value.utf8.contains(where: { $0 < 0x20 }) {
        var writer = JSONWriter()
        writer.string(value)
        writer.bytes.withUnsafeBufferPointer { print(object, as: $0) }
    }
    return object
}
