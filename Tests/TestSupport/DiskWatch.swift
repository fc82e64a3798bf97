import CTestProbe
import Glibc

/// Records what this process does to the files below a directory, and makes their syncs and writes fail on command.
public final class DiskWatch: Sendable {
    private let watch: Int32

    /// - Parameter directory: an absolute path without symbolic links.
    public init(_ directory: String) {
        watch = CTestProbe_watch(directory)
        precondition(watch >= 0, "too many watches at once")
    }

    deinit { CTestProbe_end(watch) }

    /// The calls in order: `write`, `sync`, `truncate` or `rename`, the file's name, and the number of bytes or the
    /// error number; a failed write has its error number negated.
    public var events: [String] {
        let text = CTestProbe_events(watch)
        defer { free(text) }
        return String(cString: text).split(separator: "\n").map(String.init)
    }

    /// Returns the number of bytes written to files whose names begin with `prefix`.
    public func written(_ prefix: String) -> Int { Int(CTestProbe_written(watch, prefix)) }

    /// Makes syncs of files whose names end in `suffix` fail, after `passing` successful ones.
    public func failSyncs(of suffix: String, with error: Int32, passing: Int = 0) {
        CTestProbe_fail_syncs(watch, suffix, Int32(passing), error)
    }

    /// Makes the next writes to files whose names begin with `prefix` fail.
    public func failWrites(of prefix: String, times: Int, with error: Int32) {
        CTestProbe_fail_writes(watch, prefix, Int32(times), error)
    }

    /// Kills this process at a write, after `passing` successful ones.
    public func killAtWrite(passing: Int) { CTestProbe_kill_at_write(watch, Int32(passing)) }

    /// Keeps a copy of each file as of its last sync.
    public func keepSynced(in directory: String) { CTestProbe_keep_synced(watch, directory) }
}

/// The allocations of the calling thread.
public enum Allocations {
    /// Whether allocations are counted: a sanitizer replaces the allocator.
    public static var isCounted: Bool { CTestProbe_counts_allocations() }

    /// The bytes that the calling thread allocated and did not free, in the allocator's sizes.
    public static var heldBytes: Int { Int(CTestProbe_held_bytes()) }

    /// Returns the number of allocations during `body`, and the bytes requested.
    public static func count<Value>(_ body: () throws -> Value) rethrows -> (value: Value, count: Int, bytes: Int) {
        let (count, bytes) = (CTestProbe_allocations(), CTestProbe_allocated_bytes())
        let value = try body()
        return (value, Int(CTestProbe_allocations() - count), Int(CTestProbe_allocated_bytes() - bytes))
    }
}
