/// One value of a document: cheap to copy, decoded only on demand. It retains the document.
///
/// Texts are compared by their code points: precomposed and decomposed `é` differ, as in JSON, though they are equal to
/// Swift's `String`.
public struct JSONNode: Sendable {
    @usableFromInline let storage: JSONStorage
    /// The index of its entry on the tape.
    @usableFromInline let place: Int

    /// The kinds of value; the raw values are those of the tape.
    public enum Kind: UInt8, Sendable { case object, array, string, number, bool, null }

    init(_ storage: JSONStorage, _ entry: UnsafePointer<JSONEntry>) {
        self.storage = storage
        place = entry - storage.tape
    }

    /// The document of the value.
    public var document: JSONDocument { JSONDocument(storage) }

    /// The same value without a reference to the document: valid while someone else holds one.
    @inlinable public var view: JSONView { JSONView(storage.tape + place, in: storage.text) }

    /// Returns the result of `body` for the view; retains the document during the call.
    @inlinable
    @inline(__always)
    public func withView<Result, Failure: Error>(_ body: (JSONView) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        defer { withExtendedLifetime(storage) {} }
        return try body(view)
    }

    /// The kind of value.
    public var kind: Kind { withView { $0.kind } }

    /// The member of an object; `nil` if it has none, or this is no object. Takes constant time.
    public subscript(key: String) -> JSONNode? { withView { $0[key].map(node) } }

    /// The members of an object in their order; empty for another kind of value.
    public var members: [(key: String, value: JSONNode)] {
        withView { $0.members.map { ($0.key.jsonText.string, node($0.value)) } }
    }

    /// The elements of an array in their order; empty for another kind of value.
    public var elements: [JSONNode] { withView { $0.elements.map(node) } }

    /// The number of members or elements; 0 for anything else.
    public var count: Int { withView { $0.count } }

    /// The text of a string, unescaped; `nil` for anything else.
    public var string: String? { withView { $0.string } }

    /// The value of `true` or `false`; `nil` for anything else.
    public var bool: Bool? { withView { $0.bool } }

    /// The value of a number that is a whole number of 64 bits, written without fraction and exponent, or `nil`.
    public var int64: Int64? { withView { $0.int64 } }

    /// The value of a number as the nearest double; `nil` for anything else. Always finite: the scan refuses other
    /// numbers.
    public var double: Double? { withView { $0.double } }

    /// Whether this is a string equal to `text`; decodes only a string with escapes.
    public func equals(_ text: StaticString) -> Bool { withView { $0.equals(text) } }

    /// The bytes of the value as they came.
    public var rawBytes: ArraySlice<UInt8> { storage.bytes[storage.tape[place].range] }

    private func node(_ view: JSONView) -> JSONNode { JSONNode(storage, view.entry) }
}

extension JSONNode.Kind {
    /// The kind with its article, for messages.
    public var name: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "a boolean"
        case .null: "null"
        }
    }
}

extension JSONNode {
    /// Whether both are equivalent: objects have the same members in any order, arrays the same elements in order,
    /// strings the same unescaped text, numbers the same literal (`1.0` is not `1`). Does not recurse.
    public func isEquivalent(to other: JSONNode) -> Bool {
        withView { one in other.withView { one.isEquivalent(to: $0) } }
    }
}

extension JSONView {
    fileprivate func isEquivalent(to other: JSONView) -> Bool {
        var pending = [(self, other)]
        while let (left, right) = pending.popLast() {
            guard left.kind == right.kind, left.count == right.count else { return false }
            switch left.kind {
            case .null: continue
            case .bool, .number: if !left.rawBytes.elementsEqual(right.rawBytes) { return false }
            case .string: if !left.jsonText.isSame(as: right.jsonText) { return false }
            case .array: pending.append(contentsOf: zip(left.elements, right.elements))
            case .object:
                for (key, value) in left.members {
                    guard let partner = key.withText({ right.member($0) }) else { return false }
                    pending.append((value, partner))
                }
            }
        }
        return true
    }
}

extension UInt8 {
    /// Whether it is white space in JSON.
    public var isJSONWhiteSpace: Bool {
        self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\n")
            || self == UInt8(ascii: "\r")
    }
}

extension JSONNode {
    /// The value as it came, without the white space between its tokens, so on one line.
    public var compactBytes: [UInt8] { withView { $0.compactBytes } }
}

extension JSONView {
    /// The value as it came, without the white space between its tokens, so on one line.
    public var compactBytes: [UInt8] {
        var isInString = false
        var isEscaped = false
        return rawBytes.filter { byte in
            guard isInString else {
                isInString = byte == UInt8(ascii: "\"")
                return !byte.isJSONWhiteSpace
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isInString = false }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            return true
        }
    }
}
