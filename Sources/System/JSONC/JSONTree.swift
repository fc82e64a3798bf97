import CJSON
import Glibc
public import PushModel

/// A JSON document that json-c holds, read from bytes that passed the strict scan. Used on one thread.
///
/// json-c 0.16 changes some of its input: it turns escaped surrogate pairs into U+FFFD, clamps whole numbers to 64 bits
/// and reformats other numbers. So only the strict scan decides whether external bytes are valid. json-c then parses a
/// document without such values as a whole. Any other document is built value by value, and a value that json-c would
/// change is printed as its original bytes. Keys are printed with the escapes that they need.
public final class JSONTree {
    /// The value; `nil` stands for `null`, as everywhere in json-c. It owns the values below it.
    let object: OpaquePointer?

    init(owning object: OpaquePointer?) { self.object = object }

    deinit { json_object_put(object) }

    /// Parses a document.
    ///
    /// - Parameters:
    ///   - bytes: external bytes.
    ///   - limits: the limits of the scan. Parsing and printing recurse, so the depth must be limited.
    /// - Throws: the first error of the scan.
    public convenience init(scanning bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        self.init(try JSONDocument(scanning: bytes, limits: limits).root)
    }

    /// Makes a tree of a value in a scanned document.
    public convenience init(_ node: JSONNode) {
        self.init(owning: node.withView { isReadUnchanged($0) ? parsed($0) ?? copied($0) : copied($0) })
    }

    /// The value at the root.
    public var root: JSONValue { JSONValue(object, of: self) }

    // MARK: Printing

    /// The style of printing.
    public enum Style: Sendable {
        /// Without white space.
        case line
        /// For people: a line for each value, indented by two spaces a level.
        case indented
    }

    /// Returns the document as text, without a line feed at its end.
    public func bytes(_ style: Style = .line) -> [UInt8] { printed(object, style) }
}

/// Returns a value as text.
func printed(_ object: OpaquePointer?, _ style: JSONTree.Style) -> [UInt8] {
    let flags: Int32 =
        switch style {
        case .line: JSON_C_TO_STRING_PLAIN
        case .indented: JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED
        }
    var length = 0
    // The object owns the text, until it is printed again.
    guard let text = json_object_to_json_string_length(object, flags | JSON_C_TO_STRING_NOSLASHESCAPE, &length) else {
        preconditionFailure("no memory to print a document")
    }
    return text.withMemoryRebound(to: UInt8.self, capacity: length) {
        Array(UnsafeBufferPointer(start: $0, count: length))
    }
}

// MARK: Reading

/// Returns whether json-c parses and prints the value unchanged: it has no escapes, and only whole numbers that json-c
/// prints the same.
private func isReadUnchanged(_ view: JSONView) -> Bool {
    switch view.kind {
    case .object: view.members.allSatisfy { isReadUnchanged($0.key) && isReadUnchanged($0.value) }
    case .array: view.elements.allSatisfy(isReadUnchanged)
    case .string: !view.rawText.contains(UInt8(ascii: "\\"))
    case .number: isWhole(view)
    case .bool, .null: true
    }
}

private func isWhole(_ view: JSONView) -> Bool {
    view.int64.map { $0.description.utf8.elementsEqual(view.rawBytes) } == true
}

/// Returns the value as json-c parses it; `nil` for `null`, and if json-c rejects it in spite of the scan.
private func parsed(_ view: JSONView) -> OpaquePointer? {
    let bytes = view.rawBytes
    guard view.kind == .object || view.kind == .array, bytes.count < Int32.max,
        let reader = json_tokener_new_ex(Int32(clamping: JSONLimits().depth + 1))
    else { return nil }
    defer { json_tokener_free(reader) }
    json_tokener_set_flags(reader, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8)
    return bytes.withMemoryRebound(to: CChar.self) {
        json_tokener_parse_ex(reader, $0.baseAddress, Int32($0.count))
    }
}

/// Returns the value, built from the result of the scan.
func copied(_ view: JSONView) -> OpaquePointer? {
    switch view.kind {
    case .object:
        let object = made(json_object_new_object())
        for (key, value) in view.members { add(copied(value), to: object, key: key.string ?? "") }
        return object
    case .array:
        let array = made(json_object_new_array())
        for element in view.elements { json_object_array_add(array, copied(element)) }
        return array
    case .string:
        let string = view.withText(made(stringOf:))
        if view.rawText.contains(UInt8(ascii: "\\")) { print(string, as: view.rawBytes) }
        return string
    case .number:
        if isWhole(view), let value = view.int64 { return made(json_object_new_int64(value)) }
        // The value keeps its text, and is printed by it.
        return String(decoding: view.rawBytes, as: UTF8.self).withCString {
            made(json_object_new_double_s(view.double ?? 0, $0))
        }
    case .bool: return made(json_object_new_boolean(view.bool == true ? 1 : 0))
    case .null: return nil
    }
}

// MARK: Objects of json-c

/// Unwraps a value of json-c, which is NULL without memory; a program without memory cannot continue.
func made(_ object: OpaquePointer?) -> OpaquePointer {
    guard let object else { preconditionFailure("no memory for a JSON value") }
    return object
}

/// Makes a string.
func made(stringOf text: UnsafeBufferPointer<UInt8>) -> OpaquePointer {
    guard let start = text.baseAddress else { return made(json_object_new_string_len("", 0)) }
    return start.withMemoryRebound(to: CChar.self, capacity: text.count) {
        made(json_object_new_string_len($0, Int32(text.count)))
    }
}

/// Makes json-c print a value as these bytes, which must not contain a NUL.
func print(_ object: OpaquePointer, as bytes: UnsafeBufferPointer<UInt8>) {
    guard let text = malloc(bytes.count + 1) else { preconditionFailure("no memory for a JSON value") }
    text.copyMemory(
        from: bytes.baseAddress ?? UnsafePointer(text.assumingMemoryBound(to: UInt8.self)), byteCount: bytes.count)
    text.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
    // The value frees the text.
    json_object_set_serializer(object, json_object_userdata_to_json_string, text, json_object_free_userdata)
}

/// Adds a member; replaces one with the same key.
func add(_ value: OpaquePointer?, to object: OpaquePointer, key: String) {
    precondition(!key.utf8.contains(0), "json-c ends a key at NUL")
    let result = json_object_object_add(object, key, value)
    precondition(result == 0, "no memory for a JSON member")
}

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
