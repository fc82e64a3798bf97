import CLinux
import Glibc

/// The memory of this process.
public enum ProcessMemory {
    /// The resident set in bytes, from `/proc/self/statm` (proc(5)); `nil` if it cannot be read. Takes some
    /// microseconds; on any thread.
    public static var residentBytes: Int64? {
        guard let file = FileDescriptor(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) else { return nil }
        var text = [UInt8](repeating: 0, count: 256)
        let count = read(file.rawValue, &text, text.count)
        guard count > 0 else { return nil }
        // In pages: the virtual size, then the resident set.
        let words = text[..<count].split(separator: UInt8(ascii: " "))
        guard words.count > 1, let pages = Int64(String(decoding: words[1], as: UTF8.self)) else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// The handling of freed memory by malloc.
public enum FreedMemory {
    /// Returns larger blocks of freed memory to the system at once instead of keeping them. To be called before threads
    /// start.
    public static func returnAtOnce() { CLinux_return_freed_memory() }

    /// Returns freed memory that malloc still holds to the system; takes some milliseconds at worst.
    public static func trim() { CLinux_trim_memory() }
}

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
