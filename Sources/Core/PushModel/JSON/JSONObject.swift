/// An object for many look-ups that mostly fail: a missing member costs a few instructions.
///
/// A view like ``JSONView``, and valid for as long.
public struct JSONObject: Sendable {
    /// The object.
    public let view: JSONView
    /// The distance on the tape to its table of keys; 0 if there is none, or if the keys are hashed with other seeds.
    @usableFromInline let tableDistance: Int
    /// The mask of the table.
    @usableFromInline let mask: Int

    /// - Parameter view: the object; any other value has no members.
    public init(_ view: JSONView) {
        self.view = view
        let hasTable = view.isObject && !view.entry.pointee.isFlagged && view.count > JSONKeyTable.membersWithout
        let slots = JSONKeyTable.slots(for: view.count)
        tableDistance = hasTable ? Int(view.entry.pointee.link) - slots >> 2 : 0
        mask = slots - 1
    }

    @inlinable
    @inline(__always)
    var table: JSONKeyTable? {
        tableDistance == 0 ? nil : JSONKeyTable(at: view.entry + tableDistance, mask: mask)
    }

    /// The member of this name, or `nil`.
    @inlinable
    @inline(__always)
    public func member(_ name: StaticString) -> JSONView? {
        let bytes = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        let hash = UInt32(truncatingIfNeeded: WordHash.keys(bytes))
        if let table, table[table.home(hash)] == 0 { return nil }
        return view.member(bytes, hash: hash)
    }

    /// Whether a member of this name may exist: `false` is certain, `true` can be a hash collision.
    @inlinable
    @inline(__always)
    public func mayHaveMember(_ name: JSONKeyHash) -> Bool {
        guard let table else { return view.mayHaveMember(name) }
        var slot = table.home(name.value)
        while table[slot] != 0 {
            if view.entry[table[slot]].link == name.value { return true }
            slot = table.next(slot)
        }
        return false
    }

    /// The member of this name, or `nil`.
    public subscript(name: String) -> JSONView? { view[name] }
}

extension JSONView {
    /// Whether a member of this name may exist in an object without a table, or with other seeds.
    @usableFromInline
    func mayHaveMember(_ name: JSONKeyHash) -> Bool {
        guard isObject, !entry.pointee.isFlagged else { return isObject }
        var key = entry + 1
        for _ in 0..<entry.pointee.count {
            if key.pointee.link == name.value { return true }
            key += 1 &+ Int(key[1].link)
        }
        return false
    }
}

/// The hash of a name, computed once for look-ups in many objects.
public struct JSONKeyHash: Hashable, Sendable {
    @usableFromInline let value: UInt32

    /// Hashes a name.
    public init(_ name: String) {
        var name = name
        value = name.withUTF8 { UInt32(truncatingIfNeeded: WordHash.keys($0)) }
    }
}

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

/// One value or key of a scanned text, in 16 bytes.
///
/// The scan writes a flat array of entries, the tape, in the order of the text: a container comes before its contents,
/// a key before its value. The first key of an object is the entry after the object, and each further key follows the
/// value before it. An object with many members has a table of its keys behind the last one (`JSONKeyTable`).
@usableFromInline
struct JSONEntry: Sendable {
    /// The length of the longest text whose offsets and counts fit.
    static let longestText = 1 << 29 - 1

    private static let flag: UInt32 = 1 << 31

    @usableFromInline var start: UInt32
    /// The end, and a flag in the top bit. For a string: it has escapes that the writer would not choose. For an
    /// object: its keys are hashed with the seeds of the process.
    @usableFromInline var flaggedEnd: UInt32
    /// For a value, the distance in entries to the next one. For a key, the lower half of its hash. For a container
    /// that is still open, the place of its parent on the tape.
    @usableFromInline var link: UInt32
    /// The kind in 3 bits, above it a count. For a container: its members or elements. For a string: the difference in
    /// bytes between its content in quotes and its unescaped text.
    @usableFromInline var packed: UInt32

    /// A value without children.
    @inline(__always)
    init(_ kind: JSONNode.Kind, from start: Int, to end: Int) {
        self.init(kind, from: start, to: end, link: 1)
    }

    /// Makes the entry of a container at its opening.
    @inline(__always)
    init(opening kind: JSONNode.Kind, at start: Int, within outer: UInt32) {
        self.init(kind, from: start, to: start &+ 1, link: outer)
    }

    /// Makes the entry of a string with its quotes.
    ///
    /// - Parameters:
    ///   - escapes: the summary of its escapes.
    ///   - link: the hash of a key; 1 for a value.
    @inline(__always)
    init(stringFrom start: Int, to end: Int, escapes: JSONEscapes, link: UInt32) {
        self.init(.string, from: start, to: end, link: link)
        packed |= escapes.saved << 3
        flaggedEnd |= escapes.areUnusual ? Self.flag : 0
    }

    @inline(__always)
    private init(_ kind: JSONNode.Kind, from start: Int, to end: Int, link: UInt32) {
        self.start = UInt32(truncatingIfNeeded: start)
        flaggedEnd = UInt32(truncatingIfNeeded: end)
        self.link = link
        packed = kind.code
    }

    @inlinable var kindCode: UInt32 { packed & 7 }

    @inlinable var isObject: Bool { kindCode == 0 }

    @inlinable var count: Int { Int(packed >> 3) }

    @inlinable var end: UInt32 { flaggedEnd & 0x7FFF_FFFF }

    /// The bytes of the value; a string's include its quotes.
    @inlinable var range: Range<Int> { Range(uncheckedBounds: (Int(start), Int(end))) }

    /// The flag in the top bit of `flaggedEnd`.
    @inlinable var isFlagged: Bool { flaggedEnd >> 31 != 0 }

    /// Completes the entry of a container.
    @inline(__always)
    mutating func close(end: Int, distance: Int, count: Int) {
        flaggedEnd = flaggedEnd & Self.flag | UInt32(truncatingIfNeeded: end)
        link = UInt32(truncatingIfNeeded: distance)
        setCount(count)
    }

    /// Sets the number of members or elements that an open container has so far.
    @inline(__always)
    mutating func setCount(_ count: Int) { packed = packed & 7 | UInt32(truncatingIfNeeded: count) << 3 }

    /// Marks an object as one whose keys are hashed with the seeds of the process.
    mutating func markReseeded() { flaggedEnd |= Self.flag }
}

extension JSONNode.Kind {
    /// The code of the kind in an entry.
    @inline(__always)
    fileprivate var code: UInt32 {
        switch self {
        case .object: 0
        case .array: 1
        case .string: 2
        case .number: 3
        case .bool: 4
        case .null: 5
        }
    }
}
