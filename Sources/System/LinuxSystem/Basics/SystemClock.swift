import CLinux
import Glibc

/// The machine's clocks; on any thread.
public enum SystemClock {
    /// `CLOCK_MONOTONIC` now, in nanoseconds.
    public static var monotonicNanoseconds: Int64 { nanoseconds(CLOCK_MONOTONIC) }

    /// `CLOCK_BOOTTIME` now, in nanoseconds: it continues while the machine is suspended, and cannot be set.
    public static var bootNanoseconds: Int64 { nanoseconds(CLOCK_BOOTTIME) }

    /// `CLOCK_REALTIME` now, in milliseconds since 1970; at most the end of the year 9999, the last that RFC 3339 can
    /// express. Nanoseconds would overflow in the year 2262.
    public static var wallMilliseconds: Int64 {
        let time = time(CLOCK_REALTIME)
        return min(max(Int64(time.tv_sec), 0), lastSecond) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static let lastSecond: Int64 = 253_402_300_799

    /// The processor time that the calling thread has used, in nanoseconds.
    static var threadNanoseconds: Int64 { nanoseconds(CLOCK_THREAD_CPUTIME_ID) }

    /// Whether the kernel regards `CLOCK_REALTIME` as synchronised (adjtimex(2)); `nil` if the call fails.
    public static var isSynchronised: Bool? {
        let answer = CLinux_clock_is_synchronised()
        return answer < 0 ? nil : answer == 1
    }

    private static func time(_ clock: clockid_t) -> timespec {
        var time = timespec()
        // clock_gettime cannot fail here: the clock exists and the pointer is valid.
        clock_gettime(clock, &time)
        return time
    }

    /// - Parameter clock: a clock that counts from the start of the machine or of a thread.
    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        let time = time(clock)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
