/// Names that stand for some of 64 things each: all keys of an object are held against them in one pass, at a few
/// instructions a key, however many names there are.
public struct JSONKeyMasks: Sendable {
    /// For each slot the hash of a name, above a bit that tells it from an empty slot. Open addressing, three quarters
    /// empty at least: most keys are none of the names, and their first slot says it.
    @usableFromInline let hashes: [UInt64]
    /// For each slot what its name stands for.
    @usableFromInline let masks: [UInt64]

    /// - Parameter names: names, and a bit for each thing that they stand for; of a name given twice all bits count.
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

    /// What the keys of an object may stand for: no bit of a key's name is missing, and seldom is one too many. All bits
    /// for an object whose keys were made to collide; none for what is no object.
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
