import CLinux

/// The handling of freed memory by malloc.
public enum FreedMemory {
    /// Returns larger blocks of freed memory to the system at once instead of keeping them. To be called before threads
    /// start.
    public static func returnAtOnce() { CLinux_return_freed_memory() }

    /// Returns freed memory that malloc still holds to the system; takes some milliseconds at worst.
    public static func trim() { CLinux_trim_memory() }
}
