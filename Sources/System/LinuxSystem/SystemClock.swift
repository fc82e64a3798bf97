import CLinux
import Glibc

/// The machine's clocks; on any thread.
public enum SystemClock {
    /// `CLOCK_MONOTONIC` now, in nanoseconds.
    public static var monotonicNanoseconds: Int64 { nanoseconds(CLOCK_MONOTONIC) }

    /// `CLOCK_BOOTTIME` now, in nanoseconds: it goes on while the machine is suspended, and nobody can set it.
    public static var bootNanoseconds: Int64 { nanoseconds(CLOCK_BOOTTIME) }

    /// `CLOCK_REALTIME` now, in milliseconds since 1970; at most the end of the year 9999, behind which RFC 3339 has no form
    /// for a time. Nanoseconds would end in the year 2262.
    public static var wallMilliseconds: Int64 {
        let time = time(CLOCK_REALTIME)
        return min(max(Int64(time.tv_sec), 0), lastSecond) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static let lastSecond: Int64 = 253_402_300_799

    /// The processor time that the calling thread has used, in nanoseconds.
    public static var threadNanoseconds: Int64 { nanoseconds(CLOCK_THREAD_CPUTIME_ID) }

    /// Whether the kernel takes `CLOCK_REALTIME` for synchronised with a better clock (adjtimex(2)); `nil`: it does not say.
    public static var isSynchronised: Bool? {
        let answer = CLinux_clock_is_synchronised()
        return answer < 0 ? nil : answer == 1
    }

    private static func time(_ clock: clockid_t) -> timespec {
        var time = timespec()
        // Cannot fail: the clock exists and the pointer is good.
        clock_gettime(clock, &time)
        return time
    }

    /// - Parameter clock: one that counts from a start of the machine or of a thread.
    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        let time = time(clock)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
