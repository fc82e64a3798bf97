import PushModel

/// The lanes of all devices, and the number of waiting invocations in each.
struct Lanes: Sendable {
    private var lanes = ShardedDictionary<DeviceKey, Lane>()
    /// The number of invocations behind the head, of the lanes with any: the search for the longest lanes skips the
    /// others, of which there may be tens of thousands.
    private var waiting = ShardedDictionary<DeviceKey, Int>()
    /// The number of invocations behind the heads of all lanes.
    private(set) var waitingInAll = 0

    /// Whether there are no lanes.
    var isEmpty: Bool { lanes.isEmpty }

    /// The number of lanes with a waiting invocation.
    var crowded: Int { waiting.count }

    /// The lane of a device; `nil` if it has no invocation.
    subscript(key: DeviceKey) -> Lane? { lanes[key] }

    /// Appends an invocation to a lane; creates the lane with the invocation as its head if there is none.
    ///
    /// - Returns: the number of invocations ahead of it; `nil` for the head.
    mutating func join(_ key: DeviceKey, _ id: InvocationID, at now: Instant) -> Int? {
        guard let ahead = lanes.change(key, { $0.append(id) }) else {
            lanes[key] = Lane(id, at: now)
            return nil
        }
        count(1, in: key)
        return ahead
    }

    /// Removes the head. The caller checks whether the next one still waits: ``takeTurn(_:)`` or ``dropHead(_:)``.
    ///
    /// - Parameter handler: the handler of the head; `nil` for the tracker.
    mutating func popHead(_ key: DeviceKey, at now: Instant, handler: String?) {
        lanes[key]?.popHead(at: now, handler: handler)
    }

    /// Notes that the waiting head begins its turn.
    mutating func takeTurn(_ key: DeviceKey) { count(-1, in: key) }

    /// Notes that a waiting invocation has ended. It stays in the lane until it is the head.
    mutating func leave(_ key: DeviceKey) { count(-1, in: key) }

    /// Removes a head that ended while it waited and so delayed no other.
    mutating func dropHead(_ key: DeviceKey) { lanes[key]?.dropHead() }

    /// Removes a lane without invocations.
    mutating func end(_ key: DeviceKey) { lanes[key] = nil }

    /// Returns the lanes with the most waiting invocations, the longest first, and these numbers; ties by device, app.
    func longest(_ limit: Int) -> [(key: DeviceKey, waiting: Int)] {
        var found: [(key: DeviceKey, waiting: Int)] = []
        for (key, count) in waiting.elements {
            if found.count == limit {
                guard let last = found.last, Self.isLonger((key, count), last) else { continue }
                found.removeLast()
            }
            found.insert((key, count), at: found.firstIndex { Self.isLonger((key, count), $0) } ?? found.count)
        }
        return found
    }

    private static func isLonger(
        _ left: (key: DeviceKey, waiting: Int), _ right: (key: DeviceKey, waiting: Int)
    ) -> Bool {
        guard left.waiting == right.waiting else { return left.waiting > right.waiting }
        guard left.key.device == right.key.device else { return left.key.device < right.key.device }
        return (left.key.app ?? "") < (right.key.app ?? "")
    }

    private mutating func count(_ change: Int, in key: DeviceKey) {
        waitingInAll += change
        let count = (waiting[key] ?? 0) + change
        precondition(count >= 0, "fewer than none wait in a lane")
        waiting[key] = count == 0 ? nil : count
    }
}
