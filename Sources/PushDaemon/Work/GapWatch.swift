import PushModel

/// Notices gaps while the daemon runs: a clock that was set, a machine that was suspended, a disk that stalled. Whoever has
/// it looks at the clocks from time to time.
struct GapWatch {
    /// The clocks, read one after the other.
    struct Clocks {
        /// The wall clock.
        var wall: WallTime
        /// Nanoseconds without suspensions.
        var monotonic: Int64
        /// Nanoseconds with suspensions; nobody can set it.
        var boot: Int64
    }

    /// What is less is no gap, in milliseconds: two looks are seconds apart, and a clock is slewed by less meanwhile.
    static let least: Int64 = 1000
    /// Stalls with less between them are one, in nanoseconds.
    static let pause: Int64 = 1_000_000_000
    /// How many gaps of a kind are noted within an hour.
    static let most = 60
    private static let hour: Int64 = 3600 * 1_000_000_000

    private var last: Clocks
    private var stall: (begin: Int64, end: Int64)?
    private var noted: [DaemonGap.Kind: (since: Int64, count: Int)] = [:]

    init(_ clocks: Clocks) { last = clocks }

    /// The disk stalled, and does so no longer.
    ///
    /// - Parameters:
    ///   - begin: since when, in monotonic nanoseconds.
    ///   - end: until when.
    ///   - clocks: the clocks now.
    /// - Returns: the stall before it, where that was another one.
    mutating func stalled(from begin: Int64, to end: Int64, at clocks: Clocks) -> DaemonGap? {
        guard let before = stall, begin - before.end < Self.pause else {
            let before = takeStall(clocks)
            stall = (begin, end)
            return before
        }
        stall = (min(before.begin, begin), max(before.end, end))
        return nil
    }

    /// Looks at the clocks.
    ///
    /// - Returns: what has come to its end since the last look.
    mutating func look(_ clocks: Clocks) -> [DaemonGap] {
        let wall = clocks.wall.milliseconds - last.wall.milliseconds
        let boot = (clocks.boot - last.boot) / 1_000_000
        let suspended = boot - (clocks.monotonic - last.monotonic) / 1_000_000
        last = clocks
        var gaps: [DaemonGap?] = []
        if let stall, clocks.monotonic - stall.end >= Self.pause { gaps.append(takeStall(clocks)) }
        for (kind, length) in [(DaemonGap.Kind.suspended, suspended), (.clockStepped, wall - boot)]
        where kind == .clockStepped ? abs(length) >= Self.least : length >= Self.least {
            gaps.append(note(kind, length: length, before: 0, clocks))
        }
        return gaps.compactMap(\.self)
    }

    /// The daemon ends.
    ///
    /// - Returns: the stall that others could have followed.
    mutating func end(_ clocks: Clocks) -> DaemonGap? { takeStall(clocks) }

    private mutating func takeStall(_ clocks: Clocks) -> DaemonGap? {
        guard let stall = stall.take() else { return nil }
        return note(
            .diskStalled, length: (stall.end - stall.begin) / 1_000_000,
            before: (clocks.monotonic - stall.end) / 1_000_000, clocks)
    }

    /// - Parameters:
    ///   - length: in milliseconds.
    ///   - before: how long before now it was over, in milliseconds.
    /// - Returns: `nil` where there were too many of the kind.
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
