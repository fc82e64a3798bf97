import Glibc
import LinuxSystem
import PushModel

/// The directory of the log's segments.
struct LogDirectory: Sendable {
    let path: String
    /// Whose log it is.
    let state: UUID128

    /// Makes the directory when it is missing, and durable what names the state directory has by now: an earlier start may
    /// have made them and not got as far as this, or failed in it.
    ///
    /// - Parameters:
    ///   - stateDirectory: where it goes.
    ///   - state: whose log it is.
    init(in stateDirectory: String, state: UUID128) throws(StoreError) {
        path = Self.path(in: stateDirectory)
        self.state = state
        guard mkdir(path, 0o750) == 0 || errno == EEXIST else { throw StoreError.system("mkdir", path, errno: errno) }
        try Self.sync(stateDirectory)
    }

    /// A log that is only read; `nil` where there is none.
    init?(reading stateDirectory: String, state: UUID128) throws(StoreError) {
        path = Self.path(in: stateDirectory)
        self.state = state
        if access(path, F_OK) != 0 {
            if errno == ENOENT { return nil }
            throw StoreError.system("open", path, errno: errno)
        }
    }

    /// Whether there is a log, of whatever ledger.
    static func hasSegments(in stateDirectory: String) throws(StoreError) -> Bool {
        let path = path(in: stateDirectory)
        guard access(path, F_OK) == 0 else { return false }
        return try !ids(in: path).isEmpty
    }

    /// Whether there are segments, and none of them has this program's format. One that was never finished has none.
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

    /// The segments that are there, in order of their numbers, each of a name that is durable, and what is wrong with the
    /// first that is damaged. A file that was never finished is removed.
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

    /// The segments that are there, to be read only. One that goes away meanwhile has nothing that the ledger has not.
    func segmentsForReading() throws(StoreError) -> [LogSegment] {
        var segments: [LogSegment] = []
        for id in try Self.ids(in: path) where access(LogSegment.path(id, in: path), F_OK) == 0 || errno != ENOENT {
            if let segment = try LogSegment.open(id, in: path, state: state, forReading: true) {
                segments.append(segment)
            }
        }
        return segments
    }

    /// Makes a segment, and its name durable.
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

    /// How many rows its segments may have, whether they can be read or not: none is shorter than 32 bytes.
    func rowsAtMost() throws(StoreError) -> Int64 {
        var bytes: Int64 = 0
        for id in try Self.ids(in: path) {
            var facts = stat()
            if stat(LogSegment.path(id, in: path), &facts) == 0 { bytes += Int64(facts.st_size) }
        }
        return bytes / 32
    }

    /// Moves the log away, for people to look at; what comes then begins a new one.
    ///
    /// - Returns: where it is now.
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

    /// Makes the names in a directory durable.
    static func sync(_ path: String) throws(StoreError) {
        guard let directory = FileDescriptor(Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else {
            throw StoreError.system("open", path, errno: errno)
        }
        guard fsync(directory.rawValue) == 0 else { throw StoreError.sync(path, errno: errno) }
    }
}
