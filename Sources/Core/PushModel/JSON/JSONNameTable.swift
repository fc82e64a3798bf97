/// A hash table of names that finds the place of a key or text among them in a few instructions.
///
/// Made once for many documents. The look-up of a key uses the hash from the scan.
public struct JSONNames: Sendable {
    /// The names in UTF-8, concatenated.
    @usableFromInline let bytes: [UInt8]
    /// The slots, open-addressed and at least half empty. A slot has, from the lowest bit: the place of a name plus one
    /// in 8 bits, its length in 8, its offset in `bytes` in 16, its hash in 32; an empty slot is 0.
    @usableFromInline let slots: [UInt64]

    /// - Parameter names: different names, at most 255 of at most 255 bytes; places are indexes in this list.
    public init(_ names: [String]) {
        precondition(names.count < 256 && names.allSatisfy { $0.utf8.count < 256 }, "more names than there is room for")
        var bytes: [UInt8] = []
        var slots = [UInt64](repeating: 0, count: JSONKeyTable.slots(for: max(names.count, 1)))
        for (place, name) in names.enumerated() {
            let hash = JSONKeyHash(name).value
            var slot = Int(hash) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] =
                UInt64(hash) << 32 | UInt64(bytes.count) << 16 | UInt64(name.utf8.count) << 8 | UInt64(place + 1)
            bytes += name.utf8
        }
        self.bytes = bytes
        self.slots = slots
    }

    /// Returns the place of the name that equals a key of an object; `nil` if there is none.
    @inlinable
    public func place(of key: JSONView, in object: JSONView) -> Int? {
        object.entry.pointee.isFlagged ? place(of: key) : place(of: key, hash: key.entry.pointee.link)
    }

    /// Returns the place of the name that equals a text; `nil` if there is none.
    @inlinable
    public func place(of text: JSONView) -> Int? {
        text.isString ? place(of: text, hash: text.withText { UInt32(truncatingIfNeeded: WordHash.keys($0)) }) : nil
    }

    @inlinable
    func place(of text: JSONView, hash: UInt32) -> Int? {
        slots.withUnsafeBufferPointer { slots in
            var slot = Int(hash) & (slots.count &- 1)
            while slots[slot] != 0 {
                let entry = slots[slot]
                if UInt32(truncatingIfNeeded: entry &>> 32) == hash, isName(entry, text) {
                    return Int(entry & 0xFF) &- 1
                }
                slot = (slot &+ 1) & (slots.count &- 1)
            }
            return nil
        }
    }

    @inlinable
    @inline(__always)
    func isName(_ entry: UInt64, _ text: JSONView) -> Bool {
        let (start, length) = (Int(entry &>> 16 & 0xFFFF), Int(entry &>> 8 & 0xFF))
        return bytes.withUnsafeBufferPointer { bytes in
            text.jsonText.equals(UnsafeBufferPointer(rebasing: bytes[start..<start &+ length]))
        }
    }
}

/// Values by names.
public struct JSONNameTable<Value: Sendable>: Sendable {
    @usableFromInline let names: JSONNames
    @usableFromInline let values: [Value]

    /// - Parameter entries: values with different names; ``JSONNames`` has the limits.
    public init(_ entries: [(name: String, value: Value)]) {
        names = JSONNames(entries.map(\.name))
        values = entries.map(\.value)
    }

    /// Returns the value for the name that equals a text; `nil` if there is none.
    @inlinable
    public func value(for text: JSONView) -> Value? { names.place(of: text).map { values[$0] } }
}

/// The members of an object by the places of their names in a list, found in one pass.
///
/// Valid only while the closure of ``read(_:_:_:)`` runs, because it points to temporary memory and into the document.
public struct JSONNamedMembers {
    @usableFromInline let object: JSONView
    /// The distance from the object to the value for each place; 0 if there is none.
    @usableFromInline let distances: UnsafeMutableBufferPointer<UInt32>
    /// A mask with a bit for each place that has a member.
    public let found: UInt64
    /// Whether the object has members of other names.
    public let hasOthers: Bool

    /// Calls `body` with the members of an object.
    ///
    /// - Parameters:
    ///   - object: the object, which retains its document meanwhile; any other value has no members.
    ///   - names: at most 64 names.
    ///   - body: the code that uses the members.
    @inlinable
    public static func read<Result, Failure: Error>(
        _ object: JSONNode, _ names: JSONNames,
        _ body: (JSONNamedMembers) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { (distances) throws(Failure) in
            try object.withView { (view) throws(Failure) in try body(JSONNamedMembers(view, names, distances)) }
        }
    }

    @usableFromInline
    init(_ object: JSONView, _ names: JSONNames, _ distances: UnsafeMutableBufferPointer<UInt32>) {
        distances.initialize(repeating: 0)
        var found: UInt64 = 0
        var hasOthers = false
        for (key, value) in object.members {
            if let place = names.place(of: key, in: object) {
                distances[place] = UInt32(truncatingIfNeeded: value.entry - object.entry)
                found |= 1 << UInt64(place)
            } else {
                hasOthers = true
            }
        }
        self.object = object
        self.distances = distances
        self.found = found
        self.hasOthers = hasOthers
    }

    /// The value of the member whose name has this place; `nil` if there is none.
    @inlinable public subscript(place: Int) -> JSONView? {
        let distance = distances[place]
        return distance == 0 ? nil : JSONView(object.entry + Int(distance), in: object.text)
    }
}
