/// Elements that keep their slot until they are removed. Grows by pieces, so that nothing is copied as a whole.
struct Slab<Element: Sendable>: Sendable {
    private static var pieceLength: Int { 1024 }
    private var pieces: ContiguousArray<ContiguousArray<Element>> = []
    private var free: ContiguousArray<UInt32> = []
    /// Where `next` looks first.
    private var hand: UInt32 = 0

    /// How many slots there are, the free ones too.
    var slotCount: Int {
        guard let last = pieces.last else { return 0 }
        return (pieces.count - 1) * Self.pieceLength + last.count
    }

    /// How many elements there are.
    var count: Int { slotCount - free.count }

    subscript(slot: UInt32) -> Element {
        _read { yield pieces[Int(slot) / Self.pieceLength][Int(slot) % Self.pieceLength] }
        _modify { yield &pieces[Int(slot) / Self.pieceLength][Int(slot) % Self.pieceLength] }
    }

    /// Adds an element; its slot may have been that of one that was removed.
    mutating func insert(_ element: Element) -> UInt32 {
        if let slot = free.popLast() {
            self[slot] = element
            return slot
        }
        if pieces.last.map({ $0.count == Self.pieceLength }) ?? true {
            var piece = ContiguousArray<Element>()
            // The first piece grows as it is needed: most tables are small.
            if !pieces.isEmpty { piece.reserveCapacity(Self.pieceLength) }
            pieces.append(piece)
        }
        pieces[pieces.count - 1].append(element)
        return UInt32((pieces.count - 1) * Self.pieceLength + pieces[pieces.count - 1].count - 1)
    }

    /// All slots, the free ones too.
    var slots: Range<UInt32> { 0..<UInt32(slotCount) }

    /// Goes on round the slots, from where it stopped the last time, to one that is wanted.
    ///
    /// - Parameters:
    ///   - looks: at how many slots it looks at most.
    ///   - isWanted: sees the blanks of free slots too, and may mark what it has seen.
    mutating func next(_ looks: Int, where isWanted: (inout Element) -> Bool) -> UInt32? {
        let end = UInt32(slotCount)
        for _ in 0..<(end == 0 ? 0 : looks) {
            let slot = hand < end ? hand : 0
            hand = slot + 1
            if isWanted(&self[slot]) { return slot }
        }
        return nil
    }

    /// Removes the element at `slot`; `blank` takes its place until the slot is used again.
    mutating func remove(_ slot: UInt32, leaving blank: Element) {
        self[slot] = blank
        free.append(slot)
    }
}

/// At how many slots a look for one that was not used for long stops, so that no turn of a loop is long. What is too many
/// then stays until the next look, which goes on from there.
let looksMax = 4096
