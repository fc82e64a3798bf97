import PushModel

/// The tables of the figures: spans of three lengths, the keys, and the first minute with figures.
///
/// A row is found by its span and its key in one number: the span in the upper 32 bits, the number of the key in the
/// lower 32. Key 0 has the figures that belong to no key (`SpanFigures`); a span without that row has no figures. For
/// one thread.
final class FigureTable {
    /// The version of the figures' rules and encoding. A ledger of another version is counted anew.
    static let version: Int64 = 3

    let path: String
    /// The minute of the request that was stored last.
    var latest: Int64
    private var reads: [SpanLength: StatementBox] = [:]
    private var writes: [SpanLength: StatementBox] = [:]
    private var deletes: [SpanLength: StatementBox] = [:]
    private var ranges: [SpanLength: StatementBox] = [:]
    private var keyNumber: Statement
    private var keyName: Statement
    private var keysOfMinute: Statement
    private var deleteKeys: Statement
    private var setFirst: Statement
    private var getFirst: Statement
    private var setPruned: Statement
    private var getPruned: Statement
    private var oldest: Statement
    private var setVersion: Statement
    /// Long spans to be added up, each with the latest minute at the time of its last change.
    private var pending: [SpanLength: [Int64: Int64]] = [:]
    /// The value of `pending` before the transaction.
    private var committed: [SpanLength: [Int64: Int64]] = [:]
    /// The hour in which keys were last deleted.
    private var forgottenKeysBefore: Int64 = 0

    init(_ database: borrowing Database) throws(StoreError) {
        path = database.path
        for length in SpanLength.allCases {
            let table = Self.name(length)
            reads[length] = StatementBox(try database.prepare("SELECT figures FROM \(table) WHERE place = ?1"))
            writes[length] = StatementBox(try database.prepare("INSERT OR REPLACE INTO \(table) VALUES (?1, ?2)"))
            deletes[length] = StatementBox(
                try database.prepare("DELETE FROM \(table) WHERE place >= ?1 AND place < ?2"))
            ranges[length] = StatementBox(
                try database.prepare(
                    "SELECT place, figures FROM \(table) WHERE place >= ?1 AND place < ?2 ORDER BY place"))
        }
        keyNumber = try database.prepare(
            """
            INSERT INTO figure_keys (name, last_minute) VALUES (?1, ?2)
            ON CONFLICT (name) DO UPDATE SET last_minute = max(last_minute, excluded.last_minute) RETURNING number
            """)
        keyName = try database.prepare("SELECT name FROM figure_keys WHERE number = ?1")
        keysOfMinute = try database.prepare(
            """
            SELECT DISTINCT json_extract(name, '$[6]') FROM figure_keys WHERE number IN (
                SELECT place & \(Self.keyMask) FROM \(Self.name(.minute)) WHERE place > ?1 AND place < ?2)
            """)
        deleteKeys = try database.prepare("DELETE FROM figure_keys WHERE last_minute < ?1")
        setFirst = try database.prepare("UPDATE figure_state SET first_minute = ?1")
        getFirst = try database.prepare("SELECT first_minute FROM figure_state")
        setPruned = try database.prepare("UPDATE figure_state SET pruned_minute = ?1")
        getPruned = try database.prepare("SELECT pruned_minute FROM figure_state")
        oldest = try database.prepare("SELECT place FROM \(Self.name(.minute)) ORDER BY place LIMIT 1")
        setVersion = try database.prepare("UPDATE figure_state SET version = ?1")
        let last = try database.prepare("SELECT place FROM \(Self.name(.minute)) ORDER BY place DESC LIMIT 1")
        latest = try last.step() ? try last.minuteOfPlace(0) : 0
        for length in SpanLength.allCases where length != .minute {
            pending[length] = try Self.missing(length, database)
        }
        committed = pending
    }

    static func name(_ length: SpanLength) -> String {
        switch length {
        case .minute: "figures_by_minute"
        case .hour: "figures_by_hour"
        case .days: "figures_by_days"
        }
    }

    /// Returns the place of a key's figures in a span.
    static func place(_ span: Int64, key: Int64 = 0) -> Int64 { span << 32 | key }

    static let keyMask: Int64 = 0xFFFF_FFFF

    // MARK: Rows

    /// Passes the figures of a place to `body`, if there are any.
    ///
    /// - Returns: whether there are any.
    @discardableResult
    func read(
        _ length: SpanLength, _ place: Int64, _ body: (UnsafeRawBufferPointer) throws(FigureError) -> Void
    ) throws(StoreError) -> Bool {
        guard let box = reads[length] else { return false }
        box.statement.bind(place, at: 1)
        defer { box.statement.reset() }
        guard try box.statement.step() else { return false }
        do throws(FigureError) { try body(box.statement.lentBytes(0)) } catch {
            throw StoreError(.corrupt, message: error.message, context: path)
        }
        return true
    }

    func write(_ length: SpanLength, _ place: Int64, _ figures: [UInt8]) throws(StoreError) {
        guard let box = writes[length] else { return }
        box.statement.bind(place, at: 1)
        let result = figures.withUnsafeBytes { bytes in
            box.statement.bind(lendingBytes: bytes, at: 2)
            return Result { () throws(StoreError) in try box.statement.run() }
        }
        try result.get()
    }

    /// Deletes the rows of spans.
    private func delete(_ length: SpanLength, from span: Int64, before end: Int64) throws(StoreError) {
        guard let box = deletes[length] else { return }
        box.statement.bind(Self.place(span), at: 1)
        box.statement.bind(Self.place(end), at: 2)
        try box.statement.run()
    }

    /// Returns the number of a key, after giving it one if it has none.
    func number(of key: FigureKey, usedIn minute: Int64) throws(StoreError) -> Int64 {
        keyNumber.bind(key.name, at: 1)
        keyNumber.bind(minute, at: 2)
        defer { keyNumber.reset() }
        guard try keyNumber.step() else {
            throw StoreError(.corrupt, message: "a key of figures has no number", context: path)
        }
        let number = keyNumber.integer(0)
        // SQLite writes the row only when the statement runs to its end.
        _ = try keyNumber.step()
        return number
    }

    /// Returns the apps that have figures of their own in a minute.
    func apps(ofMinute minute: Int64) throws(StoreError) -> Set<String> {
        keysOfMinute.bind(Self.place(minute), at: 1)
        keysOfMinute.bind(Self.place(minute + 1), at: 2)
        defer { keysOfMinute.reset() }
        var apps: Set<String> = []
        while try keysOfMinute.step() { if let app = keysOfMinute.text(0) { apps.insert(app) } }
        return apps
    }

    func firstMinute() throws(StoreError) -> Int64 {
        defer { getFirst.reset() }
        return try getFirst.step() ? try getFirst.integer(0, in: StoredRange.minute) : 0
    }

    /// Returns the minute before which pruning has removed rows.
    func prunedMinute() throws(StoreError) -> Int64 {
        defer { getPruned.reset() }
        return try getPruned.step() ? try getPruned.integer(0, in: StoredRange.minute) : 0
    }

    /// Stores the minute before which pruning has removed rows.
    func notePruned(before minute: Int64) throws(StoreError) {
        setPruned.bind(minute, at: 1)
        try setPruned.run()
    }

    /// Returns the first minute that has figures; `nil` if there is none.
    func oldestMinute() throws(StoreError) -> Int64? {
        defer { oldest.reset() }
        return try oldest.step() ? try oldest.minuteOfPlace(0) : nil
    }

    func noteVersion() throws(StoreError) {
        setVersion.bind(Self.version, at: 1)
        try setVersion.run()
    }

    /// Discards the changes of a transaction that was rolled back.
    func reset() {
        pending = committed
        forgottenKeysBefore = 0
    }

    /// Keeps the changes of a transaction that was committed.
    func noteCommit() { committed = pending }

    /// Deletes the figures of all minutes before one, and the keys that no later minute has.
    func forget(before minute: Int64) throws(StoreError) {
        for length in SpanLength.allCases {
            // Also deletes a long span that has lost some of its minutes.
            let end = (minute + length.minutes - 1) / length.minutes
            try delete(length, from: 0, before: end)
            pending[length] = pending[length]?.filter { $0.key >= end }
        }
        try begin(at: minute)
        let span = SpanLength.hour.span(of: minute)
        guard span != forgottenKeysBefore else { return }
        deleteKeys.bind(minute, at: 1)
        try deleteKeys.run()
        forgottenKeysBefore = span
    }

    /// Deletes the figures from a minute on, so that its rows, which are all present, can be counted anew.
    ///
    /// - Parameters:
    ///   - minute: the first one; 0 deletes everything.
    ///   - database: the ledger.
    func empty(from minute: Int64, _ database: borrowing Database) throws(StoreError) {
        for length in SpanLength.allCases {
            try delete(length, from: length.span(of: minute), before: FigureMinute.limit)
            if length != .minute { pending[length] = try Self.missing(length, database) }
        }
        guard minute == 0 else { return }
        deleteKeys.bind(.max, at: 1)
        try deleteKeys.run()
    }

    /// Stores the first minute that has figures.
    func begin(at minute: Int64) throws(StoreError) {
        setFirst.bind(minute, at: 1)
        try setFirst.run()
    }

    // MARK: Long spans

    /// Marks the long spans of a changed minute to be added up again.
    func noteChange(ofMinute minute: Int64) throws(StoreError) {
        for length in SpanLength.allCases where length != .minute {
            let span = length.span(of: minute)
            if pending[length]?[span] == nil { try delete(length, from: span, before: span + 1) }
            pending[length, default: [:]][span] = latest
        }
    }

    /// A long span that is over and has not changed for two minutes; the shortest length first.
    private var due: (length: SpanLength, span: Int64)? {
        for length in SpanLength.allCases where length != .minute {
            let now = length.span(of: latest)
            let found = pending[length]?.first { $0.key != now && abs(latest - $0.value) >= 2 }
            if let found { return (length, found.key) }
        }
        return nil
    }

    var isRollUpDue: Bool { due != nil }

    /// Adds up one long span, if one is due.
    func rollUp() throws(StoreError) {
        guard let (length, span) = due else { return }
        let parts: SpanLength = length == .days ? .hour : .minute
        let ratio = length.minutes / parts.minutes
        // Adds up days after their hours: a pending hour postpones its day.
        if length == .days, pending[.hour]?.keys.contains(where: { $0 / ratio == span }) == true {
            pending[length]?[span] = latest
            return
        }
        var whole = SpanFigures()
        var keys: [Int64: KeyFigures] = [:]
        try sum(parts, from: span * ratio, before: (span + 1) * ratio, into: &whole, &keys)
        try delete(length, from: span, before: span + 1)
        for (key, figures) in keys {
            try write(length, Self.place(span, key: key), figures.bytes)
        }
        if whole.requests > 0 || whole.decided > 0 || !keys.isEmpty || !whole.answers.isEmpty {
            try write(length, Self.place(span), whole.bytes)
        }
        pending[length]?[span] = nil
    }

    private func sum(
        _ length: SpanLength, from span: Int64, before end: Int64, into whole: inout SpanFigures,
        _ keys: inout [Int64: KeyFigures]
    ) throws(StoreError) {
        guard let box = ranges[length] else { return }
        box.statement.bind(Self.place(span), at: 1)
        box.statement.bind(Self.place(end), at: 2)
        defer { box.statement.reset() }
        while try box.statement.step() {
            let key = try keyWithRoom(box.statement.integer(0) & Self.keyMask, keys, before: end * length.minutes)
            do throws(FigureError) {
                if key == 0 {
                    try whole.add(box.statement.lentBytes(1))
                } else {
                    try keys[key, default: KeyFigures()].add(box.statement.lentBytes(1))
                }
            } catch {
                throw StoreError(.corrupt, message: error.message, context: path)
            }
        }
    }

    /// The number of keys that have figures in a long span; the apps of further keys share one.
    private static let keysOfLongSpan = 2048

    /// Returns the key, or the key of the other apps if the span has no room for one more.
    private func keyWithRoom(
        _ number: Int64, _ keys: [Int64: KeyFigures], before minute: Int64
    ) throws(StoreError) -> Int64 {
        guard keys.count >= Self.keysOfLongSpan, number != 0, keys[number] == nil else { return number }
        let key = try key(number)
        return key.app == nil ? number : try self.number(of: key.ofOtherApp, usedIn: minute - 1)
    }

    private func key(_ number: Int64) throws(StoreError) -> FigureKey {
        keyName.bind(number, at: 1)
        defer { keyName.reset() }
        guard try keyName.step() else {
            throw StoreError(.corrupt, message: "figures name key \(number), which the ledger lacks", context: path)
        }
        do throws(FigureError) { return try FigureKey(named: keyName.text(0) ?? "") } catch {
            throw StoreError(.corrupt, message: error.message, context: path)
        }
    }

    /// Returns the long spans that have minutes and are not added up.
    private static func missing(
        _ length: SpanLength, _ database: borrowing Database
    ) throws(StoreError) -> [Int64: Int64] {
        var (missing, span): ([Int64: Int64], Int64) = ([:], 0)
        var next = try database.prepare(
            "SELECT place FROM \(name(.minute)) WHERE place >= ?1 ORDER BY place LIMIT 1")
        var there = try database.prepare("SELECT 1 FROM \(name(length)) WHERE place = ?1")
        while true {
            next.bind(place(length.firstMinute(of: span)), at: 1)
            guard try next.step() else { return missing }
            span = length.span(of: try next.minuteOfPlace(0))
            next.reset()
            there.bind(place(span), at: 1)
            // -2 counts as a change of long ago, so the span is due at once.
            if try !there.step() { missing[span] = -2 }
            there.reset()
            span += 1
        }
    }
}

extension Statement {
    /// Returns the minute of figures from their place.
    func minuteOfPlace(_ column: Int32) throws(StoreError) -> Int64 {
        try integer(column, in: StoredRange.place) >> 32
    }
}

// The values that `FigureRows` caches.

/// The facts of a request that figures need.
struct CountedRequest {
    var seq: Int64 = -1
    var acceptedAt: Int64 = 0
    var minute: Int64 = 0
    /// Whether its operation leads to invocations.
    var operation = false
    /// Mode, platform, app, transport and both priorities.
    var parts = KeyParts()
}

/// The facts of an invocation that figures need besides its key.
struct CountedEnd {
    var id = InvocationID(seq: SequenceNumber(0), n: 0)
    var times = DecidedTimes(budget: 0, queue: 0, exec: 0, total: 0)
    var isObserver = false
    var waited = false
}

/// A key and its row in the ledger.
final class CountedKey {
    let key: FigureKey
    /// Its number in the ledger; `nil` until it is looked up.
    var number: Int64?
    /// The last minute for which the ledger is known to keep the key.
    var lastMinute: Int64 = -1
    /// The same key with "other apps" in place of its app, for an app that comes after the minute has its limit of apps;
    /// `nil` until it is needed.
    var other: CountedKey?

    init(_ key: FigureKey) { self.key = key }
}

/// The figures of one key in one minute.
final class CountedCell {
    var figures = KeyFigures()
    var isChanged = false
}

/// The figures of one minute that belong to no key.
final class CountedMinute {
    let number: Int64
    var figures = SpanFigures()
    /// The apps that have figures of their own.
    var apps: Set<String> = []
    var isChanged = false

    init(_ number: Int64) { self.number = number }
}

/// The values that distinguish figures, concatenated as in a row, so that a key can be looked up without being decoded.
/// The invocation's values come first, then those of its request.
struct KeyParts: Hashable {
    private var bytes: [UInt8] = []

    // Array's own hash goes byte by byte: a measurement showed it in the time of the ledger's thread.
    func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Appends a text, or NULL.
    mutating func append(_ value: RowValue) {
        guard case .text(let text) = value else { return bytes.append(0) }
        // Stores the length plus 1, so that a missing text differs from the empty one.
        withUnsafeBytes(of: UInt32(text.count + 1).littleEndian) { length in
            bytes.append(1)
            bytes.append(contentsOf: length)
        }
        bytes.append(contentsOf: text)
    }

    /// Appends a reason code if reports count by it, otherwise NULL.
    mutating func append(counted code: RowValue) {
        guard case .text(let text) = code, Self.counted.contains(where: { $0.elementsEqual(text) }) else {
            return append(.null)
        }
        append(code)
    }

    /// Appends a flag.
    mutating func append(flag: Bool) { bytes.append(flag ? 1 : 0) }

    /// Appends the values of a request.
    mutating func append(_ request: KeyParts) { bytes.append(contentsOf: request.bytes) }

    private static let counted = FigureKey.countedReasons.map { Array($0.rawValue.utf8) }

    /// Decodes the key: callback, provider, route, handler, outcome, reason, then mode, platform, app, transport and
    /// both priorities, then whether it is an observer's.
    ///
    /// - Parameter path: the ledger, for error messages.
    /// - Throws: `corrupt` for a word outside its enumeration.
    func key(path: String) throws(StoreError) -> FigureKey {
        var rest = bytes[...]
        func text() -> String? {
            guard rest.popFirst() == 1, rest.count >= 4 else { return nil }
            let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) } - 1
            defer { rest = rest.dropFirst(4 + length) }
            return String(decoding: rest.dropFirst(4).prefix(length), as: UTF8.self)
        }
        func word<Value: RawRepresentable<String>>(_ type: Value.Type) throws(StoreError) -> Value? {
            guard let text = text() else { return nil }
            guard let value = Value(rawValue: text) else {
                throw StoreError(.corrupt, message: "'\(text)' is no \(type)", context: path)
            }
            return value
        }
        let callback = try word(Callback.self)
        let (provider, route, handler) = (text(), text(), text())
        let outcome = try word(Outcome.self)
        let reasonCode = try word(ReasonCode.self)
        let (mode, platform) = (try word(DispatchMode.self), try word(Platform.self))
        let app = text()
        let transport = try word(Transport.self)
        let (original, delivered) = (try word(MessagePriority.self), try word(MessagePriority.self))
        guard let callback, let outcome, let mode, let platform, let isObserver = rest.first else {
            throw StoreError(.corrupt, message: "a row has too few values to be counted", context: path)
        }
        return FigureKey(
            mode: mode, platform: platform, app: app, transport: transport, originalPriority: original,
            deliveredPriority: delivered, callback: callback, provider: provider, route: route, handler: handler,
            outcome: outcome, reasonCode: reasonCode, isObserver: isObserver == 1)
    }
}

extension RowValue {
    /// Whether the value is an operation that leads to invocations.
    var isWordOfInvocations: Bool {
        guard case .text(let text) = self else { return false }
        return Operation(rawValue: String(decoding: text, as: UTF8.self))?.hasInvocations ?? false
    }
}

extension Statement {
    /// Returns the text of a column without a copy, valid until the next step or reset.
    func lentText(_ column: Int32) -> RowValue { row(from: column).lentText.map { .text($0) } ?? .null }
}
