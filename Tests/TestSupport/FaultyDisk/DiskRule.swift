import CFaultyDisk

/// A rule in force on a disk: it counts the calls that match, and those that it changed.
public final class DiskRule {
    private let disk: FaultyDisk
    private let number: Int32

    fileprivate init(_ disk: FaultyDisk, _ number: Int32) {
        precondition(number >= 0, "a disk has not room for so many rules at once")
        self.disk = disk
        self.number = number
    }

    deinit { FaultyDisk_forgetRule(disk.disk, number) }

    /// The number of matching calls.
    public var matched: Int { Int(FaultyDisk_matched(disk.disk, number)) }

    /// The bytes that matching writes wrote.
    public var bytes: Int { Int(FaultyDisk_matchedBytes(disk.disk, number)) }

    /// The number of calls that the rule changed.
    public var picked: Int { Int(FaultyDisk_picked(disk.disk, number)) }

    /// The path of the last changed call, in the form for patterns.
    public var lastPicked: String { String(cString: FaultyDisk_pickedLast(disk.disk, number)) }

    /// Ends the rule and keeps its counts. Held calls continue.
    public func end() { FaultyDisk_disarm(disk.disk, number) }
}

/// The calls that a rule matches.
public struct DiskCalls: Sendable {
    fileprivate var subject: FaultyDisk_Subject
    fileprivate var pattern: String
    fileprivate var isAllocating = false

    /// `fsync`, `fdatasync`, and each write through `O_DSYNC`, `O_SYNC` or `RWF_DSYNC`.
    ///
    /// - Parameter pattern: a part of the path, or with `$` its end. A directory's path begins with `directory `, and
    ///   that of the sync of a write through `O_DSYNC` with `through `.
    public static func syncs(of pattern: String = "") -> DiskCalls {
        DiskCalls(subject: FaultyDisk_syncs, pattern: pattern)
    }

    /// Calls that read data. Memory-mapped data, such as the index of a WAL, is read without a call.
    ///
    /// - Parameter pattern: as in ``syncs(of:)``.
    public static func reads(of pattern: String = "") -> DiskCalls {
        DiskCalls(subject: FaultyDisk_reads, pattern: pattern)
    }

    /// Calls that write data, allocate space, or change a name.
    ///
    /// - Parameters:
    ///   - pattern: as in ``syncs(of:)``.
    ///   - allocating: only calls that need space which the file does not have yet: those that fail on a full disk.
    public static func writes(of pattern: String = "", allocating: Bool = false) -> DiskCalls {
        DiskCalls(subject: FaultyDisk_writes, pattern: pattern, isAllocating: allocating)
    }
}

/// The subset of matching calls that a rule changes.
public struct DiskOccasion: Sendable {
    fileprivate var first: Int
    fileprivate var times: Int

    /// Returns a single call, counted from now: 1 is the next.
    public static func only(_ number: Int) -> DiskOccasion { DiskOccasion(first: number, times: 1) }

    /// Returns this call and all later ones until the rule ends.
    public static func from(_ number: Int) -> DiskOccasion { DiskOccasion(first: number, times: .max) }

    /// All calls until the rule ends.
    public static let all = from(1)
}

extension FaultyDisk {
    /// Counts calls without changing them.
    public func count(_ calls: DiskCalls) -> DiskRule { arm(calls, .only(0), FaultyDisk_counts) }

    /// Fails calls. A failed sync marks the sectors as clean; a failed read may succeed the next time.
    ///
    /// - Parameters:
    ///   - calls: the matching calls.
    ///   - occasion: the subset to fail.
    ///   - error: the error number: `EIO`, `ENOSPC`, `EDQUOT`, `EROFS`.
    public func fail(_ calls: DiskCalls, _ occasion: DiskOccasion, error: Int32) -> DiskRule {
        arm(calls, occasion, FaultyDisk_fails, value: error)
    }

    /// Ends the program as a power cut does: before the call takes effect, or after its effect and before it returns.
    public func kill(_ calls: DiskCalls, at number: Int, isDone: Bool) -> DiskRule {
        arm(calls, .only(number), isDone ? FaultyDisk_killsAfter : FaultyDisk_killsBefore)
    }

    /// Makes writes write half of their bytes.
    public func shorten(_ calls: DiskCalls, _ occasion: DiskOccasion) -> DiskRule {
        arm(calls, occasion, FaultyDisk_shortens)
    }

    /// Makes calls slow.
    public func delay(_ calls: DiskCalls, milliseconds: Int32) -> DiskRule {
        arm(calls, .all, FaultyDisk_delays, value: milliseconds)
    }

    /// Makes calls wait until the rule ends.
    public func hold(_ calls: DiskCalls, _ occasion: DiskOccasion = .all) -> DiskRule {
        arm(calls, occasion, FaultyDisk_holds)
    }

    private func arm(
        _ calls: DiskCalls, _ occasion: DiskOccasion, _ action: FaultyDisk_Action, value: Int32 = 0
    ) -> DiskRule {
        calls.pattern.withCString { pattern in
            let rule = FaultyDisk_Rule(
                subject: calls.subject, action: action, value: value, onlyAllocating: calls.isAllocating,
                first: Int64(occasion.first), times: Int64(occasion.times), pattern: pattern)
            return DiskRule(self, FaultyDisk_arm(disk, rule))
        }
    }
}
