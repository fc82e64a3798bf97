/// A fixed list of names that maps a key or text to its place in the list in a few instructions.
///
/// Built once for many documents. The look-up of a key uses the hash that the scan stored with it.
public struct JSONNames: Sendable {
    /// The names in UTF-8, concatenated.
    @usableFromInline let bytes: [UInt8]
    /// For each slot, from the lowest bit on: the place of a name plus one in 8 bits, its length in 8, its offset in
    /// `bytes` in 16, its hash in 32; 0 for an empty slot. Open addressing, at most half full.
    @usableFromInline let slots: [UInt64]

    /// - Parameter names: at most 255 distinct names of at most 255 bytes; the list defines their places.
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

    /// The place of an object's key among the names, or `nil`.
    @inlinable
    public func place(of key: JSONView, in object: JSONView) -> Int? {
        object.entry.pointee.isFlagged ? place(of: key) : place(of: key, hash: key.entry.pointee.link)
    }

    /// The place of a text among the names, or `nil`.
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
struct JSONNameTable<Value: Sendable>: Sendable {
    @usableFromInline let names: JSONNames
    @usableFromInline let values: [Value]

    /// - Parameter entries: values with distinct names; ``JSONNames`` has the limits.
    init(_ entries: [(name: String, value: Value)]) {
        names = JSONNames(entries.map(\.name))
        values = entries.map(\.value)
    }

    /// The value for a text that is one of the names, or `nil`.
    @inlinable
    public func value(for text: JSONView) -> Value? { names.place(of: text).map { values[$0] } }
}

/// The members of an object by the places of their names in a list, found in one pass.
///
/// Valid only during the closure of ``read(_:_:_:)``: it points into temporary memory and into the document.
struct JSONNamedMembers {
    @usableFromInline let object: JSONView
    /// For each place the distance on the tape from the object to the value; 0 if there is none.
    @usableFromInline let distances: UnsafeMutableBufferPointer<UInt32>
    /// The bits of the places that have a member.
    public let found: UInt64
    /// Whether the object has members with other names.
    public let hasOthers: Bool

    /// Calls `body` with the members of an object.
    ///
    /// - Parameters:
    ///   - object: the object; any other value has no members. Retains its document during the call.
    ///   - names: at most 64 names.
    ///   - body: the closure that reads them.
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

    /// The value of the member whose name has this place, or `nil`.
    @inlinable public subscript(place: Int) -> JSONView? {
        let distance = distances[place]
        return distance == 0 ? nil : JSONView(object.entry + Int(distance), in: object.text)
    }
}
