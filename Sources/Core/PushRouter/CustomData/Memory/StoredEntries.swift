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
