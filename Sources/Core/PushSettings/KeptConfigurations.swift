public import PushModel

/// The configurations that were in force and are kept: which of them stay, and which go.
public struct KeptConfigurations: Hashable, Sendable {
    /// One of them.
    public struct Entry: Hashable, Sendable {
        /// Its id.
        public var id: ConfigurationID
        /// When it came into force last.
        public var since: WallTime
        /// The length of its text, in bytes.
        public var length: Int
    }

    /// The most configurations, the most bytes of all, and of one.
    public static let (countMax, lengthMax, lengthMaxOfOne) = (64, 64 << 20, 16 << 20)

    /// All of them, in the order in which they came into force last: the last one is in force, or was in force last.
    public private(set) var entries: [Entry] = []

    /// None yet.
    public init() {}

    /// The one that is in force, or was in force last.
    public var last: Entry? { entries.last }

    /// Puts a configuration into force.
    ///
    /// - Parameters:
    ///   - id: its id.
    ///   - length: the length of its text.
    ///   - now: the time. The last one that comes into force again stays in force since its own time.
    ///   - isNamed: whether a stored request was decided by a configuration; asked only if there are too many.
    ///
    /// Beyond the limits the oldest configuration goes that no stored request names; if all are named, the oldest.
    public mutating func put(
        _ id: ConfigurationID, length: Int, at now: WallTime, isNamed: (ConfigurationID) -> Bool
    ) {
        let since = last.flatMap { $0.id == id ? $0.since : nil } ?? now
        entries.removeAll { $0.id == id }
        entries.append(Entry(id: id, since: since, length: length))
        while entries.count > 1, isTooMuch {
            let older = entries.dropLast()
            entries.remove(at: older.firstIndex { !isNamed($0.id) } ?? older.startIndex)
        }
    }

    private var isTooMuch: Bool {
        entries.count > Self.countMax || entries.reduce(0) { $0 + $1.length } > Self.lengthMax
    }

    // MARK: Text

    /// A line for each configuration: its id, the Unix milliseconds since which it is in force, and its length.
    public var text: [UInt8] {
        Array(entries.map { "\($0.id) \($0.since.milliseconds) \($0.length)\n" }.joined().utf8)
    }

    /// Reads the text; leaves out lines that it cannot have written.
    public init(text: [UInt8]) {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard words.count == 3, let id = ConfigurationID(words[0]), let since = Int64(words[1]),
                StoredRange.time.contains(since), let length = Int(words[2]), (0...Self.lengthMaxOfOne).contains(length)
            else { continue }
            entries.removeAll { $0.id == id }
            entries.append(Entry(id: id, since: WallTime(milliseconds: since), length: length))
        }
    }
}
