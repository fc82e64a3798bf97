import PushModel

/// Entries of unknown outcome. They are found by number, and taken in order of number, some at a time.
struct UnknownEntries: Sendable {
    /// Where one stands in line. One that was taken out leaves its place behind, which its stamp tells.
    private struct Place: Comparable, Sendable {
        var number: EntryNumber
        var stamp: UInt64

        static func < (left: Place, right: Place) -> Bool { left.number < right.number }
    }

    private var entries = ShardedDictionary<EntryNumber, (held: HeldEntry, stamp: UInt64)>()
    private var order = Heap<Place>()
    private var lastStamp: UInt64 = 0
    /// Where in the heap the last look for places that were left behind stopped.
    private var hand = 0

    var count: Int { entries.count }

    /// The numbers of all, in order.
    var numbers: [EntryNumber] { entries.keys.sorted() }

    mutating func insert(_ held: HeldEntry) {
        lastStamp += 1
        entries[held.number] = (held, lastStamp)
        order.insert(Place(number: held.number, stamp: lastStamp))
    }

    mutating func remove(_ number: EntryNumber) -> HeldEntry? {
        guard let entry = entries.removeValue(forKey: number) else { return nil }
        takePlaces()
        return entry.held
    }

    /// Takes out all that are wanted, in linear time.
    mutating func remove(where isWanted: (HeldEntry) -> Bool) -> [HeldEntry] {
        let wanted = entries.values.lazy.map(\.held).filter(isWanted).map(\.number)
        return Array(wanted).compactMap { remove($0) }
    }

    /// Takes the one with the lowest number.
    mutating func popFirst() -> HeldEntry? {
        while let place = order.popFirst() {
            if isCurrent(place) { return entries.removeValue(forKey: place.number)?.held }
        }
        return nil
    }

    private func isCurrent(_ place: Place) -> Bool { entries[place.number]?.stamp == place.stamp }

    /// Takes out places that were left behind before they are most: at most 8, at most 32 are looked at.
    private mutating func takePlaces() {
        var left = 8
        for _ in 0..<32 where left > 0 && order.count > 2 * entries.count {
            hand = hand == 0 ? order.count - 1 : min(hand, order.count) - 1
            guard !isCurrent(order[hand]) else { continue }
            order.remove(at: hand)
            left -= 1
        }
    }
}
