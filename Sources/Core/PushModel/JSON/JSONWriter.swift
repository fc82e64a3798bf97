/// Writes one JSON value, without white space, to the end of a byte array.
///
///     var reply = JSONWriter()
///     reply.object {
///         $0.member("ok", true)
///         $0.member("seq", 41)
///     }
///     // reply.bytes is {"ok":true,"seq":41}
///
/// The writer inserts the commas. The caller writes a value for each key and ends what it begins; the methods with a
/// closure write both brackets.
public struct JSONWriter: Sendable {
    /// The JSON text so far.
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// - Parameter capacity: the expected length in bytes.
    public init(reserving capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    /// The JSON text as a line, with its line feed.
    public consuming func line() -> [UInt8] {
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// A position between two values, to which ``cut(to:)`` goes back.
    public struct Position: Sendable {
        fileprivate let length: Int
        fileprivate let needsComma: Bool
    }

    /// The position behind what is written.
    public var position: Position { Position(length: bytes.count, needsComma: needsComma) }

    /// Takes back what was written behind a position of this writer.
    public mutating func cut(to position: Position) {
        bytes.removeSubrange(position.length...)
        needsComma = position.needsComma
    }

    // MARK: Values

    /// Begins an object.
    public mutating func beginObject() { begin(UInt8(ascii: "{")) }
    /// Ends the innermost object.
    public mutating func endObject() { end(UInt8(ascii: "}")) }
    /// Begins an array.
    public mutating func beginArray() { begin(UInt8(ascii: "[")) }
    /// Ends the innermost array.
    public mutating func endArray() { end(UInt8(ascii: "]")) }

    /// Writes an object whose members `content` writes.
    public mutating func object(_ content: (inout JSONWriter) -> Void) {
        beginObject()
        content(&self)
        endObject()
    }

    /// Writes an array whose elements `content` writes.
    public mutating func array(_ content: (inout JSONWriter) -> Void) {
        beginArray()
        content(&self)
        endArray()
    }

    /// Writes a key; its value comes next.
    public mutating func key(_ name: String) {
        separate()
        appendQuoted(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string. Escapes the characters that JSON demands, and those that would steer a terminal
    /// (``Unicode/Scalar/isSteering``).
    public mutating func string(_ value: String) {
        separate()
        appendQuoted(value)
    }

    /// Writes a whole number.
    @inlinable
    public mutating func int(_ value: some FixedWidthInteger) { verbatim(value.description) }

    /// Writes a number with the shortest digits that read back equal; `null` for infinity and NaN, which JSON lacks.
    public mutating func double(_ value: Double) { verbatim(value.isFinite ? value.description : "null") }

    /// Writes `true` or `false`.
    public mutating func bool(_ value: Bool) { verbatim(value ? "true" : "false") }

    /// Writes `null`.
    public mutating func null() { verbatim("null") }

    /// Writes a value that is JSON already, such as ``JSONNode/rawBytes``, with its white space. For one line the
    /// caller may put spaces in place of its line feeds, which never occur in JSON strings.
    public mutating func raw(_ value: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: value)
    }

    // MARK: Members: a key and its value; a value that is nil becomes null

    /// Writes a member that is an object.
    public mutating func member(_ name: String, object content: (inout JSONWriter) -> Void) {
        key(name)
        object(content)
    }

    /// Writes a member that is an array.
    public mutating func member(_ name: String, array content: (inout JSONWriter) -> Void) {
        key(name)
        array(content)
    }

    /// Writes a member that is a string.
    public mutating func member(_ name: String, _ value: String?) {
        key(name)
        if let value { string(value) } else { null() }
    }

    /// Writes a member that is a whole number.
    @inlinable
    public mutating func member(_ name: String, _ value: (some FixedWidthInteger)?) {
        key(name)
        if let value { int(value) } else { null() }
    }

    /// Writes a member that is a number.
    public mutating func member(_ name: String, _ value: Double?) {
        key(name)
        if let value { double(value) } else { null() }
    }

    /// Writes a member that is `true` or `false`.
    public mutating func member(_ name: String, _ value: Bool?) {
        key(name)
        if let value { bool(value) } else { null() }
    }

    /// Writes a member whose value is JSON already.
    public mutating func member(_ name: String, raw value: some Sequence<UInt8>) {
        key(name)
        raw(value)
    }

    // MARK: Bytes

    private mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    /// Writes the comma before a value or key if one is due, and makes one due for the next.
    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    @usableFromInline
    mutating func verbatim(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func appendQuoted(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        text.withBytes { text in
            // Most text needs no escape: a loop without an early exit is vectorized.
            var hasEscapes = false
            for byte in text where mustEscape(byte) || mayBeginSteering(byte) { hasEscapes = true }
            if hasEscapes { appendEscaped(text) } else { bytes.append(contentsOf: text) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        var written = 0
        for index in text.indices where index >= written {
            if mustEscape(text[index]) {
                bytes.append(contentsOf: text[written..<index])
                appendEscape(text[index])
                written = index + 1
            } else if let mark = steeringMark(at: index, in: text) {
                bytes.append(contentsOf: text[written..<index])
                bytes.append(contentsOf: jsonEscape(mark.unit))
                written = index + mark.length
            }
        }
        bytes.append(contentsOf: text[written...])
    }

    private func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func appendEscape(_ byte: UInt8) {
        guard byte < 0x20 else { return bytes.append(contentsOf: [UInt8(ascii: "\\"), byte]) }
        bytes.append(contentsOf: jsonEscape(UInt32(byte)))
    }
}
