/// A JSON text that passed the strict scan, with the byte range of every value in it. One reference: cheap to copy.
public struct JSONDocument: Sendable {
    let storage: JSONStorage

    init(_ storage: JSONStorage) { self.storage = storage }

    /// Scans `bytes` strictly: RFC 8259, and beyond it no object with the same key twice, no lone surrogate, no
    /// `\u0000` in a key (in the text of a string it may stand), no number that is infinite as a double.
    ///
    /// One pass that does not recurse, linear in the length of the text whatever is in it. Nothing is decoded: numbers
    /// and strings keep their bytes, and the nodes read them when asked.
    ///
    /// - Throws: ``JSONError`` for the first thing wrong; a key that comes twice is noticed where its object ends.
    public init(scanning bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        storage = try JSONStorage(scanning: bytes, limits: limits)
    }

    /// The text as it came.
    public var bytes: [UInt8] { storage.bytes }

    /// How many bytes of memory it takes: the text, and what the scan noted of it.
    public var memorySize: Int { storage.bytes.count + storage.tapeCapacity * MemoryLayout<JSONEntry>.stride }

    /// The value that the text is.
    public var root: JSONNode { JSONNode(storage, storage.tape) }

    /// A node that holds on to the document, for one of its views.
    public func node(_ view: JSONView) -> JSONNode {
        precondition(view.text == storage.text, "a view of another document")
        return JSONNode(storage, view.entry)
    }
}

/// What a scan accepts at most.
public struct JSONLimits: Sendable {
    /// Levels of nesting.
    public var depth: Int
    /// Values, the keys of objects counted too.
    public var values: Int

    /// - Parameters:
    ///   - depth: levels of nesting; an array or object is one level.
    ///   - values: values, the keys of objects counted too.
    public init(depth: Int = 32, values: Int = .max) {
        (self.depth, self.values) = (depth, values)
    }
}
