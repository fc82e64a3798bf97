import CLinux

/// What becomes of memory that the process has freed.
public enum FreedMemory {
    /// Has freed memory of some size given back to the system at once instead of kept for later. Before threads are begun.
    public static func returnAtOnce() { CLinux_return_freed_memory() }

    /// Gives back to the system what was freed and is still held; takes some milliseconds at worst.
    public static func trim() { CLinux_trim_memory() }
}
