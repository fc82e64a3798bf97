/// One value of a document, without a reference to the document: two pointers.
///
/// A view is valid only while its document lives: it reads the document's memory, which never changes and is freed with
/// the last reference to the document. So a view stays within a function that got the document or a node of it, or in
/// an immutable object that also holds the document. Other code uses ``JSONNode``, the same value with a reference to
/// the document.
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

    /// The number of members or elements; 0 for anything else.
    @inlinable public var count: Int { isString ? 0 : entry.pointee.count }

    /// The bytes of the value as they came.
    public var rawBytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: text + Int(entry.pointee.start), count: entry.pointee.range.count)
    }

    // MARK: Texts

    /// The text of a string or key, in place.
    @inlinable var jsonText: JSONText { JSONText(entry.pointee, in: text) }

    /// The text of a string or key, unescaped; `nil` for anything else.
    public var string: String? { isString ? jsonText.string : nil }

    /// The unescaped text of a string or key in UTF-8, copied; empty for anything else.
    public var textBytes: [UInt8] {
        guard isString else { return [] }
        let text = jsonText
        guard text.saved > 0 else { return Array(text.content) }
        return [UInt8](unsafeUninitializedCapacity: text.content.count) { $1 = unescape(text.content, into: $0) }
    }

    /// The length in bytes of the unescaped text of a string or key; 0 for anything else.
    @inlinable public var textLength: Int { isString ? jsonText.length : 0 }

    /// Whether this is a string or key with exactly this text.
    @inlinable
    @inline(__always)
    public func equals(_ text: StaticString) -> Bool {
        isString && jsonText.equals(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Whether this is a string or key with exactly this text, compared by bytes.
    public func hasText(_ text: String) -> Bool {
        var text = text
        return isString && text.withUTF8 { jsonText.equals($0) }
    }

    /// Whether this is a string or key with exactly this text, in UTF-8.
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

    /// The number of bytes between the quotes of a string or key, at least as many as its unescaped text has.
    @inlinable public var rawLength: Int { Int(entry.pointee.end) &- Int(entry.pointee.start) &- 2 }

    /// The first byte between the quotes of a string or key, or the closing quote; an unrelated byte for anything else.
    @inlinable public var firstRawByte: UInt8 { text[Int(entry.pointee.start) &+ 1] }

    /// The first byte of the unescaped text of a string or key; the closing quote for an empty text, an unrelated byte
    /// for anything else.
    @inline(__always)
    var firstUnescapedByte: UInt8 {
        let first = firstRawByte
        return first == UInt8(ascii: "\\") ? firstUnescaped(text + Int(entry.pointee.start) + 1) : first
    }

    /// Calls `body` with the unescaped text of a string or key in UTF-8; empty for anything else.
    @inlinable
    @inline(__always)
    public func withText<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        isString ? jsonText.withBytes(body) : body(UnsafeBufferPointer(start: nil, count: 0))
    }

    // MARK: Other scalars

    /// The value of `true` or `false`; `nil` for anything else.
    public var bool: Bool? { kind == .bool ? rawBytes.first == UInt8(ascii: "t") : nil }

    /// The value of a number that is a whole number of 64 bits, written without fraction and exponent, or `nil`.
    public var int64: Int64? {
        guard kind == .number else { return nil }
        // `Int64` refuses a decimal point, an exponent, and a number out of range.
        return Int64(String(decoding: rawBytes, as: UTF8.self))
    }

    /// The value of a number as the nearest double; `nil` for anything else. Always finite: the scan refuses other
    /// numbers.
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
    /// Whether both are the same value at the same place, which is more than equality.
    @inlinable
    public static func == (left: JSONView, right: JSONView) -> Bool { left.entry == right.entry }
}

/// The text of a string or key in place in a document: between its quotes, with its escapes.
///
/// Points into the document, and is valid only while the document lives.
@usableFromInline
struct JSONText {
    /// The bytes between the quotes.
    @usableFromInline let content: UnsafeBufferPointer<UInt8>
    /// The difference in bytes between `content` and the unescaped text.
    @usableFromInline let saved: Int

    @inlinable
    init(_ entry: JSONEntry, in text: UnsafePointer<UInt8>) {
        content = UnsafeBufferPointer(
            start: text + Int(entry.start) + 1, count: Int(entry.end) &- Int(entry.start) &- 2)
        saved = entry.count
    }

    /// The length of the unescaped text in UTF-8.
    @inlinable var length: Int { content.count &- saved }

    /// The unescaped text.
    var string: String {
        guard saved > 0 else { return String(decoding: content, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: content.count) { unescape(content, into: $0) }
    }

    /// Calls `body` with the bytes of the unescaped text, which are valid only during the call; allocates only for a
    /// text with escapes.
    @inlinable
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        saved > 0 ? withUnescaped(content, body) : body(content)
    }

    /// Whether the unescaped text has exactly these bytes.
    @inlinable
    @inline(__always)
    func equals(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard length == bytes.count else { return false }
        guard let start = content.baseAddress, let other = bytes.baseAddress else { return true }
        return saved > 0 ? equalsUnescaped(bytes) : areEqual(start, other, count: bytes.count)
    }

    @usableFromInline
    @inline(never)
    func equalsUnescaped(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        withUnescaped(content) { JSONText(plain: $0).equals(bytes) }
    }

    /// Whether both unescaped texts are the same.
    func isSame(as other: JSONText) -> Bool { other.withBytes(equals) }

    /// Whether the unescaped text begins with `prefix`.
    @inline(__always)
    func starts(with prefix: UnsafeBufferPointer<UInt8>) -> Bool {
        guard length >= prefix.count, let other = prefix.baseAddress else { return prefix.isEmpty }
        guard saved == 0 else { return unescaped(content, startsWith: prefix) }
        return content.baseAddress.map { areEqual($0, other, count: prefix.count) } ?? false
    }

    /// Creates a text without escapes.
    private init(plain: UnsafeBufferPointer<UInt8>) {
        content = plain
        saved = 0
    }
}

extension JSONView {
    // MARK: Look-ups

    /// The member of an object; `nil` if it has none, or this is no object. Takes constant time.
    @inlinable
    @inline(__always)
    public func member(_ name: StaticString) -> JSONView? {
        let bytes = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return member(bytes, hash: UInt32(truncatingIfNeeded: WordHash.keys(bytes)))
    }

    /// The member of an object; `nil` if it has none, or this is no object.
    public subscript(name: String) -> JSONView? {
        var name = name
        return name.withUTF8 { member($0) }
    }

    /// The member of an object, by its name in UTF-8; `nil` if it has none, or this is no object.
    public func member(_ name: UnsafeBufferPointer<UInt8>) -> JSONView? {
        member(name, hash: UInt32(truncatingIfNeeded: WordHash.keys(name)))
    }

    @usableFromInline
    func member(_ name: UnsafeBufferPointer<UInt8>, hash: UInt32) -> JSONView? {
        guard isObject else { return nil }
        // The scan hashed the keys of a flagged object again with other seeds.
        let hash = entry.pointee.isFlagged ? UInt32(truncatingIfNeeded: WordHash.ofThisProcess(name)) : hash
        guard let table = JSONKeyTable(of: entry) else {
            var key = entry + 1
            for _ in 0..<entry.pointee.count {
                if key.pointee.link == hash, JSONText(key.pointee, in: text).equals(name) {
                    return JSONView(key + 1, in: text)
                }
                key += 1 &+ Int(key[1].link)
            }
            return nil
        }
        var slot = table.home(hash)
        while true {
            let distance = table[slot]
            guard distance != 0 else { return nil }
            let key = entry + distance
            if key.pointee.link == hash, JSONText(key.pointee, in: text).equals(name) {
                return JSONView(key + 1, in: text)
            }
            slot = table.next(slot)
        }
    }

    // MARK: All members or elements

    /// The members of an object in their order; none for another kind of value.
    @inlinable public var members: JSONMembers { JSONMembers(of: self) }

    /// The elements of an array in their order; none for another kind of value.
    @inlinable public var elements: JSONElements { JSONElements(of: self) }
}

/// The members of an object in their order, as views: valid while the document lives.
public struct JSONMembers: Sequence, IteratorProtocol {
    @usableFromInline var place: UnsafePointer<JSONEntry>
    @usableFromInline var left: Int
    @usableFromInline let text: UnsafePointer<UInt8>

    @inlinable
    public init(of object: JSONView) {
        place = object.entry + 1
        left = object.isObject ? object.count : 0
        text = object.text
    }

    /// Returns the next key and its value.
    @inlinable
    @inline(__always)
    public mutating func next() -> (key: JSONView, value: JSONView)? {
        guard left > 0 else { return nil }
        left &-= 1
        let key = place
        place = key + 1 + Int(key[1].link)
        return (JSONView(key, in: text), JSONView(key + 1, in: text))
    }
}

/// The elements of an array in their order, as views: valid while the document lives.
public struct JSONElements: Sequence, IteratorProtocol {
    @usableFromInline var place: UnsafePointer<JSONEntry>
    @usableFromInline var left: Int
    @usableFromInline let text: UnsafePointer<UInt8>

    @inlinable
    public init(of array: JSONView) {
        place = array.entry + 1
        left = array.kind == .array ? array.count : 0
        text = array.text
    }

    /// Returns the next element.
    @inlinable
    @inline(__always)
    public mutating func next() -> JSONView? {
        guard left > 0 else { return nil }
        left &-= 1
        let element = place
        place = element + Int(element.pointee.link)
        return JSONView(element, in: text)
    }
}
