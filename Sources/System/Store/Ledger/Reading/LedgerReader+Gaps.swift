import Glibc
public import PushModel

extension LedgerReader {
    /// Returns the gaps of the daemon that overlap a window, in the order in which they were noticed.
    ///
    /// - Parameters:
    ///   - start: the first instant of the window; `nil` means no bound.
    ///   - end: the first instant behind it; `nil` means no bound.
    /// - Throws: `corrupt` for a kind that this version does not know; SQLite's errors.
    public func gaps(from start: WallTime? = nil, to end: WallTime? = nil) throws(StoreError) -> [DaemonGap] {
        let rows = try database.prepare("SELECT \(DaemonGap.table.values()) FROM gaps ORDER BY number")
        var gaps: [DaemonGap] = []
        while try rows.step() {
            let gap: DaemonGap = try rows.value()
            if gap.touches(since: start, until: end) { gaps.append(gap) }
        }
        return gaps
    }

    /// Returns administrative acts in the order in which they were written, each with its number.
    ///
    /// - Parameters:
    ///   - number: the number before the first of them.
    ///   - limit: how many at most.
    public func audit(after number: Int64, limit: Int) throws(StoreError) -> [(number: Int64, record: AuditRecord)] {
        let rows = try database.prepare(
            "SELECT number, \(AuditRecord.table.values()) FROM audit WHERE number > ?1 ORDER BY number LIMIT ?2")
        rows.bind(number, at: 1)
        rows.bind(Int64(limit), at: 2)
        var acts: [(Int64, AuditRecord)] = []
        while try rows.step() {
            acts.append((rows.integer(0), try rows.value(1)))
        }
        return acts
    }

    /// Returns the time at which a daemon was last known to be alive: its last sign of life, or the last request after
    /// that; `nil` if there is neither.
    public func lastAlive() throws(StoreError) -> WallTime? {
        let sign = try database.prepare(
            """
            SELECT coalesce(
                (SELECT accepted_at FROM request_rows WHERE request_rows.seq > life.seq
                    ORDER BY request_rows.seq DESC LIMIT 1), seen_at)
            FROM life
            """)
        guard try sign.step() else { return nil }
        return try sign.value(0)
    }

    /// Returns the time of the last sign of life by a clock that the daemon trusted; `nil` if there is none.
    public func lastBelieved() throws(StoreError) -> WallTime? {
        let sign = try database.prepare("SELECT believed_at FROM life WHERE believed_at IS NOT NULL")
        return try sign.step() ? try sign.value(0) : nil
    }
}

extension LedgerReader {
    private static let columns = ConfigurationPeriod.table.values()

    /// Returns the configuration that decides requests now; `nil` if none was recorded.
    public func lastConfiguration() throws(StoreError) -> ConfigurationPeriod? {
        let statement = try database.prepare(
            "SELECT \(Self.columns) FROM configurations ORDER BY first_seq DESC LIMIT 1")
        return try statement.step() ? try statement.value() : nil
    }

    /// Returns the configuration that decided a request; `nil` if the request is older than the record of
    /// configurations.
    public func configuration(of seq: SequenceNumber) throws(StoreError) -> DecidingConfiguration? {
        let statement = try database.prepare(
            "SELECT \(Self.columns) FROM configurations WHERE first_seq <= ?1 ORDER BY first_seq DESC LIMIT 1")
        statement.bind(seq.value, at: 1)
        guard try statement.step() else { return nil }
        let period: ConfigurationPeriod = try statement.value()
        return DecidingConfiguration(period, isInForce: try lastConfiguration()?.id == period.id)
    }

    /// Sets the configuration that decided each request; a request that is older than their record gets none.
    public func addConfigurations(to stories: inout [RequestStory]) throws(StoreError) {
        guard let highest = stories.map(\.request.seq).max(), let last = try lastConfiguration() else { return }
        let statement = try database.prepare(
            "SELECT \(Self.columns) FROM configurations WHERE first_seq <= ?1 ORDER BY first_seq DESC")
        statement.bind(highest.value, at: 1)
        var period: ConfigurationPeriod?
        for index in stories.indices.sorted(by: { stories[$0].request.seq > stories[$1].request.seq }) {
            while period.map({ $0.first > stories[index].request.seq }) ?? true {
                guard try statement.step() else { return }
                period = try statement.value()
            }
            stories[index].configuration = period.map { DecidingConfiguration($0, isInForce: $0.id == last.id) }
        }
    }

    /// Returns the configurations of which the ledger has a request.
    public func namedConfigurations() throws(StoreError) -> Set<ConfigurationID> {
        let statement = try database.prepare(
            """
            SELECT \(Self.columns) FROM configurations WHERE EXISTS (SELECT 1 FROM request_rows
                WHERE seq >= configurations.first_seq AND seq < coalesce(
                    (SELECT min(first_seq) FROM configurations AS later
                        WHERE later.first_seq > configurations.first_seq), \(Int64.max)))
            """)
        var ids: Set<ConfigurationID> = []
        while try statement.step() { ids.insert((try statement.value() as ConfigurationPeriod).id) }
        return ids
    }
}

extension LedgerReader {
    /// Returns the producers of the chain that the ledger is a copy of; none if the ledger has a log of its own.
    public func producers() throws(StoreError) -> [Producer] {
        let rows = try database.prepare("SELECT \(Producer.table.values()) FROM producers ORDER BY uid")
        var producers: [Producer] = []
        while try rows.step() { producers.append(try rows.value()) }
        return producers
    }

    /// Returns the name of a producer; `nil` if the number is a user id of the machine.
    public func producer(_ number: UInt32) throws(StoreError) -> String? {
        let row = try database.prepare("SELECT name FROM producers WHERE uid = ?1")
        row.bind(Int64(number), at: 1)
        return try row.step() ? row.text(0) : nil
    }
}

/// The result of opening and reading a ledger, for administrators.
public enum LedgerCheck: Hashable, Sendable {
    /// There is neither a ledger nor a log: no daemon has used this state directory.
    case none
    /// The whole file was read, and is sound.
    case whole
    /// The ledger can be opened; at this length in bytes the file was not read as a whole.
    case opened(length: Int64)

    /// Opens the ledger of a state directory, with or without a running daemon, and reads the whole file if it has at
    /// most `limit` bytes. During the read the WAL cannot be emptied.
    ///
    /// - Throws: `StoreError`: `lost`, `notPermitted`, `olderSchema`, `newerSchema`, `corrupt` or `failed`.
    public static func check(directory: String, readingAtMost limit: Int64) throws(StoreError) -> LedgerCheck {
        let path = directory + "/ledger.db"
        try LedgerWriter.requireNotLost(path, in: directory)
        let reader: LedgerReader
        do {
            reader = try LedgerReader(directory: directory)
        } catch {
            if error.kind == .missing { return .none }
            throw error
        }
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw StoreError.system("stat", path, errno: errno) }
        guard facts.st_size <= limit else { return .opened(length: Int64(facts.st_size)) }
        try reader.database.requireIntegrity("quick_check")
        return .whole
    }
}

extension Database {
    /// Reads the whole file.
    ///
    /// - Parameter check: the pragma: `quick_check`, or `integrity_check`, which compares indexes with their tables too.
    /// - Throws: `corrupt` with the first fault.
    func requireIntegrity(_ check: StaticString) throws(StoreError) {
        let statement = try prepare("PRAGMA \(check)(1)")
        let verdict = try statement.step() ? statement.text(0) : nil
        guard verdict == "ok" else {
            throw StoreError(.corrupt, message: "the file is damaged: \(verdict ?? "no answer")", context: path)
        }
    }
}
