import CFaultyDisk
import Glibc
// Release builds do not import it by themselves (0080).
import _Concurrency

/// Why a disk could not do what a test asked for.
public struct DiskFailure: Error, CustomStringConvertible {
    /// What could not be done, and why.
    public let description: String

    /// - Parameter description: what could not be done, and why.
    public init(_ description: String) { self.description = description }
}

/// The program must be gone for these.
extension FaultyDisk {
    /// Cuts the power: the directory becomes what is on the platter.
    ///
    /// - Parameter chance: of 1000, that each dirty sector, size and name gets there at the last moment.
    /// - Throws: `DiskFailure`, also when the disk could not follow what the program did.
    public func cutPower(sparing chance: Int = 0) throws(DiskFailure) {
        try checkNoComplaint()
        try check(FaultyDisk_cutPower(disk, Int32(chance)), "cut its power")
        try checkNoComplaint()
    }

    /// Puts all that is in the directory on the platter, whoever wrote it: a state from which a test begins.
    ///
    /// - Throws: `DiskFailure`.
    public func syncAll() throws(DiskFailure) { try check(FaultyDisk_syncAll(disk), "sync it") }

    /// Fails when the disk has missed a write: what is neither dirty nor forgotten must be on the platter.
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

    /// How many sectors a power cut would undo: written, and not on the platter.
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

/// What may be asked at any time.
extension FaultyDisk {
    /// Sync points so far: those that failed, too.
    public var syncs: Int { Int(FaultyDisk_count(disk, FaultyDisk_syncCount)) }

    /// Writes of data so far.
    public var writes: Int { Int(FaultyDisk_count(disk, FaultyDisk_writeCount)) }

    /// Bytes written so far.
    public var bytesWritten: Int { Int(FaultyDisk_count(disk, FaultyDisk_byteCount)) }

    /// Sectors that failed syncs have forgotten so far.
    public var sectorsForgotten: Int { Int(FaultyDisk_count(disk, FaultyDisk_forgottenCount)) }

    /// Power cuts so far.
    public var cuts: Int { Int(FaultyDisk_count(disk, FaultyDisk_cutCount)) }

    /// Kills the program while it is in the middle of no change of the disk. There page cache and model tell two stories, and
    /// a power cut afterwards cannot be told.
    ///
    /// - Parameters:
    ///   - isAlive: whether the program is; one that kills itself keeps the disk.
    ///   - kill: kills it, and waits until it is gone.
    public func betweenChanges(while isAlive: () -> Bool, _ kill: () -> Void) {
        while !FaultyDisk_take(disk), isAlive() { sched_yield() }
        kill()
        FaultyDisk_giveBack(disk)
    }

    /// Waits until something holds that a sync, or a call that a rule picks, makes true.
    ///
    /// - Parameters:
    ///   - milliseconds: how long at most.
    ///   - holds: is asked at once and after each of them.
    /// - Returns: whether it holds.
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
