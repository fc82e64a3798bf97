import PushModel

/// Detects gaps while the daemon runs: a step of the clock, a suspension, a stalled disk, or an outage of the shared
/// log. The owner calls ``check(_:)`` from time to time.
struct GapWatch {
    /// The clocks, read one after the other.
    struct Clocks {
        /// The wall clock.
        var wall: WallTime
        /// CLOCK_MONOTONIC in nanoseconds: without suspensions.
        var monotonic: Int64
        /// CLOCK_BOOTTIME in nanoseconds: with suspensions; it cannot be set.
        var boot: Int64
    }

    /// The shortest gap, in milliseconds: between two looks, seconds apart, a slewed clock changes by less.
    static let least: Int64 = 1000
    /// Two stalls with less time between them are one, in nanoseconds.
    static let pause: Int64 = 1_000_000_000
    /// How many gaps of a kind are recorded within an hour.
    static let most = 60
    private static let hour: Int64 = 3600 * 1_000_000_000

    private var last: Clocks
    private var stalls: [DaemonGap.Kind: (begin: Int64, end: Int64)] = [:]
    private var noted: [DaemonGap.Kind: (since: Int64, count: Int)] = [:]

    init(_ clocks: Clocks) { last = clocks }

    /// Notes a time in which nothing could be written.
    ///
    /// - Parameters:
    ///   - kind: the cause.
    ///   - begin: the start, in monotonic nanoseconds.
    ///   - end: the end.
    ///   - clocks: the clocks now.
    /// - Returns: the stall before it, if that was another one.
    mutating func stalled(
        _ kind: DaemonGap.Kind = .diskStalled, from begin: Int64, to end: Int64, at clocks: Clocks
    ) -> DaemonGap? {
        guard let before = stalls[kind], begin - before.end < Self.pause else {
            let before = takeStall(kind, clocks)
            stalls[kind] = (begin, end)
            return before
        }
        stalls[kind] = (min(before.begin, begin), max(before.end, end))
        return nil
    }

    /// Compares the clocks with those of the last look.
    ///
    /// - Returns: the gaps that ended since the last look.
    mutating func check(_ clocks: Clocks) -> [DaemonGap] {
        let wall = clocks.wall.milliseconds - last.wall.milliseconds
        let boot = (clocks.boot - last.boot) / 1_000_000
        let suspended = boot - (clocks.monotonic - last.monotonic) / 1_000_000
        last = clocks
        var gaps: [DaemonGap?] = []
        for kind in DaemonGap.Kind.allCases {
            guard let stall = stalls[kind], clocks.monotonic - stall.end >= Self.pause else { continue }
            gaps.append(takeStall(kind, clocks))
        }
        for (kind, length) in [(DaemonGap.Kind.suspended, suspended), (.clockStepped, wall - boot)]
        where kind == .clockStepped ? abs(length) >= Self.least : length >= Self.least {
            gaps.append(note(kind, length: length, before: 0, clocks))
        }
        return gaps.compactMap(\.self)
    }

    /// Ends the watch.
    ///
    /// - Returns: the stalls that another stall could have extended.
    mutating func end(_ clocks: Clocks) -> [DaemonGap] {
        DaemonGap.Kind.allCases.compactMap { takeStall($0, clocks) }
    }

    private mutating func takeStall(_ kind: DaemonGap.Kind, _ clocks: Clocks) -> DaemonGap? {
        guard let stall = stalls.removeValue(forKey: kind) else { return nil }
        // A commit that waits for a standby takes long as well, and the gap without a standby says that.
        if kind == .engineAway, let other = stalls[.unprotected], other.begin <= stall.begin, other.end >= stall.end {
            return nil
        }
        let length = (stall.end - stall.begin) / 1_000_000
        // The caller has compared a disk's stall with its own setting already.
        guard kind == .diskStalled || length >= Self.least else { return nil }
        return note(kind, length: length, before: (clocks.monotonic - stall.end) / 1_000_000, clocks)
    }

    /// - Parameters:
    ///   - length: its length in milliseconds.
    ///   - before: how long ago it ended, in milliseconds.
    /// - Returns: `nil` if there were too many of the kind.
    private mutating func note(
        _ kind: DaemonGap.Kind, length: Int64, before: Int64, _ clocks: Clocks
    ) -> DaemonGap? {
        var noted = noted[kind] ?? (since: clocks.monotonic, count: 0)
        if clocks.monotonic - noted.since >= Self.hour { noted = (since: clocks.monotonic, count: 0) }
        noted.count += 1
        self.noted[kind] = noted
        guard noted.count <= Self.most else { return nil }
        let end = clocks.wall.milliseconds - before
        return DaemonGap(kind, begin: WallTime(milliseconds: end - length), end: WallTime(milliseconds: end))
    }
}
