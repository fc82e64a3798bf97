import PushModel

/// The last ten session starts of each user in each app.
struct StartHistory: Sendable {
    struct Entry: Sendable {
        /// The request whose start created the entry: the key of its row.
        var number: Int64
        var owner: UInt32
        var app: UInt32
        var isAnonymous: Bool
        var count: UInt8 = 0
        /// The last use, in Unix seconds of the clock.
        var since: UInt32
        /// The value of `since` at the last visit of `nextOld`.
        var sinceSeen = UInt32.max
        /// The times in Unix milliseconds, the earliest first.
        var starts = InlineArray<10, Int64>(repeating: 0)

        var latest: Int64? { count == 0 ? nil : starts[Int(count) - 1] }
    }

    private var entries = Slab<Entry>()
    private var index = HashIndex()

    /// The number of users in apps.
    var count: Int { entries.count }

    /// All slots, free ones included.
    var slots: Range<UInt32> { entries.slots }

    subscript(slot: UInt32) -> Entry {
        _read { yield entries[slot] }
        _modify { yield &entries[slot] }
    }

    func find(owner: UInt32, isAnonymous: Bool, app: UInt32) -> UInt32? {
        index.find(Self.hash(owner, isAnonymous, app)) {
            let entry = entries[$0]
            return entry.owner == owner && entry.app == app && entry.isAnonymous == isAnonymous
        }
    }

    mutating func add(_ entry: Entry) -> UInt32 {
        let slot = entries.insert(entry)
        index.insert(slot, Self.hash(entry))
        return slot
    }

    mutating func remove(_ slot: UInt32) {
        index.remove(slot, Self.hash(entries[slot]))
        entries.remove(
            slot,
            leaving: Entry(number: 0, owner: SharedTexts.none, app: SharedTexts.none, isAnonymous: false, since: 0))
    }

    /// Returns an entry that was last used before `horizon`; if there are too many entries, also one unused since the
    /// previous round. Each call visits two slots, or more if there are too many, so a round ends before as many
    /// entries are added.
    mutating func nextOld(before horizon: Int64, tooMany: Bool) -> UInt32? {
        entries.next(tooMany ? min(2 * entries.slotCount, looksMax) : 2) { entry in
            guard entry.owner != SharedTexts.none else { return false }
            defer { entry.sinceSeen = entry.since }
            return Int64(entry.since) < horizon || tooMany && entry.since == entry.sinceSeen
        }
    }

    private static func hash(_ entry: Entry) -> UInt64 { hash(entry.owner, entry.isAnonymous, entry.app) }

    private static func hash(_ owner: UInt32, _ isAnonymous: Bool, _ app: UInt32) -> UInt64 {
        let key = UInt64(owner) << 32 | UInt64(app)
        return withUnsafeBytes(of: key) { slotHash(isAnonymous ? 1 : 0, $0) }
    }
}

extension StartHistory.Entry {
    /// Returns the window of a start at `start` in milliseconds (T5): a delivery counts if it was received less than
    /// this before.
    func window(at start: Int64, _ rules: TrackerRules) -> Int64 {
        let fixed = rules.influencedWindow.milliseconds
        var before = Int(count)
        while before > 0, starts[before - 1] >= start { before -= 1 }
        guard before >= 2, rules.windowRule != .fixed else { return fixed }
        // Half the mean interval, rounded up: for integers, less than the rounded value means less than the exact one.
        let intervals = Int64(before - 1)
        let half = (starts[before - 1] - starts[0] + 2 * intervals - 1) / (2 * intervals)
        return rules.windowRule == .max ? max(fixed, half) : min(fixed, half)
    }

    /// Inserts a start; of eleven the earliest is dropped.
    mutating func insert(_ start: Int64) {
        var place = Int(count)
        while place > 0, starts[place - 1] > start { place -= 1 }
        if count == 10 {
            guard place > 0 else { return }
            for index in 1..<place { starts[index - 1] = starts[index] }
            starts[place - 1] = start
        } else {
            var index = Int(count)
            while index > place {
                starts[index] = starts[index - 1]
                index -= 1
            }
            starts[place] = start
            count += 1
        }
    }
}

extension Int64 {
    /// Returns the difference, clamped to 64 bits.
    func saturatingSubtract(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < other ? .min : .max) : difference
    }

    /// Returns the sum, clamped to 64 bits.
    func saturatingAdd(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
