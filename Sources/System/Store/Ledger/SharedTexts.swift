import PushModel

/// The texts that rows share: the table `texts`, and what the writer remembers of it. For one thread, within the caller's
/// transaction.
///
/// A text gets a number when it comes the second time: what comes once, as a hostile producer's campaign ids do, stays in its
/// row. The table is bounded in texts and bytes; while it is full, new texts stay in their rows as well. A text stays until
/// no row can have its number: `used` is a request at or behind the last one with a row that has it.
final class SharedTexts {
    /// How many texts there may be.
    static let countLimit = 8192
    /// How many bytes they may have together.
    static let byteLimit = 1 << 20
    /// The shortest and the longest text that is worth a number, in bytes.
    static let lengths = 3...1024
    /// How many texts that came once are remembered.
    static let rememberedLimit = 4096
    /// `used` is written for so many requests at once.
    static let useSpan: Int64 = 4096

    private struct Entry {
        let number: Int64
        let isText: Bool
        let bytes: [UInt8]
        var used: Int64
    }

    /// The texts by their hashes; of two with one hash only the first is shared.
    private var entries: [UInt64: Entry] = [:]
    private var cameOnce: Set<UInt64> = []
    private var byteCount = 0
    private var lastNumber: Int64 = 0
    private var firstUsed: Int64 = .max
    /// Whether memory may not be what the table says.
    private var mustRead = true
    private var read: Statement
    private var insert: Statement
    private var use: Statement
    private var delete: Statement

    init(_ database: borrowing Database) throws(StoreError) {
        read = try database.prepare("SELECT number, used, typeof(text) = 'text', text FROM texts ORDER BY number")
        insert = try database.prepare("INSERT INTO texts (number, used, text) VALUES (?1, ?2, ?3)")
        use = try database.prepare("UPDATE texts SET used = ?2 WHERE number = ?1")
        delete = try database.prepare("DELETE FROM texts WHERE used < ?1")
    }

    /// Has to be called before the rows of a transaction.
    func begin() throws(StoreError) {
        guard mustRead else { return }
        (entries, byteCount, lastNumber, firstUsed) = ([:], 0, 0, .max)
        defer { read.reset() }
        while try read.step() {
            let entry = Entry(
                number: try read.integer(0, in: StoredRange.number), isText: read.integer(2) == 1,
                bytes: read.bytes(3), used: try read.integer(1, in: StoredRange.number))
            remember(entry, hash: entry.bytes.withUnsafeBytes { Self.hash($0, isText: entry.isText) })
        }
        mustRead = false
    }

    /// What is in memory may be wrong: a transaction was rolled back, or the table was changed by other statements.
    func reset() { mustRead = true }

    /// The number of a text, which a row of request `seq` will have; `nil`: the row is to have the text.
    func number(of bytes: UnsafeRawBufferPointer, isText: Bool, usedBy seq: Int64) throws(StoreError) -> Int64? {
        guard Self.lengths.contains(bytes.count) else { return nil }
        let hash = Self.hash(bytes, isText: isText)
        if let index = entries.index(forKey: hash) {
            let entry = entries.values[index]
            guard entry.isText == isText, entry.bytes.isEqual(to: bytes) else { return nil }
            if entry.used < seq {
                let used = seq + Self.useSpan
                use.bind(entry.number, at: 1)
                use.bind(used, at: 2)
                try use.run()
                entries.values[index].used = used
            }
            return entry.number
        }
        guard cameOnce.remove(hash) != nil else {
            if cameOnce.count >= Self.rememberedLimit { cameOnce.removeAll(keepingCapacity: true) }
            cameOnce.insert(hash)
            return nil
        }
        guard entries.count < Self.countLimit, byteCount + bytes.count <= Self.byteLimit else { return nil }
        let entry = Entry(number: lastNumber + 1, isText: isText, bytes: Array(bytes), used: seq + Self.useSpan)
        insert.bind(entry.number, at: 1)
        insert.bind(entry.used, at: 2)
        if isText { insert.bind(lending: bytes, at: 3) } else { insert.bind(lendingBytes: bytes, at: 3) }
        try insert.run()
        remember(entry, hash: hash)
        return entry.number
    }

    /// Takes out the texts that no row has.
    ///
    /// - Parameter seq: the first request that has a row; those before it have none.
    func forget(before seq: Int64) throws(StoreError) {
        try begin()
        guard firstUsed < seq else { return }
        delete.bind(seq, at: 1)
        try delete.run()
        entries = entries.filter { $0.value.used >= seq }
        byteCount = entries.values.reduce(0) { $0 + $1.bytes.count }
        firstUsed = entries.values.lazy.map(\.used).min() ?? .max
    }

    private func remember(_ entry: Entry, hash: UInt64) {
        lastNumber = max(lastNumber, entry.number)
        byteCount += entry.bytes.count
        firstUsed = min(firstUsed, entry.used)
        entries[hash] = entry
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer, isText: Bool) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(isText)
        hasher.combine(bytes: bytes)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

extension SharedTexts {
    /// Takes out the texts that no row has, to the last: what is erased is not to stay in them. Reads all rows.
    static let deletionOfUnused = {
        let used = LedgerTable.all.flatMap { table in
            table.sharedColumns.map { "SELECT \($0) FROM \(table.rows) WHERE typeof(\($0)) = 'integer'" }
        }
        return "DELETE FROM texts WHERE number NOT IN (\(used.joined(separator: " UNION ")));"
    }()

    /// The first request of which there is a row that may have a number, and that no text is used before.
    static let firstUser = {
        let firsts = LedgerTable.viewed.map { "(SELECT coalesce(min(seq), \(Int64.max)) FROM \($0.rows))" }
        return "SELECT min(\(firsts.joined(separator: ", ")))"
    }()
}
