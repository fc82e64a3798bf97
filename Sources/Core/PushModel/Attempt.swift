/// One start of a handler for an invocation and its answer, as the ledger stores it.
///
/// The ledger stores no row for an attempt that is the only one of its invocation, has the answer `handled`, and wrote
/// nothing to standard error: the row of the invocation has the same facts.
public struct AttemptRecord: Hashable, Sendable {
    /// The answer of an attempt, or the way it ended without one.
    public enum Answer: String, Sendable, CaseIterable {
        /// The work is done.
        case handled
        /// The handler asks to be tried again.
        case retry
        /// The handler leaves the invocation to the next route.
        case declined
        /// The handler refuses the invocation for good.
        case rejected
        /// The handler was running at the deadline, and the router stopped it.
        case timedOut = "timed_out"
        /// A signal that the router did not send ended the handler.
        case killed
        /// The handler could not be started.
        case notStarted = "not_started"
    }

    /// The number of first attempts of an invocation that the ledger stores. It only counts those between the first and
    /// the last.
    public static let keptFirst = 5
    /// The number of last attempts of an invocation that the ledger stores.
    public static let keptLast = 15
    /// The number of first attempts whose standard error the ledger stores.
    public static let outputsKeptFirst = 1
    /// The number of last attempts whose standard error the ledger stores.
    public static let outputsKeptLast = 3

    /// The id of the invocation.
    public var id: InvocationID
    /// The number of the attempt within the invocation, from 1; a restart of the daemon continues the count.
    public var number: Int
    /// The number of the attempt within consecutive attempts of one handler, from 1; `Retry=` counts these.
    public var numberOfHandler: Int
    /// The route that picked the handler.
    public var route: String?
    /// The handler.
    public var handler: String
    /// The time from acceptance of the request until the router asked for the start.
    public var asked: Duration
    /// The time from acceptance until the handler began to run; `nil` if it never ran.
    public var started: Duration?
    /// The time from acceptance until the attempt ended.
    public var ended: Duration
    /// The answer, or the way the attempt ended without one.
    public var answer: Answer
    /// The exit status of a program, or the status of an HTTP answer; `nil` if there is none or it is unknown.
    public var status: Int?
    /// The number of the signal that ended the handler; `nil` if none did.
    public var signal: Int?
    /// The time that the router waits before the next attempt.
    public var retryAfter: Duration?
    /// The reason that the handler gave, or why it could not start, for people.
    public var reason: String?
    /// The standard error of the attempt; `nil` if it is empty, or if its bytes could belong to another attempt.
    public var output: ErrorOutput?

    public init(
        id: InvocationID, route: String?, handler: String, asked: Duration, started: Duration?, ended: Duration,
        answer: Answer, status: Int? = nil, signal: Int? = nil, retryAfter: Duration? = nil, reason: String? = nil,
        output: ErrorOutput? = nil, number: Int = 1, numberOfHandler: Int = 1
    ) {
        self.id = id
        (self.number, self.numberOfHandler) = (number, numberOfHandler)
        self.route = route
        self.handler = handler
        self.asked = asked
        self.started = started
        self.ended = ended
        self.answer = answer
        self.status = status
        self.signal = signal
        self.retryAfter = retryAfter
        self.reason = reason
        self.output = output
    }
}

/// The facts about the attempts of an invocation that the next attempt needs, also after a restart.
public struct AttemptHistory: Hashable, Sendable {
    /// The number of attempts.
    public private(set) var count = 0
    /// The number of attempts of the handler that had the last one; 0 if that handler declined.
    public private(set) var countOfHandler = 0
    /// The time from acceptance of the request until the first handler began to run; `nil` if none did.
    public private(set) var firstStarted: Duration?
    /// The time from acceptance of the request until the last handler began to run; `nil` if none did.
    public private(set) var lastStarted: Duration?
    /// The reason of the last attempt: the handler's, or why it could not start.
    public private(set) var lastReason: String?

    /// Makes an empty history.
    public init() {}

    /// Adds the next attempt; the caller adds attempts in the order in which they ended.
    public mutating func note(_ attempt: AttemptRecord) {
        count = max(count, attempt.number)
        countOfHandler = attempt.answer == .declined ? 0 : attempt.numberOfHandler
        firstStarted = firstStarted ?? attempt.started
        lastStarted = attempt.started ?? lastStarted
        lastReason = attempt.reason
    }
}

/// The last bytes that a handler wrote to standard error, and the number of bytes before them.
public struct ErrorOutput: Hashable, Sendable {
    /// The largest number of bytes that is kept.
    public static let keptMax = 4096

    /// The last bytes, at most ``keptMax``.
    public private(set) var end: [UInt8]
    /// The number of bytes before them, which are not kept.
    public private(set) var cut: Int

    /// Joins the two; keeps the last ``keptMax`` bytes.
    public init(_ bytes: [UInt8] = [], cut: Int = 0) {
        end = bytes.count > Self.keptMax ? Array(bytes.suffix(Self.keptMax)) : bytes
        self.cut = cut + max(0, bytes.count - Self.keptMax)
    }

    /// Whether the handler wrote nothing.
    public var isEmpty: Bool { end.isEmpty && cut == 0 }

    /// Appends the next bytes. Reads at most the last ``keptMax`` of them.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        let fresh = bytes.suffix(Self.keptMax)
        let room = Self.keptMax - fresh.count
        let dropped = max(0, end.count - room)
        if dropped > 0 { end.removeFirst(dropped) }
        cut += dropped + bytes.count - fresh.count
        end.append(contentsOf: fresh)
    }

    /// The text for people. U+FFFD replaces invalid UTF-8 and control characters that would steer a terminal. A
    /// character that the cut split is left out.
    public var text: String {
        let whole = cut > 0 ? end.drop { $0 & 0xC0 == 0x80 } : end[...]
        let text = String(decoding: whole, as: UTF8.self)
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isControl ? "\u{FFFD}" : $0 }))
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character other than a tab and a line feed.
    fileprivate var isControl: Bool {
        value < 0x20 && self != "\t" && self != "\n" || (0x7F..<0xA0).contains(value)
    }
}

/// An invocation in `relay` mode that ended without its work done. A person can inspect, replay or purge it.
public struct DeadLetter: Hashable, Sendable {
    /// The id of the invocation.
    public var id: InvocationID
    /// The time when it ended.
    public var at: WallTime
    /// The size of its request line in bytes; the limit of all dead letters counts these.
    public var byteCount: Int

    public init(id: InvocationID, at: WallTime, byteCount: Int) {
        (self.id, self.at, self.byteCount) = (id, at, byteCount)
    }
}
