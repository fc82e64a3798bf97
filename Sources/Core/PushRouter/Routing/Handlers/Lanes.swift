public import PushModel

/// The lanes of all devices, and the number of waiting invocations in each.
struct Lanes: Sendable {
    private var lanes = ShardedDictionary<DeviceKey, Lane>()
    /// The number of invocations behind the head, of lanes with at least one. Finding the longest lanes then skips the
    /// others, of which there may be tens of thousands.
    private var waiting = ShardedDictionary<DeviceKey, Int>()
    /// The number of invocations behind the heads of all lanes.
    private(set) var waitingInAll = 0

    var isEmpty: Bool { lanes.isEmpty }

    /// The number of lanes with a waiting invocation.
    var crowded: Int { waiting.count }

    /// Returns a lane; `nil` if no invocation for the device is in flight.
    subscript(key: DeviceKey) -> Lane? { lanes[key] }

    /// Appends an invocation to a lane, or makes a lane with it.
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

    /// Removes the head after its turn. The next invocation becomes the head; the caller then calls ``takeTurn(_:)`` if
    /// it still waits, or ``dropHead(_:)`` if not.
    ///
    /// - Parameter handler: the handler of the old head; `nil` for the tracker.
    mutating func popHead(_ key: DeviceKey, at now: Instant, handler: String?) {
        lanes[key]?.popHead(at: now, handler: handler)
    }

    /// Notes that the head, which waited, no longer waits.
    mutating func takeTurn(_ key: DeviceKey) { count(-1, in: key) }

    /// Notes that a waiting invocation has ended. It stays in the lane until it is the head.
    mutating func leave(_ key: DeviceKey) { count(-1, in: key) }

    /// Removes a head that ended while it waited and delayed no other invocation.
    mutating func dropHead(_ key: DeviceKey) { lanes[key]?.dropHead() }

    /// Removes an empty lane.
    mutating func end(_ key: DeviceKey) { lanes[key] = nil }

    /// Returns the lanes with the most waiting invocations and their counts, the longest first; equal ones by name.
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

/// The invocations of one app on one device, which run one after the other, like messages on FCM's single thread.
struct Lane: Sendable {
    private struct Member {
        var id: InvocationID
        /// The number of invocations that had passed when it joined; it waited for the later ones.
        var through: Int
    }

    private struct Through {
        var number: Int
        var took: Duration
        var invocation: Predecessor
    }

    private var members = Queue<Member>()
    private var headSince: Instant
    private var through = 0
    /// The invocations that had their turn, without any that took less time than a later one. So the first of them that
    /// the head waited for took the longest time.
    private var longest = Queue<Through>()

    /// Makes a lane with this invocation at its head.
    init(_ id: InvocationID, at now: Instant) {
        headSince = now
        append(id)
    }

    /// The invocation whose turn it is; `nil` if the lane is empty.
    var head: InvocationID? { members.first?.id }

    /// The longest of the invocations that the head waited for; `nil` if it did not wait.
    var headWaitedFor: Predecessor? { longest.first?.invocation }

    /// Appends an invocation.
    ///
    /// - Returns: the number of invocations ahead of it.
    @discardableResult
    mutating func append(_ id: InvocationID) -> Int {
        defer { members.append(Member(id: id, through: through)) }
        return members.count
    }

    /// Returns how long the head has been the head.
    func headAge(at now: Instant) -> Duration { now - headSince }

    /// Removes the head after its turn; the turn of the next invocation begins.
    ///
    /// - Parameter handler: the handler of the head; `nil` for the tracker.
    mutating func popHead(at now: Instant, handler: String?) {
        guard let head = members.popFirst() else { return }
        let took = now - headSince
        while let last = longest.last, last.took < took { _ = longest.popLast() }
        let predecessor = Predecessor(id: head.id, handler: handler, took: took)
        longest.append(Through(number: through, took: took, invocation: predecessor))
        through += 1
        headSince = now
        forgetOthers()
    }

    /// Removes a head that ended while it waited and delayed no other invocation.
    mutating func dropHead() {
        _ = members.popFirst()
        forgetOthers()
    }

    /// Drops the invocations that had passed before the head joined.
    private mutating func forgetOthers() {
        guard let head = members.first else { return }
        while let first = longest.first, first.number < head.through { _ = longest.popFirst() }
    }
}

/// The state of the lanes of all devices.
public struct LanesStatus: Hashable, Sendable {
    /// The most lanes that the status names.
    public static let named = 10

    /// The number of lanes with a waiting invocation.
    public var crowded: Int
    /// The number of waiting invocations in all lanes.
    public var waiting: Int
    /// The lanes with the most waiting invocations, the longest first; at most ``named``.
    public var longest: [LaneStatus]
}

/// One lane with a waiting invocation.
public struct LaneStatus: Hashable, Sendable {
    /// The app and the device of the lane.
    public var device: DeviceKey
    /// The number of invocations behind the head.
    public var waiting: Int
    /// The head, for which all others wait.
    public var head: InvocationID
    /// The handler of the head; `nil` before a route is picked, and for the tracker.
    public var handler: String?
    /// How long the head has been the head.
    public var turn: Duration
    /// The age of the head since acceptance: no invocation in the lane is older.
    public var age: Duration
}

extension Router {
    /// Returns the state of the lanes. Reads only the lanes with a waiting invocation.
    public func lanes(at now: Instant) -> LanesStatus {
        let longest = lanes.longest(LanesStatus.named).compactMap { key, waiting -> LaneStatus? in
            guard let lane = lanes[key], let head = lane.head else { return nil }
            return invocations.read(head) { invocation in
                LaneStatus(
                    device: key, waiting: waiting, head: head, handler: invocation.record.handler,
                    turn: lane.headAge(at: now), age: now - invocation.request.acceptedAt.monotonic)
            }
        }
        return LanesStatus(crowded: lanes.crowded, waiting: lanes.waitingInAll, longest: longest)
    }
}
