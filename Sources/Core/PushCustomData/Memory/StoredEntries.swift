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

    /// Under each key in order of number.
    private var entries: [Key: Queue<HeldEntry>] = [:]
    /// How many there are.
    private(set) var count = 0

    /// Adds an entry; its number is higher than those of all before.
    mutating func append(_ held: HeldEntry, for entry: CustomEntry) {
        entries[Key(app: entry.app, device: entry.device, user: entry.externalID), default: Queue()].append(held)
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

    /// Takes out what is wanted of an app, or of all. Looks at everything that waits for it.
    mutating func takeAll(app: String?, where isWanted: @escaping (HeldEntry) -> Bool) -> EntryRuns {
        var taken = EntryRuns()
        let app = app.map(ExactName.init)
        // Of most keys nothing is wanted, and to look where it lies costs least.
        let keys = entries.lazy.filter { key, waiting in
            (app == nil || key.app == app) && !waiting.allSatisfy { !isWanted($0) }
        }.map(\.key)
        for key in Array(keys) { take(at: key, through: nil, where: isWanted, into: &taken) }
        return taken
    }

    private mutating func take(
        at key: Key, through last: EntryNumber?, where isWanted: ((HeldEntry) -> Bool)?, into taken: inout EntryRuns
    ) {
        guard let waiting = entries.removeValue(forKey: key), let newest = waiting.last else { return }
        if last.map({ newest.number <= $0 }) ?? true, isWanted.map(waiting.allSatisfy) ?? true {
            count -= waiting.count
            return taken.append(waiting)
        }
        var (run, rest) = (Queue<HeldEntry>(), Queue<HeldEntry>())
        for held in waiting {
            if last.map({ held.number <= $0 }) ?? true, isWanted?(held) ?? true {
                run.append(held)
            } else {
                rest.append(held)
            }
        }
        count -= run.count
        if !run.isEmpty { taken.append(run) }
        if !rest.isEmpty { entries[key] = rest }
    }
}
