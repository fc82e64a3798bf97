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

// A configuration that was in force is kept as one text: after a heading, for each file its folder, the lengths of path
// and contents in bytes, and then path and contents, each with a line feed behind it.
//
// It has every file that decides, also the providers of the program, and the rules for producers, without which a start
// with a mistake would let everybody send everything. It lacks what decides nothing (masks, files that are not read), and
// registrations, which may name persons: an erasure does not reach kept files.
extension ConfigurationSources {
    private static let heading = "pushrouterd configuration 1\n"
    /// The folder name that the main file and its drop-ins have in the text.
    private static let mainFolder = "main"

    /// The files in the order of the text, each with the name of its folder.
    private var keptFiles: [(folder: String, file: ConfigurationFile)] {
        let given = Set(providers.map(\.stem))
        // A mask stays, because the program's own file is below it.
        let allProviders = providers + Self.shippedProviders.filter { !given.contains($0.stem) }
        let parts: [(ConfigurationFolder, [ConfigurationFile])] = [
            (.provider, allProviders), (.handler, handlers.filter { !$0.isMask }),
            (.route, routes.filter { !$0.isMask }), (.track, tracks.filter { !$0.isMask }),
            (.producer, producers.filter { !$0.isMask }),
        ]
        return main.map { (Self.mainFolder, $0) }
            + parts.flatMap { folder, files in
                files.map { (stem: $0.stem, file: $0) }.sorted { $0.stem < $1.stem }.map { (folder.rawValue, $0.file) }
            }
    }

    /// The id of the configuration. The directories of its files and `[Store]` do not count, so that the machines of a
    /// pair agree.
    public var id: ConfigurationID {
        var bytes: [UInt8] = []
        for (folder, file) in keptFiles {
            let contents =
                folder == Self.mainFolder
                ? Schema.main.copy(of: file.bytes) { $0.section == "Store" ? nil : $1 } : file.bytes
            bytes += "\(folder) \(file.stem.utf8.count) \(contents.count)\n\(file.stem)".utf8
            bytes += contents
        }
        return ConfigurationID(digestOf: bytes)
    }

    /// The text that ``init(keptText:)`` reads.
    public var keptText: [UInt8] {
        var text = Array(Self.heading.utf8)
        for (folder, file) in keptFiles {
            text += "\(folder) \(file.path.utf8.count) \(file.bytes.count)\n\(file.path)\n".utf8
            text += file.bytes
            text.append(lineFeed)
        }
        return text
    }

    /// Reads the text of a kept configuration; `nil` if it is none.
    public init?(keptText text: [UInt8]) {
        guard text.starts(with: Self.heading.utf8) else { return nil }
        self.init()
        var rest = text[...].dropFirst(Self.heading.utf8.count)
        while !rest.isEmpty {
            guard let end = rest.firstIndex(of: lineFeed) else { return nil }
            let words = rest[..<end].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            rest = rest[(end + 1)...]
            guard words.count == 3, let length = Int(words[1]), let count = Int(words[2]),
                let path = Self.take(length, from: &rest), let bytes = Self.take(count, from: &rest)
            else { return nil }
            let file = ConfigurationFile(path: String(decoding: path, as: UTF8.self), bytes: bytes)
            switch (words[0], ConfigurationFolder(rawValue: words[0])) {
            case (Self.mainFolder, _): main.append(file)
            case (_, .provider): providers.append(file)
            case (_, .handler): handlers.append(file)
            case (_, .route): routes.append(file)
            case (_, .track): tracks.append(file)
            case (_, .producer): producers.append(file)
            default: return nil
            }
        }
    }

    /// Takes bytes and the line feed behind them; `nil` if they are not all there.
    private static func take(_ count: Int, from rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard count >= 0, rest.count > count, rest[rest.startIndex + count] == lineFeed else { return nil }
        defer { rest = rest.dropFirst(count + 1) }
        return Array(rest.prefix(count))
    }
}

private let lineFeed = UInt8(ascii: "\n")

// MARK: For explanations

extension ConfigurationSources {
    /// The same configuration for users who may read the ledger, but perhaps not the files: what decides about payloads.
    /// It lacks comments, and each value that may be a secret.
    public var forExplaining: ConfigurationSources {
        func copies<Target>(
            _ files: [ConfigurationFile], _ schema: Schema<Target>,
            _ value: (Key<Target>, String) -> String? = { key, value in key.showsValue ? value : nil }
        ) -> [ConfigurationFile] {
            files.map { ConfigurationFile(path: $0.path, bytes: schema.copy(of: $0.bytes, value)) }
        }
        return ConfigurationSources(
            main: copies(main, .main) { key, value in
                Self.sectionsThatDecide.contains(key.section) && key.showsValue ? value : nil
            },
            providers: copies(providers, .provider),
            handlers: copies(handlers, .handler) { key, value in
                Self.standIns[key.name] ?? (key.showsValue ? value : nil)
            },
            routes: copies(routes, .route), tracks: copies(tracks, .track))
    }

    /// The sections of the main file that an explanation, or the page, needs.
    private static let sectionsThatDecide: Set<String> = [
        "Daemon", "Dispatch", "Deadline", "Braze", "Tracker", "UsersTrack",
    ]

    /// The values in place of those that a handler needs and that may have a secret: an argument, a query. `nil`: the
    /// key is left out.
    private static let standIns: [String: String?] = [
        "Exec": "/withheld", "URL": "https://withheld.invalid/", "Environment": nil,
    ]
}
