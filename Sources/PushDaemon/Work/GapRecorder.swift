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
