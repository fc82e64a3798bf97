import PushModel

/// The entries that wait for sessions, by app, device and user: a session start touches only the entries that it
/// flushes.
struct StoredEntries: Sendable {
    /// The app, the device and the user that an entry waits for; `nil`: any.
    private struct Key: Hashable {
        var app: ExactName?
        var device: ExactName?
        var user: ExactName?

        init(app: String?, device: String?, user: String?) {
            self.app = app.map(ExactName.init)
            self.device = device.map(ExactName.init)
            self.user = user.map(ExactName.init)
        }
    }

    /// The entries under one key.
    private struct Waiting {
        /// In order of number.
        var entries = Queue<HeldEntry>()
        /// The suite of all these entries in UTF-8; `nil`: they are in several. It spares a reset a look at each entry.
        var suite: [UInt8]?

        mutating func append(_ held: HeldEntry) {
            if entries.isEmpty {
                suite = held.suite
            } else if let known = suite, !held.isStored(in: known) {
                suite = nil
            }
            entries.append(held)
        }

        /// Removes the entries that match, up to a number. If all match, the whole queue moves in constant time.
        mutating func take(through last: EntryNumber?, where isWanted: ((HeldEntry) -> Bool)?) -> Queue<HeldEntry> {
            let isInTime = entries.last.map { newest in last.map { newest.number <= $0 } ?? true } ?? true
            if isInTime, isWanted.map(entries.allSatisfy) ?? true { return exchange(&entries, with: Queue()) }
            var run = Queue<HeldEntry>()
            for held in exchange(&entries, with: Queue()) {
                if last.map({ held.number <= $0 }) ?? true, isWanted?(held) ?? true {
                    run.append(held)
                } else {
                    append(held)
                }
            }
            return run
        }
    }

    private var entries: [Key: Waiting] = [:]
    /// The number of entries.
    private(set) var count = 0

    /// Adds an entry; its number is higher than those of all earlier entries.
    mutating func append(_ held: HeldEntry, for entry: CustomEntry) {
        entries[Key(app: entry.app, device: entry.device, user: entry.externalID), default: Waiting()].append(held)
        count += 1
    }

    /// Removes the entries that wait for a session of this app, this device and this user. Without a condition the cost
    /// does not depend on their number.
    ///
    /// - Parameters:
    ///   - app: the session's app.
    ///   - device: its device.
    ///   - user: its user.
    ///   - last: the highest number to remove; `nil`: no limit.
    ///   - isWanted: the condition for removal; `nil`: all match.
    mutating func take(
        app: String?, device: String?, user: String?, through last: EntryNumber? = nil,
        where isWanted: ((HeldEntry) -> Bool)?
    ) -> EntryRuns {
        var taken = EntryRuns()
        guard count > 0 else { return taken }
        for app in app == nil ? [nil] : [app, nil] {
            for device in device == nil ? [nil] : [device, nil] {
                for user in user == nil ? [nil] : [user, nil] {
                    take(at: Key(app: app, device: device, user: user), through: last, where: isWanted, into: &taken)
                }
            }
        }
        return taken
    }

    /// Removes the entries in a suite, of one app or of all.
    ///
    /// - Parameters:
    ///   - suite: its name in UTF-8.
    ///   - app: removes only the entries that wait for this app; `nil`: all.
    mutating func takeAll(in suite: [UInt8], app: String?) -> EntryRuns {
        var taken = EntryRuns()
        let app = app.map(ExactName.init)
        func mayHave(_ key: Key, _ waiting: Waiting) -> Bool {
            (app == nil || key.app == app) && waiting.suite.map { $0 == suite } ?? true
        }
        let keys = entries.lazy.filter(mayHave).map(\.key)
        let wanted = Array(keys)
        guard wanted.count > entries.count / 2 else {
            for key in wanted { take(at: key, through: nil, where: { $0.isStored(in: suite) }, into: &taken) }
            return taken
        }
        // Removing a key costs as much as inserting one, so the remaining entries move to a new table.
        for (key, waiting) in exchange(&entries, with: [:]) {
            var waiting = waiting
            if mayHave(key, waiting) {
                let isWhole = waiting.suite != nil
                let run = waiting.take(through: nil, where: isWhole ? nil : { $0.isStored(in: suite) })
                count -= run.count
                taken.append(run)
            }
            if !waiting.entries.isEmpty { entries[key] = waiting }
        }
        return taken
    }

    /// Removes the entries up to a number whose user and device match.
    ///
    /// - Parameters:
    ///   - last: the highest number to remove.
    ///   - isWanted: receives the user and the device that an entry waits for; `nil`: any.
    mutating func takeAll(
        through last: EntryNumber, where isWanted: (_ user: String?, _ device: String?) -> Bool
    ) -> EntryRuns {
        var taken = EntryRuns()
        let keys = entries.keys.filter { isWanted($0.user?.text, $0.device?.text) }
        for key in keys { take(at: key, through: last, where: nil, into: &taken) }
        return taken
    }

    private mutating func take(
        at key: Key, through last: EntryNumber?, where isWanted: ((HeldEntry) -> Bool)?, into taken: inout EntryRuns
    ) {
        guard var waiting = entries.removeValue(forKey: key) else { return }
        let run = waiting.take(through: last, where: isWanted)
        count -= run.count
        taken.append(run)
        if !waiting.entries.isEmpty { entries[key] = waiting }
    }
}

/// Entries removed from storage together, in order of number. They stay in their runs and are merged one by one, so
/// that no step costs time for all of them.
struct EntryRuns: Sendable {
    private struct Run: Comparable, Sendable {
        var rest: Queue<HeldEntry>
        /// The number of the first one.
        var first: EntryNumber

        static func == (left: Run, right: Run) -> Bool { left.first == right.first }
        static func < (left: Run, right: Run) -> Bool { left.first < right.first }
    }

    private var runs = Heap<Run>()
    /// Entries of unknown outcome, which are in no run.
    private var unknown: UnknownEntries?
    /// The number of entries left.
    private(set) var count = 0
    /// The highest number of all runs; `nil` without a run.
    private(set) var last: EntryNumber?

    /// A value without entries.
    init() {}

    /// Entries of unknown outcome.
    init(_ unknown: UnknownEntries) {
        self.unknown = unknown
        count = unknown.count
    }

    /// Adds entries, in order of number.
    mutating func append(_ entries: Queue<HeldEntry>) {
        guard let first = entries.first, let newest = entries.last else { return }
        count += entries.count
        last = max(last ?? newest.number, newest.number)
        runs.insert(Run(rest: entries, first: first.number))
    }

    /// Removes the entry with the lowest number.
    mutating func popFirst() -> HeldEntry? {
        if let held = unknown?.popFirst() {
            count -= 1
            return held
        }
        guard var run = runs.popFirst(), let held = run.rest.popFirst() else { return nil }
        count -= 1
        if let next = run.rest.first {
            run.first = next.number
            runs.insert(run)
        }
        return held
    }

    /// Counts the remaining entries of the runs that match, in linear time.
    func count(where isSo: (HeldEntry) -> Bool) -> Int {
        runs.reduce(0) { count, run in run.rest.reduce(count) { isSo($1) ? $0 + 1 : $0 } }
    }
}

/// Entries to be removed from storage together, and the purpose.
struct Removal: Sendable {
    enum Purpose: Sendable {
        /// A session flushes them, by the settings at its beginning.
        indirect case flush(SessionStart, CustomDataRules)
        /// A person discards them.
        case discard
        /// A person has decided about the unknown entries: `queued` again, or `discarded`.
        case resolve(EntryState)

        var isOfUnknown: Bool { if case .resolve = self { true } else { false } }
    }

    var purpose: Purpose
    var entries: EntryRuns
}

/// The removals that have begun, in order. Entries come from the first removal until it has none left.
struct Removals: Sendable {
    private var first: Removal?
    private var others = Queue<Removal>()
    /// The number of entries still to be removed.
    private(set) var count = 0
    /// The number of these entries that are unknown until their removal.
    private(set) var unknownCount = 0
    /// The number of removals that have begun.
    private(set) var begun = 0
    /// The number of removals that have ended.
    private(set) var ended = 0

    /// Adds a removal, which has at least one entry.
    mutating func append(_ removal: consuming Removal) {
        begun += 1
        count += removal.entries.count
        if removal.purpose.isOfUnknown { unknownCount += removal.entries.count }
        if first == nil { first = removal } else { others.append(removal) }
    }

    /// Removes the next entry from the oldest removal.
    mutating func popFirst() -> (entry: HeldEntry, purpose: Removal.Purpose)? {
        guard let purpose = first?.purpose, let held = first?.entries.popFirst() else { return nil }
        count -= 1
        if purpose.isOfUnknown { unknownCount -= 1 }
        if first?.entries.count == 0 {
            first = others.popFirst()
            ended += 1
        }
        return (held, purpose)
    }
}

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
    var numbers: [EntryNumber] {
        var numbers = Array(entries.keys)
        numbers.sort()
        return numbers
    }

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
