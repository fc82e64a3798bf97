import PushModel

/// What waits for sessions, by whom it waits for: a session start looks only at what it flushes.
struct StoredEntries: Sendable {
    /// Whom an entry waits for; `nil`: any.
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

    /// What waits for the same.
    private struct Waiting {
        /// In order of number.
        var entries = Queue<HeldEntry>()
        /// The suite that all of them are in, in UTF-8; `nil`: several. So that a reset of very many looks at few.
        var suite: [UInt8]?

        mutating func append(_ held: HeldEntry) {
            if entries.isEmpty {
                suite = held.suite
            } else if let known = suite, !held.isStored(in: known) {
                suite = nil
            }
            entries.append(held)
        }

        /// Takes out those that are wanted, up to a number. All of them go in one piece.
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
    /// How many there are.
    private(set) var count = 0

    /// Adds an entry; its number is higher than those of all before.
    mutating func append(_ held: HeldEntry, for entry: CustomEntry) {
        entries[Key(app: entry.app, device: entry.device, user: entry.externalID), default: Waiting()].append(held)
        count += 1
    }

    /// Takes out what waits for a session of this app, on this device, of this user. Without a condition that costs the same
    /// however much it is.
    ///
    /// - Parameters:
    ///   - app: the session's app.
    ///   - device: its device.
    ///   - user: its user.
    ///   - last: the last one that may be taken; `nil`: there is none.
    ///   - isWanted: which of them; `nil`: all.
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

    /// Takes out what waits in a suite for an app, or for all.
    ///
    /// - Parameters:
    ///   - suite: its name in UTF-8.
    ///   - app: only what waits for this one; `nil`: whatever waits.
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
        // To take a key out costs as much as to put one in: what stays is put into a new table.
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

    /// Takes out what waits for whom it is wanted of.
    ///
    /// - Parameter isWanted: is told the user and the device; `nil`: any.
    mutating func takeAll(where isWanted: (_ user: String?, _ device: String?) -> Bool) -> EntryRuns {
        var taken = EntryRuns()
        let keys = entries.keys.filter { isWanted($0.user?.text, $0.device?.text) }
        for key in keys { take(at: key, through: nil, where: nil, into: &taken) }
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
