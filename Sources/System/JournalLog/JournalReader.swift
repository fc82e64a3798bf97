import CSystemd
import Glibc
public import LinuxSystem

/// Reads entries of a journal that match: of this machine, or of a directory. Used on one thread.
///
/// libsystemd leaves out files that this user may not read, and files that are damaged, without a word.
public struct JournalReader: ~Copyable {
    /// An entry.
    public struct Entry: Sendable {
        /// When journald took it, in microseconds of Unix time.
        public let realtimeMicroseconds: UInt64
        /// The values of the fields that were asked for, those that it has. Of a field that it has twice, one.
        public let values: [String: String]
    }

    private let journal: OpaquePointer

    /// How much of a value is taken, in bytes.
    private static let valueLength = 64 << 10

    /// Opens a journal.
    ///
    /// - Parameter directory: the directory of its files, such as one that was copied from another machine; `nil`: this
    ///   machine's journal, with what this user may read of it.
    /// - Throws: why it cannot be opened.
    public init(directory: String? = nil) throws(SystemError) {
        var opened: OpaquePointer?
        let result =
            directory.map { sd_journal_open_directory(&opened, $0, 0) }
            ?? sd_journal_open(&opened, Int32(SD_JOURNAL_LOCAL_ONLY))
        guard result >= 0, let opened else { throw SystemError(operation: "open the journal", errno: -result) }
        journal = opened
        // Of compressed values; others come whole.
        sd_journal_set_data_threshold(journal, Self.valueLength)
    }

    deinit { sd_journal_close(journal) }

    /// Has only entries read that have, of each of these fields, one of its values; or that match what another call asks for.
    /// Fields whose names begin with an underscore are journald's own: no program can forge them.
    ///
    /// - Throws: that a field's name is none.
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

    /// The time of the oldest entry, whether it matches or not, in microseconds of Unix time; `nil` where there is none.
    public var beginMicroseconds: UInt64? {
        var (from, to) = (UInt64(0), UInt64(0))
        return sd_journal_get_cutoff_realtime_usec(journal, &from, &to) > 0 ? from : nil
    }

    /// Whether any entry matches.
    public func hasMatch() throws(SystemError) -> Bool {
        try SystemError.check(sd_journal_seek_head(journal), "read the journal")
        return try SystemError.check(sd_journal_next(journal), "read the journal") > 0
    }

    /// Reads the entries that match, in the order in which journald took them.
    ///
    /// - Parameters:
    ///   - begin: the first time that is read, in microseconds of Unix time; `nil`: all.
    ///   - names: the fields that are needed.
    ///   - body: takes an entry.
    /// - Throws: that the journal cannot be read any further.
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

/// The names of fields that are needed, found by their bytes: an entry has about forty, and most are not.
private struct FieldNames {
    private var byLength: [Int: [(bytes: [UInt8], name: String)]] = [:]

    init(_ names: Set<String>) {
        for name in names { byLength[name.utf8.count, default: []].append((Array(name.utf8), name)) }
    }

    func name(_ bytes: UnsafeRawBufferPointer) -> String? {
        byLength[bytes.count]?.first { $0.bytes.elementsEqual(bytes) }?.name
    }
}
