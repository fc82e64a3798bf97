/// The entries of a text while the scan writes them: growing memory that the document takes over.
///
/// The owner of a tape frees its memory once, or hands the tape on: the scan frees it on an error, a document in its
/// `deinit`.
struct JSONTape {
    /// The first entry.
    private(set) var entries: UnsafeMutablePointer<JSONEntry>
    /// The address of the next entry.
    private(set) var next: UnsafeMutablePointer<JSONEntry>
    /// The end of the memory.
    private var end: UnsafeMutablePointer<JSONEntry>

    /// Creates an empty tape.
    ///
    /// - Parameter capacity: the expected number of entries.
    init(capacity: Int) {
        entries = .allocate(capacity: capacity)
        next = entries
        end = entries + capacity
    }

    /// The number of entries that the memory has room for.
    var capacity: Int { end - entries }

    func free() { entries.deallocate() }

    /// The number of entries; each has 16 bytes.
    @inline(__always)
    var count: Int { (Int(bitPattern: next) &- Int(bitPattern: entries)) &>> 4 }

    /// Whether there is room for `room` more entries.
    @inline(__always)
    func hasRoom(for room: Int) -> Bool { Int(bitPattern: end) &- Int(bitPattern: next) >= room &<< 4 }

    /// Appends an entry; there must be room for it.
    @inline(__always)
    mutating func append(_ entry: JSONEntry) {
        next.initialize(to: entry)
        next += 1
    }

    /// Notes that the caller wrote `count` entries from `next` on.
    @inline(__always)
    mutating func didFillNext(_ count: Int = 1) { next += count }

    /// Returns the same tape with more memory, and frees the old memory.
    ///
    /// - Parameters:
    ///   - room: the number of further entries that need room.
    ///   - most: the limit of entries; the caller has checked that the further ones are within it.
    ///   - share: the part of the text that the scan has read, from which it estimates the entries of the rest: most
    ///     texts need only one copy.
    @inline(never)
    func grown(by room: Int, atMost most: Int, having share: (read: Int, of: Int)) -> JSONTape {
        let guess = count / 8 * 9 * share.of / max(share.read, 1)
        var larger = JSONTape(capacity: min(min(max(guess, capacity / 2 * 3), capacity * 8) + room, most))
        larger.entries.moveInitialize(from: entries, count: count)
        larger.next += count
        free()
        return larger
    }
}

extension JSONTape {
    /// Throws if two keys of the object at `index`, whose members end the tape, have the same text. For an object with
    /// many keys it also builds their table behind them; the tape must have room for it.
    ///
    /// - Throws: the error for the first repeated key.
    func indexKeys(ofObjectAt index: Int, members: Int, in text: UnsafePointer<UInt8>) throws(JSONError) {
        if members > JSONKeyTable.membersWithout {
            return try makeTable(ofObjectAt: index, members: members, in: text)
        }
        // A key whose bit is not set is new; most objects need no comparison at all.
        var seen: UInt64 = 0
        var key = index &+ 1
        for _ in 0..<members {
            let bit: UInt64 = 1 << UInt64(entries[key].link & 63)
            if seen & bit != 0 { try refuse(key, equalTo: index &+ 1, in: text) }
            seen |= bit
            key = next(after: key)
        }
    }

    /// The key after the value of `key`.
    @inline(__always)
    private func next(after key: Int) -> Int { key &+ 1 &+ Int(entries[key &+ 1].link) }

    /// Throws if a key equals one of the earlier ones from `first` on.
    private func refuse(_ key: Int, equalTo first: Int, in text: UnsafePointer<UInt8>) throws(JSONError) {
        var earlier = first
        while earlier < key {
            if isSame(earlier, key, in: text) { throw duplicate(key, in: text) }
            earlier = next(after: earlier)
        }
    }

    /// Whether two keys have the same text.
    @inline(__always)
    private func isSame(_ one: Int, _ other: Int, in text: UnsafePointer<UInt8>) -> Bool {
        guard entries[one].link == entries[other].link else { return false }
        return JSONText(entries[one], in: text).isSame(as: JSONText(entries[other], in: text))
    }

    private func makeTable(ofObjectAt index: Int, members: Int, in text: UnsafePointer<UInt8>) throws(JSONError) {
        let table = JSONKeyTable(at: next, members: members)
        if try fill(table, ofObjectAt: index, members: members, in: text, stepsMax: 4 * members + 64) { return }
        // Far more keys collide than by chance: a client does it on purpose. It does not know the seeds of this
        // process.
        var key = index + 1
        for _ in 0..<members {
            let name = JSONText(entries[key], in: text)
            entries[key].link = name.withBytes { UInt32(truncatingIfNeeded: WordHash.ofThisProcess($0)) }
            key = next(after: key)
        }
        entries[index].markReseeded()
        _ = try fill(table, ofObjectAt: index, members: members, in: text, stepsMax: .max)
    }

    /// Inserts all keys into a table; returns false once it takes more than `stepsMax` steps.
    private func fill(
        _ table: JSONKeyTable, ofObjectAt index: Int, members: Int, in text: UnsafePointer<UInt8>, stepsMax: Int
    ) throws(JSONError) -> Bool {
        table.clear()
        var steps = 0
        var key = index &+ 1
        for _ in 0..<members {
            var slot = table.home(entries[key].link)
            while table[slot] != 0 {
                if isSame(index &+ table[slot], key, in: text) { throw duplicate(key, in: text) }
                slot = table.next(slot)
                steps &+= 1
            }
            guard steps <= stepsMax else { return false }
            table[slot] = key &- index
            key = next(after: key)
        }
        return true
    }

    private func duplicate(_ key: Int, in text: UnsafePointer<UInt8>) -> JSONError {
        let name = JSONText(entries[key], in: text).string
        let shown = name.count > 40 ? "\(name.prefix(40))..." : name
        return JSONError(
            .duplicateKey, at: Int(entries[key].start), "the key \"\(shown)\" comes twice in one object")
    }
}

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
