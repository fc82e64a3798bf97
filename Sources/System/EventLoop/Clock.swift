import LinuxSystem
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

/// The wall clock that a process goes by: this machine's, unless it leads machines that share a log, which have one of their
/// own. Any thread may ask.
public enum WallClock {
    private static let isShared = Atomic(false)
    private static let shared = Mutex<@Sendable () -> WallTime>({ WallClock.ofMachine })

    /// The time now.
    public static var now: WallTime {
        isShared.load(ordering: .acquiring) ? shared.withLock(\.self)() : ofMachine
    }

    /// The time by this machine's own clock.
    public static var ofMachine: WallTime { WallTime(milliseconds: SystemClock.wallMilliseconds) }

    /// Goes by another clock for as long as the process runs. Called once, before anything has asked for the time.
    public static func follow(_ clock: @escaping @Sendable () -> WallTime) {
        shared.withLock { $0 = clock }
        isShared.store(true, ordering: .releasing)
    }
}
