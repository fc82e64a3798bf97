import Glibc
import LinuxSystem
import PushModel
import Synchronization

/// The directory of the log's segments.
struct LogDirectory: Sendable {
    let path: String
    /// The id of the state directory that the log belongs to.
    let state: UUID128

    /// Makes the directory if it is missing, and syncs the names in the state directory: an earlier start may have made
    /// them and ended, or failed, before its sync.
    ///
    /// - Parameters:
    ///   - stateDirectory: the parent directory.
    ///   - state: the id of the state directory.
    init(in stateDirectory: String, state: UUID128) throws(StoreError) {
        path = Self.path(in: stateDirectory)
        self.state = state
        guard mkdir(path, 0o750) == 0 || errno == EEXIST else { throw StoreError.system("mkdir", path, errno: errno) }
        try Self.sync(stateDirectory)
    }

    /// A log that is only read; `nil` if there is none.
    init?(reading stateDirectory: String, state: UUID128) throws(StoreError) {
        path = Self.path(in: stateDirectory)
        self.state = state
        if access(path, F_OK) != 0 {
            if errno == ENOENT { return nil }
            throw StoreError.system("open", path, errno: errno)
        }
    }

    /// Returns whether there is a log, of any ledger.
    static func hasSegments(in stateDirectory: String) throws(StoreError) -> Bool {
        let path = path(in: stateDirectory)
        guard access(path, F_OK) == 0 else { return false }
        return try !ids(in: path).isEmpty
    }

    /// Returns whether there are segments, and none has this program's format. Unfinished segments do not count.
    static func isOtherFormat(in stateDirectory: String) throws(StoreError) -> Bool {
        let path = path(in: stateDirectory)
        guard access(path, F_OK) == 0 else { return false }
        let starts = try ids(in: path).compactMap {
            SetAside.start(of: LogSegment.path($0, in: path), count: LogSegment.magic.count)
        }
        let finished = starts.filter { !$0.allSatisfy { $0 == 0 } }
        return !finished.isEmpty && !finished.contains(LogSegment.magic)
    }

    static func path(in stateDirectory: String) -> String { stateDirectory + "/log" }

    /// Opens the segments, in order of their numbers, and syncs their names; returns them with the damage of the first
    /// damaged one. Removes files that were never finished.
    func segments() throws(StoreError) -> ([LogSegment], damage: StoreError?) {
        var segments: [LogSegment] = []
        var damage: StoreError?
        for id in try Self.ids(in: path) {
            do throws(StoreError) {
                if let segment = try LogSegment.open(id, in: path, state: state) {
                    segments.append(segment)
                } else {
                    unlink(LogSegment.path(id, in: path))
                }
            } catch let error where error.kind == .corrupt {
                damage = damage ?? error
            }
        }
        try Self.sync(path)
        return (segments, damage)
    }

    /// Opens the segments for reading only. The ledger has all batches of a segment that is removed meanwhile.
    func segmentsForReading() throws(StoreError) -> [LogSegment] {
        var segments: [LogSegment] = []
        for id in try Self.ids(in: path) where access(LogSegment.path(id, in: path), F_OK) == 0 || errno != ENOENT {
            if let segment = try LogSegment.open(id, in: path, state: state, forReading: true) {
                segments.append(segment)
            }
        }
        return segments
    }

    /// Makes a segment, and syncs the directory.
    func create(_ id: UInt32, length: Int, isCopy: Bool = false) throws(StoreError) -> LogSegment {
        let segment = try LogSegment.create(id, length: length, isCopy: isCopy, in: path, state: state)
        do throws(StoreError) {
            try Self.sync(path)
        } catch {
            segment.remove()
            throw error
        }
        return segment
    }

    /// The bytes of a row: no row is shorter.
    static let shortestRow = 32

    /// Returns the largest number of rows that the segments can have, readable or not.
    func rowsAtMost() throws(StoreError) -> Int64 { try length() / Int64(Self.shortestRow) }

    /// Returns the bytes of the segments, readable or not.
    func length() throws(StoreError) -> Int64 {
        var bytes: Int64 = 0
        for id in try Self.ids(in: path) {
            var facts = stat()
            if stat(LogSegment.path(id, in: path), &facts) == 0 { bytes += Int64(facts.st_size) }
        }
        return bytes
    }

    /// Moves the log away, for people to look at, and makes an empty directory in its place.
    ///
    /// - Returns: the new path.
    func setAside(at time: WallTime) throws(StoreError) -> String {
        let place = "\(path).set-aside-\(time.milliseconds)"
        guard rename(path, place) == 0 else { throw StoreError.system("rename", path, errno: errno) }
        guard mkdir(path, 0o750) == 0 else { throw StoreError.system("mkdir", path, errno: errno) }
        try Self.sync(path + "/..")
        return place
    }

    private static func ids(in path: String) throws(StoreError) -> [UInt32] {
        guard let directory = opendir(path) else { throw StoreError.system("opendir", path, errno: errno) }
        defer { closedir(directory) }
        var ids: [UInt32] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let id = LogSegment.id(named: name) { ids.append(id) }
        }
        return ids.sorted()
    }

    /// Syncs a directory, which makes the names in it durable.
    static func sync(_ path: String) throws(StoreError) {
        guard let directory = FileDescriptor(Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else {
            throw StoreError.system("open", path, errno: errno)
        }
        guard fsync(directory.rawValue) == 0 else { throw StoreError.sync(path, errno: errno) }
    }
}

/// Notices that somebody moves, removes, replaces or shortens a file of the store under the running daemon, which would
/// go on writing to a file that no start finds.
///
/// All calls are allowed on any thread.
final class FileWatch: Sendable {
    private struct Place: Equatable {
        var device: dev_t
        var file: ino_t
    }

    /// The files of the ledger at the first look, by path.
    private let known = Mutex<[String: Place]>([:])

    /// Looks at files that the ledger has open all the time.
    ///
    /// - Returns: the first one that is not at its path any more, with the reason.
    func change(of paths: [String]) -> (path: String, reason: String)? {
        known.withLock { known in
            for path in paths {
                var status = stat()
                guard stat(path, &status) == 0 else {
                    // Only these two say that the file is gone.
                    if errno == ENOENT || errno == ENOTDIR, known[path] != nil { return (path, Self.gone) }
                    continue
                }
                let place = Place(device: status.st_dev, file: status.st_ino)
                if let before = known[path], before != place { return (path, Self.replaced) }
                known[path] = place
            }
            return nil
        }
    }

    fileprivate static let gone = "the file was moved or removed"
    fileprivate static let replaced = "another file took the place of this one"
}

extension LogSegment {
    /// Why no start would find what is written to the segment; `nil`: a start would.
    fileprivate var fault: String? {
        var (here, there) = (stat(), stat())
        guard fstat(file.rawValue, &here) == 0 else { return nil }
        if here.st_nlink == 0 { return FileWatch.gone }
        if here.st_size < length { return "the file was shortened to \(here.st_size) of \(length) bytes" }
        guard stat(path, &there) == 0 else { return errno == ENOENT || errno == ENOTDIR ? FileWatch.gone : nil }
        return here.st_dev == there.st_dev && here.st_ino == there.st_ino ? nil : FileWatch.replaced
    }
}

extension CommitLog {
    /// Returns the first segment that was moved, removed, replaced or shortened, with the reason.
    fileprivate func changedSegment() -> (path: String, reason: String)? {
        for segment in segments {
            // A segment that the log removed itself has left it before.
            if let reason = segment.fault, segments.contains(where: { $0 === segment }) {
                return (segment.path, reason)
            }
        }
        return nil
    }

    private var segments: [LogSegment] { state.withLock { $0.filled.map(\.segment) + $0.free } }
}

extension Committer {
    /// Looks at the files of log and ledger, once in a while.
    ///
    /// - Returns: the error after which nothing more may be acknowledged; `nil`: all files are in their places.
    public func displacedFile() -> StoreError? {
        let ledger = "\(directory)/ledger.db"
        guard let found = (log as? CommitLog)?.changedSegment() ?? files.change(of: [ledger, ledger + "-wal"]) else {
            return nil
        }
        return StoreError(.displaced, message: "\(found.reason) while the daemon ran", context: found.path)
    }
}
