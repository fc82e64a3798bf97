import PushModel

/// The lanes of all devices, and in which of them somebody waits.
struct Lanes: Sendable {
    private var lanes = ShardedDictionary<DeviceKey, Lane>()
    /// How many wait behind the head of a lane, of lanes in which anybody does: to name the longest nobody looks at the
    /// others, of which there may be tens of thousands.
    private var waiting = ShardedDictionary<DeviceKey, Int>()
    /// How many wait behind the heads of all lanes.
    private(set) var waitingInAll = 0

    /// Whether there is none.
    var isEmpty: Bool { lanes.isEmpty }

    /// In how many somebody waits.
    var crowded: Int { waiting.count }

    /// A lane; `nil` where nothing is on its way to that device.
    subscript(key: DeviceKey) -> Lane? { lanes[key] }

    /// Puts an invocation at the end of a lane, which begins with it where there is none.
    ///
    /// - Returns: how many are ahead of it; `nil` for the head.
    mutating func join(_ key: DeviceKey, _ id: InvocationID, at now: Instant) -> Int? {
        guard let ahead = lanes.change(key, { $0.append(id) }) else {
            lanes[key] = Lane(id, at: now)
            return nil
        }
        count(1, in: key)
        return ahead
    }

    /// The head is through. The next one is the head then, and whoever asked tells whether it still waits:
    /// ``takeTurn(_:)`` or ``dropHead(_:)``.
    ///
    /// - Parameter handler: who had the head; `nil` for the tracker.
    mutating func popHead(_ key: DeviceKey, at now: Instant, handler: String?) {
        lanes[key]?.popHead(at: now, handler: handler)
    }

    /// The head, which waited, waits no more.
    mutating func takeTurn(_ key: DeviceKey) { count(-1, in: key) }

    /// One that waited has ended; it leaves its place when that is the first.
    mutating func leave(_ key: DeviceKey) { count(-1, in: key) }

    /// The head left while it waited, and held nobody up.
    mutating func dropHead(_ key: DeviceKey) { lanes[key]?.dropHead() }

    /// A lane in which nobody is left ends.
    mutating func end(_ key: DeviceKey) { lanes[key] = nil }

    /// The lanes with the most that wait, the longest first, and how many wait in each; equal ones by their names.
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
