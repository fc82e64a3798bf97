import PushModel

/// The texts that rows share: the table `texts`, and the writer's cache of it. For one thread, within the caller's
/// transaction.
///
/// A text gets a number at its second occurrence: texts that occur once, such as a hostile producer's campaign ids,
/// stay in their rows. The table has limits for texts and bytes; while it is full, new texts stay in their rows as
/// well. A text stays until no row can have its number: `used` is a request at or behind the last one with a row that
/// has it.
final class SharedTexts {
    /// The largest number of texts.
    static let countLimit = 8192
    /// The largest total of bytes.
    static let byteLimit = 1 << 20
    /// The lengths of texts that get a number, in bytes.
    static let lengths = 3...1024
    /// The number of remembered texts that occurred once.
    static let rememberedLimit = 4096
    /// The number of requests that one write of `used` covers.
    static let useSpan: Int64 = 4096

    private struct Entry {
        let number: Int64
        let isText: Bool
        let bytes: [UInt8]
        var used: Int64
    }

    /// The texts by their hashes; of two texts with one hash only the first is shared.
    private var entries: [UInt64: Entry] = [:]
    private var cameOnce: Set<UInt64> = []
    private var byteCount = 0
    private var lastNumber: Int64 = 0
    private var firstUsed: Int64 = .max
    /// Whether the cache may differ from the table.
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

    /// Prepares for the rows of a transaction; to be called before the first of them.
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

    /// Invalidates the cache, because a transaction was rolled back or other statements changed the table.
    func reset() { mustRead = true }

    /// Returns the number of a text for a row of request `seq`; `nil` if the row must have the text itself.
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

    /// Deletes the texts that no row uses.
    ///
    /// - Parameter seq: the first request that has a row.
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
    /// The statement that deletes every text that no row uses, so that erased data does not stay in one. It reads all
    /// rows.
    static let deletionOfUnused = {
        let used = LedgerTable.all.flatMap { table in
            table.sharedColumns.map { "SELECT \($0) FROM \(table.rows) WHERE typeof(\($0)) = 'integer'" }
        }
        return "DELETE FROM texts WHERE number NOT IN (\(used.joined(separator: " UNION ")));"
    }()

    /// The query of the first request with a row that may use a text: texts last used before it are unused.
    static let firstUser = {
        let firsts = LedgerTable.viewed.map { "(SELECT coalesce(min(seq), \(Int64.max)) FROM \($0.rows))" }
        return "SELECT min(\(firsts.joined(separator: ", ")))"
    }()
}

/// A cache of shared texts, for a reader of many rows that have the same few.
struct TextMemory: ~Copyable {
    private var texts: [Int64: String] = [:]
    private var lookUp: Statement
    /// The number of queries.
    private(set) var lookUps = 0

    init(_ database: borrowing Database) throws(StoreError) {
        lookUp = try database.prepare("SELECT text FROM texts WHERE number = ?1")
    }

    /// Returns the text of the next column, which has a text or the number of a shared one; `nil` for NULL.
    mutating func text(_ row: inout StatementRow) throws(StoreError) -> String? {
        guard row.isInteger else { return row.text() }
        let number = row.integer()
        if let known = texts[number] { return known }
        lookUps += 1
        lookUp.bind(number, at: 1)
        defer { lookUp.reset() }
        guard try lookUp.step(), let text = lookUp.text(0) else { return nil }
        texts[number] = text
        return text
    }
}
