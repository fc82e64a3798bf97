/// The kind of a row of the log, which defines its values and their order.
///
/// The raw values are on disk, in logs that a later version may have to read: a number never changes its meaning. The
/// values of a kind never change, except for new ones at the end. 36 is retired.
public enum RowKind: UInt8, Sendable, CaseIterable {
    /// A new request; its invocations follow in the same batch.
    case request = 1
    /// A new invocation, decided or in flight.
    case invocation = 2
    /// An invocation in flight changed: the whole row with its new values.
    case invocationUpdate = 3
    /// An analytics event.
    case event = 4
    /// The last known facts of a device with its topics; replaces the row of its number and its subscriptions. Batches
    /// before version 3 have it.
    case device = 5
    /// The daemon no longer remembers a device.
    case forgottenDevice = 6
    /// A publish, and the devices that get it.
    case fanOut = 7
    /// The progress of a publish.
    case fanOutProgress = 8
    /// The last known facts of a device; replaces the row of its number, and its subscriptions stay.
    case deviceFacts = 9
    /// Devices are subscribed to a topic, or their subscriptions end.
    case subscriptions = 10

    /// A delivery that the tracker takes over; its `Received` event is the event before it.
    case trackedDelivery = 16
    /// A tracked delivery was opened.
    case openedDelivery = 17
    /// A tracked delivery had its influenced open.
    case influencedDelivery = 18
    /// The tracker no longer remembers a delivery.
    case forgottenDelivery = 19
    /// The tracker's verdict on an interaction.
    case interaction = 20
    /// A session; replaces the row of its number.
    case session = 21
    /// The tracker no longer needs a session.
    case forgottenSession = 22
    /// The latest session starts of a user; replaces the row of their number.
    case starts = 23
    /// The tracker no longer remembers the session starts of a user.
    case forgottenStarts = 24
    /// A session start whose influenced opens are not decided yet.
    case pendingStart = 25
    /// The influenced opens of a session start are decided.
    case decidedStart = 26
    /// An interaction that waits for its delivery.
    case heldInteraction = 27
    /// A held interaction is settled.
    case settledInteraction = 28

    /// A new entry of custom data.
    case entry = 32
    /// An entry's state changed.
    case entryMove = 33
    /// An operation on a field of a profile.
    case attribute = 34
    /// The state of sending.
    case sending = 35

    /// An attempt of a handler ended.
    case attempt = 40
    /// The standard error of the last attempt's handler.
    case output = 41
    /// An invocation became a dead letter.
    case deadLetter = 42
    /// The dead letters of a request were replayed or purged.
    case noDeadLetters = 43

    /// A gap of the daemon ended.
    case gap = 48
    /// The daemon is alive.
    case lifeSign = 49
    /// Another configuration decides later requests; replaces the row of its first number.
    case configuration = 50
    /// An administrative act.
    case audit = 51

    /// A producer of a chain that several machines write got a number; precedes its first request.
    case producer = 56
    /// An order to delete old or surplus requests; alone in its batch.
    case pruning = 57
    /// An order to delete the rows of a person; alone in its batch.
    case erasure = 58
}

/// The byte before a value that tells its type and format.
enum RowValueTag: UInt8 {
    case null = 0
    /// A whole number from 0 to 255, in one byte.
    case smallInteger = 1
    /// A whole number of 64 bits, little-endian.
    case integer = 2
    /// A text of at most 255 bytes in UTF-8: its length in one byte, then the text.
    case shortText = 3
    /// A text: its length in four bytes, little-endian, then the text.
    case text = 4
    /// Bytes: their number in four bytes, little-endian, then the bytes.
    case bytes = 5
}

extension RowKind {
    /// The highest version of batches that this program reads and writes.
    public static let newestVersion = allCases.map(\.since).max() ?? 1

    /// The version from which on subscriptions have rows of their own, and devices an owner.
    static let versionOfSubscriptions = RowKind.subscriptions.since

    /// The version of batches that introduced the kind: a reader of lower versions stops at it.
    ///
    /// A new kind gets the version after the highest here. The daemon writes it once all copies of a chain read that
    /// version.
    public var since: Int {
        switch self {
        case .fanOut, .fanOutProgress: 2
        case .configuration, .deviceFacts, .subscriptions: 3
        case .audit: 4
        default: 1
        }
    }
}

extension FormerDeviceRow {
    /// The lowest version of batches whose rows have all facts of the device.
    var since: Int { device.token != nil || device.hasDetail ? 2 : 1 }
}

/// A table of the ledger: its columns, in the order of the values of its rows in the log.
public struct LedgerTable: Sendable {
    /// The content of a column.
    public enum Coding: Sendable {
        /// The value itself.
        case plain
        /// A text out of these.
        case name([String])
        /// The number of a word of a closed set.
        case word(WordSet)
        /// The number of a row in `texts`, or the text itself (Store: `SharedTexts`). Never a text that names a person:
        /// an erasure of the person's rows would leave it in `texts`.
        case shared
    }

    /// One column.
    public struct Column: Sendable {
        /// Its name in SQL.
        public let name: String
        /// Its type in SQL.
        public let type: String
        /// The content.
        public let coding: Coding
        /// Whether it may be NULL.
        public private(set) var isOptional = false
        /// The column's value for a row of the log that ends before it; `nil`: NULL.
        public private(set) var missing: Int64?

        private init(_ name: String, _ type: String, _ coding: Coding = .plain) {
            (self.name, self.type, self.coding) = (name, type, coding)
        }

        static func integer(_ name: String) -> Column { Column(name, "INTEGER") }

        static func text(_ name: String) -> Column { Column(name, "TEXT") }

        static func bytes(_ name: String) -> Column { Column(name, "BLOB") }

        static func name(_ name: String, _ texts: [String]) -> Column { Column(name, "TEXT", .name(texts)) }

        static func name<Name: RawRepresentable<String> & CaseIterable>(_ name: String, _ type: Name.Type) -> Column {
            .name(name, type.allCases.map(\.rawValue))
        }

        static func word<Word: StoredWord>(_ name: String, _ type: Word.Type) -> Column {
            Column(name, "INTEGER", .word(WordSet(type)))
        }

        static func shared(_ name: String) -> Column { Column(name, "ANY", .shared) }

        /// The same column, which may be NULL.
        var orNull: Column {
            var column = self
            column.isOptional = true
            return column
        }

        /// The same column, with a value for rows that were written before it existed.
        func or(_ value: Int64) -> Column {
            var column = self
            column.missing = value
            return column
        }
    }

    /// The primary key of a table.
    public enum Key: Sendable {
        /// This many of the first columns.
        case first(Int)
        /// A column before all others that rows of the log do not have: the ledger assigns its number.
        case given(String)
        /// None: the table has at most one row.
        case one
    }

    /// The name for queries by people.
    public let name: String
    /// The name of the table; if it differs, ``name`` is a view that has texts in place of numbers.
    public let rows: String
    /// The primary key.
    public let key: Key
    /// The columns in their order.
    public let columns: [Column]

    init(_ name: String, rows: String? = nil, key: Key = .first(1), _ columns: [Column]) {
        (self.name, self.rows, self.key, self.columns) = (name, rows ?? name, key, columns)
    }
}
