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
