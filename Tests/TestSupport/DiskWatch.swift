import CTestProbe
import Glibc

/// Watches what this process does to the files below a directory, and has their syncs fail.
public final class DiskWatch: Sendable {
    private let watch: Int32

    /// - Parameter directory: an absolute path without links.
    public init(_ directory: String) {
        watch = CTestProbe_watch(directory)
        precondition(watch >= 0, "too many watches at once")
    }

    deinit { CTestProbe_end(watch) }

    /// What happened, in order: `write`, `sync`, `truncate` or `rename`, a file's name, and how many bytes or which error
    /// number, for a write below zero.
    public var events: [String] {
        let text = CTestProbe_events(watch)
        defer { free(text) }
        return String(cString: text).split(separator: "\n").map(String.init)
    }

    /// How many bytes were written to the files whose names begin so.
    public func written(_ prefix: String) -> Int { Int(CTestProbe_written(watch, prefix)) }

    /// Has every sync of a file with a name that ends so fail, after some that pass.
    public func failSyncs(of suffix: String, with error: Int32, passing: Int = 0) {
        CTestProbe_fail_syncs(watch, suffix, Int32(passing), error)
    }

    /// Has the next writes to the files whose names begin so fail.
    public func failWrites(of prefix: String, times: Int, with error: Int32) {
        CTestProbe_fail_writes(watch, prefix, Int32(times), error)
    }

    /// Kills this process at a write, after some that pass.
    public func killAtWrite(passing: Int) { CTestProbe_kill_at_write(watch, Int32(passing)) }

    /// Keeps a copy of each file as it was when it was last synced.
    public func keepSynced(in directory: String) { CTestProbe_keep_synced(watch, directory) }
}

/// What the calling thread allocates.
public enum Allocations {
    /// Whether it is known: with a sanitizer it is not.
    public static var isCounted: Bool { CTestProbe_counts_allocations() }

    /// How many bytes the calling thread holds: what it allocated and did not free, as the allocator keeps it.
    public static var heldBytes: Int { Int(CTestProbe_held_bytes()) }

    /// How often memory is allocated while `body` runs, and how many bytes it asks for.
    public static func count<Value>(_ body: () throws -> Value) rethrows -> (value: Value, count: Int, bytes: Int) {
        let (count, bytes) = (CTestProbe_allocations(), CTestProbe_allocated_bytes())
        let value = try body()
        return (value, Int(CTestProbe_allocations() - count), Int(CTestProbe_allocated_bytes() - bytes))
    }
}
