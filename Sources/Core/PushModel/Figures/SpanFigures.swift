/// The figures of a span that do not depend on a key. Observers count in ``requests`` and ``firstInvocations`` only.
public struct SpanFigures: Hashable, Sendable {
    /// The version of the format, the first byte.
    private static let version = 1
    /// The limit of ``slowest`` and of ``longestWaits``.
    static let listLength = 10
    /// The limit of ``misses``.
    static let missLength = 200

    /// The number of requests.
    public private(set) var requests = 0
    /// The number of requests whose operation leads to no invocation.
    public private(set) var requestsWithoutInvocation = 0
    /// The number of ended invocations that are the first of their requests, observers included.
    public private(set) var firstInvocations = 0
    /// The number of ended invocations.
    public private(set) var decided = 0
    /// The number of due invocations among these.
    public private(set) var due = 0
    /// The number of invocations among these that missed the deadline.
    public private(set) var missed = 0
    /// The number of due invocations in each of ``LatencyBands``, by the time from acceptance to the end.
    public private(set) var bands = Array(repeating: 0, count: LatencyBands.count)
    /// The slowest timed invocations.
    public private(set) var slowest = LongestInvocations(capacity: listLength)
    /// The slowest invocations that missed the deadline.
    public private(set) var misses = LongestInvocations(capacity: missLength)
    /// The longest waits of invocations that waited for another one in their lane.
    public private(set) var longestWaits = LongestInvocations(capacity: listLength)
    /// The number of times that each handler declined, and asked for another attempt.
    public private(set) var answers: [String: Answers] = [:]

    /// The numbers of a handler's answers that do not end an invocation.
    public struct Answers: Hashable, Sendable {
        /// The number of times that it declined.
        public internal(set) var declined = 0
        /// The number of times that it asked for another attempt.
        public internal(set) var retries = 0
    }

    /// Creates figures without requests.
    public init() {}

    /// Counts a request.
    /// - Parameter leadsToInvocations: whether its operation leads to invocations.
    public mutating func addRequest(leadsToInvocations: Bool) {
        requests += 1
        requestsWithoutInvocation += leadsToInvocations ? 0 : 1
    }

    /// Counts an invocation that has ended.
    /// - Parameter waited: whether it waited for another invocation in its lane.
    public mutating func add(_ id: InvocationID, _ times: DecidedTimes, of key: FigureKey, waited: Bool) {
        firstInvocations += id.n == 0 ? 1 : 0
        guard !key.isObserver else { return }
        decided += 1
        due += key.outcome.isDue ? 1 : 0
        if waited { longestWaits.add(id, time: times.queue) }
        if key.outcome.isMissed {
            missed += 1
            misses.add(id, time: times.total)
        }
        if key.outcome.isDue { bands[LatencyBands.band(of: times.total)] += 1 }
        if key.outcome.isTimed { slowest.add(id, time: times.total) }
    }

    /// Counts an answer that ends no invocation; ignores other answers.
    public mutating func add(_ answer: AttemptRecord.Answer, of handler: String, count: Int = 1) {
        switch answer {
        case .declined: answers[handler, default: Answers()].declined += count
        case .retry: answers[handler, default: Answers()].retries += count
        case .handled, .rejected, .timedOut, .killed, .notStarted: break
        }
    }

    // MARK: Bytes

    /// The figures in the ledger's format.
    public var bytes: [UInt8] {
        var writer = FigureWriter()
        writer.number(Self.version)
        for number in [requests, requestsWithoutInvocation, firstInvocations, decided, due, missed] + bands {
            writer.number(number)
        }
        for list in [slowest, misses, longestWaits] { list.write(to: &writer) }
        writer.number(answers.count)
        for (handler, answers) in answers.sorted(by: { $0.key < $1.key }) {
            writer.text(handler)
            writer.number(answers.declined)
            writer.number(answers.retries)
        }
        return writer.bytes
    }

    /// Adds the figures of another span.
    ///
    /// - Throws: if the bytes are no figures; a part of them may have been added by then.
    public mutating func add(_ bytes: UnsafeRawBufferPointer) throws(FigureError) {
        var reader = FigureReader(bytes)
        guard try reader.number() == Self.version else { throw FigureError.unreadable }
        try requests.add(read: try reader.number())
        try requestsWithoutInvocation.add(read: try reader.number())
        try firstInvocations.add(read: try reader.number())
        try decided.add(read: try reader.number())
        try due.add(read: try reader.number())
        try missed.add(read: try reader.number())
        guard missed <= due, due <= decided else { throw FigureError.unreadable }
        for band in bands.indices { try bands[band].add(read: try reader.number()) }
        try slowest.add(&reader)
        try misses.add(&reader)
        try longestWaits.add(&reader)
        for _ in 0..<(try reader.number()) {
            let handler = try reader.text()
            try answers[handler, default: Answers()].declined.add(read: try reader.number())
            try answers[handler, default: Answers()].retries.add(read: try reader.number())
        }
        guard reader.isAtEnd else { throw FigureError.unreadable }
    }

    /// Reads figures.
    public init(_ bytes: UnsafeRawBufferPointer) throws(FigureError) { try add(bytes) }
}

/// An error in the format of figures.
public struct FigureError: Error, Hashable, Sendable {
    /// The problem, as a sentence without its full stop.
    public let message: String

    static let unreadable = FigureError(message: "the figures cannot be read")
}

/// Writes figures as bytes: unsigned LEB128, seven bits a byte, the lowest first, with the eighth bit set if more bytes
/// follow.
struct FigureWriter {
    private(set) var bytes: [UInt8] = []

    mutating func number(_ value: Int) {
        var rest = UInt64(max(0, value))
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func append(_ other: FigureWriter) { bytes.append(contentsOf: other.bytes) }

    mutating func text(_ value: String) {
        number(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }
}

/// Reads the bytes of ``FigureWriter``; never reads beyond them.
struct FigureReader {
    private var rest: UnsafeRawBufferPointer

    /// - Parameter bytes: the bytes, which must outlive the reader.
    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number() throws(FigureError) -> Int {
        var (value, shift) = (UInt64(0), UInt64(0))
        var used = 0
        for byte in rest {
            used += 1
            value |= UInt64(byte & 0x7F) << shift
            guard byte & 0x80 != 0 else {
                rest = UnsafeRawBufferPointer(rebasing: rest[used...])
                guard let number = Int(exactly: value) else { throw FigureError.unreadable }
                return number
            }
            shift += 7
            guard shift < 63 else { throw FigureError.unreadable }
        }
        throw FigureError.unreadable
    }

    mutating func number(below limit: Int) throws(FigureError) -> Int {
        let value = try number()
        guard value < limit else { throw FigureError.unreadable }
        return value
    }

    mutating func text() throws(FigureError) -> String {
        let count = try number()
        guard count <= rest.count else { throw FigureError.unreadable }
        let text = UnsafeRawBufferPointer(rebasing: rest[..<count])
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        return String(decoding: text, as: UTF8.self)
    }
}

extension Int {
    /// A bound above the counts of any ledger: arithmetic with counts below it does not overflow.
    static let countLimit = 1 << 50

    /// Adds a count that was read: throws for a sum that no ledger can have, instead of trapping.
    mutating func add(read count: Int) throws(FigureError) {
        let (sum, isTooLarge) = addingReportingOverflow(count)
        guard !isTooLarge, sum < Self.countLimit else { throw FigureError.unreadable }
        self = sum
    }
}

/// The longest invocations, up to a limit: their numbers and times. Earlier ones win a tie.
public struct LongestInvocations: Hashable, Sendable {
    /// One invocation.
    public struct Entry: Hashable, Sendable, Comparable {
        /// Its time in microseconds.
        public let time: Int64
        /// Its id.
        public let id: InvocationID

        public static func < (left: Entry, right: Entry) -> Bool {
            left.time == right.time ? left.id < right.id : left.time > right.time
        }
    }

    /// The limit of entries.
    public let capacity: Int
    /// The entries, the longest first.
    public private(set) var entries: [Entry] = []

    /// Creates an empty list.
    init(capacity: Int) { self.capacity = capacity }

    /// Adds an invocation, if it belongs to the longest.
    public mutating func add(_ id: InvocationID, time: Int64) { add(Entry(time: time, id: id)) }

    private mutating func add(_ entry: Entry) {
        if entries.count == capacity {
            guard let last = entries.last, entry < last else { return }
            entries.removeLast()
        }
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle] < entry { low = middle + 1 } else { high = middle }
        }
        entries.insert(entry, at: low)
    }

    func write(to writer: inout FigureWriter) {
        writer.number(entries.count)
        for entry in entries {
            writer.number(Int(entry.time))
            writer.number(Int(entry.id.seq.value))
            writer.number(entry.id.n)
        }
    }

    mutating func add(_ reader: inout FigureReader) throws(FigureError) {
        for _ in 0..<(try reader.number(below: capacity + 1)) {
            let time = Int64(try reader.number())
            let seq = SequenceNumber(Int64(try reader.number()))
            add(Entry(time: time, id: InvocationID(seq: seq, n: try reader.number())))
        }
    }
}
