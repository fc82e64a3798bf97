/// One value of a document, without a reference to the document: two pointers, cheap to copy.
///
/// A view is valid while its document lives: it reads the document's memory, which never changes and is freed with the
/// last reference. A view therefore stays within a function that got the document or a node of it, or in an immutable
/// object beside the document. For all other uses there is ``JSONNode``, the same value with a reference to the
/// document.
public struct JSONView: @unchecked Sendable {
    @usableFromInline let entry: UnsafePointer<JSONEntry>
    @usableFromInline let text: UnsafePointer<UInt8>

    @inlinable
    init(_ entry: UnsafePointer<JSONEntry>, in text: UnsafePointer<UInt8>) {
        self.entry = entry
        self.text = text
    }

    /// The kind of value.
    @inlinable public var kind: JSONNode.Kind { entry.pointee.kind }

    /// Whether it is a string.
    @inlinable public var isString: Bool { entry.pointee.kindCode == 2 }

    /// Whether it is an object.
    @inlinable public var isObject: Bool { entry.pointee.kindCode == 0 }

    /// Whether it is an object or an array.
    @inlinable var isContainer: Bool { entry.pointee.kindCode < 2 }

    /// The number of members or elements; 0 for a scalar.
    @inlinable public var count: Int { isString ? 0 : entry.pointee.count }

    /// The bytes of the value, unchanged.
    public var rawBytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: text + Int(entry.pointee.start), count: entry.pointee.range.count)
    }

    // MARK: Texts

    /// The text of a string or key, in place.
    @inlinable var jsonText: JSONText { JSONText(entry.pointee, in: text) }

    /// The text of a string or key, unescaped; `nil` for anything else.
    public var string: String? { isString ? jsonText.string : nil }

    /// The unescaped text of a string or key in UTF-8, as a copy; empty for anything else.
    public var textBytes: [UInt8] {
        guard isString else { return [] }
        let text = jsonText
        guard text.saved > 0 else { return Array(text.content) }
        return [UInt8](unsafeUninitializedCapacity: text.content.count) { $1 = unescape(text.content, into: $0) }
    }

    /// The length in bytes of the unescaped text of a string or key; 0 for anything else.
    @inlinable public var textLength: Int { isString ? jsonText.length : 0 }

    /// Whether this is a string or key of exactly this text.
    @inlinable
    @inline(__always)
    public func equals(_ text: StaticString) -> Bool {
        isString && jsonText.equals(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Whether this is a string or key of exactly this text, byte by byte.
    public func hasText(_ text: String) -> Bool {
        var text = text
        return isString && text.withUTF8 { jsonText.equals($0) }
    }

    /// Whether this is a string or key of exactly this text, in UTF-8.
    @inlinable
    public func equals(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool { isString && jsonText.equals(bytes) }

    /// Whether this is a string or key whose text begins with `prefix`.
    public func starts(withName prefix: StaticString) -> Bool { isString && jsonText.starts(with: prefix.bytes) }

    /// Whether this is a string or key whose text begins with `prefix`.
    public func starts(with prefix: String) -> Bool {
        var prefix = prefix
        return isString && prefix.withUTF8 { jsonText.starts(with: $0) }
    }

    /// The bytes between the quotes of a string or key, with escapes; empty for anything else.
    @inlinable public var rawText: UnsafeBufferPointer<UInt8> {
        isString ? jsonText.content : UnsafeBufferPointer(start: nil, count: 0)
    }

    /// The number of bytes between the quotes of a string or key; its text is never longer.
    @inlinable public var rawLength: Int { Int(entry.pointee.end) &- Int(entry.pointee.start) &- 2 }

    /// The first byte after the opening quote of a string or key; undefined for anything else.
    @inlinable public var firstRawByte: UInt8 { text[Int(entry.pointee.start) &+ 1] }

    /// Calls `body` with the unescaped text of a string or key in UTF-8; empty for anything else.
    @inlinable
    @inline(__always)
    public func withText<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        isString ? jsonText.withBytes(body) : body(UnsafeBufferPointer(start: nil, count: 0))
    }

    // MARK: Other scalars

    /// The value of `true` or `false`; `nil` for anything else.
    public var bool: Bool? { kind == .bool ? rawBytes.first == UInt8(ascii: "t") : nil }

    /// The value of a number that is a whole number of 64 bits, written without fraction and exponent; otherwise `nil`.
    public var int64: Int64? {
        guard kind == .number else { return nil }
        // `Int64` refuses a decimal point, an exponent, and a value out of range.
        return Int64(String(decoding: rawBytes, as: UTF8.self))
    }

    /// The value of a number as the nearest double; `nil` for anything else. Always finite, because the scan refuses
    /// other numbers.
    public var double: Double? {
        guard kind == .number else { return nil }
        return Double(String(decoding: rawBytes, as: UTF8.self))
    }
}

extension JSONEntry {
    /// The kind of value.
    @inlinable public var kind: JSONNode.Kind {
        switch kindCode {
        case 0: .object
        case 1: .array
        case 2: .string
        case 3: .number
        case 4: .bool
        default: .null
        }
    }
}

extension JSONView: Equatable {
    /// Whether both are at the same place of the same document; equal values at two places are different.
    @inlinable
    public static func == (left: JSONView, right: JSONView) -> Bool { left.entry == right.entry }
}
