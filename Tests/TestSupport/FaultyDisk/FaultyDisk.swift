import CFaultyDisk
import Glibc

/// A disk that keeps page cache and platter apart: it loses what was not synced when its power is cut, forgets what a
/// failed sync was to write, and fails on command, also while the program runs.
///
/// What is below `directory` is the page cache; programs and tests use it as ever. Only what the program under test
/// does is followed, and only one program at a time. How the disk behaves is said in `Tests/FaultyDisk`.
public final class FaultyDisk {
    /// The directory that is on the disk.
    public let directory: String
    let disk: OpaquePointer

    /// Makes a disk of a directory. What is in it already is on the platter.
    ///
    /// - Parameters:
    ///   - directory: an existing one. A state directory should be in it, not be it: then its own name can be lost too.
    ///   - place: where the disk keeps its platter; nothing may be there.
    ///   - seed: decides what is lost and what is not.
    public init(_ directory: String, platterAt place: String, seed: UInt64) {
        self.directory = directory
        precondition(mkdir(place, 0o700) == 0, "cannot make \(place): \(systemReason())")
        guard let disk = FaultyDisk_create(place, directory, seed) else {
            preconditionFailure("cannot make a disk of \(directory): \(systemReason())")
        }
        self.disk = disk
        platter = place
    }

    deinit { FaultyDisk_close(disk) }

    private let platter: String

    /// The variables that put the next program on the disk, as `NAME=value`. What that starts itself is not on it.
    public var environment: [String] {
        FaultyDisk_expectProgram(disk)
        return ["LD_PRELOAD=\(CompiledC.library)", "FAULTY_DISK=\(platter)"]
    }

    /// How likely each dirty sector, size and name reaches the platter at a write nearby, of 1000: at 0 only a sync
    /// writes, and a power cut loses all it may.
    public var eagerness: Int {
        get { Int(FaultyDisk_trait(disk, FaultyDisk_eagerness)) }
        set { FaultyDisk_set(disk, FaultyDisk_eagerness, Int64(newValue)) }
    }

    /// What transfers through `O_DIRECT` must be a multiple of; 0 for a file system that has no such thing.
    public var directAlignment: Int {
        get { Int(FaultyDisk_trait(disk, FaultyDisk_directAlignment)) }
        set { FaultyDisk_set(disk, FaultyDisk_directAlignment, Int64(newValue)) }
    }

    /// Whether a failed sync of a directory forgets its names for good. File systems with a journal rather stop.
    public var forgetsNames: Bool {
        get { FaultyDisk_trait(disk, FaultyDisk_forgetsNames) != 0 }
        set { FaultyDisk_set(disk, FaultyDisk_forgetsNames, newValue ? 1 : 0) }
    }

    /// By how many seconds the program's clocks are ahead of the machine's. Who waits already must be woken to see it.
    public var clockOffset: Int {
        get { Int(FaultyDisk_trait(disk, FaultyDisk_clockOffset)) }
        set { FaultyDisk_set(disk, FaultyDisk_clockOffset, Int64(newValue)) }
    }

    /// By how many seconds the program's wall clock is ahead of its other clocks, as if somebody had set it.
    public var wallOffset: Int {
        get { Int(FaultyDisk_trait(disk, FaultyDisk_wallOffset)) }
        set { FaultyDisk_set(disk, FaultyDisk_wallOffset, Int64(newValue)) }
    }
}
