/// A table of names with a bit mask for each: one pass compares all keys of an object with it, at a few instructions
/// for each key, however many names there are.
public struct JSONKeyMasks: Sendable {
    /// The hash of the name in each slot, above a bit that is set in a used slot. Open addressing, at least three
    /// quarters empty, so that a key that is not among the names usually hits an empty slot at once.
    @usableFromInline let hashes: [UInt64]
    /// The mask of the name in each slot.
    @usableFromInline let masks: [UInt64]

    /// - Parameter names: names with their masks; the masks of a repeated name are combined.
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

    /// Returns the combined masks of the keys of an object. No bit of a key is missing; rarely a bit is too many, as
    /// only hashes are compared. Returns all bits for an object with keys made to collide, and 0 for a value that is
    /// not an object.
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
