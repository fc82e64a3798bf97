import PushModel

/// The notifications that a service shows for the daemon, by the service's number, to find the delivery of a click.
/// Bounded: beyond the limit the oldest is dropped, and a click on it is ignored.
struct ShownNotifications: Sendable {
    /// One notification.
    struct Entry: Sendable {
        var invocation: InvocationID
        var target: Target
        var tag: String?
        /// A counter; the smallest is the oldest.
        fileprivate var age: Int64 = 0

        init(_ run: HandlerRun, tag: String?) {
            invocation = run.invocation.id
            let request = run.request
            target = Target(
                platform: request.platform, app: request.app, device: request.device, externalID: request.externalID)
            self.tag = tag
        }

        fileprivate var key: Key? { tag.map { Key(app: target.app, device: target.device, tag: $0) } }
    }

    /// The identity by which a later notification replaces an earlier one.
    fileprivate struct Key: Hashable {
        var app: String?
        var device: String?
        var tag: String
    }

    /// The limit of entries.
    static let limit = 1024

    private var entries: [UInt32: Entry] = [:]
    private var numbers: [Key: UInt32] = [:]
    private var order = Queue<(number: UInt32, age: Int64)>()
    private var latest: Int64 = 0

    var count: Int { entries.count }

    /// Returns the number of the notification with this tag for the same app and device, which a new one replaces; 0:
    /// none.
    func number(tag: String?, of run: HandlerRun) -> UInt32 {
        Entry(run, tag: tag).key.flatMap { numbers[$0] } ?? 0
    }

    /// Adds a notification with the service's number; it replaces an entry with the same number.
    mutating func add(_ entry: Entry, number: UInt32) {
        remove(number)
        var entry = entry
        latest += 1
        entry.age = latest
        entries[number] = entry
        if let key = entry.key { numbers[key] = number }
        order.append((number, latest))
        // Removed entries keep their place in the order until it comes up, or until there are too many.
        while entries.count > Self.limit || order.count > 2 * Self.limit, let oldest = order.popFirst() {
            if entries[oldest.number]?.age == oldest.age {
                if entries.count > Self.limit { remove(oldest.number) } else { order.append(oldest) }
            }
        }
    }

    /// Removes and returns the notification with this number; `nil` if the daemon did not show it.
    @discardableResult
    mutating func remove(_ number: UInt32) -> Entry? {
        guard let entry = entries.removeValue(forKey: number) else { return nil }
        if let key = entry.key, numbers[key] == number { numbers[key] = nil }
        return entry
    }
}
