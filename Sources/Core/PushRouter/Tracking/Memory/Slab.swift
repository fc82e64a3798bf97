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
