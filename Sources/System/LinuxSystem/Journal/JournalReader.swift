import CSystemd
import Glibc

/// Reads matching entries of a journal, of this machine or in a directory. Used on one thread.
///
/// libsystemd silently skips files that this user may not read, and damaged files.
public struct JournalReader: ~Copyable {
    /// An entry.
    public struct Entry: Sendable {
        /// The time at which journald received it, in microseconds of Unix time.
        public let realtimeMicroseconds: UInt64
        /// The values of the requested fields that it has; one of them for a field that it has twice.
        public let values: [String: String]
    }

    private let journal: OpaquePointer

    /// The limit for a value, in bytes.
    private static let valueLength = 64 << 10

    /// Opens a journal.
    ///
    /// - Parameter directory: the directory of the journal's files, such as a copy from another machine; `nil` opens
    ///   this machine's journal, as far as this user may read it.
    /// - Throws: the error of opening it.
    public init(directory: String? = nil) throws(SystemError) {
        var opened: OpaquePointer?
        let result =
            directory.map { sd_journal_open_directory(&opened, $0, 0) }
            ?? sd_journal_open(&opened, Int32(SD_JOURNAL_LOCAL_ONLY))
        guard result >= 0, let opened else { throw SystemError(operation: "open the journal", errno: -result) }
        journal = opened
        // Limits the decompression of values; uncompressed values come whole.
        sd_journal_set_data_threshold(journal, Self.valueLength)
    }

    deinit { sd_journal_close(journal) }

    /// Adds a match: an entry must have, for each of these fields, one of its values. An entry is read if it meets any
    /// of the added matches. Fields whose names begin with an underscore are journald's own: no program can forge them.
    ///
    /// - Throws: if the name of a field is invalid.
    public func alsoMatch(_ fields: [(name: String, values: [String])]) throws(SystemError) {
        try SystemError.check(sd_journal_add_disjunction(journal), "match entries of the journal")
        for field in fields {
            for value in field.values {
                let match = Array("\(field.name)=\(value)".utf8)
                try SystemError.check(
                    match.withUnsafeBytes { sd_journal_add_match(journal, $0.baseAddress, $0.count) },
                    "match entries of the journal")
            }
        }
    }

    /// The time of the oldest entry, matching or not, in microseconds of Unix time; `nil` if there is none.
    public var beginMicroseconds: UInt64? {
        var (from, to) = (UInt64(0), UInt64(0))
        return sd_journal_get_cutoff_realtime_usec(journal, &from, &to) > 0 ? from : nil
    }

    /// Returns whether any entry matches.
    public func hasMatch() throws(SystemError) -> Bool {
        try SystemError.check(sd_journal_seek_head(journal), "read the journal")
        return try SystemError.check(sd_journal_next(journal), "read the journal") > 0
    }

    /// Reads the matching entries, in the order in which journald received them.
    ///
    /// - Parameters:
    ///   - begin: the first time to read, in microseconds of Unix time; `nil` reads all.
    ///   - names: the requested fields.
    ///   - body: takes an entry.
    /// - Throws: if the rest of the journal cannot be read.
    public func read(
        from begin: UInt64?, fields names: Set<String>, _ body: (Entry) -> Void
    ) throws(SystemError) {
        if let begin {
            try SystemError.check(sd_journal_seek_realtime_usec(journal, begin), "read the journal")
        } else {
            try SystemError.check(sd_journal_seek_head(journal), "read the journal")
        }
        let names = FieldNames(names)
        while try SystemError.check(sd_journal_next(journal), "read the journal") > 0 {
            var time = UInt64(0)
            try SystemError.check(sd_journal_get_realtime_usec(journal, &time), "read the journal")
            body(Entry(realtimeMicroseconds: time, values: try values(of: names)))
        }
    }

    private func values(of names: FieldNames) throws(SystemError) -> [String: String] {
        var values: [String: String] = [:]
        var data: UnsafeRawPointer?
        var length = 0
        sd_journal_restart_data(journal)
        while try SystemError.check(sd_journal_enumerate_available_data(journal, &data, &length), "read the journal")
            > 0
        {
            let bytes = UnsafeRawBufferPointer(start: data, count: length)
            guard let sign = bytes.firstIndex(of: UInt8(ascii: "=")) else { continue }
            guard let name = names.name(UnsafeRawBufferPointer(rebasing: bytes[..<sign])) else { continue }
            values[name] = String(decoding: bytes[(sign + 1)...].prefix(Self.valueLength), as: UTF8.self)
        }
        return values
    }
}

/// The requested fields, looked up by the bytes of their names: an entry has about forty fields, and most are not
/// requested.
private struct FieldNames {
    private var byLength: [Int: [(bytes: [UInt8], name: String)]] = [:]

    init(_ names: Set<String>) {
        for name in names { byLength[name.utf8.count, default: []].append((Array(name.utf8), name)) }
    }

    func name(_ bytes: UnsafeRawBufferPointer) -> String? {
        byLength[bytes.count]?.first { $0.bytes.elementsEqual(bytes) }?.name
    }
}
