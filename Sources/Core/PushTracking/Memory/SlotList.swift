/// A contiguous list of slots in order of arrival: a reader of all of them follows no links.
struct SlotList: Sendable {
    private var slots: ContiguousArray<UInt32> = []
    /// The number of removed slots that are still at the front of the array.
    private var gone = 0

    /// The slots, the oldest first.
    var all: Slice<ContiguousArray<UInt32>> { Slice(base: slots, bounds: gone..<slots.count) }

    /// Adds a slot as the newest.
    mutating func append(_ slot: UInt32) { slots.append(slot) }

    /// Removes a slot; does nothing if it is not there. Constant time for the oldest, which is forgotten first; linear
    /// in the list for any other.
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

    /// Removes some slots, which are in the order of the list, in one pass.
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
