/// A JSON text that passed the strict scan, with the byte range of each value. One reference: cheap to copy.
public struct JSONDocument: Sendable {
    let storage: JSONStorage

    init(_ storage: JSONStorage) { self.storage = storage }

    /// Scans `bytes` strictly: RFC 8259, and in addition no repeated key in an object, no lone surrogate, no `\u0000`
    /// in a key (a string value may contain it), and no number that is infinite as a double.
    ///
    /// One pass without recursion, linear in the length of any text. It decodes nothing: numbers and strings keep their
    /// bytes, and the nodes decode them on demand.
    ///
    /// - Throws: ``JSONError`` for the first error; a repeated key counts at the end of its object.
    public init(scanning bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        storage = try JSONStorage(scanning: bytes, limits: limits)
    }

    /// The text as it was given.
    public var bytes: [UInt8] { storage.bytes }

    /// The bytes of memory that it uses: the text and the tape.
    public var memorySize: Int { storage.bytes.count + storage.tapeCapacity * MemoryLayout<JSONEntry>.stride }

    /// The top-level value.
    public var root: JSONNode { JSONNode(storage, storage.tape) }

    /// A node for one of the document's views; the node retains the document.
    public func node(_ view: JSONView) -> JSONNode {
        precondition(view.text == storage.text, "a view of another document")
        return JSONNode(storage, view.entry)
    }
}

/// The limits of a scan.
public struct JSONLimits: Sendable {
    /// The limit of nesting levels.
    public var depth: Int
    /// The limit of values, keys included.
    public var values: Int

    /// - Parameters:
    ///   - depth: the limit of nesting levels; an array or object is one level.
    ///   - values: the limit of values, keys included.
    public init(depth: Int = 32, values: Int = .max) {
        (self.depth, self.values) = (depth, values)
    }
}

/// The memory of a document: its text, and the tape of the scan.
///
/// Immutable after `init`, so any thread may read it. `text` and `tape` point to memory that keeps its address while
/// this object lives: `deinit` frees the tape, and the array keeps its elements in one buffer, which nobody can change
/// while the array is a constant here.
@usableFromInline final class JSONStorage: @unchecked Sendable {
    let bytes: [UInt8]
    @usableFromInline let text: UnsafePointer<UInt8>
    @usableFromInline let tape: UnsafePointer<JSONEntry>
    /// The number of entries that the tape has room for.
    let tapeCapacity: Int

    init(scanning bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
        let scanned = try bytes.withUnsafeBufferPointer { (text) throws(JSONError) in
            let tape = try JSONScanner.tape(of: text, limits: limits)
            return (text: text.baseAddress, tape: tape.entries, capacity: tape.capacity)
        }
        tapeCapacity = scanned.capacity
        self.bytes = bytes
        guard let text = scanned.text else { preconditionFailure("an empty text passed the scan") }
        self.text = text
        tape = UnsafePointer(scanned.tape)
    }

    deinit { tape.deallocate() }
}
