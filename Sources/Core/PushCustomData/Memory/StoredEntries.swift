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
    private var entries: [Key: [HeldEntry]] = [:]
    /// How many there are.
    private(set) var count = 0

    /// Adds an entry; its number is higher than those of all before.
    mutating func append(_ held: HeldEntry, for entry: CustomEntry) {
        entries[Key(app: entry.app, device: entry.device, user: entry.externalID), default: []].append(held)
        count += 1
    }

    /// Takes out what waits for a session of this app, on this device, of this user, in order of number.
    mutating func take(
        app: String?, device: String?, user: String?, where isWanted: (HeldEntry) -> Bool
    ) -> [HeldEntry] {
        guard count > 0 else { return [] }
        var taken: [HeldEntry] = []
        for app in app == nil ? [nil] : [app, nil] {
            for device in device == nil ? [nil] : [device, nil] {
                for user in user == nil ? [nil] : [user, nil] {
                    taken += take(at: Key(app: app, device: device, user: user), where: isWanted)
                }
            }
        }
        return taken.sorted()
    }

    /// Takes out whatever is wanted, in order of number.
    mutating func takeAll(where isWanted: (HeldEntry) -> Bool) -> [HeldEntry] {
        entries.keys.flatMap { take(at: $0, where: isWanted) }.sorted()
    }

    private mutating func take(at key: Key, where isWanted: (HeldEntry) -> Bool) -> [HeldEntry] {
        guard let waiting = entries.removeValue(forKey: key) else { return [] }
        let taken = waiting.filter(isWanted)
        count -= taken.count
        if taken.count < waiting.count { entries[key] = waiting.filter { !isWanted($0) } }
        return taken
    }
}
