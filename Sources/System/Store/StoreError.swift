import CSQLite
import Glibc
import LinuxSystem

/// An error of the ledger: the fault, its place, and the advice for it.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The conditions that callers distinguish.
    public enum Kind: Hashable, Sendable {
        /// There is no ledger at this path.
        case missing
        /// Another daemon has the state directory; the value is its process id, if it could be read.
        case inUse(by: Int32?)
        /// The file system denies access to this user.
        case notPermitted
        /// The file is a database but no ledger of this program, or a ledger of a version that no version can migrate.
        case otherFormat
        /// An older version of the program wrote the ledger, and no daemon of this version has opened it yet.
        case olderSchema
        /// A newer version of the program wrote the ledger.
        case newerSchema
        /// The file system is mounted read-only.
        case readOnly
        /// The process has no descriptor left for a file; the same write succeeds once one is free.
        case noDescriptor
        /// The disk or the quota is full; the same write succeeds once there is space.
        case noSpace
        /// The log has no room until the ledger has applied more of it; the same write succeeds after that.
        case logFull
        /// A batch is longer than the limit that writers and readers share: an error of the program.
        case tooLong
        /// Another writer's batch follows the last one in the log: the log lacks this batch, and this writer may append
        /// no more.
        case fenced
        /// The engine of a shared log does not answer; the same write succeeds once it does.
        case engineAway
        /// The engine of a shared log has the batch on one machine only: the loss of that machine would lose the batch.
        case unprotected
        /// A copy of a shared log has batches that the log lacks.
        case forked
        /// The ledger is no copy of the chain in the database; `led` says whether it led alone since it was one.
        case otherFleet(led: Bool)
        /// A copy of the ledger ended, so that the ledger need not wait for it; it begins again later.
        case gaveWay
        /// Another program has locked the ledger; the same write succeeds once it releases the lock.
        case busy
        /// The file to be created exists already.
        case exists
        /// The directory of the file to be created does not exist.
        case noDirectory
        /// The file is damaged, or is no ledger.
        case corrupt
        /// The whole ledger is missing or unreadable.
        case lost
        /// A file of the store was moved, removed, replaced or shortened under the running daemon.
        case displaced
        /// A part of the log is damaged, with good batches behind it.
        case logDamaged
        /// Rows contradict the ledger: an error of the program. No row of their batch is written.
        case contradiction
        /// Anything else: an I/O error, an error of the program.
        case failed
    }

    /// The condition.
    public var kind: Kind
    /// SQLite's extended result code (https://www.sqlite.org/rescode.html); 0 where SQLite was not involved.
    public var code: Int32
    /// The fault.
    public var message: String
    /// The place: a path, or the SQL that failed.
    public var context: String

    init(_ kind: Kind, code: Int32 = 0, message: String, context: String) {
        self.kind = kind
        self.code = code
        self.message = message
        self.context = context
    }

    /// Makes an error of a failed system call from its `errno`.
    static func system(_ call: String, _ path: String, errno number: Int32) -> StoreError {
        let kind: Kind =
            switch number {
            case EROFS: .readOnly
            case EMFILE, ENFILE: .noDescriptor
            case EACCES, EPERM: .notPermitted
            case _ where isOutOfSpace(number): .noSpace
            default: .failed
            }
        return StoreError(kind, message: "\(call): \(errorText(number))", context: path)
    }

    /// Returns whether a write failed for lack of space: of the file system, a quota, or the limit of a file's length.
    static func isOutOfSpace(_ number: Int32) -> Bool { number == ENOSPC || number == EDQUOT || number == EFBIG }

    /// Makes an error of a failed sync. For every `errno`, the next sync may succeed without the data that this one
    /// lost.
    static func sync(_ path: String, errno number: Int32) -> StoreError {
        StoreError(.failed, message: "sync: \(errorText(number))", context: path)
    }

    /// Makes the error for a batch that no log takes. A request whose rows may be as long is refused before it has
    /// rows.
    static func tooLong(_ length: Int, limit: Int) -> StoreError {
        StoreError(
            .tooLong, message: "a batch has \(length) bytes of rows, and the limit is \(limit)", context: "the log")
    }

    /// Whether the same write may succeed later, without loss.
    var isTransient: Bool {
        switch kind {
        case .noSpace, .busy, .logFull, .noDescriptor, .engineAway, .unprotected: true
        default: false
        }
    }

    /// Whether the engine of a shared log is the cause.
    var isOfEngine: Bool { kind == .engineAway || kind == .unprotected }

    /// Whether the error is about the database that `Log=` names, rather than about a file.
    public var isOfDatabase: Bool { context == Self.engine }

    /// Whether reading, writing or syncing a file failed.
    var isInputOutput: Bool { code & 0xFF == SQLITE_IOERR }

    /// The advice for the user.
    public var advice: String {
        switch kind {
        case .missing: "start pushrouterd once with this state directory, or name another with --state"
        case .inUse(let pid?): "stop process \(pid) first, or name another directory with --state"
        case .inUse(nil): "stop the other daemon first, or name another directory with --state"
        case .notPermitted:
            Membership.advice(for: context)
                ?? "the daemon must own the state directory and its files; readers must be in their group"
        case .readOnly:
            "see the kernel's log for the cause (journalctl -k), then mount for writing again: mount -o remount,rw"
        case .noDescriptor: "raise LimitNOFILE= of the unit, or close connections; nothing accepted so far is lost"
        case .otherFormat:
            context.hasSuffix("/ledger.db")
                ? "pushrouterd, started with this state directory, moves it to set-aside-* there and begins a new one"
                : isOfDatabase ? "check the database that Log= names" : "name another file"
        case .olderSchema:
            "start the new pushrouterd once with this state directory: it brings the ledger up to date; if it cannot, the file "
                + "is damaged, and \"pushctl restore FILE\" goes on from a backup"
        case .newerSchema:
            "upgrade this program to the version that wrote the ledger, or newer; if none ever ran here, the file is damaged, "
                + "and \"pushctl restore FILE\" goes on from a backup"
        case .noSpace:
            message.hasSuffix(errorText(EFBIG))
                ? "raise the limit of a file's length (LimitFSIZE= of the unit); nothing accepted so far is lost"
                : "free space on that file system; nothing accepted so far is lost"
        case .logFull: "nothing is lost; a larger LogSizeMax= lets the ledger fall further behind"
        case .fenced: "another daemon writes this log now: nothing more may be acknowledged here, and this one ends"
        case .engineAway: "nothing accepted so far is lost; check the database that Log= names"
        case .unprotected: "nothing accepted so far is lost"
        case .forked:
            "the daemon sets this copy aside and fetches another; only the set-aside copy has requests that the database "
                + "lacks"
        case .otherFleet(led: true):
            "nothing was changed. \"pushctl store init --ledger\" makes a new pair of it, in an empty database; to follow this "
                + "database instead, move the contents of the state directory away, and keep them: no other copy has them"
        case .otherFleet(led: false):
            "nothing was changed. Set Log= to the former database. To use this database instead, move the contents of the "
                + "state directory away: the machine fetches a copy. A clone or a restored database needs \"pushctl store "
                + "init --adopt\" before that, once, with all machines stopped"
        case .gaveWay: "it is tried again by itself; a larger LogSizeMax= or SnapshotRate= gives it more time"
        case .busy: "end the program that holds a transaction open on the ledger"
        case .exists: "name another file, or move that one away"
        case .noDirectory: "make that directory, or name another place"
        case .corrupt:
            context.hasSuffix("/ledger.db")
                ? "the file is unchanged. Stop the daemon; \"pushctl salvage FILE\" saves what can be read into a "
                    + "backup, \"pushctl restore FILE\" sets the damaged ledger aside and goes on from a backup, "
                    + "\"pushctl restore --empty\" from nothing"
                : isOfDatabase
                    ? "check the disk and the memory of the database's machine; the ledger here is unchanged"
                    : "name another file; \"pushctl salvage\" reads what a damaged ledger has"
        case .lost:
            "nothing was changed. Put the ledger back if it was moved away. Else \"pushctl restore FILE\" sets the "
                + "log aside and restores a backup; \"pushctl restore --empty\" begins an empty ledger"
        case .displaced:
            "the daemon ends, because no start would find what it writes there. Put the file back if it was moved, and start "
                + "pushrouterd"
        case .logDamaged:
            "start pushrouterd with this state directory: it moves the damaged log to log.set-aside-*, reports the loss, and goes on"
        case .contradiction: "report this as an error of pushrouterd; the log keeps the rows"
        case .tooLong: "report this as an error of pushrouterd; nothing of the batch was acknowledged"
        case .failed where code & 0xFF == SQLITE_NOMEM:
            "the machine or the unit (MemoryMax=) has no memory left; nothing accepted so far is lost"
        case .failed: "check the path, then look for errors of the disk in the kernel's log"
        }
    }

    public var description: String {
        let result = code == 0 ? "" : " (SQLite result \(code))"
        return "\(context): \(message)\(result); \(advice)"
    }
}

/// Starts a thread of the store.
func storeThread(
    _ name: StaticString, _ body: @escaping @Sendable () -> Void
) throws(StoreError) -> WorkerThread {
    do throws(SystemError) {
        return try WorkerThread(name, body)
    } catch {
        throw StoreError(.failed, message: error.description, context: "a thread of the store")
    }
}
