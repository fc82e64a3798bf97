import Glibc

/// The time for which the thread that created it was runnable without a processor, from the kernel's schedstat
/// (Documentation/scheduler/sched-stats.rst).
public struct ProcessorWait: ~Copyable {
    private let file: FileDescriptor

    /// `nil` if the kernel has no schedstat.
    public init?() {
        guard let file = FileDescriptor(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) else { return nil }
        self.file = file
    }

    /// Returns the time so far, in nanoseconds; on any thread. Takes about 1 us.
    public func nanoseconds() -> Int64? {
        withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { text in
            let count = pread(file.rawValue, text.baseAddress, text.count, 0)
            // The fields are the running time, the waiting time, and the number of runs.
            let words = text.prefix(max(0, count)).split(separator: UInt8(ascii: " "), maxSplits: 2)
            return words.count > 2 ? Int64(String(decoding: words[1], as: UTF8.self)) : nil
        }
    }
}
