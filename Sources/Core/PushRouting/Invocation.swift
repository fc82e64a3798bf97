import PushDispatch
public import PushModel
import PushTracking

/// An invocation in flight: its row in the ledger, and the fields that only the router needs.
struct Invocation: Sendable {
    /// The stage of the invocation. An outcome may end every stage.
    enum Stage: Hashable, Sendable, CaseIterable {
        /// Behind others in its lane. Goes to `ready` at the head of the lane.
        case waiting
        /// At the head of the lane, without a place to run. Goes to `starting`.
        case ready
        /// The router asked for a start; the report is pending. Goes to `running`.
        case starting
        /// The handler runs. Goes to `terminating`, to `pausing`, or to the next route's `ready`.
        case running
        /// The handler got SIGTERM from the daemon and has its grace. Goes where `running` goes.
        case terminating
        /// The handler asked for another attempt later. Goes to `ready`.
        case pausing
    }

    /// The request; without its line after ``letGo()``.
    var request: AcceptedRequest { _read { yield sharedRequest.value } }
    private(set) var sharedRequest: Indirect<AcceptedRequest>
    /// The request's action and payload; `nil` after ``letGo()``.
    var subject: InvocationSubject? { content?.value.subject }
    private var content: Indirect<Content>?
    /// The size of the request line in bytes.
    let byteCount: Int
    /// The size in memory of line and payload, in bytes; for an interaction with the payload of its delivery.
    let memorySize: Int
    var record: InvocationRecord
    /// The positions of the matching routes; `nil` while the payload is in memory to match against.
    private var matches: [Int]?
    /// The table under which the request was accepted: a reload does not change it.
    var table: RoutingTable { _read { yield sharedTable.value } }
    private let sharedTable: Indirect<RoutingTable>
    /// The position of its route in `table`.
    var position = 0
    /// The handler that runs it, shared because the value is large.
    var handler: Indirect<Handler>?
    /// The lane of the request's device; `nil`: the invocation waits in no lane.
    var lane: DeviceKey? { isInLane ? request.lane : nil }
    /// The invocation ahead of it in its lane that took longest.
    var waitedFor: Predecessor? {
        get { sharedWaitedFor?.value }
        set { sharedWaitedFor = newValue.map { Indirect($0) } }
    }
    private var sharedWaitedFor: Indirect<Predecessor>?
    /// The attempts of handlers so far.
    var attempts: Attempts {
        _read { yield sharedAttempts.value }
        _modify { yield &sharedAttempts.value }
    }
    /// Waiting invocations have no attempts and share this value.
    private var sharedAttempts = Invocation.noAttempts
    private static let noAttempts = Indirect(Attempts())
    /// The facts for the tracker, which takes them when the invocation's turn comes.
    var receipt: Receipt? {
        get { sharedReceipt?.value }
        set { sharedReceipt = newValue.map { Indirect($0) } }
    }
    private var sharedReceipt: Indirect<Receipt>?
    /// The handlers that it bypassed.
    var bypassed: BypassedHandlers {
        _read { yield sharedBypassed.value }
        _modify { yield &sharedBypassed.value }
    }
    private var sharedBypassed = Invocation.noneBypassed
    private static let noneBypassed = Indirect(BypassedHandlers())
    /// The changing fields of the row as last written; `nil` before the first write.
    var stored: ChangingFields?
    // Small fields stand side by side: together they fill eight bytes, apart eight bytes each.
    let osVersion: OSVersion?
    let owner: PlannedInvocation.Owner
    /// Whether ``Usage`` counts its bytes among the payloads kept in memory.
    var isCounted = false
    /// Whether the route at `position` is the only one: an observer's, or one of those that get a broadcast.
    var isPinned = false
    private let isInLane: Bool
    var stage = Stage.waiting
    /// The start of its budget; `nil` while it waits in its lane in `device` mode.
    var clockStart: Instant?
    /// The number of invocations ahead of it in its lane when it joined.
    var ahead: Int32?

    /// The memory that a request's objects take beside the bytes of line and payload, in bytes: about as measured.
    static let memorySizeOfContent = 304

    /// The part that ``letGo()`` frees.
    private struct Content: Sendable {
        var subject: InvocationSubject
        var keys: PayloadKeys?
    }

    /// The fields of the row that change while its invocation is in flight.
    struct ChangingFields: Hashable, Sendable {
        private let route: String?
        private let handler: String?
        private let budget: Duration
        private let deadline: Instant?
        private let started: Bool
        private let isDecided: Bool

        init(_ record: InvocationRecord) {
            (route, handler, budget, deadline) = (record.route, record.handler, record.budget, record.deadline)
            (started, isDecided) = (record.started, record.sharedResult != nil)
        }
    }

    /// - Parameters:
    ///   - request: the request.
    ///   - byteCount: the size of its line in bytes.
    ///   - subject: its action and payload; `nil`: only the ledger has them, and no route needs the payload.
    ///   - record: the row.
    ///   - owner: the owner.
    ///   - keys: the payload's keys for the conditions of routes.
    ///   - table: the table under which the request was accepted.
    ///   - isInLane: whether it waits in the lane of the request's device.
    init(
        request: Indirect<AcceptedRequest>, byteCount: Int, subject: InvocationSubject?, osVersion: OSVersion?,
        record: InvocationRecord, owner: PlannedInvocation.Owner, keys: PayloadKeys?, table: Indirect<RoutingTable>,
        isInLane: Bool
    ) {
        sharedRequest = request
        self.byteCount = byteCount
        content = subject.map { Indirect(Content(subject: $0, keys: keys)) }
        memorySize =
            byteCount + (subject?.payload?.document.memorySize ?? 0) + (keys?.memorySizeOfKeyValues ?? 0)
            + (subject == nil ? 0 : Self.memorySizeOfContent)
        self.osVersion = osVersion
        self.record = record
        self.owner = owner
        sharedTable = table
        self.isInLane = isInLane
        if subject == nil {
            matches = table.value.positions(for: facts(keys), observing: false)
            sharedRequest.value.body = []
        }
    }

    /// Creates an invocation of a request that is being accepted.
    init(
        of arrival: Arrival, record: InvocationRecord, owner: PlannedInvocation.Owner, table: Indirect<RoutingTable>,
        isInLane: Bool
    ) {
        self.init(
            request: arrival.sharedRequest, byteCount: arrival.request.body.count, subject: arrival.subject,
            osVersion: arrival.subject.osVersion, record: record, owner: owner, keys: arrival.keys, table: table,
            isInLane: isInLane)
    }

    /// Returns the facts for the conditions of routes.
    private func facts(_ keys: PayloadKeys?) -> RouteFacts {
        RouteFacts(
            provider: record.provider, platform: request.platform, callback: record.callback, app: request.app,
            keys: keys)
    }

    /// The completion of its callback: an owner's invocation completes it, an observer's never does.
    var completions: Completions {
        Completions(
            record.isObserver ? .none : record.callback, rules: table.completion, osVersion: osVersion)
    }

    /// The position of the first route from its own on that matches and does not observe.
    var nextOwner: Int? {
        guard let matches else { return table.owner(of: facts(content?.value.keys), from: position) }
        return matches.first { $0 >= position }
    }

    /// Frees the request line and the payload, which the ledger has. Matches the routes first.
    mutating func letGo() {
        if matches == nil {
            matches = isPinned ? [] : table.positions(for: facts(content?.value.keys), observing: false)
        }
        sharedRequest.value.body = []
        content = nil
    }

    /// Keeps the payload of a waiting invocation if `room` bytes suffice, else frees it.
    ///
    /// - Returns: the number of bytes that it now keeps in addition.
    mutating func park(_ room: Int) -> Int {
        guard content != nil, !isCounted else { return 0 }
        guard memorySize <= room else {
            letGo()
            return 0
        }
        isCounted = true
        return memorySize
    }

    /// Whether it holds a place to run.
    var holdsPlace: Bool {
        switch stage {
        case .starting, .running, .terminating: true
        case .waiting, .ready, .pausing: false
        }
    }

    /// Whether a deadline that passes now counts as a failure of the handler. A program that did not start has not
    /// failed. A handler that reads lines was there to answer, and a handler that asked for a retry has run.
    var hasFailedAtDeadline: Bool {
        switch stage {
        case .running, .terminating, .pausing: true
        case .starting: attempts.countOfHandler > 1 || handler?.value.kind.instanceRules != nil
        case .ready: attempts.countOfHandler > 0
        case .waiting: false
        }
    }

    /// The time at which its handler gets SIGTERM; `nil`: it gets none.
    var terminationDue: Instant? {
        guard let deadline = record.deadline, let grace = handler?.value.grace, grace < record.budget else {
            return nil
        }
        return deadline + (.zero - grace)
    }

    /// The outcome of a missed deadline.
    var missed: Outcome { attempts.first == nil ? .expired : .timedOut }
}

/// The parts of an invocation's request line that the ledger has no columns for.
public struct InvocationSubject: Sendable {
    /// The action of the request; `nil`: another version of the daemon accepted the line, and this one cannot read it.
    public var action: Request.Action?
    /// The payload: of a delivery as received, of an interaction as handed back or as delivered; `nil`: unknown.
    public var payload: JSONNode?
    /// The version of the operating system.
    public var osVersion: OSVersion?

    /// Joins the parts.
    public init(action: Request.Action? = nil, payload: JSONNode? = nil, osVersion: OSVersion? = nil) {
        self.action = action
        self.payload = payload
        self.osVersion = osVersion
    }

    /// Reads the parts from a request.
    ///
    /// - Parameter past: the delivery of an interaction, if the ledger knows it.
    init(_ request: Request, past: PastDelivery? = nil) {
        action = request.action
        switch request.action {
        case .deliver(let deliver):
            payload = deliver.payload
            osVersion = deliver.osVersion.flatMap(OSVersion.init)
        case .interact(let interact):
            if case .payload(let handedBack) = interact.subject {
                payload = handedBack
            } else {
                payload = past?.request?.payload
            }
            osVersion = past?.request?.osVersion.flatMap(OSVersion.init)
        case .session, .token, .log, .topic, .publish, .device: break
        }
    }
}

/// The facts of a Braze delivery that the tracker takes.
struct Receipt: Sendable {
    var campaignID: String?
    /// Whether the message id is the payload's own, not the request's.
    var hasOwnID: Bool
    var uniqueID: String?
    var isDisplayed: Bool
    var inForeground: Bool
    /// The digest of the payload; `nil` if the payload has its own id.
    var digest: UInt64?
    var buttons: ButtonList
    var at: WallTime
}

extension AcceptedRequest {
    /// The memory that one of its invocations takes while in flight, beside line and payload, in bytes: about as
    /// measured, plus the texts.
    var memoryInFlight: Int {
        func length(_ text: String?) -> Int { text?.utf8.count ?? 0 }
        return 900 + length(id) + length(app) + length(device) + length(externalID) + length(messageID)
    }
}
