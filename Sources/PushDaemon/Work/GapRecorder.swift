import LinuxSystem
import PushModel

/// Writes gaps and signs of life to the ledger, and a journal entry for each gap once it is durable.
final class GapRecorder {
    /// The time between two signs of life, in nanoseconds: with housekeeping every 10 s the last one is at most 70 s
    /// old.
    static let signInterval: Int64 = 60 * 1_000_000_000

    private let processor: Processor
    private let lastAlive: WallTime?
    private var lastBelieved: WallTime?
    private let clock: ClockSteps
    private var watch: GapWatch
    private var signedAt: Int64?
    /// Whether the last sign of life was given, after which nothing is left to write.
    private(set) var hasEnded = false
    /// The number of gaps of each kind since the start.
    private(set) var counts: [DaemonGap.Kind: Int] = [:]
    private let handover: Handover?

    /// How this machine became the leader.
    struct Handover {
        /// Whether the last leader was lost; otherwise it released the lease.
        var isAfterLoss: Bool
        /// When the last batch before the term was written, in monotonic nanoseconds of this machine; `nil`: there is
        /// none.
        var lastBatchAt: Int64?
    }

    /// - Parameters:
    ///   - processor: writes rows, and journal entries once the rows are durable.
    ///   - lastAlive: the last sign of life of an earlier run; `nil`: there was none.
    ///   - lastBelieved: the same by a clock that was believed.
    ///   - clock: tells whether the wall clock is believed.
    ///   - handover: how this machine became the leader; `nil`: on one machine.
    init(
        _ processor: Processor, lastAlive: WallTime?, lastBelieved: WallTime?, clock: ClockSteps,
        handover: Handover? = nil
    ) {
        (self.processor, self.handover) = (processor, handover)
        self.lastAlive = lastAlive
        self.lastBelieved = lastBelieved
        self.clock = clock
        watch = GapWatch(.now())
    }

    /// Notes that the daemon is ready: records the gap since the last run or leader, and the first sign of life.
    func begin() {
        let now = GapWatch.Clocks.now()
        if let handover {
            // By this machine's clock only: the sign of life is by the clock of the machine that led.
            if let lastBatchAt = handover.lastBatchAt {
                let length = (now.monotonic - lastBatchAt) / 1_000_000
                record(
                    DaemonGap(
                        handover.isAfterLoss ? .leaderLost : .down,
                        begin: WallTime(milliseconds: now.wall.milliseconds - length), end: now.wall))
            }
        } else if let lastAlive {
            // A clock that is behind the last sign of life was set back, and the length of the gap is unknown.
            record(DaemonGap(lastAlive <= now.wall ? .down : .clockStepped, begin: lastAlive, end: now.wall))
        }
        sign(now)
    }

    /// Looks at the clocks, and gives a sign of life if one is due; every ten seconds.
    ///
    /// - Parameter canWrite: whether rows can be written; otherwise signs of life would pile up.
    func check(canWrite: Bool) {
        let now = GapWatch.Clocks.now()
        for gap in watch.check(now) { record(gap) }
        guard canWrite, let signedAt, now.monotonic - signedAt >= Self.signInterval else { return }
        sign(now)
    }

    /// Notes a time in which nothing could be written, in monotonic nanoseconds.
    func stalled(_ kind: DaemonGap.Kind, from begin: Int64, to end: Int64) {
        if let gap = watch.stalled(kind, from: begin, to: end, at: .now()) { record(gap) }
    }

    /// Notes that the daemon ends: records open gaps and the last sign of life.
    ///
    /// - Returns: whether rows have to be written before the end.
    func end() -> Bool {
        guard !hasEnded else { return false }
        hasEnded = true
        let now = GapWatch.Clocks.now()
        for gap in watch.end(now) { record(gap) }
        sign(now)
        return true
    }

    private func sign(_ now: GapWatch.Clocks) {
        signedAt = now.monotonic
        if clock.isBelieved(wall: now.wall, boot: now.boot) { lastBelieved = now.wall }
        processor.record(
            .lifeSign(LifeSign(at: now.wall, last: processor.lastNumber, believed: lastBelieved)))
    }

    private func record(_ gap: DaemonGap) {
        counts[gap.kind, default: 0] += 1
        processor.record(.gap(gap))
        processor.follow(.note(JournalEntry(gap)))
    }
}

extension GapWatch.Clocks {
    /// The machine's clocks now.
    static func now() -> Self {
        Self(
            wall: Moment.now().wall, monotonic: SystemClock.monotonicNanoseconds, boot: SystemClock.bootNanoseconds)
    }
}

extension JournalEntry {
    /// The entry about a gap.
    init(_ gap: DaemonGap) {
        let length = abs(gap.length.milliseconds)
        let seconds = "\(length / 1000).\(length % 1000 / 100) s"
        let message =
            switch gap.kind {
            case .down: "no daemon ran for \(seconds)"
            case .clockStepped: "the clock was set \(gap.end >= gap.begin ? "ahead" : "back") by \(seconds)"
            case .suspended: "the machine was suspended for \(seconds)"
            case .diskStalled: "the disk stalled for \(seconds)"
            case .leaderLost: "the leader was lost, and no machine led for \(seconds)"
            case .engineAway: "the database committed nothing for \(seconds)"
            case .unprotected: "for \(seconds) no standby of the database had the newest batches"
            }
        let priority: Priority =
            switch gap.kind {
            case .down: .info
            case .leaderLost, .engineAway, .unprotected: .warning
            case .clockStepped, .suspended, .diskStalled: .notice
            }
        self.init(
            priority, message, messageID: .gap,
            fields: [
                .init(.gap, gap.kind.rawValue), .init(.gapBeginMicroseconds, Self.microseconds(gap.begin)),
                .init(.gapEndMicroseconds, Self.microseconds(gap.end)),
            ])
    }

    private static func microseconds(_ time: WallTime) -> Int64 {
        let (microseconds, isOver) = time.milliseconds.multipliedReportingOverflow(by: 1000)
        return isOver ? 0 : microseconds
    }
}

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

/// Tells whether the wall clock is believed. While it is not, ledger and tracker delete nothing by age.
///
/// CLOCK_BOOTTIME, which cannot be set, tells how far the wall clock should have moved. At the start the wall clock is
/// compared with the ledger's last sign of life by a clock that was believed (<doc:loop>).
final class ClockSteps {
    /// The largest correction of a clock that is no step, in milliseconds: a day.
    static let most: Int64 = 86_400_000

    /// How long after the start a clock that is too far ahead, and that the kernel does not call synchronised, is not
    /// believed, in nanoseconds.
    private static let patience: Int64 = 3600 * 1_000_000_000

    private let difference: Int64
    private let startedAt: Int64
    /// How many milliseconds the clock was ahead of the ledger's last sign of life at the start; `nil`: at most a day,
    /// or the clock has been believed since.
    private var jump: Int64?
    private let isSynchronised: () -> Bool?

    /// - Parameters:
    ///   - wall: the wall clock, milliseconds since 1970.
    ///   - boot: CLOCK_BOOTTIME, in nanoseconds.
    ///   - lastAlive: the ledger's last sign of life by a clock that was believed; `nil`: the ledger is new.
    ///   - isSynchronised: whether the kernel calls the wall clock synchronised; `nil`: unknown.
    init(
        wall: WallTime, boot: Int64, lastAlive: WallTime?, isSynchronised: @escaping () -> Bool?
    ) {
        difference = Self.difference(wall, boot)
        startedAt = boot
        self.isSynchronised = isSynchronised
        let (later, isTooFar) = wall.milliseconds.subtractingReportingOverflow((lastAlive ?? wall).milliseconds)
        let found = isTooFar ? Int64.max : later
        jump = found > Self.most ? found : nil
    }

    /// How many milliseconds the clock was ahead of the ledger's last sign of life at the start, until the kernel calls
    /// the clock synchronised, or for an hour; `nil`: the clock is believed.
    func doubt(boot: Int64) -> Int64? {
        guard jump != nil else { return nil }
        if boot - startedAt >= Self.patience || isSynchronised() == true { jump = nil }
        return jump
    }

    /// Whether rows may be deleted by age.
    func isBelieved(wall: WallTime, boot: Int64) -> Bool {
        step(wall: wall, boot: boot) == nil && doubt(boot: boot) == nil
    }

    /// Why nothing is deleted by age, for people; `nil`: the clock is believed.
    func objection(wall: WallTime, boot: Int64) -> String? {
        if let step = step(wall: wall, boot: boot) {
            return """
                the clock was set \(step > 0 ? "ahead" : "back") by \(Self.days(step)) since the start, so \
                nothing is deleted or forgotten by its age; correct the clock, or restart pushrouterd if it is right now
                """
        }
        return doubt(boot: boot).map { jump in
            """
            at the start the clock was \(Self.days(jump)) later than the ledger's last sign of life, so nothing is \
            deleted or forgotten by its age until the kernel calls the clock synchronized, or for an hour
            """
        }
    }

    private static func days(_ milliseconds: Int64) -> String {
        let day = UInt64(Self.most)
        return counted((milliseconds.magnitude + day / 2) / day, "day")
    }

    /// How many milliseconds the wall clock was set since the start, ahead or (negative) back; `nil`: at most a day.
    func step(wall: WallTime, boot: Int64) -> Int64? {
        let step = Self.difference(wall, boot) - difference
        return abs(step) > Self.most ? step : nil
    }

    private static func difference(_ wall: WallTime, _ boot: Int64) -> Int64 { wall.milliseconds - boot / 1_000_000 }
}
