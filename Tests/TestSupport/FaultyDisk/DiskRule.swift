import CFaultyDisk

/// A rule of a disk in force: which calls it is about, and how many there were.
public final class DiskRule {
    private let disk: FaultyDisk
    private let number: Int32

    fileprivate init(_ disk: FaultyDisk, _ number: Int32) {
        precondition(number >= 0, "a disk has not room for so many rules at once")
        self.disk = disk
        self.number = number
    }

    deinit { FaultyDisk_forgetRule(disk.disk, number) }

    /// How many calls it was about.
    public var matched: Int { Int(FaultyDisk_matched(disk.disk, number)) }

    /// How many bytes those wrote, if it was about writes.
    public var bytes: Int { Int(FaultyDisk_matchedBytes(disk.disk, number)) }

    /// Of how many the rule changed the course.
    public var picked: Int { Int(FaultyDisk_picked(disk.disk, number)) }

    /// The path of the last of those, as patterns match it.
    public var lastPicked: String { String(cString: FaultyDisk_pickedLast(disk.disk, number)) }

    /// Ends the rule; what it counted stays. Calls that it holds go on.
    public func end() { FaultyDisk_disarm(disk.disk, number) }
}

/// The calls that a rule is about.
public struct DiskCalls: Sendable {
    fileprivate var subject: FaultyDisk_Subject
    fileprivate var pattern: String
    fileprivate var isAllocating = false

    /// `fsync`, `fdatasync`, and each write through `O_DSYNC`, `O_SYNC` or `RWF_DSYNC`.
    ///
    /// - Parameter pattern: a part of the path, or with `$` the end of it. That of a directory begins with
    ///   `directory `, and that of the sync that a write through `O_DSYNC` brings with `through `.
    public static func syncs(of pattern: String = "") -> DiskCalls {
        DiskCalls(subject: FaultyDisk_syncs, pattern: pattern)
    }

    /// What reads data. What is mapped into memory, as the index of a WAL is, is read without a call.
    ///
    /// - Parameter pattern: as above.
    public static func reads(of pattern: String = "") -> DiskCalls {
        DiskCalls(subject: FaultyDisk_reads, pattern: pattern)
    }

    /// What writes data, makes room for it, or changes a name.
    ///
    /// - Parameters:
    ///   - pattern: as above.
    ///   - allocating: only those that need room which the file has not got yet: what fails on a full disk.
    public static func writes(of pattern: String = "", allocating: Bool = false) -> DiskCalls {
        DiskCalls(subject: FaultyDisk_writes, pattern: pattern, isAllocating: allocating)
    }
}

/// Which of the calls a rule picks.
public struct DiskOccasion: Sendable {
    fileprivate var first: Int
    fileprivate var times: Int

    /// One, counted from now on: 1 is the next.
    public static func only(_ number: Int) -> DiskOccasion { DiskOccasion(first: number, times: 1) }

    /// That one, and all after it until the rule ends.
    public static func from(_ number: Int) -> DiskOccasion { DiskOccasion(first: number, times: .max) }

    /// All until the rule ends.
    public static let all = from(1)
}

extension FaultyDisk {
    /// Counts calls and changes nothing.
    public func count(_ calls: DiskCalls) -> DiskRule { arm(calls, .only(0), FaultyDisk_counts) }

    /// Fails calls. A sync that fails forgets that the sectors were dirty; a read that fails may succeed the next time.
    ///
    /// - Parameters:
    ///   - calls: which calls.
    ///   - occasion: which of them.
    ///   - error: what the program is told: `EIO`, `ENOSPC`, `EDQUOT`, `EROFS`.
    public func fail(_ calls: DiskCalls, _ occasion: DiskOccasion, error: Int32) -> DiskRule {
        arm(calls, occasion, FaultyDisk_fails, value: error)
    }

    /// Ends the program as a power cut does, before a call does anything, or once it is done and before it returns.
    public func kill(_ calls: DiskCalls, at number: Int, isDone: Bool) -> DiskRule {
        arm(calls, .only(number), isDone ? FaultyDisk_killsAfter : FaultyDisk_killsBefore)
    }

    /// Has writes write half of what they were given.
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
