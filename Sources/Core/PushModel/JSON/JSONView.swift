/// One value of a document, without a hold on the document: two pointers, which cost nothing to copy.
///
/// A view is safe for as long as its document lives, and must not be used afterwards: it reads the document's memory,
/// which never changes and goes with the last reference to it. So a view stays within a function that was handed the
/// document or a node of it, or is stored beside the document in one object that is never changed. ``JSONNode`` is the
/// same value with a hold on the document, for everything else.
public struct JSONView: @unchecked Sendable {
    @usableFromInline let entry: UnsafePointer<JSONEntry>
    @usableFromInline let text: UnsafePointer<UInt8>

    @inlinable
    init(_ entry: UnsafePointer<JSONEntry>, in text: UnsafePointer<UInt8>) {
        self.entry = entry
        self.text = text
    }

    /// What it is.
    @inlinable public var kind: JSONNode.Kind { entry.pointee.kind }

    /// Whether it is a string.
    @inlinable public var isString: Bool { entry.pointee.kindCode == 2 }

    /// Whether it is an object.
    @inlinable public var isObject: Bool { entry.pointee.kindCode == 0 }

    /// Whether it is an object or an array.
    @inlinable var isContainer: Bool { entry.pointee.kindCode < 2 }

    /// How many members or elements; 0 for anything else.
    @inlinable public var count: Int { isString ? 0 : entry.pointee.count }

    /// The bytes of the value exactly as they came.
    public var rawBytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: text + Int(entry.pointee.start), count: entry.pointee.range.count)
    }

    // MARK: Texts

    /// The text of a string, or of a key, where it stands.
    @inlinable var jsonText: JSONText { JSONText(entry.pointee, in: text) }

    /// The text of a string or key, unescaped; `nil` for anything else.
    public var string: String? { isString ? jsonText.string : nil }

    /// The text of a string or key in UTF-8, unescaped, in memory of its own; empty for anything else.
    public var textBytes: [UInt8] {
        guard isString else { return [] }
        let text = jsonText
        guard text.saved > 0 else { return Array(text.content) }
        return [UInt8](unsafeUninitializedCapacity: text.content.count) { $1 = unescape(text.content, into: $0) }
    }

    /// How many bytes the text of a string or key has; 0 for anything else.
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

    /// Whether this is a string or key whose text begins so.
    public func starts(withName prefix: StaticString) -> Bool { isString && jsonText.starts(with: prefix.bytes) }

    /// Whether this is a string or key whose text begins so.
    public func starts(with prefix: String) -> Bool {
        var prefix = prefix
        return isString && prefix.withUTF8 { jsonText.starts(with: $0) }
    }

    /// What stands between the quotes of a string or key, escapes and all; empty for anything else.
    @inlinable public var rawText: UnsafeBufferPointer<UInt8> {
        isString ? jsonText.content : UnsafeBufferPointer(start: nil, count: 0)
    }

    /// How many bytes stand between the quotes of a string or key: its text has no more.
    @inlinable public var rawLength: Int { Int(entry.pointee.end) &- Int(entry.pointee.start) &- 2 }

    /// The first byte between the quotes of a string or key, or the closing quote; another one for anything else.
    @inlinable public var firstRawByte: UInt8 { text[Int(entry.pointee.start) &+ 1] }

    /// Shows the text of a string or key in UTF-8, unescaped; empty for anything else.
    @inlinable
    @inline(__always)
    public func withText<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        isString ? jsonText.withBytes(body) : body(UnsafeBufferPointer(start: nil, count: 0))
    }

    // MARK: Other scalars

    /// The value of `true` or `false`; `nil` for anything else.
    public var bool: Bool? { kind == .bool ? rawBytes.first == UInt8(ascii: "t") : nil }

    /// The value of a number that is a whole number of 64 bits, written without fraction and exponent; else `nil`.
    public var int64: Int64? {
        guard kind == .number else { return nil }
        // `Int64` refuses a decimal point, an exponent, and what is out of range.
        return Int64(String(decoding: rawBytes, as: UTF8.self))
    }

    /// The value of a number as the nearest double; `nil` for anything else. The scan lets no number pass that is not
    /// finite.
    public var double: Double? {
        guard kind == .number else { return nil }
        return Double(String(decoding: rawBytes, as: UTF8.self))
    }
}

extension JSONEntry {
    /// What it is.
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
    /// Whether both are the same value at the same place, not only equal ones.
    @inlinable
    public static func == (left: JSONView, right: JSONView) -> Bool { left.entry == right.entry }
}
