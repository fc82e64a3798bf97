import Glibc
import LinuxSystem
public import PushModel

/// The result of a restore.
public struct Restoration: Hashable, Sendable {
    /// The facts of the backup.
    public var backup: Backup
    /// The new id of the state directory.
    public var state: UUID128
    /// The directory with the former ledger and log; `nil` if there were none.
    public var setAside: String?
    /// Whether the numbers of requests, events and entries continue after those of the former ledger; otherwise that
    /// ledger could not be read, and they continue a billion after those of the backup.
    public var continuesNumbers: Bool
    /// The number of entries of custom data that were to be sent: their outcome is unknown now.
    public var unknownEntries: Int

    /// Replaces the ledger in a state directory without a daemon by a backup. The former ledger and log move to the
    /// directory `set-aside-MILLISECONDS`.
    ///
    /// The state directory gets a new id: the requests after the backup may differ from those that followed it before,
    /// and the ids of events derive from that id.
    ///
    /// - Parameters:
    ///   - file: the backup, open for reading at its beginning; the caller keeps it. `nil` begins with an empty ledger.
    ///   - directory: the state directory; it is created if it is missing.
    ///   - now: the current time.
    ///   - act: the restore, for the audit of the new ledger; `nil`: none.
    /// - Throws: `inUse`, `otherFormat`, `newerSchema`, `corrupt` for a backup that is damaged, or has a schema or rows
    ///   that this program does not write, and errors of the disk. Existing files stay untouched until the copy of the
    ///   backup is complete, checked, migrated and on the disk.
    public static func restore(
        _ file: Int32?, into directory: String, at now: WallTime, as act: AuditRecord? = nil
    ) throws(StoreError) -> Restoration {
        let lock = try StateDirectory(path: directory)
        let new = "\(directory)/ledger.db.restored"
        do throws(StoreError) {
            if let file {
                try FileCopy.make(of: file, named: "the backup", at: new)
            } else {
                try makeEmpty(at: new)
            }
            let backup = try Backup.check(new)
            try bringUpToDate(new, named: file == nil ? nil : "the backup")
            try syncFile(new)
            let old = FormerLedger(in: directory)
            var act = act
            act?.count = Int(backup.requests)
            // A log whose ledger is gone has given numbers, too.
            let isUnread =
                old == nil && ["ledger.db", "log"].contains { access("\(directory)/\($0)", F_OK) == 0 }
            let (state, unknown) = try begin(
                Database(path: new, access: .readWrite), after: old, isUnread: isUnread, act)
            try syncFile(new)
            let place = try SetAside.moveAll(in: directory, at: now)
            guard rename(new, "\(directory)/ledger.db") == 0 else {
                throw StoreError.system("rename", new, errno: errno)
            }
            try LogDirectory.sync(directory)
            lock.unlock()
            return Restoration(
                backup: backup, state: state, setAside: place, continuesNumbers: place == nil || old != nil,
                unknownEntries: unknown)
        } catch {
            for suffix in ["", "-wal", "-shm"] { unlink(new + suffix) }
            throw error
        }
    }

    // MARK: What the backup becomes

    /// Migrates a copy of the backup to the schema of this program, and checks all of it: it comes from elsewhere.
    private static func bringUpToDate(_ path: String, named name: String?) throws(StoreError) {
        do throws(StoreError) {
            let database = try Database(path: path, access: .readWrite)
            // The backup's schema may hold hostile functions and views: SQLite does not run unsafe functions from it.
            try database.execute("PRAGMA trusted_schema = OFF")
            try LedgerSchema.migrate(database, onMigration: {})
            try RowRules.requireSchema(database)
            try RowRules.requireRows(database)
        } catch {
            var error = error
            error.context = name ?? error.context
            throw error
        }
    }

    /// A number larger than the rows that a ledger has beyond its backup.
    private static let surplusBeyondUnread: Int64 = 1_000_000_000

    /// Turns the backup into a ledger of its own.
    ///
    /// - Returns: its id, and the number of entries of unknown outcome.
    private static func begin(
        _ database: borrowing Database, after old: FormerLedger?, isUnread: Bool, _ act: AuditRecord?
    ) throws(StoreError) -> (UUID128, Int) {
        let state = UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
        let old = old ?? FormerLedger()
        try database.execute("BEGIN IMMEDIATE")
        try database.execute(
            """
            UPDATE meta SET state_id = '\(state)', highest_seq = max(highest_seq, \(old.seq)),
                highest_cursor = max(highest_cursor, \(old.cursor)), highest_entry = max(highest_entry, \(old.entry));
            -- The restored ledger begins a new log.
            UPDATE log_position SET number = 0, checksum = 0, segment = 0, segment_end = 0;
            UPDATE last_erased SET batch = 0, rewritten = 1;
            UPDATE entries SET state = 'unknown', claimant = NULL,
                reason = 'restored from a backup: the entry may have been sent since'
            WHERE state IN ('queued', 'claimed');
            """)
        let unknown = database.changes
        if isUnread {
            let found = try database.highestNumbers().map { $0 + surplusBeyondUnread }
            try database.execute(
                "UPDATE meta SET highest_seq = \(found[0]), highest_cursor = \(found[1]), highest_entry = \(found[2])")
        }
        let rows = try AuditRows(database)
        let known = Set(try AuditRecord.all(in: database).map(\.withoutPerson))
        for act in old.acts where !known.contains(act.withoutPerson) { try rows.add(act) }
        if let act { try rows.add(act) }
        try database.execute("COMMIT")
        return (state, unknown)
    }

    /// The highest numbers that a ledger has given, and its administrative acts, which a restore keeps.
    private struct FormerLedger {
        var seq: Int64 = 0
        var cursor: Int64 = 0
        var entry: Int64 = 0
        var acts: [AuditRecord] = []

        init() {}

        /// Reads them; `nil` if the numbers cannot be read: the ledger may be the damaged one that the backup replaces.
        ///
        /// A sound ledger is brought up to date first, so that it is complete without its WAL and its log. A damaged
        /// ledger, or one of another schema, is only read: it is kept for people and older programs. Rows that only its
        /// log has had numbers too, so a million numbers are skipped.
        init?(in directory: String) {
            let path = "\(directory)/ledger.db"
            guard access(path, F_OK) == 0 else { return nil }
            do throws(StoreError) {
                let isWhole = Self.bringUpToDate(directory, path)
                let database = try Database(path: path, access: .readOnly)
                try LedgerSchema.check(database)
                let numbers = try database.highestNumbers()
                // A number outside the range is part of the damage, and the new ledger must not continue after it.
                guard numbers.allSatisfy(StoredRange.salvagedNumber.contains) else { return nil }
                (seq, cursor, entry) = (numbers[0], numbers[1], numbers[2])
                acts = (try? AuditRecord.all(in: database)) ?? []
                guard !isWhole else { return }
                (seq, cursor, entry) = (seq + Self.surplus, cursor + Self.surplus, entry + Self.surplus)
            } catch {
                return nil
            }
        }

        /// A number larger than the rows of any log.
        private static let surplus: Int64 = 1_000_000

        /// - Returns: whether the ledger has all batches of its log; a damaged or older ledger is not touched.
        private static func bringUpToDate(_ directory: String, _ path: String) -> Bool {
            do throws(StoreError) {
                guard try Backup.check(path).schema == LedgerSchema.version else { return false }
                let writer = try LedgerWriter(directory: directory)
                let log = try LogDirectory(reading: directory, state: writer.stateID)
                var chain = try LogChain(log?.segmentsForReading() ?? [])
                guard try Recovery.replay(&chain, writer) == nil else { return false }
                return try writer.checkpointWhole()
            } catch {
                return false
            }
        }
    }

    // MARK: Files

    /// Makes an empty ledger.
    private static func makeEmpty(at path: String) throws(StoreError) {
        unlink(path)
        guard FileDescriptor(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o640)) != nil else {
            throw StoreError.system("open", path, errno: errno)
        }
        let database = try Database(path: path, access: .readWrite)
        try database.execute(LedgerWriter.layout)
        try LedgerSchema.migrate(database, onMigration: {})
    }

    private static func syncFile(_ path: String) throws(StoreError) {
        guard let file = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC)) else {
            throw StoreError.system("open", path, errno: errno)
        }
        guard fsync(file.rawValue) == 0 else { throw StoreError.system("fsync", path, errno: errno) }
    }
}

extension Restoration {
    /// Restores a backup into a new directory, opens it as a start does, and removes it. Changes nothing else.
    ///
    /// - Parameters:
    ///   - file: the backup, open for reading at its beginning.
    ///   - parent: the directory of the new one; it needs the room of the ledger.
    /// - Throws: as ``restore(_:into:at:)``, and the errors of a start.
    public static func rehearse(_ file: Int32, in parent: String, at now: WallTime) throws(StoreError) -> Restoration {
        let place = "\(parent)/pushrouterd-rehearsal-\(getpid())"
        guard mkdir(place, 0o700) == 0 else { throw StoreError.system("mkdir", place, errno: errno) }
        defer { removeTree(place) }
        let restored = try restore(file, into: place, at: now)
        let committer = try Committer(directory: StateDirectory(path: place)) { _ in }
        if let failure = committer.stop() { throw failure }
        return restored
    }

    /// Removes a directory that the store made, with all in it.
    private static func removeTree(_ path: String) {
        for name in (try? SmallFile.names(in: path, suffix: "")) ?? [] where unlink("\(path)/\(name)") != 0 {
            removeTree("\(path)/\(name)")
        }
        rmdir(path)
    }
}
