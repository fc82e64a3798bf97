/// A table whose elements keep their slots until they are removed. It grows by pieces, without a copy of the whole.
struct Slab<Element: Sendable>: Sendable {
    private static var pieceLength: Int { 1024 }
    private var pieces: ContiguousArray<ContiguousArray<Element>> = []
    private var free: ContiguousArray<UInt32> = []
    /// The slot at which `next` begins.
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

    /// Adds an element; may reuse the slot of a removed one.
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

    /// Returns the next wanted slot in a round, from where the last call stopped; `nil`: none among those checked.
    ///
    /// - Parameters:
    ///   - looks: the most slots that it checks.
    ///   - isWanted: also gets the blanks of free slots, and may mark an element as seen.
    mutating func next(_ looks: Int, where isWanted: (inout Element) -> Bool) -> UInt32? {
        let end = UInt32(slotCount)
        for _ in 0..<(end == 0 ? 0 : looks) {
            let slot = hand < end ? hand : 0
            hand = slot + 1
            if isWanted(&self[slot]) { return slot }
        }
        return nil
    }

    /// Removes the element at `slot`; `blank` stays there until the slot is reused.
    mutating func remove(_ slot: UInt32, leaving blank: Element) {
        self[slot] = blank
        free.append(slot)
    }
}

/// The most slots that one search for an unused element checks, so that a turn of the loop is short. A search without a
/// result leaves surplus elements in place, and the next one continues from there.
let looksMax = 4096
