/// Rows for the ledger as bytes, in the order of the decisions. The log writes these bytes, and the ledger applies
/// them, without a conversion in between.
///
/// A row is its kind, the length of its values in four bytes, and the values (``RowKind``, `RowValueTag`). The memory
/// begins at a multiple of ``alignment`` and has ``headroom`` free before the first row, so that the log can put its
/// header there and write the memory to the disk without a copy.
///
/// `@unchecked Sendable` is sound by ownership: one thread has the buffer at a time. The loop fills it, hands it to the
/// thread that writes the log, and that thread hands it to the thread that writes the database; none uses it
/// afterwards.
public final class RowBuffer: @unchecked Sendable {
    /// The alignment in bytes that direct writes to a disk (`O_DIRECT`) need.
    public static let alignment = 4096
    /// The bytes that are always free for a row beside its texts and bytes: more than the numbers of any kind of row
    /// take.
    static let margin = 512

    /// The number of bytes that stay free before the first row.
    public let headroom: Int
    /// All of the memory: the headroom, the rows, and the free bytes behind them.
    public private(set) var memory: UnsafeMutableRawBufferPointer
    /// The end of the rows, counted from the beginning of the memory.
    public private(set) var end: Int
    /// The number of rows.
    private(set) var rowCount = 0
    /// The lowest version of batches that has all kinds of its rows.
    public internal(set) var version = 1
    /// The version of batches that all readers of the batch read.
    public var readers = RowKind.newestVersion

    /// Creates an empty buffer.
    ///
    /// - Parameters:
    ///   - headroom: the number of bytes that stay free before the first row.
    ///   - capacity: the room for rows at first, in bytes; the buffer grows on demand.
    public init(headroom: Int = 64, capacity: Int = 16 << 10) {
        self.headroom = headroom
        end = headroom
        memory = Self.allocate(headroom + capacity)
    }

    deinit { memory.deallocate() }

    /// The bytes of the rows.
    public var byteCount: Int { end - headroom }

    /// Whether the buffer has no row.
    public var isEmpty: Bool { rowCount == 0 }

    /// The rows.
    public var rows: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[headroom..<end]) }

    /// Removes all rows.
    ///
    /// - Parameter capacity: the limit of bytes for rows that stay allocated.
    public func removeAll(keeping capacity: Int = .max) {
        end = headroom
        rowCount = 0
        version = 1
        guard memory.count > max(capacity, headroom + Self.margin) else { return }
        memory.deallocate()
        memory = Self.allocate(headroom + capacity)
    }

    /// Fills the bytes behind the rows with zeros, up to a multiple of ``alignment``.
    ///
    /// - Returns: the length of the filled memory, counted from its beginning.
    public func padToAlignment() -> Int {
        let length = (end + Self.alignment - 1) / Self.alignment * Self.alignment
        reserve(length - end)
        memory[end..<length].initializeMemory(as: UInt8.self, repeating: 0)
        return length
    }

    /// Takes over stored rows: all blocks of a batch as they lie on a disk, from the headroom on.
    ///
    /// - Parameters:
    ///   - length: the bytes of the rows.
    ///   - blocks: the bytes to read, headroom and padding included.
    ///   - read: reads into the given memory, and returns the number of bytes read.
    /// - Returns: whether `read` filled all blocks. Otherwise the buffer has no rows.
    public func fill(rows length: Int, blocks: Int, _ read: (UnsafeMutableRawBufferPointer) -> Int) -> Bool {
        precondition(headroom + length <= blocks, "the rows are within their blocks")
        removeAll()
        reserve(blocks)
        guard read(UnsafeMutableRawBufferPointer(rebasing: memory[..<blocks])) == blocks else { return false }
        end = headroom + length
        return true
    }

    /// Appends a row.
    ///
    /// - Parameters:
    ///   - kind: the kind of the row.
    ///   - values: writes the values of the row.
    @inline(__always)
    func append(_ kind: RowKind, _ values: (inout RowWriter) -> Void) {
        let start = end
        reserve(Self.margin)
        var writer = RowWriter(self, at: start + 5)
        values(&writer)
        let length = writer.finish() - start - 5
        memory.storeBytes(of: kind.rawValue, toByteOffset: start, as: UInt8.self)
        memory.storeBytes(of: UInt32(truncatingIfNeeded: length).littleEndian, toByteOffset: start + 1, as: UInt32.self)
        end = start + 5 + length
        rowCount += 1
        version = max(version, kind.since)
    }

    /// Appends the row of a record, or of one value.
    @inline(__always)
    func append<Value: StoredValue>(_ kind: RowKind, _ value: Value) { append(kind) { value.write(to: &$0) } }

    /// Makes room for `count` bytes behind the rows.
    func reserve(_ count: Int) { if memory.count - end < count { grow(used: end, by: count) } }

    /// Moves to larger memory, and keeps the first `used` bytes.
    @inline(never)
    fileprivate func grow(used: Int, by count: Int) {
        let larger = Self.allocate(max(memory.count * 2, used + count))
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<used]))
        memory.deallocate()
        memory = larger
    }

    private static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: (count + alignment - 1) / alignment * alignment, alignment: alignment)
    }
}

/// Writes the values of one row.
///
/// Numbers need no check of the room: the buffer keeps `RowBuffer.margin` free, and each text and each array of bytes
/// makes room for itself and this margin.
public struct RowWriter {
    private let buffer: RowBuffer
    private var start: UnsafeMutableRawPointer
    private var cursor: UnsafeMutableRawPointer
    private var limit: UnsafeMutableRawPointer

    @inline(__always)
    fileprivate init(_ buffer: RowBuffer, at offset: Int) {
        self.buffer = buffer
        guard let start = buffer.memory.baseAddress else { preconditionFailure("a buffer has memory") }
        self.start = start
        cursor = start + offset
        limit = start + buffer.memory.count
    }

    /// The end of the values, counted from the beginning of the memory.
    @inline(__always)
    fileprivate func finish() -> Int { cursor - start }

    @inline(__always)
    mutating func nulls(_ count: Int) { for _ in 0..<count { tag(.null) } }

    /// Writes a whole number.
    @inline(__always)
    mutating func integer(_ value: Int64) {
        if value >= 0, value < 256 {
            tag(.smallInteger)
            cursor.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
            cursor += 1
        } else {
            tag(.integer)
            cursor.storeBytes(of: value.littleEndian, as: Int64.self)
            cursor += 8
        }
    }

    /// Writes a text of any length, NUL characters included.
    mutating func text(_ value: String) {
        value.utf8Span.span.withUnsafeBytes { append($0, isText: true) }
    }

    mutating func bytes(_ value: [UInt8]) { value.withUnsafeBytes { append($0, isText: false) } }

    /// Writes the 16 bytes of an id, the highest first.
    mutating func uuid(_ value: UUID128) {
        withUnsafeBytes(of: (value.high.bigEndian, value.low.bigEndian)) { append($0, isText: false) }
    }

    private mutating func append(_ value: UnsafeRawBufferPointer, isText: Bool) {
        makeRoom(for: value.count)
        if isText, value.count < 256 {
            tag(.shortText)
            cursor.storeBytes(of: UInt8(truncatingIfNeeded: value.count), as: UInt8.self)
            cursor += 1
        } else {
            tag(isText ? .text : .bytes)
            cursor.storeBytes(of: UInt32(truncatingIfNeeded: value.count).littleEndian, as: UInt32.self)
            cursor += 4
        }
        if let source = value.baseAddress { cursor.copyMemory(from: source, byteCount: value.count) }
        cursor += value.count
    }

    @inline(__always)
    private mutating func makeRoom(for count: Int) {
        if limit - cursor < count + RowBuffer.margin { grow(count) }
    }

    @inline(never)
    private mutating func grow(_ count: Int) {
        let used = cursor - start
        buffer.grow(used: used, by: count + RowBuffer.margin)
        self = RowWriter(buffer, at: used)
    }

    @inline(__always)
    private mutating func tag(_ tag: RowValueTag) {
        cursor.storeBytes(of: tag.rawValue, as: UInt8.self)
        cursor += 1
    }
}

// The kind of row for each record. A row of a table has its format in a file of its own (``StoredRecord``).
extension RowBuffer {
    /// Appends any record.
    public func append(_ record: LedgerRecord) {
        switch record {
        case .request(let request): append(request)
        case .invocation(let invocation): append(invocation, isNew: true)
        case .update(let invocation): append(invocation, isNew: false)
        case .event(let event): append(event)
        case .tracker(let record): append(record)
        case .customData(let record): append(record)
        case .device(let device): append(device)
        case .subscriptions(let change): append(.subscriptions, change)
        case .forgottenDevice(let number): append(.forgottenDevice, number)
        case .fanOut(let fanOut): append(.fanOut, fanOut)
        case .fanOutProgress(let seq, let progress): append(.fanOutProgress) { $0.add(seq, progress) }
        case .attempt(let attempt): append(.attempt, attempt)
        case .output(let id, let output):
            append(.output) { $0.add(id, output) }
        case .deadLetter(let letter): append(.deadLetter, letter)
        case .noDeadLetters(let seq): append(.noDeadLetters, seq)
        case .gap(let gap): append(.gap, gap)
        case .lifeSign(let sign): append(.lifeSign, sign)
        case .producer(let producer): append(.producer, producer)
        case .configuration(let period): append(.configuration, period)
        case .audit(let record): append(.audit, record)
        case .order(let order): append(order)
        }
    }

    /// Appends the last known facts of a device; its topics only for readers that know them by no other row.
    private func append(_ device: KnownDevice) {
        guard !takesSubscriptions else { return append(.deviceFacts, device) }
        let former = FormerDeviceRow(device: device)
        append(.device) { former.write(to: &$0) }
        version = max(version, former.since)
    }

    /// Whether the readers take subscriptions as rows of their own. Otherwise each row of a device has all its topics.
    public var takesSubscriptions: Bool { readers >= RowKind.versionOfSubscriptions }

    /// Appends a new request.
    public func append(_ request: AcceptedRequest) {
        append(.request, request)
        version = max(version, request.operation.since)
    }

    /// Appends a new invocation, or a changed one.
    public func append(_ invocation: InvocationRecord, isNew: Bool) {
        append(isNew ? .invocation : .invocationUpdate, invocation)
    }

    /// Appends an event; the ledger assigns its cursor when it applies the row.
    public func append(_ event: AnalyticsEvent) { append(.event, event) }

    /// Appends a delivery that the tracker takes over; the row of its event must come before it.
    public func append(_ row: TrackedRow) { append(.trackedDelivery, row) }

    /// Appends a change of the tracker's state.
    public func append(_ record: TrackerRecord) {
        switch record {
        case .delivery(let row): append(row)
        case .opened(let delivery, let at, let by):
            append(.openedDelivery) { $0.add(delivery, at, by) }
        case .influenced(let delivery): append(.influencedDelivery, delivery)
        case .forgottenDelivery(let delivery): append(.forgottenDelivery, delivery)
        case .interaction(let row): append(.interaction, row)
        case .session(let row): append(.session, row)
        case .forgottenSession(let number): append(.forgottenSession, number)
        case .starts(let row): append(.starts, row)
        case .forgottenStarts(let number): append(.forgottenStarts, number)
        case .pendingStart(let start): append(.pendingStart, start)
        case .decidedStart(let cause): append(.decidedStart, cause)
        case .held(let waiting): append(.heldInteraction, waiting)
        case .settled(let cause): append(.settledInteraction, cause)
        }
    }

    /// Appends a change of the state of custom data.
    public func append(_ record: CustomDataRecord) {
        switch record {
        case .entry(let entry, let state, let problem):
            append(.entry, EntryRecord(entry: entry, state: state, problem: problem))
        case .moved(let move):
            append(.entryMove) { values in
                values.add(move.number, move.state, move.at)
                values.add(move.by, move.claimant, move.reason)
            }
        case .attribute(let row): append(.attribute) { row.write(to: &$0) }
        case .sending(let state): append(.sending, state)
        }
    }
}
