public import PushModel
import Synchronization

extension Instant {
    /// The monotonic clock now.
    public static var now: Instant { Instant(nanoseconds: SystemClock.monotonicNanoseconds) }
}

extension Moment {
    /// Both clocks now.
    public static func now() -> Moment { Moment(monotonic: .now, wall: WallClock.now) }
}

/// The wall clock of a process: this machine's, or the shared clock of a leader of machines that share a log. On any
/// thread.
public enum WallClock {
    private static let isShared = Atomic(false)
    private static let shared = Mutex<@Sendable () -> WallTime>({ WallClock.ofMachine })

    /// The time now.
    public static var now: WallTime {
        isShared.load(ordering: .acquiring) ? shared.withLock(\.self)() : ofMachine
    }

    /// The time on this machine's own clock.
    public static var ofMachine: WallTime { WallTime(milliseconds: SystemClock.wallMilliseconds) }

    /// Replaces the clock for the rest of the process's life. To be called once, before the first use of the time.
    public static func follow(_ clock: @escaping @Sendable () -> WallTime) {
        shared.withLock { $0 = clock }
        isShared.store(true, ordering: .releasing)
    }
}
