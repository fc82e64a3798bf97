import EventLoop
import Glibc
import PushModel

extension Moment {
    /// Both clocks now.
    static func now() -> Moment {
        var time = timespec()
        // Cannot fail: the clock exists and the pointer is good.
        clock_gettime(CLOCK_REALTIME, &time)
        let milliseconds = Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        return Moment(
            monotonic: Instant(nanoseconds: EventLoop.nowNanoseconds), wall: WallTime(milliseconds: milliseconds))
    }
}
