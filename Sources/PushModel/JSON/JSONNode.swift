/// One value of a document: cheap to copy, decoded only when asked.
///
/// Texts are compared by their characters, each by itself: `é` in one character and `é` in two are not equal, as JSON
/// has it, though Swift's `String` calls them so.
public struct JSONNode: Sendable {
    let document: JSONDocument
    let index: Int

    /// The kinds of value; the raw values are those of the tape.
    public enum Kind: UInt8, Sendable { case object, array, string, number, bool, null }

    private var entry: JSONEntry { document.tape[index] }

    /// What it is.
    public var kind: Kind { entry.kind }

    /// The member of an object; `nil` when there is none, or this is no object. Linear in the number of members.
    public subscript(key: String) -> JSONNode? {
        var key = key
        return key.withUTF8 { member(named: $0) }
    }

    private func member(named name: UnsafeBufferPointer<UInt8>) -> JSONNode? {
        guard kind == .object else { return nil }
        let tape = document.tape
        let end = tape[index].next
        var key = index + 1
        while key < end {
            if document.string(tape[key], equals: name) { return JSONNode(document: document, index: key + 1) }
            key = tape[key + 1].next
        }
        return nil
    }

    /// The members of an object in their order; empty for anything else.
    public var members: [(key: String, value: JSONNode)] {
        guard kind == .object else { return [] }
        let tape = document.tape
        var members: [(key: String, value: JSONNode)] = []
        members.reserveCapacity(entry.count)
        var key = index + 1
        while key < tape[index].next {
            members.append((document.string(tape[key]), JSONNode(document: document, index: key + 1)))
            key = tape[key + 1].next
        }
        return members
    }

    /// Shows the text of every key of an object in UTF-8, in their order; allocates only for keys with escapes.
    public func forEachKey(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        guard kind == .object else { return }
        let tape = document.tape
        let end = tape[index].next
        document.bytes.withUnsafeBufferPointer { bytes in
            var key = index + 1
            while key < end {
                let entry = tape[key]
                if entry.hasEscapes {
                    var text = document.string(entry)
                    text.withUTF8(body)
                } else {
                    body(UnsafeBufferPointer(rebasing: bytes[entry.content]))
                }
                key = tape[key + 1].next
            }
        }
    }

    /// Whether an object has a key that begins with `prefix` and is wanted. Only such keys are decoded.
    public func hasKey(beginningWith prefix: String, where isWanted: (String) -> Bool) -> Bool {
        guard kind == .object else { return false }
        let tape = document.tape
        let end = tape[index].next
        var key = index + 1
        while key < end {
            if document.string(tape[key], beginsWith: prefix), isWanted(document.string(tape[key])) { return true }
            key = tape[key + 1].next
        }
        return false
    }

    /// The elements of an array in their order; empty for anything else.
    public var elements: [JSONNode] {
        guard kind == .array else { return [] }
        let tape = document.tape
        var elements: [JSONNode] = []
        elements.reserveCapacity(entry.count)
        var element = index + 1
        while element < tape[index].next {
            elements.append(JSONNode(document: document, index: element))
            element = tape[element].next
        }
        return elements
    }

    /// How many members or elements; 0 for anything else.
    public var count: Int { entry.count }

    /// The text of a string, unescaped; `nil` for anything else.
    public var string: String? {
        let entry = entry
        return entry.kind == .string ? document.string(entry) : nil
    }

    /// The value of `true` or `false`; `nil` for anything else.
    public var bool: Bool? {
        let entry = entry
        return entry.kind == .bool ? document.bytes[entry.range.lowerBound] == UInt8(ascii: "t") : nil
    }

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

    /// Whether this is a string equal to `text`, without decoding where nothing is escaped.
    public func equals(_ text: StaticString) -> Bool {
        let entry = entry
        return entry.kind == .string && document.string(entry, equals: text.bytes)
    }

    /// The bytes of the value exactly as they came.
    public var rawBytes: ArraySlice<UInt8> { document.bytes[entry.range] }
}

extension JSONDocument {
    /// The text of a string or key.
    func string(_ entry: JSONEntry) -> String {
        bytes.withUnsafeBufferPointer { text in
            let content = UnsafeBufferPointer(rebasing: text[entry.content])
            guard entry.hasEscapes else { return String(decoding: content, as: UTF8.self) }
            return String(unsafeUninitializedCapacity: content.count) { unescape(content, into: $0) }
        }
    }

    /// Whether the text of a string or key is `expected`, in UTF-8.
    func string(_ entry: JSONEntry, equals expected: UnsafeBufferPointer<UInt8>) -> Bool {
        if entry.hasEscapes { return string(entry).utf8.elementsEqual(expected) }
        let content = entry.content
        return content.count == expected.count
            && bytes.withUnsafeBufferPointer { $0[content].elementsEqual(expected) }
    }

    /// Whether the text of a string or key begins with `prefix`.
    func string(_ entry: JSONEntry, beginsWith prefix: String) -> Bool {
        if entry.hasEscapes { return string(entry).utf8.starts(with: prefix.utf8) }
        return bytes.withUnsafeBufferPointer { $0[entry.content].starts(with: prefix.utf8) }
    }
}
