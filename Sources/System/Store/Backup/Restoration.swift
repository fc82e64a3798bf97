import Glibc
import LinuxSystem
public import PushModel

/// What putting a backup in the place of a ledger did.
public struct Restoration: Hashable, Sendable {
    /// What the backup has.
    public var backup: Backup
    /// The new id of the state directory.
    public var state: UUID128
    /// Where ledger and log that were there are now; `nil`: there were none.
    public var setAside: String?
    /// Whether the numbers of requests, events and entries go on behind those of the ledger that was set aside; else that
    /// one could not be read, and they go on behind those of the backup.
    public var continuesNumbers: Bool
    /// How many entries of custom data were to be sent: they are of unknown outcome now.
    public var unknownEntries: Int

    /// Puts a backup in the place of the ledger in a state directory, which no daemon has. What was there is kept in a
    /// directory of its own, `set-aside-MILLISECONDS`.
    ///
    /// The state directory has a new id then: what follows the backup may differ from what followed it before, and the ids
    /// of events are made of it.
    ///
    /// - Parameters:
    ///   - file: the backup, open for reading at its beginning; it stays the caller's. `nil`: begin with an empty ledger.
    ///   - directory: the state directory; it is created where it is missing.
    ///   - now: the clock.
    /// - Throws: `inUse`, `otherFormat`, `newerSchema`, `corrupt` for what is damaged, has another schema than this
    ///   program's or rows that it does not write, and what the disk says. Until the backup is whole, checked, brought up to
    ///   date and on the disk, nothing that was there is touched.
    public static func restore(_ file: Int32?, into directory: String, at now: WallTime) throws(StoreError)
        -> Restoration
    {
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
            let old = Numbers(ofLedgerIn: directory)
            let (state, unknown) = try begin(Database(path: new, access: .readWrite), after: old)
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

    /// Brings a copy of the backup to the schema of this program, and looks at all of it: it comes from elsewhere.
    private static func bringUpToDate(_ path: String, named name: String?) throws(StoreError) {
        do throws(StoreError) {
            let database = try Database(path: path, access: .readWrite)
            // Functions and views of its schema do nothing that this program did not ask for.
            try database.execute("PRAGMA trusted_schema = OFF")
            try Schema.migrate(database, onMigration: {})
            try RowRules.requireSchema(database)
            try RowRules.requireRows(database)
        } catch {
            var error = error
            error.context = name ?? error.context
            throw error
        }
    }

    /// Makes a ledger of its own of the backup.
    ///
    /// - Returns: its id, and how many entries are of unknown outcome now.
    private static func begin(_ database: borrowing Database, after old: Numbers?) throws(StoreError) -> (UUID128, Int)
    {
        let state = UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
        let old = old ?? Numbers()
        try database.execute("BEGIN IMMEDIATE")
        try database.execute(
            """
            UPDATE meta SET state_id = '\(state)', highest_seq = max(highest_seq, \(old.seq)),
                highest_cursor = max(highest_cursor, \(old.cursor)), highest_entry = max(highest_entry, \(old.entry));
            -- The log is another one.
            UPDATE log_position SET number = 0, checksum = 0, segment = 0, segment_end = 0;
            UPDATE last_erased SET batch = 0, rewritten = 1;
            UPDATE entries SET state = 'unknown', claimant = NULL,
                reason = 'restored from a backup: the entry may have been sent since'
            WHERE state IN ('queued', 'claimed');
            """)
        let unknown = database.changes
        try database.execute("COMMIT")
        return (state, unknown)
    }

    /// The highest numbers that a ledger gave.
    private struct Numbers {
        var seq: Int64 = 0
        var cursor: Int64 = 0
        var entry: Int64 = 0

        init() {}

        /// Reads them; `nil` where they cannot be read: it may be what the backup is to replace.
        ///
        /// A ledger that is whole is brought up to date first, so that it is so without its WAL and its log as well. One that
        /// is damaged, or of another schema, is only read, as it is kept for people and older programs to look at; what its log
        /// alone has had numbers too, so a million are left out.
        init?(ofLedgerIn directory: String) {
            let path = "\(directory)/ledger.db"
            guard access(path, F_OK) == 0 else { return nil }
            do throws(StoreError) {
                let isWhole = Self.bringUpToDate(directory, path)
                let database = try Database(path: path, access: .readOnly)
                try Schema.check(database)
                seq = try database.integer(
                    "SELECT max((SELECT highest_seq FROM meta), (SELECT coalesce(max(seq), 0) FROM request_rows))")
                cursor = try database.integer(
                    "SELECT max((SELECT highest_cursor FROM meta), (SELECT coalesce(max(cursor), 0) FROM event_rows))")
                entry = try database.integer(
                    "SELECT max((SELECT highest_entry FROM meta), (SELECT coalesce(max(number), 0) FROM entries))")
                // A number that nothing was given is a part of the damage: no other may follow it.
                guard [seq, cursor, entry].allSatisfy(StoredRange.restoredNumber.contains) else { return nil }
                guard !isWhole else { return }
                (seq, cursor, entry) = (seq + Self.surplus, cursor + Self.surplus, entry + Self.surplus)
            } catch {
                return nil
            }
        }

        /// More than a log has rows.
        private static let surplus: Int64 = 1_000_000

        /// - Returns: whether the ledger has all that its log has; it was not touched where it is damaged or older.
        private static func bringUpToDate(_ directory: String, _ path: String) -> Bool {
            do throws(StoreError) {
                guard try Backup.check(path).schema == Schema.version else { return false }
                let writer = try LedgerWriter(directory: directory)
                if let log = try LogDirectory(reading: directory, state: writer.stateID) {
                    var chain = try LogChain(log.segmentsForReading())
                    guard try Recovery.replay(&chain, writer) == nil else { return false }
                }
                return try writer.checkpointWhole()
            } catch {
                return false
            }
        }
    }

    // MARK: Files

    /// Makes a ledger without anything in it.
    private static func makeEmpty(at path: String) throws(StoreError) {
        unlink(path)
        guard FileDescriptor(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o640)) != nil else {
            throw StoreError.system("open", path, errno: errno)
        }
        let database = try Database(path: path, access: .readWrite)
        try database.execute(LedgerWriter.layout)
        try Schema.migrate(database, onMigration: {})
    }

    private static func syncFile(_ path: String) throws(StoreError) {
        guard let file = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC)) else {
            throw StoreError.system("open", path, errno: errno)
        }
        guard fsync(file.rawValue) == 0 else { throw StoreError.system("fsync", path, errno: errno) }
    }
}
