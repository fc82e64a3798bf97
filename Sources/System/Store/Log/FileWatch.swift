import Glibc
import LinuxSystem
import Synchronization

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
