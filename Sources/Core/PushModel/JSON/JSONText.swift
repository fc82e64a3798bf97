/// The text of a string or key in its document: between its quotes, with its escapes.
///
/// It points into the document, and is valid while the document lives.
@usableFromInline
struct JSONText {
    /// The bytes between the quotes.
    @usableFromInline let content: UnsafeBufferPointer<UInt8>
    /// The number of bytes by which the unescaped text is shorter.
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

    /// Calls `body` with the unescaped bytes, which are valid during the call only. Allocates only for a text with
    /// escapes.
    @inlinable
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        saved > 0 ? withUnescaped(content, body) : body(content)
    }

    /// Whether the unescaped text has these bytes.
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

    /// Whether both are the same text.
    func isSame(as other: JSONText) -> Bool { other.withBytes(equals) }

    /// Whether the unescaped text begins with these bytes.
    @inline(__always)
    func starts(with prefix: UnsafeBufferPointer<UInt8>) -> Bool {
        guard length >= prefix.count, let other = prefix.baseAddress else { return prefix.isEmpty }
        return withBytes { bytes in
            bytes.baseAddress.map { areEqual($0, other, count: prefix.count) } ?? false
        }
    }

    /// Makes a text without escapes.
    private init(plain: UnsafeBufferPointer<UInt8>) {
        content = plain
        saved = 0
    }
}
