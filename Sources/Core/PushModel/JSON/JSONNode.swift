/// One value of a document: cheap to copy, decoded only when asked. It holds on to the document.
///
/// Texts are compared by their characters, each by itself: `é` in one character and `é` in two are not equal, as JSON
/// has it, though Swift's `String` calls them so.
public struct JSONNode: Sendable {
    @usableFromInline let storage: JSONStorage
    /// Where on the tape it is.
    @usableFromInline let place: Int

    /// The kinds of value; the raw values are those of the tape.
    public enum Kind: UInt8, Sendable { case object, array, string, number, bool, null }

    init(_ storage: JSONStorage, _ entry: UnsafePointer<JSONEntry>) {
        self.storage = storage
        place = entry - storage.tape
    }

    /// The document that it is a value of.
    public var document: JSONDocument { JSONDocument(storage) }

    /// The same value without a hold on the document: for as long as somebody else has one.
    @inlinable public var view: JSONView { JSONView(storage.tape + place, in: storage.text) }

    /// Gives what `body` makes of the view, and holds on to the document until it is done.
    @inlinable
    @inline(__always)
    public func withView<Result, Failure: Error>(_ body: (JSONView) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        defer { withExtendedLifetime(storage) {} }
        return try body(view)
    }

    /// What it is.
    public var kind: Kind { withView { $0.kind } }

    /// The member of an object; `nil` when there is none, or this is no object. Takes the same time in an object of any
    /// size.
    public subscript(key: String) -> JSONNode? { withView { $0[key].map(node) } }

    /// The members of an object in their order; empty for anything else.
    public var members: [(key: String, value: JSONNode)] {
        withView { $0.members.map { ($0.key.jsonText.string, node($0.value)) } }
    }

    /// The elements of an array in their order; empty for anything else.
    public var elements: [JSONNode] { withView { $0.elements.map(node) } }

    /// How many members or elements; 0 for anything else.
    public var count: Int { withView { $0.count } }

    /// The text of a string, unescaped; `nil` for anything else.
    public var string: String? { withView { $0.string } }

    /// The value of `true` or `false`; `nil` for anything else.
    public var bool: Bool? { withView { $0.bool } }

    /// The value of a number that is a whole number of 64 bits, written without fraction and exponent; else `nil`.
    public var int64: Int64? { withView { $0.int64 } }

    /// The value of a number as the nearest double; `nil` for anything else. The scan lets no number pass that is not
    /// finite.
    public var double: Double? { withView { $0.double } }

    /// Whether this is a string equal to `text`, without decoding where nothing is escaped.
    public func equals(_ text: StaticString) -> Bool { withView { $0.equals(text) } }

    /// The bytes of the value exactly as they came.
    public var rawBytes: ArraySlice<UInt8> { storage.bytes[storage.tape[place].range] }

    private func node(_ view: JSONView) -> JSONNode { JSONNode(storage, view.entry) }
}

extension JSONNode.Kind {
    /// What it is, with its article, for messages.
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
