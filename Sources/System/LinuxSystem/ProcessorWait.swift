import Glibc

/// For how long the thread that made it was ready to run and had no processor, as the kernel counts that
/// (Documentation/scheduler/sched-stats.rst).
public struct ProcessorWait: ~Copyable {
    private let file: FileDescriptor

    /// `nil` where the kernel does not tell.
    public init?() {
        guard let file = FileDescriptor(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) else { return nil }
        self.file = file
    }

    /// So far, in nanoseconds; on any thread. About 1 us.
    public func nanoseconds() -> Int64? {
        withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { text in
            let count = pread(file.rawValue, text.baseAddress, text.count, 0)
            // What it ran for, what it waited for, how often it ran.
            let words = text.prefix(max(0, count)).split(separator: UInt8(ascii: " "), maxSplits: 2)
            return words.count > 2 ? Int64(String(decoding: words[1], as: UTF8.self)) : nil
        }
    }
}
