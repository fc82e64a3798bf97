import Glibc

/// The machine's clocks; on any thread.
public enum SystemClock {
    /// `CLOCK_MONOTONIC` now, in nanoseconds.
    public static var monotonicNanoseconds: Int64 { nanoseconds(CLOCK_MONOTONIC) }

    /// `CLOCK_REALTIME` now, in milliseconds since 1970.
    public static var wallMilliseconds: Int64 { nanoseconds(CLOCK_REALTIME) / 1_000_000 }

    /// The processor time that the calling thread has used, in nanoseconds.
    public static var threadNanoseconds: Int64 { nanoseconds(CLOCK_THREAD_CPUTIME_ID) }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        // Cannot fail: the clock exists and the pointer is good.
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
