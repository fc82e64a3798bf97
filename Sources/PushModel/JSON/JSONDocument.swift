// INTERFACE STUB: the bodies are written with the scan; the declarations are what the rest builds on.

/// A JSON text that passed the strict scan, with the byte range of every value in it.
public struct JSONDocument: Sendable {
    /// The text as it came.
    public let bytes: [UInt8]

    /// Scans `bytes` strictly.
    public init(scanning bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        self.bytes = bytes
    }

    /// The value that the text is.
    public var root: JSONNode { JSONNode(document: self, index: 0) }
}

/// What a scan accepts at most.
public struct JSONLimits: Sendable {
    /// Levels of nesting.
    public var depth: Int

    /// - Parameter depth: levels of nesting; an array or object is one level.
    public init(depth: Int = 32) { self.depth = depth }
}

/// Why a text is not JSON that is accepted, and where.
public struct JSONError: Error, Hashable, Sendable {
    /// What kind of wrong; the raw value is the protocol's error code.
    public enum Code: String, Sendable {
        case invalidJSON = "invalid_json"
        case invalidUTF8 = "invalid_utf8"
        case tooDeep = "too_deep"
        case duplicateKey = "duplicate_key"
    }

    /// What kind of wrong.
    public var code: Code
    /// The offset of the first byte that is wrong.
    public var offset: Int
    /// What was found and what to do, for people.
    public var message: String
}

/// One value of a document: cheap to copy, decoded only when asked.
public struct JSONNode: Sendable {
    let document: JSONDocument
    let index: Int

    /// The kinds of value.
    public enum Kind: Sendable { case object, array, string, number, bool, null }

    /// What it is.
    public var kind: Kind { .null }

    /// The member of an object; `nil` when there is none, or this is no object.
    public subscript(key: String) -> JSONNode? { nil }

    /// The members of an object in their order; empty for anything else.
    public var members: [(key: String, value: JSONNode)] { [] }

    /// The elements of an array in their order; empty for anything else.
    public var elements: [JSONNode] { [] }

    /// How many members or elements; 0 for anything else.
    public var count: Int { 0 }

    /// The text of a string, unescaped; `nil` for anything else.
    public var string: String? { nil }

    /// The value of `true` or `false`; `nil` for anything else.
    public var bool: Bool? { nil }

    /// The value of a number that is a whole number of 64 bits, written without fraction and exponent; else `nil`.
    public var int64: Int64? { nil }

    /// The value of a number as a double; `nil` for anything else. The scan lets no number pass that is not finite.
    public var double: Double? { nil }

    /// Whether this is a string equal to `text`, without decoding where nothing is escaped.
    public func equals(_ text: StaticString) -> Bool { false }

    /// The bytes of the value exactly as they came.
    public var rawBytes: ArraySlice<UInt8> { [] }
}
