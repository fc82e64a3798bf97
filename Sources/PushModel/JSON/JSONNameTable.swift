/// Values by the names of members: which of an object's keys are known, and what is known of them.
///
/// Made once for many objects. A look-up reads the hash that the scan left with the key.
public struct JSONNameTable<Value: Sendable>: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline let hash: UInt32
        /// Where the name is among the bytes of all.
        @usableFromInline let name: Range<Int>
        @usableFromInline let value: Value
    }

    @usableFromInline let entries: [Entry]
    /// The names in UTF-8, one behind the other.
    @usableFromInline let names: [UInt8]
    /// For each slot the place of an entry plus one; 0 where it is empty. Open addressing, half empty at least.
    @usableFromInline let slots: [UInt8]

    /// A table of these names, of which no two are the same; at most 255.
    public init(_ entries: [(name: String, value: Value)]) {
        var names: [UInt8] = []
        self.entries = entries.map { name, value in
            let start = names.count
            names += name.utf8
            return Entry(hash: JSONKeyHash(name).value, name: start..<names.count, value: value)
        }
        self.names = names
        var slots = [UInt8](repeating: 0, count: JSONKeyTable.slots(for: max(entries.count, 1)))
        for (place, entry) in self.entries.enumerated() {
            var slot = Int(entry.hash) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = UInt8(place + 1)
        }
        self.slots = slots
    }

    /// What is known under a key of an object; `nil` when nothing is.
    @inlinable
    public func value(for key: JSONView, of object: JSONView) -> Value? {
        let hash = object.hash(ofKey: key)
        var slot = Int(hash) & (slots.count &- 1)
        while slots[slot] != 0 {
            let place = Int(slots[slot]) &- 1
            if entries[place].hash == hash, isName(of: place, key) { return entries[place].value }
            slot = (slot &+ 1) & (slots.count &- 1)
        }
        return nil
    }

    @inlinable
    func isName(of place: Int, _ key: JSONView) -> Bool {
        let range = entries[place].name
        return names.withUnsafeBufferPointer { key.equals(UnsafeBufferPointer(rebasing: $0[range])) }
    }
}

extension JSONView {
    /// The fixed hash of one of an object's keys.
    @inlinable
    func hash(ofKey key: JSONView) -> UInt32 {
        guard entry.pointee.isFlagged else { return key.entry.pointee.link }
        return key.withText { UInt32(truncatingIfNeeded: WordHash.keys($0)) }
    }
}
