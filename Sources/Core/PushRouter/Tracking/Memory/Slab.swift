import PushModel

/// Elements that keep their slot until they are removed. It grows by pieces, so that growing never copies all elements.
struct Slab<Element: Sendable>: Sendable {
    private static var pieceLength: Int { 1024 }
    private var pieces: ContiguousArray<ContiguousArray<Element>> = []
    private var free: ContiguousArray<UInt32> = []
    /// The slot where `next` starts.
    private var hand: UInt32 = 0

    /// The number of slots, free ones included.
    var slotCount: Int {
        guard let last = pieces.last else { return 0 }
        return (pieces.count - 1) * Self.pieceLength + last.count
    }

    /// The number of elements.
    var count: Int { slotCount - free.count }

    subscript(slot: UInt32) -> Element {
        _read { yield pieces[Int(slot) / Self.pieceLength][Int(slot) % Self.pieceLength] }
        _modify { yield &pieces[Int(slot) / Self.pieceLength][Int(slot) % Self.pieceLength] }
    }

    /// Inserts an element, in a free slot if there is one.
    mutating func insert(_ element: Element) -> UInt32 {
        if let slot = free.popLast() {
            self[slot] = element
            return slot
        }
        if pieces.last.map({ $0.count == Self.pieceLength }) ?? true {
            var piece = ContiguousArray<Element>()
            // The first piece grows on demand: most tables are small.
            if !pieces.isEmpty { piece.reserveCapacity(Self.pieceLength) }
            pieces.append(piece)
        }
        pieces[pieces.count - 1].append(element)
        return UInt32((pieces.count - 1) * Self.pieceLength + pieces[pieces.count - 1].count - 1)
    }

    /// All slots, free ones included.
    var slots: Range<UInt32> { 0..<UInt32(slotCount) }

    /// Visits the slots cyclically, from the last stop on, and returns the first wanted one.
    ///
    /// - Parameters:
    ///   - looks: the limit of visited slots.
    ///   - isWanted: the test; it also gets the blanks of free slots, and may mark a visited element.
    mutating func next(_ looks: Int, where isWanted: (inout Element) -> Bool) -> UInt32? {
        let end = UInt32(slotCount)
        for _ in 0..<(end == 0 ? 0 : looks) {
            let slot = hand < end ? hand : 0
            hand = slot + 1
            if isWanted(&self[slot]) { return slot }
        }
        return nil
    }

    /// Removes the element at `slot`; `blank` takes its place until the slot is reused.
    mutating func remove(_ slot: UInt32, leaving blank: Element) {
        self[slot] = blank
        free.append(slot)
    }
}

/// The limit of visited slots in one search for unused entries, so that a turn of the loop stays short. The next search
/// continues there.
let looksMax = 4096

/// Slots in the order in which they came, in contiguous memory, so that reading them all follows no pointers.
struct SlotList: Sendable {
    private var slots: ContiguousArray<UInt32> = []
    /// The number of removed slots at the front of the array.
    private var gone = 0

    /// The slots, the oldest first.
    var all: Slice<ContiguousArray<UInt32>> { Slice(base: slots, bounds: gone..<slots.count) }

    /// Appends a slot as the newest.
    mutating func append(_ slot: UInt32) { slots.append(slot) }

    /// Removes a slot; does nothing if it is not there. The oldest, the usual case, takes constant time; any other
    /// takes time in proportion to the length.
    mutating func remove(_ slot: UInt32) {
        guard let place = slots[gone...].firstIndex(of: slot) else { return }
        if place > gone {
            slots.remove(at: place)
        } else {
            gone += 1
        }
        if gone == slots.count {
            self = SlotList()
        } else if gone * 2 > slots.count {
            slots.removeFirst(gone)
            gone = 0
        }
    }

    /// Removes several slots, given in the order of the list, in one pass.
    mutating func remove(_ some: [UInt32]) {
        guard some.count > 1 else { return some.first.map { remove($0) } ?? () }
        var next = 0
        var kept = SlotList()
        for slot in all {
            if next < some.count, slot == some[next] { next += 1 } else { kept.append(slot) }
        }
        self = kept
    }
}

/// An index from hashes to the slots of a table: eight bytes for each entry, separate from the table of entries.
///
/// Four of the bytes are half of the hash, so neither probing nor growing reads the table, which is where a large table
/// takes time. The index consists of shards that grow separately, so that no insertion moves more than a 256th of the
/// entries. The table's owner compares the entries.
struct HashIndex: Sendable {
    private struct Bucket: Sendable {
        /// The slot plus one; 0 in an empty bucket.
        var entry: UInt32 = 0
        /// The low half of the hash.
        var hash: UInt32 = 0
    }

    private struct Shard: Sendable {
        /// Open addressing with linear probing.
        var buckets: ContiguousArray<Bucket> = []
        var count = 0

        /// In the order of the hashes, so that growing a shard writes it from one end to the other.
        func home(_ hash: UInt32) -> Int { Int((UInt64(hash) * UInt64(buckets.count)) >> 32) }

        func next(_ index: Int) -> Int { index + 1 == buckets.count ? 0 : index + 1 }

        func find(_ hash: UInt32, where isMeant: (UInt32) -> Bool) -> UInt32? {
            guard !buckets.isEmpty else { return nil }
            var index = home(hash)
            while buckets[index].entry != 0 {
                let slot = buckets[index].entry - 1
                if buckets[index].hash == hash, isMeant(slot) { return slot }
                index = next(index)
            }
            return nil
        }

        mutating func place(_ bucket: Bucket) {
            var index = home(bucket.hash)
            while buckets[index].entry != 0 { index = next(index) }
            buckets[index] = bucket
        }
    }

    private var shards = ContiguousArray(repeating: Shard(), count: 256)

    /// Returns the slot of `hash` whose entry satisfies `isMeant`.
    func find(_ hash: UInt64, where isMeant: (UInt32) -> Bool) -> UInt32? {
        shards[Int(hash >> 56)].find(UInt32(truncatingIfNeeded: hash), where: isMeant)
    }

    /// Reserves capacity for `count` slots, so that inserting them moves none; does nothing to shards with entries.
    mutating func reserve(_ count: Int) {
        // The number of entries varies between shards: this adds three standard deviations to the mean.
        let share = Double(count) / Double(shards.count)
        let room = Int((share + 3 * share.squareRoot()) * 5 / 4)
        for number in shards.indices where shards[number].buckets.isEmpty && room > 0 {
            shards[number].buckets = ContiguousArray(repeating: Bucket(), count: max(4, room))
        }
    }

    /// Inserts a slot.
    mutating func insert(_ slot: UInt32, _ hash: UInt64) {
        let number = Int(hash >> 56)
        let room = shards[number].buckets.count
        // At a load of four fifths a successful search probes three buckets on average.
        if (shards[number].count + 1) * 5 > room * 4 {
            let old = shards[number].buckets
            shards[number].buckets = ContiguousArray(repeating: Bucket(), count: max(4, room + room / 4 + 1))
            for bucket in old where bucket.entry != 0 { shards[number].place(bucket) }
        }
        shards[number].place(Bucket(entry: slot + 1, hash: UInt32(truncatingIfNeeded: hash)))
        shards[number].count += 1
    }

    /// Removes a slot that was inserted with `hash`; does nothing if it is not there.
    mutating func remove(_ slot: UInt32, _ hash: UInt64) {
        let number = Int(hash >> 56)
        guard !shards[number].buckets.isEmpty else { return }
        var hole = shards[number].home(UInt32(truncatingIfNeeded: hash))
        while shards[number].buckets[hole].entry != slot + 1 {
            guard shards[number].buckets[hole].entry != 0 else { return }
            hole = shards[number].next(hole)
        }
        // Moves each entry that a search would no longer find behind the hole into the hole.
        var index = shards[number].next(hole)
        while shards[number].buckets[index].entry != 0 {
            let home = shards[number].home(shards[number].buckets[index].hash)
            let staysReachable = hole < index ? home > hole && home <= index : home > hole || home <= index
            if !staysReachable {
                shards[number].buckets[hole] = shards[number].buckets[index]
                hole = index
            }
            index = shards[number].next(index)
        }
        shards[number].buckets[hole] = Bucket()
        shards[number].count -= 1
    }
}

/// Returns a hash of bytes and a number. It differs from process to process, so no stored data may depend on it.
func slotHash(_ number: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let hash = WordHash.ofThisProcess
    return hash.joined(hash(bytes.assumingMemoryBound(to: UInt8.self)), UInt64(number))
}

func slotHash(_ number: UInt32, _ text: String) -> UInt64 {
    text.withBytes { slotHash(number, UnsafeRawBufferPointer($0)) }
}

/// Returns a hash of a number that no outsider chooses: spread over all bits, and the same in every process.
func slotHash(_ number: Int64) -> UInt64 {
    // The finalizer of MurmurHash3.
    var hash = UInt64(bitPattern: number)
    hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
    hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
    return hash ^ hash >> 33
}

extension UnsafeRawBufferPointer {
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        assumingMemoryBound(to: UInt8.self).isSame(as: other.assumingMemoryBound(to: UInt8.self))
    }
}
