/// From hashes to the slots of a table: four bytes an entry, beside the table that holds the entries themselves.
///
/// Split into shards that grow each on its own, so that no insertion moves more than a 256th of what there is. Whoever
/// owns the table gives the hash of a slot's entry and says whether an entry is the one that is meant.
struct HashIndex: Sendable {
    private struct Shard: Sendable {
        /// Open addressing, linear probing; slots plus one, 0 where there is none.
        var buckets: ContiguousArray<UInt32> = []
        var count = 0

        func home(_ hash: UInt64) -> Int { Int(((hash & 0xFFFF_FFFF) * UInt64(buckets.count)) >> 32) }

        func next(_ index: Int) -> Int { index + 1 == buckets.count ? 0 : index + 1 }

        mutating func place(_ hash: UInt64, _ slot: UInt32) {
            var index = home(hash)
            while buckets[index] != 0 { index = next(index) }
            buckets[index] = slot + 1
        }
    }

    private var shards = ContiguousArray(repeating: Shard(), count: 256)

    /// The slot under `hash` whose entry `isMeant`.
    func find(_ hash: UInt64, where isMeant: (UInt32) -> Bool) -> UInt32? {
        let shard = shards[Int(hash >> 56)]
        guard !shard.buckets.isEmpty else { return nil }
        var index = shard.home(hash)
        while shard.buckets[index] != 0 {
            if isMeant(shard.buckets[index] - 1) { return shard.buckets[index] - 1 }
            index = shard.next(index)
        }
        return nil
    }

    /// Makes room for `count` slots, so that adding them moves none; does nothing to an index that has some.
    mutating func reserve(_ count: Int) {
        // Of many a shard gets its share, of few sometimes more: three standard deviations of it.
        let share = Double(count) / Double(shards.count)
        let room = Int((share + 3 * share.squareRoot()) * 4 / 3)
        for number in shards.indices where shards[number].buckets.isEmpty && room > 0 {
            shards[number].buckets = ContiguousArray(repeating: 0, count: max(4, room))
        }
    }

    /// Adds a slot; `hashOf` gives the hashes of the others when they have to move.
    mutating func insert(_ slot: UInt32, _ hash: UInt64, hashOf: (UInt32) -> UInt64) {
        let number = Int(hash >> 56)
        let room = shards[number].buckets.count
        // At three quarters a search for what is there looks at three places, in the mean.
        if (shards[number].count + 1) * 4 > room * 3 {
            let old = shards[number].buckets
            shards[number].buckets = ContiguousArray(repeating: 0, count: max(4, room + room / 2))
            for bucket in old where bucket != 0 { shards[number].place(hashOf(bucket - 1), bucket - 1) }
        }
        shards[number].place(hash, slot)
        shards[number].count += 1
    }

    /// Takes out a slot that was added under `hash`; does nothing if it is not there.
    mutating func remove(_ slot: UInt32, _ hash: UInt64, hashOf: (UInt32) -> UInt64) {
        let number = Int(hash >> 56)
        guard !shards[number].buckets.isEmpty else { return }
        var hole = shards[number].home(hash)
        while shards[number].buckets[hole] != slot + 1 {
            guard shards[number].buckets[hole] != 0 else { return }
            hole = shards[number].next(hole)
        }
        // Whatever a search would no longer find behind the hole moves into it.
        var index = shards[number].next(hole)
        while shards[number].buckets[index] != 0 {
            let home = shards[number].home(hashOf(shards[number].buckets[index] - 1))
            let staysReachable = hole < index ? home > hole && home <= index : home > hole || home <= index
            if !staysReachable {
                shards[number].buckets[hole] = shards[number].buckets[index]
                hole = index
            }
            index = shards[number].next(index)
        }
        shards[number].buckets[hole] = 0
        shards[number].count -= 1
    }
}

/// The hash of some bytes and a number; differs from process to process, so nothing that is kept may depend on it.
func slotHash(_ number: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(number)
    hasher.combine(bytes: bytes)
    return UInt64(bitPattern: Int64(hasher.finalize()))
}

/// Whether two texts have the same bytes: to `String` two spellings of one letter are equal, to a ledger they are not.
func isSame(_ one: String, _ other: String) -> Bool {
    var (one, other) = (one, other)
    return one.withUTF8 { one in other.withUTF8 { one.count == $0.count && one.elementsEqual($0) } }
}

func slotHash(_ number: UInt32, _ text: String) -> UInt64 {
    var text = text
    return text.withUTF8 { slotHash(number, UnsafeRawBufferPointer($0)) }
}
