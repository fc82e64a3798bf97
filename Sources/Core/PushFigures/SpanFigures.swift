public import PushModel

/// The figures of a span that do not depend on a key. Observers count in ``requests`` and ``firstInvocations`` only.
public struct SpanFigures: Hashable, Sendable {
    /// The version of the format, the first byte.
    private static let version = 1
    /// The limit of ``slowest`` and of ``longestWaits``.
    public static let listLength = 10
    /// The limit of ``misses``.
    public static let missLength = 200

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
