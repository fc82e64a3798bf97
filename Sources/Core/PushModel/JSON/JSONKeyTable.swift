/// The table of the keys of an object by their hashes: open addressing with linear probing, at most half full.
///
/// An object with more than `membersWithout` members has one behind its last member on the tape: the scan builds it
/// to detect repeated keys, and look-ups use it. So each look-up takes constant time.
///
/// The hash of keys is fixed, and a client may send keys that collide. If filling a table takes too many steps, the
/// scan hashes the object's keys again with the seeds of the process, which are secret.
///
/// The table is a pointer into the tape, valid while the tape exists and does not grow.
@usableFromInline
struct JSONKeyTable {
    /// The largest number of members for which an object has no table: look-ups compare its keys one by one.
    @usableFromInline static var membersWithout: Int { 8 }

    /// The number of slots of an object's table, by its number of members; a power of two.
    @inlinable
    static func slots(for members: Int) -> Int { 1 &<< (Int.bitWidth &- (2 &* members &- 1).leadingZeroBitCount) }

    /// The number of entries on the tape that an object's table takes, by its number of members.
    @inlinable
    static func length(for members: Int) -> Int { members > membersWithout ? slots(for: members) &>> 2 : 0 }

    /// For each slot the distance on the tape from the object to a key, in 32 bits; 0 for an empty slot.
    @usableFromInline let start: UnsafeMutableRawPointer
    @usableFromInline let mask: Int

    /// Makes the table of an object on a finished tape; `nil` for an object without one.
    @inlinable
    init?(of object: UnsafePointer<JSONEntry>) {
        let count = object.pointee.count
        guard count > Self.membersWithout else { return nil }
        self.init(at: object + (Int(object.pointee.link) &- (Self.slots(for: count) &>> 2)), members: count)
    }

    /// Makes the table that begins at an entry.
    @inlinable
    init(at entry: UnsafePointer<JSONEntry>, members: Int) {
        self.init(at: entry, mask: Self.slots(for: members) &- 1)
    }

    /// Makes the table that begins at an entry.
    ///
    /// - Parameter mask: the number of its slots, minus one.
    @inlinable
    init(at entry: UnsafePointer<JSONEntry>, mask: Int) {
        start = UnsafeMutableRawPointer(mutating: entry)
        self.mask = mask
    }

    /// Returns the slot in which a search begins.
    @inlinable
    func home(_ hash: UInt32) -> Int { Int(hash) & mask }

    @inlinable
    func next(_ slot: Int) -> Int { (slot &+ 1) & mask }

    @inlinable
    subscript(slot: Int) -> Int {
        get { Int(start.load(fromByteOffset: slot &* 4, as: UInt32.self)) }
        nonmutating set {
            start.storeBytes(of: UInt32(truncatingIfNeeded: newValue), toByteOffset: slot &* 4, as: UInt32.self)
        }
    }

    /// Makes all slots empty.
    func clear() { _ = start.initializeMemory(as: UInt32.self, repeating: 0, count: mask + 1) }
}

/// A set of names that each stand for some of 64 rules. One pass matches all keys of an object against them, in a few
/// instructions for each key, independent of the number of names.
public struct JSONKeyMasks: Sendable {
    /// For each slot the hash of a name, shifted over a bit that is set in every occupied slot. Open addressing with a
    /// load of at most a quarter: most keys are none of the names, and an empty first slot shows that.
    @usableFromInline let hashes: [UInt64]
    /// For each slot the bits of its name.
    @usableFromInline let masks: [UInt64]

    /// - Parameter names: names, each with the bits that it stands for; a repeated name gets the bits of all its
    ///   entries.
    public init(_ names: [(name: String, mask: UInt64)]) {
        let count = 2 * JSONKeyTable.slots(for: max(names.count, 1))
        var hashes = [UInt64](repeating: 0, count: count)
        var masks = [UInt64](repeating: 0, count: count)
        for (name, mask) in names {
            let entry = Self.entry(JSONKeyHash(name).value)
            var slot = Int(entry >> 1) & (count - 1)
            while hashes[slot] != 0, hashes[slot] != entry { slot = (slot + 1) & (count - 1) }
            hashes[slot] = entry
            masks[slot] |= mask
        }
        self.hashes = hashes
        self.masks = masks
    }

    /// The union of the bits of an object's keys. It has every bit of a key that is one of the names; a hash collision
    /// may add bits. All bits for an object whose keys were made to collide; none for a value that is no object.
    public func mask(ofKeysOf object: JSONView) -> UInt64 {
        guard object.isObject else { return 0 }
        guard !object.entry.pointee.isFlagged else { return .max }
        return hashes.withUnsafeBufferPointer { hashes in
            var found: UInt64 = 0
            var key = object.entry + 1
            for _ in 0..<object.entry.pointee.count {
                let entry = Self.entry(key.pointee.link)
                var slot = Int(entry &>> 1) & (hashes.count &- 1)
                while hashes[slot] != 0 {
                    if hashes[slot] == entry {
                        found |= masks[slot]
                        break
                    }
                    slot = (slot &+ 1) & (hashes.count &- 1)
                }
                key += 1 &+ Int(key[1].link)
            }
            return found
        }
    }

    @inline(__always)
    private static func entry(_ hash: UInt32) -> UInt64 { UInt64(hash) &<< 1 | 1 }
}

/// A set of prefixes that each stand for some of 64 rules. One pass matches all keys of an object against them: the first
/// byte excludes most keys, and a key with escapes is unescaped once.
public struct JSONKeyPrefixes: Sendable {
    /// For each byte whether a prefix begins with it.
    private let begins: [Bool]
    private let prefixes: [(text: [UInt8], mask: UInt64)]

    /// - Parameter prefixes: texts that are not empty, each with the bits that it stands for.
    public init(_ prefixes: [(text: String, mask: UInt64)]) {
        var begins = [Bool](repeating: false, count: 256)
        for first in prefixes.compactMap(\.text.utf8.first) { begins[Int(first)] = true }
        self.begins = begins
        self.prefixes = prefixes.map { (Array($0.text.utf8), $0.mask) }
    }

    /// The union of the bits of the prefixes with which an object's keys begin; none for a value that is no object.
    public func mask(ofKeysOf object: JSONView) -> UInt64 {
        guard !prefixes.isEmpty else { return 0 }
        return begins.withUnsafeBufferPointer { begins in
            var found: UInt64 = 0
            for (key, _) in object.members where begins[Int(key.firstUnescapedByte)] {
                key.withText { text in
                    for (prefix, mask) in prefixes where text.starts(with: prefix) { found |= mask }
                }
            }
            return found
        }
    }
}

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
