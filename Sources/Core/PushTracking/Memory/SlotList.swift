/// Slots in the order in which they came, side by side: whoever reads them all need not wait for one to learn the next.
struct SlotList: Sendable {
    private var slots: ContiguousArray<UInt32> = []
    /// How many of the first have been removed, but still lie there.
    private var gone = 0

    /// The slots, the oldest first.
    var all: Slice<ContiguousArray<UInt32>> { Slice(base: slots, bounds: gone..<slots.count) }

    /// Adds one as the newest.
    mutating func append(_ slot: UInt32) { slots.append(slot) }

    /// Takes out one; does nothing if it is not there. For the oldest, which is what is forgotten, it costs next to
    /// nothing, else what the list is long.
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

    /// Takes out some, which are in the order of the list, in one go through it.
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
