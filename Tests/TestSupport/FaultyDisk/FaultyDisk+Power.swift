import CFaultyDisk
import Glibc
// Release builds do not import this module implicitly (Decisions/programs).
import _Concurrency

/// The error of an operation on a disk.
public struct DiskFailure: Error, CustomStringConvertible {
    /// The operation and the reason.
    public let description: String

    /// - Parameter description: the operation and the reason.
    public init(_ description: String) { self.description = description }
}

/// Operations that require the program to have ended.
extension FaultyDisk {
    /// Cuts the power: the directory gets the contents of the platter.
    ///
    /// - Parameter chance: the chance in 1000 that a dirty sector, size or name reaches the platter at the last moment.
    /// - Throws: `DiskFailure`, also if the disk could not follow the program's calls.
    public func cutPower(sparing chance: Int = 0) throws(DiskFailure) {
        try checkNoComplaint()
        try check(FaultyDisk_cutPower(disk, Int32(chance)), "cut its power")
        try checkNoComplaint()
    }

    /// Writes all contents of the directory to the platter, regardless of their writer: the initial state of a test.
    ///
    /// - Throws: `DiskFailure`.
    public func syncAll() throws(DiskFailure) { try check(FaultyDisk_syncAll(disk), "sync it") }

    /// Throws if the disk missed a write: each sector that is neither dirty nor forgotten must be on the platter.
    ///
    /// - Throws: `DiskFailure`.
    public func checkIsComplete() throws(DiskFailure) {
        try checkNoComplaint()
        var text = [CChar](repeating: 0, count: 512)
        let wrong = FaultyDisk_audit(disk, &text, text.count)
        guard wrong != 0 else { return }
        let first = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        throw DiskFailure("\(wrong) sectors were written past the disk, the first is \(first)")
    }

    /// The number of sectors that a power cut would undo: written, but not on the platter.
    public var unsafeSectors: Int { Int(FaultyDisk_unsafeSectors(disk)) }

    private func check(_ error: Int32, _ what: String) throws(DiskFailure) {
        guard error == 0 else { throw DiskFailure("cannot \(what): \(String(cString: strerror(error)))") }
    }

    private func checkNoComplaint() throws(DiskFailure) {
        let complaint = String(cString: FaultyDisk_complaint(disk))
        guard complaint.isEmpty else {
            throw DiskFailure("the disk cannot follow the program: \(complaint)")
        }
    }
}

/// Operations at any time.
extension FaultyDisk {
    /// The number of syncs so far, failed ones included.
    public var syncs: Int { Int(FaultyDisk_count(disk, FaultyDisk_syncCount)) }

    /// The number of writes of data so far.
    public var writes: Int { Int(FaultyDisk_count(disk, FaultyDisk_writeCount)) }

    /// The number of bytes written so far.
    public var bytesWritten: Int { Int(FaultyDisk_count(disk, FaultyDisk_byteCount)) }

    /// The number of sectors that failed syncs have marked as clean so far.
    public var sectorsForgotten: Int { Int(FaultyDisk_count(disk, FaultyDisk_forgottenCount)) }

    /// The number of power cuts so far.
    public var cuts: Int { Int(FaultyDisk_count(disk, FaultyDisk_cutCount)) }

    /// Kills the program between its changes of the disk. Within a change, page cache and model differ, and a later
    /// power cut could not be simulated.
    ///
    /// - Parameters:
    ///   - isAlive: returns whether the program runs; a program that kills itself keeps the disk's lock.
    ///   - kill: kills the program and waits until it is gone.
    public func betweenChanges(while isAlive: () -> Bool, _ kill: () -> Void) {
        while !FaultyDisk_take(disk), isAlive() { sched_yield() }
        kill()
        FaultyDisk_giveBack(disk)
    }

    /// Waits for a condition that a sync, or a call that a rule changes, makes true.
    ///
    /// - Parameters:
    ///   - milliseconds: the timeout.
    ///   - holds: the condition; evaluated at once and after each of these calls.
    /// - Returns: whether the condition holds.
    public func wait(atMost milliseconds: Int32, until holds: () -> Bool) -> Bool {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        while true {
            let seen = FaultyDisk_events(disk)
            if holds() { return true }
            let rest = (end - ContinuousClock.now).components
            let left = rest.seconds * 1000 + rest.attoseconds / 1_000_000_000_000_000
            guard left > 0 else { return false }
            _ = FaultyDisk_waitForEvent(disk, seen, Int32(clamping: left))
        }
    }
}
