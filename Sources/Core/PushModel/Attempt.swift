/// One attempt of a handler at an invocation, as the ledger keeps it.
///
/// The ledger has no row of an attempt that is the only one of its invocation, was answered with `handled`, and wrote
/// nothing to standard error: the invocation says all of it.
public struct AttemptRecord: Hashable, Sendable {
    /// How an attempt ended.
    public enum Answer: String, Sendable, CaseIterable {
        /// Done.
        case handled
        /// To be tried again.
        case retry
        /// Not this handler's: the next route's.
        case declined
        /// Never.
        case rejected
        /// Not finished at the deadline: the router stopped it.
        case timedOut = "timed_out"
        /// Ended by a signal that was not the router's.
        case killed
        /// The handler could not be started.
        case notStarted = "not_started"
    }

    /// Of the attempts at one invocation the ledger keeps so many of the first; those between them and the last are counted.
    public static let keptFirst = 5
    /// And so many of the last.
    public static let keptLast = 15
    /// Of so many of the first it keeps what they wrote to standard error.
    public static let outputsKeptFirst = 1
    /// And of so many of the last.
    public static let outputsKeptLast = 3

    /// Of which invocation.
    public var id: InvocationID
    /// Which of its attempts, from 1 on; restarts of the daemon do not begin anew.
    public var number: Int
    /// Which of those of one handler in a row, from 1 on: what `Retry=` goes by.
    public var numberOfHandler: Int
    /// The route that picked the handler.
    public var route: String?
    /// The handler.
    public var handler: String
    /// From the acceptance of the request until the start was asked for.
    public var asked: Duration
    /// From acceptance until the handler began to run; `nil` when it never did.
    public var started: Duration?
    /// From acceptance until it ended.
    public var ended: Duration
    /// How it ended.
    public var answer: Answer
    /// The exit status of a program, or the status of an HTTP answer; `nil` where there is none, or it is not known.
    public var status: Int?
    /// The signal that ended it.
    public var signal: Int?
    /// How long the router waits before it tries again.
    public var retryAfter: Duration?
    /// What the handler said, or why it could not start, for people.
    public var reason: String?
    /// What it wrote to standard error; `nil`: nothing, or nobody could tell whose it was.
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

/// The attempts at an invocation, as far as the next one depends on them: after a restart they go on.
public struct AttemptHistory: Hashable, Sendable {
    /// How many there were.
    public private(set) var count = 0
    /// How many of them the handler has had that had the last one; 0 where that one declined.
    public private(set) var countOfHandler = 0
    /// From the acceptance of the request until the first handler began to run; `nil`: none did.
    public private(set) var firstStarted: Duration?
    /// The same of the one that began last.
    public private(set) var lastStarted: Duration?
    /// The reason that the last one gave, or why it could not start.
    public private(set) var lastReason: String?

    /// Without any.
    public init() {}

    /// Notes the next one, in the order in which they ended.
    public mutating func note(_ attempt: AttemptRecord) {
        count = max(count, attempt.number)
        countOfHandler = attempt.answer == .declined ? 0 : attempt.numberOfHandler
        firstStarted = firstStarted ?? attempt.started
        lastStarted = attempt.started ?? lastStarted
        lastReason = attempt.reason
    }
}

/// What a handler wrote to standard error: the end of it, and how much was before that.
public struct ErrorOutput: Hashable, Sendable {
    /// How many bytes are kept.
    public static let keptMax = 4096

    /// The last bytes, at most ``keptMax``.
    public private(set) var end: [UInt8]
    /// How many bytes came before them and are not kept.
    public private(set) var cut: Int

    /// Joins the two; of too many bytes the end is kept.
    public init(_ bytes: [UInt8] = [], cut: Int = 0) {
        end = bytes.count > Self.keptMax ? Array(bytes.suffix(Self.keptMax)) : bytes
        self.cut = cut + max(0, bytes.count - Self.keptMax)
    }

    /// Whether nothing was written.
    public var isEmpty: Bool { end.isEmpty && cut == 0 }

    /// Takes in what comes next. Looks at no more bytes than are kept.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        let fresh = bytes.suffix(Self.keptMax)
        let room = Self.keptMax - fresh.count
        let dropped = max(0, end.count - room)
        if dropped > 0 { end.removeFirst(dropped) }
        cut += dropped + bytes.count - fresh.count
        end.append(contentsOf: fresh)
    }

    /// The text for people: what is no UTF-8, or would steer a terminal, is shown as a replacement character. A character that
    /// the cut went through is left out.
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

/// An invocation in `relay` mode that ended without its work being done, to be looked at, replayed or purged.
public struct DeadLetter: Hashable, Sendable {
    /// Which invocation.
    public var id: InvocationID
    /// When it ended.
    public var at: WallTime
    /// How many bytes its request line has: what the limit of all dead letters counts.
    public var byteCount: Int

    public init(id: InvocationID, at: WallTime, byteCount: Int) {
        (self.id, self.at, self.byteCount) = (id, at, byteCount)
    }
}
