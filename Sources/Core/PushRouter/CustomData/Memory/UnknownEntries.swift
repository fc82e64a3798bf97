import PushModel

/// Entries of unknown outcome: found by number, and removed in order of number.
struct UnknownEntries: Sendable {
    /// An entry's place in the order. A removed entry leaves its place behind, recognizable by an outdated stamp.
    private struct Place: Comparable, Sendable {
        var number: EntryNumber
        var stamp: UInt64

        static func < (left: Place, right: Place) -> Bool { left.number < right.number }
    }

    private var entries = ShardedDictionary<EntryNumber, (held: HeldEntry, stamp: UInt64)>()
    private var order = Heap<Place>()
    private var lastStamp: UInt64 = 0
    /// The heap index at which the last search for outdated places stopped.
    private var hand = 0

    var count: Int { entries.count }

    /// The numbers of all entries, in order.
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

    /// Removes all entries that match, in linear time.
    mutating func remove(where isWanted: (HeldEntry) -> Bool) -> [HeldEntry] {
        let wanted = entries.values.lazy.map(\.held).filter(isWanted).map(\.number)
        return Array(wanted).compactMap { remove($0) }
    }

    /// Removes the entry with the lowest number.
    mutating func popFirst() -> HeldEntry? {
        while let place = order.popFirst() {
            if isCurrent(place) { return entries.removeValue(forKey: place.number)?.held }
        }
        return nil
    }

    private func isCurrent(_ place: Place) -> Bool { entries[place.number]?.stamp == place.stamp }

    /// Removes outdated places before they are the majority: at most 8 a call, of at most 32 inspected.
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
