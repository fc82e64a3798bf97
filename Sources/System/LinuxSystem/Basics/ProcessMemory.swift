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
