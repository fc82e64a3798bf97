import Glibc

/// The memory of this process.
public enum ProcessMemory {
    /// Bytes of it that are in RAM, as proc(5) says in `/proc/self/statm`; `nil` where that cannot be read. Some
    /// microseconds; on any thread.
    public static var residentBytes: Int64? {
        guard let file = FileDescriptor(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) else { return nil }
        var text = [UInt8](repeating: 0, count: 256)
        let count = read(file.rawValue, &text, text.count)
        guard count > 0 else { return nil }
        // Pages: the whole size, then those in RAM.
        let words = text[..<count].split(separator: UInt8(ascii: " "))
        guard words.count > 1, let pages = Int64(String(decoding: words[1], as: UTF8.self)) else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }
}
