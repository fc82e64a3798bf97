import LinuxSystem
public import PushModel

extension Moment {
    /// Both clocks now.
    public static func now() -> Moment {
        Moment(
            monotonic: Instant(nanoseconds: SystemClock.monotonicNanoseconds),
            wall: WallTime(milliseconds: SystemClock.wallMilliseconds))
    }
}
