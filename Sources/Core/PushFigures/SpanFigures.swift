public import PushModel

/// What was accepted in one span, as far as it does not depend on a key. Observers are in ``requests`` only.
public struct SpanFigures: Hashable, Sendable {
    /// The version of the bytes, their first one.
    private static let version = 1
    /// How many of the slowest and of the longest waits are kept.
    public static let listLength = 10
    /// How many of the misses are kept.
    public static let missLength = 200

    /// Requests.
    public private(set) var requests = 0
    /// Those that by their nature led to no invocation.
    public private(set) var requestsWithoutInvocation = 0
    /// Invocations that have ended and are the first of their requests, observers among them.
    public private(set) var firstInvocations = 0
    /// Invocations that have ended.
    public private(set) var decided = 0
    /// How many of them were due.
    public private(set) var due = 0
    /// How many of them missed the deadline.
    public private(set) var missed = 0
    /// How many there are in each of ``LatencyBands``, from acceptance to the end, of what was due.
    public private(set) var bands = Array(repeating: 0, count: LatencyBands.count)
    /// The slowest of what was timed.
    public private(set) var slowest = LongestInvocations(capacity: listLength)
    /// The slowest of what missed the deadline.
    public private(set) var misses = LongestInvocations(capacity: missLength)
    /// Of what waited for another in its lane, what waited longest.
    public private(set) var longestWaits = LongestInvocations(capacity: listLength)
    /// How often each handler declined, and how often it asked to be tried again.
    public private(set) var answers: [String: Answers] = [:]

    /// Answers of a handler that end no invocation.
    public struct Answers: Hashable, Sendable {
        /// How often it declined.
        public internal(set) var declined = 0
        /// How often it asked to be tried again.
        public internal(set) var retries = 0
    }

    /// Without requests.
    public init() {}

    /// Counts a request.
    /// - Parameter leadsToInvocations: whether by its nature it has an invocation.
    public mutating func addRequest(leadsToInvocations: Bool) {
        requests += 1
        requestsWithoutInvocation += leadsToInvocations ? 0 : 1
    }

    /// Counts an invocation that has ended.
    /// - Parameter waited: whether it waited for another in its lane.
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

    /// Counts an answer that ends no invocation; others count nothing.
    public mutating func add(_ answer: AttemptRecord.Answer, of handler: String, count: Int = 1) {
        switch answer {
        case .declined: answers[handler, default: Answers()].declined += count
        case .retry: answers[handler, default: Answers()].retries += count
        case .handled, .rejected, .timedOut, .killed, .notStarted: break
        }
    }

    // MARK: Bytes

    /// The figures as the ledger keeps them.
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

    /// Adds what the bytes of another span say.
    ///
    /// - Throws: for bytes that are no figures; then these are of no use any more.
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
