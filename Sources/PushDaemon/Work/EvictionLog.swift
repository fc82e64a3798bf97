import LinuxSystem
import PushModel
import PushRouter

/// Tells that devices with a token or a topic were forgotten for want of room: the first in the journal at once, later
/// ones together, once in ten minutes; and in the status as a problem for an hour after the last of them.
struct EvictionLog {
    /// The time between two journal entries, in nanoseconds.
    private static let interval: Int64 = 600_000_000_000
    /// How long the problem stays after the last eviction, in nanoseconds.
    private static let memory: Int64 = 3_600_000_000_000

    /// The evictions so far.
    private(set) var evictions = DeviceEvictions()
    private var reported = 0
    private var reportedAt: Int64?
    private var lastAt: Int64?

    /// Notes the router's counts.
    ///
    /// - Parameters:
    ///   - evictions: the counts since the start.
    ///   - now: monotonic nanoseconds.
    /// - Returns: the journal entry; `nil`: none is due.
    mutating func note(_ evictions: DeviceEvictions, at now: Int64) -> JournalEntry? {
        guard evictions.count != self.evictions.count else { return nil }
        if evictions.registered != self.evictions.registered { lastAt = now }
        self.evictions = evictions
        return takeDue(at: now)
    }

    /// Returns the journal entry for evictions that were gathered for `interval`; `nil`: none is due.
    mutating func takeDue(at now: Int64) -> JournalEntry? {
        guard evictions.registered > reported, reportedAt.map({ now - $0 >= Self.interval }) ?? true else { return nil }
        let count = evictions.registered - reported
        (reported, reportedAt) = (evictions.registered, now)
        return JournalEntry(
            .warning,
            "the memory of devices is full (DeviceMemoryMax=): \(counted(count, "device")) with a token or topics "
                + "\(count == 1 ? "was" : "were") forgotten, the last of \(owner); publishes leave such a device out "
                + "until it registers again",
            messageID: .devicesEvicted, fields: [.init(.devices, count)])
    }

    /// The problem for the status; `nil`: there is none.
    func problem(at now: Int64) -> String? {
        guard let lastAt, now - lastAt < Self.memory else { return nil }
        return "\(counted(evictions.registered, "device")) with a token or topics "
            + "\(evictions.registered == 1 ? "was" : "were") forgotten since the start, the last of \(owner): "
            + "DeviceMemoryMax= is reached"
    }

    private var owner: String { evictions.lastOwner?.description ?? "an account that the ledger does not name" }
}
