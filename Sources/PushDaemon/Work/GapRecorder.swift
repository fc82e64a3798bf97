import EventLoop
import JournalLog
import LinuxSystem
import PushModel

/// Has gaps and signs of life written to the ledger, and tells the journal of gaps once they are there.
final class GapRecorder {
    /// How long after a sign of life the next one is due, in nanoseconds: with the housekeeping that looks, the last one is
    /// never older than 70 seconds.
    static let signInterval: Int64 = 60 * 1_000_000_000

    private let processor: Processor
    private let lastAlive: WallTime?
    private var lastBelieved: WallTime?
    private let clock: ClockSteps
    private var watch: GapWatch
    private var signedAt: Int64?
    /// Whether the last sign of life was given: there is nothing else left to write.
    private(set) var hasEnded = false

    /// - Parameters:
    ///   - processor: has rows written, and entries once those are durable.
    ///   - lastAlive: when a daemon before this one was last known to be alive; `nil`: there was none.
    ///   - lastBelieved: the same by a clock that was believed.
    ///   - clock: says whether the clock is believed now.
    init(_ processor: Processor, lastAlive: WallTime?, lastBelieved: WallTime?, clock: ClockSteps) {
        self.processor = processor
        self.lastAlive = lastAlive
        self.lastBelieved = lastBelieved
        self.clock = clock
        watch = GapWatch(.now())
    }

    /// The daemon is ready.
    func begin() {
        let now = GapWatch.Clocks.now()
        // A clock that shows less than then was set back, and nobody knows for how long no daemon ran.
        if let lastAlive {
            record(DaemonGap(lastAlive <= now.wall ? .down : .clockStepped, begin: lastAlive, end: now.wall))
        }
        sign(now)
    }

    /// Looks at the clocks, and gives a sign of life where one is due; every ten seconds.
    ///
    /// - Parameter canWrite: whether anything can be written; what cannot is not to pile up.
    func look(canWrite: Bool) {
        let now = GapWatch.Clocks.now()
        for gap in watch.look(now) { record(gap) }
        guard canWrite, let signedAt, now.monotonic - signedAt >= Self.signInterval else { return }
        sign(now)
    }

    /// The disk stalled, and does so no longer; both in monotonic nanoseconds.
    func stalled(from begin: Int64, to end: Int64) {
        if let gap = watch.stalled(from: begin, to: end, at: .now()) { record(gap) }
    }

    /// The daemon has nothing left to do and ends.
    ///
    /// - Returns: whether that is to be written first.
    func end() -> Bool {
        guard !hasEnded else { return false }
        hasEnded = true
        let now = GapWatch.Clocks.now()
        if let gap = watch.end(now) { record(gap) }
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
            }
        self.init(
            gap.kind == .down ? .info : .notice, message, messageID: .gap,
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
