import PushModel

/// The entries to be sent, in order of number. New entries come last; returned entries take their old place.
struct SendingQueue: Sendable {
    private var line = Queue<HeldEntry>()
    /// Returned entries, which come before the last entry of the line.
    private var returned = Heap<HeldEntry>()
    /// The number of entries.
    private(set) var count = 0

    /// The next entry to be sent.
    var first: HeldEntry? {
        guard let back = returned.first else { return line.first }
        return line.first.map { min($0, back) } ?? back
    }

    /// Calls `body` with the entries after a number, in order, until it returns `false`. Takes logarithmic time for
    /// each of them and for each returned entry.
    func forEach(after number: EntryNumber, _ body: (HeldEntry) -> Bool) {
        var (place, end) = (0, line.count)
        while place < end {
            let middle = (place + end) / 2
            if line[middle].number > number { end = middle } else { place = middle + 1 }
        }
        var back = returned
        while let first = back.first, first.number <= number { _ = back.popFirst() }
        var continues = true
        while continues {
            if let first = back.first, place == line.count || first < line[place] {
                _ = back.popFirst()
                continues = body(first)
            } else if place < line.count {
                continues = body(line[place])
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

    /// Removes the next entry to be sent.
    mutating func popFirst() -> HeldEntry? {
        guard let first else { return nil }
        count -= 1
        return returned.first == first ? returned.popFirst() : line.popFirst()
    }

    /// Removes these entries in linear time; only a person's order calls this.
    mutating func remove(_ numbers: Set<EntryNumber>) -> [HeldEntry] {
        remove { numbers.contains($0.number) }
    }

    /// Removes all entries that match, in linear time.
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
