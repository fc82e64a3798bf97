/// A JSON text that passed the strict scan, with the byte range of every value in it. One reference, so copies are
/// cheap.
public struct JSONDocument: Sendable {
    let storage: JSONStorage

    init(_ storage: JSONStorage) { self.storage = storage }

    /// Scans `bytes` strictly by RFC 8259. Refuses also an object with the same key twice, a lone surrogate, `\u0000`
    /// in a key (a string value may have it), and a number that is infinite as a double.
    /// One pass without recursion, linear in the length of any text. Decodes nothing: numbers and strings keep their
    /// bytes, and nodes decode them on access.
    ///
    /// - Throws: ``JSONError`` for the first fault; a repeated key is found at the end of its object.
    public init(scanning bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        storage = try JSONStorage(scanning: bytes, limits: limits)
    }

    /// The text as it was given.
    public var bytes: [UInt8] { storage.bytes }

    /// The memory in bytes that it takes: the text and the tape of the scan.
    public var memorySize: Int { storage.bytes.count + storage.tapeCapacity * MemoryLayout<JSONEntry>.stride }

    /// The outermost value.
    public var root: JSONNode { JSONNode(storage, storage.tape) }

    /// Returns a node that retains the document, for one of its views.
    public func node(_ view: JSONView) -> JSONNode {
        precondition(view.text == storage.text, "a view of another document")
        return JSONNode(storage, view.entry)
    }
}

/// The limits of a scan.
public struct JSONLimits: Sendable {
    /// The largest number of levels of nesting.
    public var depth: Int
    /// The largest number of values, including the keys of objects.
    public var values: Int

    /// - Parameters:
    ///   - depth: the largest number of levels of nesting; an array or object is one level.
    ///   - values: the largest number of values, including the keys of objects.
    public init(depth: Int = 32, values: Int = .max) {
        (self.depth, self.values) = (depth, values)
    }
}
