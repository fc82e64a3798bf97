import PushModel

/// What is to be sent, in order of number: new entries come at the end, those that come back take their old place.
struct SendingQueue: Sendable {
    private var line = Queue<HeldEntry>()
    /// What came back and is before the last one in the line.
    private var returned = Heap<HeldEntry>()
    /// How many there are.
    private(set) var count = 0

    /// The one whose turn it is.
    var first: HeldEntry? {
        guard let back = returned.first else { return line.first }
        return line.first.map { min($0, back) } ?? back
    }

    /// Looks at those after a number, in order, as long as `body` wants more: in logarithmic time for each, and for each
    /// that came back.
    func look(after number: EntryNumber, _ body: (HeldEntry) -> Bool) {
        var (place, end) = (0, line.count)
        while place < end {
            let middle = (place + end) / 2
            if line[middle].number > number { end = middle } else { place = middle + 1 }
        }
        var back = returned
        while let first = back.first, first.number <= number { _ = back.popFirst() }
        var goesOn = true
        while goesOn {
            if let first = back.first, place == line.count || first < line[place] {
                _ = back.popFirst()
                goesOn = body(first)
            } else if place < line.count {
                goesOn = body(line[place])
                place += 1
            } else {
                return
            }
        }
    }

    /// Adds an entry, in logarithmic time; at the end in constant time.
    mutating func insert(_ entry: HeldEntry) {
        count += 1
        if let last = line.last, entry < last { returned.insert(entry) } else { line.append(entry) }
    }

    /// Takes the one whose turn it is.
    mutating func popFirst() -> HeldEntry? {
        guard let first else { return nil }
        count -= 1
        return returned.first == first ? returned.popFirst() : line.popFirst()
    }

    /// Takes these out, wherever they are, in linear time: only people ask for that.
    mutating func remove(_ numbers: Set<EntryNumber>) -> [HeldEntry] {
        remove { numbers.contains($0.number) }
    }

    /// Takes out all that are wanted, in linear time.
    mutating func remove(where isWanted: (HeldEntry) -> Bool) -> [HeldEntry] {
        var removed: [HeldEntry] = []
        if !line.allSatisfy({ !isWanted($0) }) {
            var rest = Queue<HeldEntry>()
            for held in line { if isWanted(held) { removed.append(held) } else { rest.append(held) } }
            line = rest
        }
        let back: [HeldEntry] = returned.reduce([]) { isWanted($1) ? $0 + [$1] : $0 }
        if !back.isEmpty { returned.removeAll(where: isWanted) }
        removed += back
        count -= removed.count
        return removed.sorted()
    }
}
