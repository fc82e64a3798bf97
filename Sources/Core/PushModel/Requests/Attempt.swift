/// One start of a handler for an invocation and its answer, as the ledger stores it.
///
/// The ledger stores no row for an attempt that is the only one of its invocation, answered `handled`, and wrote
/// nothing to standard error: the row of the invocation has the same facts.
public struct AttemptRecord: Hashable, Sendable {
    /// The end of an attempt.
    public enum Answer: String, Sendable, CaseIterable {
        /// The handler did the work.
        case handled
        /// The handler asks for another attempt.
        case retry
        /// The handler declined; the next route gets the invocation.
        case declined
        /// The handler refuses the invocation for good.
        case rejected
        /// The handler had not finished at the deadline; the router stopped it.
        case timedOut = "timed_out"
        /// A signal that the router did not send ended the handler.
        case killed
        /// The handler did not start.
        case notStarted = "not_started"
    }

    /// The number of first attempts of an invocation that the ledger keeps; it only counts those between them and the
    /// last ones.
    public static let keptFirst = 5
    /// The number of last attempts of an invocation that the ledger keeps.
    public static let keptLast = 15
    /// The number of first attempts whose standard error the ledger keeps.
    public static let outputsKeptFirst = 1
    /// The number of last attempts whose standard error the ledger keeps.
    public static let outputsKeptLast = 3

    /// The invocation.
    public var id: InvocationID
    /// The number of the attempt within the invocation, from 1 on; a restart of the daemon does not reset it.
    public var number: Int
    /// The number of the attempt among consecutive ones of the same handler, from 1 on; `Retry=` counts these.
    public var numberOfHandler: Int
    /// The route that picked the handler.
    public var route: String?
    /// The handler.
    public var handler: String
    /// The time from the acceptance of the request until the router asked for the start.
    public var asked: Duration
    /// The time from acceptance until the handler began to run; `nil` if it never did.
    public var started: Duration?
    /// The time from acceptance until the attempt ended.
    public var ended: Duration
    /// The end of the attempt.
    public var answer: Answer
    /// The exit status of a program, or the status of an HTTP answer; `nil` if there is none or it is unknown.
    public var status: Int?
    /// The signal that ended the handler.
    public var signal: Int?
    /// The router's delay before the next attempt.
    public var retryAfter: Duration?
    /// The handler's reason, or why it could not start, for people.
    public var reason: String?
    /// The handler's standard error; `nil` if it wrote nothing, or if the text could belong to another invocation.
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

/// The past attempts at an invocation, as far as the next one depends on them; survives a restart.
public struct AttemptHistory: Hashable, Sendable {
    /// The number of attempts.
    public private(set) var count = 0
    /// The number of attempts that the last handler had; 0 if it declined.
    public private(set) var countOfHandler = 0
    /// The time from the acceptance of the request until the first handler began to run; `nil` if none did.
    public private(set) var firstStarted: Duration?
    /// The time from acceptance until the most recent handler that started began to run; `nil` if none did.
    public private(set) var lastStarted: Duration?
    /// The reason of the last attempt, or why it could not start.
    public private(set) var lastReason: String?

    /// Creates an empty history.
    public init() {}

    /// Notes the next attempt. The caller notes attempts in the order in which they ended.
    public mutating func note(_ attempt: AttemptRecord) {
        count = max(count, attempt.number)
        countOfHandler = attempt.answer == .declined ? 0 : attempt.numberOfHandler
        firstStarted = firstStarted ?? attempt.started
        lastStarted = attempt.started ?? lastStarted
        lastReason = attempt.reason
    }
}

/// The end of a handler's standard error, and the number of bytes before it.
public struct ErrorOutput: Hashable, Sendable {
    /// The limit of bytes that are kept.
    public static let keptMax = 4096

    /// The last bytes, at most ``keptMax``.
    public private(set) var end: [UInt8]
    /// The number of bytes before ``end`` that are not kept.
    public private(set) var cut: Int

    /// Joins the two; keeps the last ``keptMax`` bytes.
    public init(_ bytes: [UInt8] = [], cut: Int = 0) {
        end = bytes.count > Self.keptMax ? Array(bytes.suffix(Self.keptMax)) : bytes
        self.cut = cut + max(0, bytes.count - Self.keptMax)
    }

    /// Whether the handler wrote nothing.
    public var isEmpty: Bool { end.isEmpty && cut == 0 }

    /// Appends the next bytes. Reads at most ``keptMax`` of them.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        let fresh = bytes.suffix(Self.keptMax)
        let room = Self.keptMax - fresh.count
        let dropped = max(0, end.count - room)
        if dropped > 0 { end.removeFirst(dropped) }
        cut += dropped + bytes.count - fresh.count
        end.append(contentsOf: fresh)
    }

    /// The text for people: U+FFFD replaces invalid UTF-8 and control characters that would steer a terminal. Omits a
    /// character that the cut split.
    public var text: String {
        let whole = cut > 0 ? end.drop { $0 & 0xC0 == 0x80 } : end[...]
        let text = String(decoding: whole, as: UTF8.self)
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isControl ? "\u{FFFD}" : $0 }))
    }

    /// The last line with text, bounded, for a sentence; `nil` without one.
    public var lastLine: String? {
        end.split(separator: UInt8(ascii: "\n")).reversed().lazy.compactMap { excerpt(of: Array($0)) }.first
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character other than a tab and a line feed.
    fileprivate var isControl: Bool {
        value < 0x20 && self != "\t" && self != "\n" || (0x7F..<0xA0).contains(value)
    }
}

/// An invocation in `relay` mode that ended without its work being done, for a person to inspect, replay or purge.
public struct DeadLetter: Hashable, Sendable {
    /// The invocation.
    public var id: InvocationID
    /// The time of its end.
    public var at: WallTime
    /// The number of bytes of its request line; the limit of all dead letters counts these.
    public var byteCount: Int

    public init(id: InvocationID, at: WallTime, byteCount: Int) {
        (self.id, self.at, self.byteCount) = (id, at, byteCount)
    }
}

/// One request with its invocations, attempts, events and entries.
public struct RequestStory: Hashable, Sendable {
    /// The request with its body.
    public var request: AcceptedRequest
    /// The producer's name, if the caller asked for it and machines share a log.
    public var producer: String?
    /// Its invocations, in order of `n`.
    public var invocations: [InvocationRecord]
    /// The attempts that have rows in the ledger (see ``AttemptRecord``), in the order in which they ended.
    public var attempts: [AttemptRecord] = []
    /// The number of attempts between the first and the last ones that have no row any more, by the invocation's
    /// number.
    public var attemptsLeftOut: [Int: Int] = [:]
    /// The dead letters among its invocations.
    public var deadLetters: [DeadLetter] = []
    /// The requests that are replays of it, in order.
    public var replays: [SequenceNumber] = []
    /// The events that it caused, and those of later requests about it, such as its open; in order of `seq`.
    public var events: [AnalyticsEvent]
    /// The entries of custom data that it led to, in order of their numbers.
    public var entries: [EntryRecord]
    /// The progress of a publish; `nil` for any other request.
    public var fanOut: FanOut?
    /// The tracker's verdict on an interaction with one of its deliveries; `nil` while the interaction is held.
    public var verdict: Interaction.Verdict?

    /// The configuration that decided it, if the caller asked for it; `nil` if it is unknown.
    public var configuration: DecidingConfiguration?
    /// The session on its device after it, if the caller asked for it; `nil`: nobody did, or the tracker did not get it.
    public var sessionAfter: SessionAfter?

    /// Creates a story of a request without attempts, dead letters and replays.
    public init(
        request: AcceptedRequest, invocations: [InvocationRecord] = [], events: [AnalyticsEvent] = [],
        entries: [EntryRecord] = []
    ) {
        (self.request, self.invocations, self.events, self.entries) = (request, invocations, events, entries)
    }
}

/// The first session that began in the app of a push on its device after it.
public enum SessionAfter: Hashable, Sendable {
    case began(AnalyticsEvent)
    /// None did.
    case noSession
    /// None did among ``eventsMax`` events.
    case unknown

    /// As many events as are looked at after the push's receipt.
    public static let eventsMax: Int64 = 20_000
}

extension AcceptedRequest {
    /// Whether an erasure replaced the body by `{}`; the body of an accepted request always has an `op`.
    public var isErased: Bool { body.elementsEqual("{}".utf8) }
}
