import CFaultyDisk
import Glibc

/// A simulated disk with a page cache and a platter. A power cut loses data that was not synced, a failed sync marks
/// dirty data as clean, and calls fail on command, also while the program runs.
///
/// The contents of `directory` are the page cache; programs and tests use it as usual. The disk follows only the
/// program under test, one program at a time. `Tests/FaultyDisk` describes its behaviour.
public final class FaultyDisk {
    /// The directory on the disk.
    public let directory: String
    let disk: OpaquePointer

    /// Makes a disk of a directory. Its present contents are on the platter.
    ///
    /// - Parameters:
    ///   - directory: an existing directory. Put the state directory into it: then the state directory's own name can be lost.
    ///   - place: the path of the platter; nothing may exist there.
    ///   - seed: the seed of the choice of what is lost.
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

    /// The variables that put the next program on the disk, as `NAME=value`. Programs that it starts are not on it.
    public var environment: [String] {
        FaultyDisk_expectProgram(disk)
        return ["LD_PRELOAD=\(CompiledC.library)", "FAULTY_DISK=\(platter)"]
    }

    /// The chance in 1000 that a dirty sector, size or name reaches the platter at a nearby write. At 0 only a sync
    /// writes, and a power cut loses all that it may.
    public var eagerness: Int {
        get { Int(FaultyDisk_trait(disk, FaultyDisk_eagerness)) }
        set { FaultyDisk_set(disk, FaultyDisk_eagerness, Int64(newValue)) }
    }

    /// The required alignment of `O_DIRECT` transfers; 0 for a file system without the requirement.
    public var directAlignment: Int {
        get { Int(FaultyDisk_trait(disk, FaultyDisk_directAlignment)) }
        set { FaultyDisk_set(disk, FaultyDisk_directAlignment, Int64(newValue)) }
    }

    /// Whether a failed sync of a directory forgets its names for good. Journaling file systems stop instead.
    public var forgetsNames: Bool {
        get { FaultyDisk_trait(disk, FaultyDisk_forgetsNames) != 0 }
        set { FaultyDisk_set(disk, FaultyDisk_forgetsNames, newValue ? 1 : 0) }
    }

    /// The seconds by which the program's clocks are ahead of the machine's. A call that already waits must be woken to
    /// see a change.
    public var clockOffset: Int {
        get { Int(FaultyDisk_trait(disk, FaultyDisk_clockOffset)) }
        set { FaultyDisk_set(disk, FaultyDisk_clockOffset, Int64(newValue)) }
    }

    /// The seconds by which the program's wall clock is ahead of its other clocks, as after a clock step.
    public var wallOffset: Int {
        get { Int(FaultyDisk_trait(disk, FaultyDisk_wallOffset)) }
        set { FaultyDisk_set(disk, FaultyDisk_wallOffset, Int64(newValue)) }
    }
}
