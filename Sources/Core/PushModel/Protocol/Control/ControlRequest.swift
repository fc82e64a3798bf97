/// One request line of `control.sock`: whoever may inject can ask none of it.
public struct ControlRequest: Hashable, Sendable {
    /// What is asked.
    public enum Operation: Hashable, Sendable {
        /// What the daemon is doing now.
        case status
        /// What the daemon counts and measures, as text for a monitoring system.
        case metrics(MetricsFormat)
        /// The ledger is to have all that was acknowledged before this was asked; how long the answer may take at most.
        case sync(timeout: Duration)
        /// A run of the forwarder asks for entries to send.
        case claim(ClaimRequest)
        /// What is queued to be sent, from the entry after this one on; it stays as it is.
        case peek(after: EntryNumber, limit: Int)
        /// A run of the forwarder is about to send entries that it reserved. The reply names those that it may send.
        case depart(DepartRequest)
        /// A run of the forwarder says what became of entries.
        case settle(SettleRequest)
        /// A run of the forwarder says how sending goes.
        case sending(SendingReport)
        /// What waits is flushed, as if a session began.
        case flush(FlushRequest)
        /// What waits in a suite is discarded; of one app only, or of all.
        case reset(suite: String, app: String?)
        /// A person decides what becomes of entries of unknown outcome.
        case resolve(ResolveRequest)
        /// The dead letters of these requests are accepted again, each under a new number.
        case replay([SequenceNumber])
        /// The dead letters of these requests are none any more.
        case purge([SequenceNumber])
        /// Which entries the journal gets: from this level up, by systemd's word; `nil`: it is only asked for.
        case logLevel(String?)
        /// The configuration is read again and put in force; the answer says whether it was.
        case reload
        /// A person is to be erased: a user, or whoever used one device.
        case erase(Person)

        /// The words of the operations on the socket, as an error lists them.
        public enum Name: String, CaseIterable, Sendable {
            case status, metrics, sync, claim, depart, peek, settle, sending, flush, reset, resolve, replay, purge,
                erase, reload
            case logLevel = "log_level"
        }

        /// How many requests one of `replay` and `purge` may name.
        public static let requestsMax = 1000
    }

    /// The version of what `control.sock` takes and tells, as the first reply on a connection states it.
    public static let protocolVersion = 1

    /// How long a line may be at least, in bytes: a hundred entries with the longest of reasons, all of it escaped.
    public static let longestLine = 1 << 20

    /// What is asked.
    public var operation: Operation
    /// Given back in the reply.
    public var id: String?

    /// Joins the two.
    public init(_ operation: Operation, id: String? = nil) {
        self.operation = operation
        self.id = id
    }
}

/// `op: claim`
public struct ClaimRequest: Hashable, Sendable {
    /// How many entries one claim may ask for.
    public static let limits: ClosedRange<Int64> = 1...1000
    /// How many entries one run has at most: what becomes of them is decided in one turn when the next run claims.
    public static let heldMax = 10_000

    /// The run of the forwarder.
    public var instance: UUID128
    /// How many entries at most.
    public var limit: Int
    /// Whether the answer comes only when there is an entry.
    public var waits: Bool
    /// With the first claim of a connection: what that run holds. Whatever else is claimed by it was in a reply that it never
    /// got, or was not sent, and so is queued again before the claim is answered.
    public var holding: [EntryNumber]?
    /// Whether the run says with `depart` what it is about to send. Until then an entry stays `queued` on disk. Of a run
    /// that does not, every entry is taken for sent as soon as it is handed over.
    public var reserves: Bool

    /// Joins the parts.
    public init(
        instance: UUID128, limit: Int, waits: Bool, holding: [EntryNumber]? = nil, reserves: Bool = false
    ) {
        self.instance = instance
        self.limit = limit
        self.waits = waits
        self.holding = holding
        self.reserves = reserves
    }
}

/// `op: depart`
public struct DepartRequest: Hashable, Sendable {
    /// The run of the forwarder.
    public var instance: UUID128
    /// The entries, at most as many as one claim may ask for.
    public var entries: [EntryNumber]

    /// Joins the two.
    public init(instance: UUID128, entries: [EntryNumber]) {
        self.instance = instance
        self.entries = entries
    }
}

/// `op: settle`
public struct SettleRequest: Hashable, Sendable {
    /// What can become of an entry that was claimed.
    static let states: [EntryState] = [.sent, .rejected, .unknown, .queued]

    /// The run of the forwarder.
    public var instance: UUID128
    /// The entries, at most as many as one claim may ask for.
    public var entries: [Settlement]

    /// Joins the parts.
    public init(instance: UUID128, entries: [Settlement]) {
        self.instance = instance
        self.entries = entries
    }
}

/// What became of an entry that the forwarder had.
public struct Settlement: Hashable, Sendable {
    /// How long a reason may be, in bytes: as much of an endpoint's answer as a person reads.
    public static let longestReason = 1000

    /// The entry.
    public var number: EntryNumber
    /// `sent`, `rejected`, `unknown`, or `queued` again.
    public var state: EntryState
    /// Why, for people.
    public var reason: String?

    /// Joins the parts; of a reason that is longer than ``longestReason`` the beginning is kept.
    public init(_ number: EntryNumber, _ state: EntryState, reason: String? = nil) {
        self.number = number
        self.state = state
        self.reason = reason?.prefix(bytes: Self.longestReason)
    }
}

/// `op: sending`
public struct SendingReport: Hashable, Sendable {
    /// The run of the forwarder.
    public var instance: UUID128
    /// What it does.
    public var phase: SendingState.Phase
    /// Why, for people; `nil` while it sends.
    public var reason: String?
    /// How many requests failed one after the other.
    public var failures: Int
    /// Until when it waits.
    public var until: WallTime?

    /// Joins the parts; of a long reason the beginning is kept.
    public init(
        instance: UUID128, phase: SendingState.Phase, reason: String? = nil, failures: Int = 0, until: WallTime? = nil
    ) {
        self.instance = instance
        self.phase = phase
        self.reason = reason?.prefix(bytes: Settlement.longestReason)
        self.failures = failures
        self.until = until
    }
}

/// `op: flush`
public struct FlushRequest: Hashable, Sendable {
    /// Whose session is to be taken as begun; the app is given.
    public var target: Target
    /// Only what waits in this suite; `nil`: in any.
    public var suite: String?

    /// Joins the two.
    public init(target: Target, suite: String? = nil) {
        self.target = target
        self.suite = suite
    }
}

/// `op: resolve`
public struct ResolveRequest: Hashable, Sendable {
    /// What can become of an entry of unknown outcome.
    static let states: [EntryState] = [.queued, .discarded]
    /// How many entries one request may name.
    public static let entriesMax = 1000

    /// The entries; `nil`: all of unknown outcome.
    public var entries: [EntryNumber]?
    /// `queued` again, or `discarded`.
    public var state: EntryState

    /// Joins the two.
    public init(entries: [EntryNumber]?, state: EntryState) {
        self.entries = entries
        self.state = state
    }
}

extension String {
    /// As many whole characters as fit into so many bytes.
    fileprivate func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = startIndex
        while case let next = index(after: end), utf8.distance(from: startIndex, to: next) <= limit { end = next }
        return String(self[..<end])
    }
}
