import CLinux

/// What becomes of memory that the process has freed.
package enum FreedMemory {
    /// Has freed memory of some size given back to the system at once instead of kept for later. Before threads are begun.
    package static func returnAtOnce() { CLinux_return_freed_memory() }

    /// Gives back to the system what was freed and is still held; takes some milliseconds at worst.
    package static func trim() { CLinux_trim_memory() }
}
