/// The sender of a request, as the kernel reports it (`SO_PEERCRED`).
public struct Peer: Hashable, Sendable {
    /// The account that owns its requests.
    public var account: Account
    /// The group id.
    public var gid: UInt32
    /// The process id at the time of connecting; for people, decides nothing.
    public var pid: Int32

    /// Joins the parts.
    public init(account: Account, gid: UInt32, pid: Int32) {
        (self.account, self.gid, self.pid) = (account, gid, pid)
    }

    /// Creates the peer of a user who is known by a uid alone.
    public init(uid: UInt32, gid: UInt32, pid: Int32) { self.init(account: Account(uid: uid), gid: gid, pid: pid) }

    /// The uid, or the producer's number.
    public var uid: UInt32 { account.uid }
}

/// One accepted request, as the ledger stores it.
public struct AcceptedRequest: Hashable, Sendable {
    /// Its number.
    public var seq: SequenceNumber
    /// The operation.
    public var operation: Operation
    /// The producer's own id for the request: the idempotency key within its account.
    public var id: String?
    /// The sender.
    public var peer: Peer
    /// The time of acceptance. Its monotonic part is valid within `boot` only.
    public var acceptedAt: Moment
    /// The boot in which it was accepted.
    public var boot: UUID128
    /// The mode of the router.
    public var mode: DispatchMode
    /// The platform: the request's, or the last known one of the device.
    public var platform: Platform
    /// Package name or bundle id.
    public var app: String?
    /// The device, as the producer names it.
    public var device: String?
    /// The user: the request's, or the last known one of the device.
    public var externalID: String?
    /// The payload's own id.
    public var messageID: String?
    /// The state of the app; `nil` unless the request is a delivery.
    public var state: AppState?
    /// The id that FCM's list of recent messages has for it; `nil` if it does not enter the list.
    public var duplicateID: String?
    /// Whether the tracker remembers the delivery: then no tap on it needs a read of the ledger.
    public var isTracked: Bool
    /// The transport that brought a delivery to the device; `nil` unless the request is a delivery.
    public var transport: Transport?
    /// The priority of a delivery when it was sent over FCM; `nil` if the payload does not tell.
    public var originalPriority: MessagePriority?
    /// The priority with which FCM delivered it, which may be lower; `nil` if the payload does not tell.
    public var deliveredPriority: MessagePriority?
    /// The request of which this one is a replay; `nil` for a producer's request.
    public var replayOf: SequenceNumber?
    /// The request line as it came, without the line feed.
    public var body: [UInt8]

    public init(
        seq: SequenceNumber, operation: Operation, id: String?, peer: Peer, acceptedAt: Moment, boot: UUID128,
        mode: DispatchMode, platform: Platform, app: String?, device: String?, externalID: String?,
        messageID: String?, state: AppState? = nil, duplicateID: String? = nil, isTracked: Bool = false,
        transport: Transport? = nil, originalPriority: MessagePriority? = nil,
        deliveredPriority: MessagePriority? = nil, replayOf: SequenceNumber? = nil, body: [UInt8]
    ) {
        self.seq = seq
        self.operation = operation
        self.id = id
        self.peer = peer
        self.acceptedAt = acceptedAt
        self.boot = boot
        self.mode = mode
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.messageID = messageID
        self.state = state
        self.duplicateID = duplicateID
        self.isTracked = isTracked
        self.transport = transport
        self.originalPriority = originalPriority
        self.deliveredPriority = deliveredPriority
        self.replayOf = replayOf
        self.body = body
    }
}

/// The completion of a callback: the caller, the number of calls, and the arguments.
public struct Completion: Hashable, Sendable {
    /// The caller of the completion handler.
    public enum Caller: String, Sendable {
        /// The handler's answer.
        case handler
        /// Braze's own code.
        case tracker
        /// The router, because nobody else called it.
        case `default`
    }

    /// The caller.
    public var by: Caller
    /// The number of calls: 1 unless a handler answered more than once.
    public var times: Int
    /// The result that it was called with.
    public var result: FetchResult
    /// Presentation options of `willPresent`, by Apple's names; empty elsewhere.
    public var options: [String]

    public init(by: Caller, times: Int = 1, result: FetchResult, options: [String] = []) {
        (self.by, self.times, self.result, self.options) = (by, times, result, options)
    }

    /// The result, for people and programs; `nil` at a callback whose completion handler takes no argument.
    ///
    /// Source: Apple's documentation of `userNotificationCenter(_:didReceive:withCompletionHandler:)`.
    public func result(at callback: Callback) -> FetchResult? { callback == .didReceiveResponse ? nil : result }
}

/// The invocation that another one waited for in its lane: of those ahead of it, the one that took longest.
public struct Predecessor: Hashable, Sendable {
    /// The invocation.
    public var id: InvocationID
    /// Its handler; `nil` for the tracker.
    public var handler: String?
    /// The time that it had its turn; `nil` if the ledger does not have it.
    public var took: Duration?

    public init(id: InvocationID, handler: String?, took: Duration? = nil) {
        (self.id, self.handler, self.took) = (id, handler, took)
    }
}

/// The end of an invocation.
public struct InvocationResult: Hashable, Sendable {
    /// The outcome.
    public var outcome: Outcome
    /// The reason for people: a sentence, and remarks behind it. Decides nothing.
    public var reason: String?
    /// The reason of a closed set; `nil` if there is none.
    public var reasonCode: ReasonCode?
    /// The time from acceptance to the start of the handler; to the end if none started.
    public var queue: Duration
    /// The time from the start of the handler to its end; zero if none started.
    public var exec: Duration
    /// The time from acceptance to the end.
    public var total: Duration
    /// The completion of the callback; `nil` if no callback ran.
    public var completion: Completion?
    /// The invocation that it waited for in its lane; `nil` if it did not wait there.
    public var waitedFor: Predecessor?
    /// The number of invocations ahead of it in its lane when it came; `nil` if none was.
    public var ahead: Int?
    /// The time of the end.
    public var decidedAt: WallTime

    public init(
        outcome: Outcome, reason: String?, reasonCode: ReasonCode? = nil, queue: Duration, exec: Duration,
        total: Duration, completion: Completion?, waitedFor: Predecessor? = nil, ahead: Int? = nil,
        decidedAt: WallTime
    ) {
        self.outcome = outcome
        self.reason = reason
        self.reasonCode = reasonCode
        self.queue = queue
        self.exec = exec
        self.total = total
        self.completion = completion
        self.waitedFor = waitedFor
        self.ahead = ahead
        self.decidedAt = decidedAt
    }
}

/// One invocation, as the ledger stores it.
public struct InvocationRecord: Hashable, Sendable {
    /// The id.
    public var id: InvocationID
    /// The platform callback that it stands for.
    public var callback: Callback
    /// Whether it is the copy for an observing route: it never changes the outcome of the owner's invocations.
    public var isObserver: Bool
    /// The provider of the payload; `nil` if no provider's rule matches.
    public var provider: String?
    /// The route that picked the handler; `nil` until one did, and for the tracker.
    public var route: String?
    /// The handler; `nil` until one was picked, and for the tracker.
    public var handler: String?
    /// The time from the start of the invocation to its deadline.
    public var budget: Duration
    /// The deadline, within the request's boot; `nil` while it waits in its lane in `device` mode.
    public var deadline: Instant?
    /// Whether a handler may be running: true from before its start until its answer is known, except for an idempotent
    /// one.
    public var started: Bool
    /// The result; `nil` while in flight.
    @inlinable public var result: InvocationResult? {
        get { sharedResult?.value }
        set { sharedResult = newValue.map { Indirect($0) } }
    }
    /// The result behind a reference: most rows in memory have none, and it is larger than all other fields together.
    public var sharedResult: Indirect<InvocationResult>?

    public init(
        id: InvocationID, callback: Callback, isObserver: Bool = false, provider: String?, route: String?,
        handler: String?, budget: Duration, deadline: Instant?, started: Bool, result: InvocationResult?
    ) {
        self.id = id
        self.callback = callback
        self.isObserver = isObserver
        self.provider = provider
        self.route = route
        self.handler = handler
        self.budget = budget
        self.deadline = deadline
        self.started = started
        sharedResult = result.map { Indirect($0) }
    }
}

/// A record to write. Records of one turn of the loop are committed together, in order.
///
/// Indirect: records are large, and several functions hand them on before they reach the disk.
public indirect enum LedgerRecord: Sendable {
    /// A new request; its invocations follow in the same transaction.
    case request(AcceptedRequest)
    /// A new invocation, decided or in flight.
    case invocation(InvocationRecord)
    /// An invocation in flight changed: route, handler, deadline, started or result. The whole row with its new values.
    case update(InvocationRecord)
    /// An attempt of a handler ended.
    case attempt(AttemptRecord)
    /// The standard error of the last attempt's handler before it was stopped.
    case output(InvocationID, ErrorOutput)
    /// An invocation became a dead letter.
    case deadLetter(DeadLetter)
    /// The dead letters of a request were replayed or purged.
    case noDeadLetters(SequenceNumber)
    /// An analytics event.
    case event(AnalyticsEvent)
    /// A change of the tracker's state.
    case tracker(TrackerRecord)
    /// A change of the state of custom data.
    case customData(CustomDataRecord)
    /// The last known facts of a device; replaces the row of its number. Its topics count only where
    /// `Effects.takesSubscriptions` is false.
    case device(KnownDevice)
    /// Devices are subscribed to a topic, or their subscriptions end.
    case subscriptions(SubscriptionChange)
    /// A device that the daemon no longer remembers, by its number.
    case forgottenDevice(SequenceNumber)
    /// A publish, and the devices that get it.
    case fanOut(FanOut)
    /// The progress of a publish.
    case fanOutProgress(SequenceNumber, FanOut.Progress)
    /// A gap ended.
    case gap(DaemonGap)
    /// The daemon is alive; replaces the previous sign of life.
    case lifeSign(LifeSign)
    /// A producer got a number.
    case producer(Producer)
    /// Another configuration decides later requests.
    case configuration(ConfigurationPeriod)
    /// An administrative act.
    case audit(AuditRecord)
    /// An order to delete rows; alone in its batch.
    case order(ChainOrder)
}

/// The bounds of a batch of rows. The writer, the log, the copies of a ledger and a pair share them.
public enum BatchLimits {
    /// The most bytes of rows that one request may have beside the bytes of its line.
    public static let besideRequest = 1 << 20

    /// The longest request line that `RequestLengthMax=` allows, in bytes.
    static let longestRequest = 16 << 20

    /// The longest batch of any configuration, in bytes of rows. No writer makes a longer one.
    public static let longest = longestRows(requestLength: longestRequest)

    /// The longest batch that a reader takes for one, in bytes with header and padding: versions before 1.0 wrote
    /// batches that were longer than `longest`.
    public static let longestReadable = 128 << 20

    /// How many of its longest batches a log has room for, at least.
    public static let batchesInLog = 4

    /// The least length of a log that has room for the batches of any configuration, in bytes: with headers and padding.
    public static let shortestLog = batchesInLog * (longest + (64 << 10))

    /// The longest batch of rows, in bytes.
    ///
    /// - Parameter requestLength: `RequestLengthMax=`, in bytes.
    public static func longestRows(requestLength: Int) -> Int { requestLength + besideRequest }
}

/// The id of a configuration: a digest of its files. The directories of the files, the section `[Store]` and masks do
/// not count, except masks of providers. The same files have the same id on every machine.
public struct ConfigurationID: Hashable, Sendable, CustomStringConvertible {
    /// The digest.
    public let value: UInt64

    /// Makes the id of the files that these bytes describe. Ledgers store it: the digest of bytes never changes.
    public init(digestOf bytes: [UInt8]) { value = bytes.withUnsafeBufferPointer { WordHash.digests($0) } }

    /// Reads an id as ``description`` has it; `nil` for anything else.
    public init?(_ text: String) {
        let digits = text.utf8.compactMap(hexadecimalValue(of:))
        guard text.utf8.count == Self.digits, digits.count == Self.digits else { return nil }
        value = digits.reduce(0) { $0 << 4 | UInt64($1) }
    }

    private static let digits = 16

    /// 16 hexadecimal digits.
    public var description: String { hexadecimal(value, digits: Self.digits) }
}

/// A time in which one configuration decided all requests.
///
/// A request has no column for its configuration: the numbers of requests rise, and the configuration changes between
/// two of them. So the period with the highest first number up to a request's own has decided the request.
public struct ConfigurationPeriod: Hashable, Sendable {
    /// The first number that a request of the period may have.
    public var first: SequenceNumber
    /// The configuration.
    public var id: ConfigurationID
    /// When it came into force.
    public var since: WallTime

    /// Joins the parts.
    public init(first: SequenceNumber, id: ConfigurationID, since: WallTime) {
        (self.first, self.id, self.since) = (first, id, since)
    }
}

/// The configuration that decided a request.
public struct DecidingConfiguration: Hashable, Sendable {
    /// Its period.
    public var period: ConfigurationPeriod
    /// Whether the daemon's last configuration is the same one.
    public var isInForce: Bool

    /// Joins the parts.
    public init(_ period: ConfigurationPeriod, isInForce: Bool) { (self.period, self.isInForce) = (period, isInForce) }
}

/// A time in which the daemon could not do its work, or for which its clock was wrong.
public struct DaemonGap: Hashable, Sendable {
    /// The kind of gap. The raw values are in the ledger, in the journal and in reports.
    public enum Kind: String, Sendable, CaseIterable {
        /// No daemon ran, from the last sign of life of one daemon to the start of the next.
        case down
        /// The wall clock was set: `begin` is the time before the step, `end` the time after it.
        case clockStepped = "clock_stepped"
        /// The machine was suspended.
        case suspended
        /// The disk accepted no write, or a write took longer than `SlowCommit=`.
        case diskStalled = "disk_stalled"
        /// A pair or group of machines had lost its leader, from the leader's last batch until its successor was ready.
        case leaderLost = "leader_lost"
        /// The engine of a shared log committed nothing of the leader for longer than a second: it was away, or slow.
        case engineAway = "engine_away"
        /// The engine of a shared log answered, but no standby had the leader's writes.
        case unprotected
    }

    /// The kind.
    public var kind: Kind
    /// The beginning of the gap.
    public var begin: WallTime
    /// The end of the gap; before `begin` if the clock was set back.
    public var end: WallTime

    public init(_ kind: Kind, begin: WallTime, end: WallTime) {
        (self.kind, self.begin, self.end) = (kind, begin, end)
    }

    /// The length of the gap; negative if the clock was set back.
    public var length: Duration {
        let (milliseconds, isOver) = end.milliseconds.subtractingReportingOverflow(begin.milliseconds)
        return .milliseconds(isOver ? 0 : milliseconds)
    }

    /// Whether the gap overlaps a window.
    ///
    /// - Parameters:
    ///   - since: the first instant of the window; `nil`: the window has no begin.
    ///   - until: the first instant after the window; `nil`: the window has no end.
    public func touches(since: WallTime?, until: WallTime?) -> Bool {
        (until.map { min(begin, end) < $0 } ?? true) && (since.map { max(begin, end) >= $0 } ?? true)
    }
}

/// A time at which the daemon was alive; the ledger keeps the last one.
public struct LifeSign: Hashable, Sendable {
    /// The time.
    public var at: WallTime
    /// The number of the last request that was accepted before.
    public var last: SequenceNumber
    /// The last time at which the daemon was alive and trusted its clock; `nil`: never.
    public var believed: WallTime?

    public init(at: WallTime, last: SequenceNumber, believed: WallTime?) {
        (self.at, self.last, self.believed) = (at, last, believed)
    }
}

/// An order to delete rows, stored as a row of a chain that several machines write. Each copy carries it out at the
/// same place of the chain, and deletes rows only by such an order. An order is alone in its batch.
public enum ChainOrder: Hashable, Sendable {
    /// A slice of a pruning.
    case prune(PruningSlice)
    /// The erasure of a person.
    case erase(ErasureOrder)

    /// Whether the rows of a batch are an order.
    public static func isOrder(_ rows: UnsafeRawBufferPointer) -> Bool {
        guard let kind = rows.first.flatMap(RowKind.init) else { return false }
        return kind == .pruning || kind == .erasure
    }

    /// Reads the rows of a batch; `nil` if they are no order.
    ///
    /// - Throws: `RowError` if an order is incomplete or not alone in its batch.
    public init?(_ rows: UnsafeRawBufferPointer) throws(RowError) {
        guard Self.isOrder(rows) else { return nil }
        var reader = RowReader(rows)
        guard let row = try reader.next() else { return nil }
        let kind = row.kind
        var values = row.values
        self =
            kind == .pruning ? .prune(try PruningSlice(reading: &values)) : .erase(try ErasureOrder(reading: &values))
        guard values.isAtEnd, try reader.next() == nil else {
            throw RowError(message: "an order is not alone in its batch")
        }
    }
}

/// A slice of a pruning, with every value that selects rows, so that each copy deletes the same ones.
public struct PruningSlice: Hashable, Sendable {
    /// Deletes requests that were accepted before this time; `nil` deletes requests of any age, the oldest first.
    public var cutoff: WallTime?
    /// The limit of requests, and of entries, that the slice deletes.
    public var limit: Int
    /// The limits of dead letters; `nil` keeps all of them.
    public var deadLetters: DeadLetterLimits?
    /// Deletes figures of minutes before this time that have no rows any more; `nil` deletes none.
    public var figures: WallTime?

    /// Joins the parts.
    public init(
        olderThan cutoff: WallTime?, limit: Int, deadLetters: DeadLetterLimits? = nil, figures: WallTime? = nil
    ) {
        (self.cutoff, self.limit, self.deadLetters, self.figures) = (cutoff, limit, deadLetters, figures)
    }
}

/// The limits of age and size of dead letters. Pruning deletes their requests once they are dead letters no more.
public struct DeadLetterLimits: Hashable, Sendable {
    /// Drops dead letters that became dead letters before this time.
    public var cutoff: WallTime
    /// The limit of the bytes that the request lines of all dead letters have together; the oldest go first.
    public var byteCountMax: Int

    /// Joins the two.
    public init(cutoff: WallTime, byteCountMax: Int) {
        (self.cutoff, self.byteCountMax) = (cutoff, byteCountMax)
    }
}

/// The person to erase, and the last request and entry that the erasure covers. On one machine the order lies in the
/// state directory during the erasure, so that a start resumes one that a crash interrupted.
public struct ErasureOrder: Hashable, Sendable {
    /// The person.
    public var person: Person
    /// The last request and entry that the erasure covers.
    public var bound: ErasureBound
    /// Whether the erasure deletes undecided requests of the person too, because no daemon runs that would decide them.
    /// Otherwise their rows wait for their outcomes.
    public var takesUndecided: Bool

    /// Joins the parts. The person owns all devices that the ledger knows up to the bound.
    public init(person: Person, bound: ErasureBound, takesUndecided: Bool = false) {
        (self.person, self.bound, self.takesUndecided) = (person, bound, takesUndecided)
    }
}
