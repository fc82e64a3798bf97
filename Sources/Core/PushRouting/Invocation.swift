import PushDispatch
public import PushModel
import PushTracking

/// An invocation in flight: what the ledger says of it, and what only the router needs.
struct Invocation: Sendable {
    /// Where it is on its way. Every stage ends by an outcome.
    enum Stage: Hashable, Sendable, CaseIterable {
        /// Behind others in its lane. Goes to `ready` at the head.
        case waiting
        /// At the head, without a free place to run. Goes to `starting`.
        case ready
        /// A start was asked for and is not reported yet. Goes to `running`.
        case starting
        /// The handler runs. Goes to `terminating`, to `pausing`, or to the next route's `ready`.
        case running
        /// The handler got SIGTERM from us and has its grace. Goes where `running` goes.
        case terminating
        /// The handler asked to be tried again later. Goes to `ready`.
        case pausing
    }

    /// The request; without its line once that is let go of.
    var request: AcceptedRequest { _read { yield sharedRequest.value } }
    private var sharedRequest: Indirect<AcceptedRequest>
    /// What the request asks for; `nil` once that is let go of.
    private(set) var subject: InvocationSubject?
    /// How many bytes the request line has.
    let byteCount: Int
    let osVersion: OSVersion?
    /// How many bytes of memory line and payload take, the payload of the delivery that an interaction is about included.
    let memorySize: Int
    /// Whether its bytes are counted among those that are kept in memory.
    var isCounted = false
    var record: InvocationRecord
    let owner: PlannedInvocation.Owner
    private var facts: RouteFacts
    /// The routes that match; `nil` while the payload is there to match against.
    private var matches: [Int]?
    var stage = Stage.waiting
    /// The table that it was accepted under: a reload does not move it.
    var table: RoutingTable { _read { yield sharedTable.value } }
    private let sharedTable: Indirect<RoutingTable>
    /// The place of its route in `table`.
    var position = 0
    /// Whether only that route is meant: an observer's, or one of those that hear a broadcast.
    var isPinned = false
    /// What runs it: large, and the same as long as it has it.
    var handler: Indirect<Handler>?
    let lane: DeviceKey?
    /// Of those before it in its lane, the one that took longest.
    var waitedFor: Predecessor? {
        get { sharedWaitedFor?.value }
        set { sharedWaitedFor = newValue.map { Indirect($0) } }
    }
    private var sharedWaitedFor: Indirect<Predecessor>?
    /// How many were ahead of it in its lane when it came.
    var ahead: Int?
    /// What handlers made of it so far.
    var attempts: Attempts {
        _read { yield sharedAttempts.value }
        _modify { yield &sharedAttempts.value }
    }
    /// What waits has none yet, and shares this.
    private var sharedAttempts = Invocation.noAttempts
    private static let noAttempts = Indirect(Attempts())
    /// What the tracker takes over when its turn comes.
    var receipt: Receipt? {
        get { sharedReceipt?.value }
        set { sharedReceipt = newValue.map { Indirect($0) } }
    }
    private var sharedReceipt: Indirect<Receipt>?
    /// From when its time counts; `nil` while it waits in its lane in `device` mode.
    var clockStart: Instant?
    /// When a handler first began to run.
    var firstStart: Instant?
    /// When the handler began to run that it has now.
    var latestStart: Instant?
    /// The handlers that declined it.
    var declined = DeclinedHandlers()
    /// The handlers that it went past because their breakers were open.
    var passedOver = PassedOverHandlers()
    /// What the ledger has of the row; `nil` before the first write.
    var stored: ChangingFields?

    /// What of a row changes while its invocation is in flight.
    struct ChangingFields: Hashable, Sendable {
        private let route: String?
        private let handler: String?
        private let budget: Duration
        private let deadline: Instant?
        private let started: Bool
        private let isDecided: Bool

        init(_ record: InvocationRecord) {
            (route, handler, budget, deadline) = (record.route, record.handler, record.budget, record.deadline)
            (started, isDecided) = (record.started, record.result != nil)
        }
    }

    /// - Parameters:
    ///   - request: the request.
    ///   - byteCount: how many bytes its line has.
    ///   - subject: what it asks for; `nil`: the ledger has it, and no route asks for anything of the payload.
    ///   - record: the row.
    ///   - owner: whose it is.
    ///   - facts: what routes are held against.
    ///   - table: what it was accepted under.
    ///   - lane: where it waits for others.
    init(
        request: AcceptedRequest, byteCount: Int, subject: InvocationSubject?, osVersion: OSVersion?,
        record: InvocationRecord, owner: PlannedInvocation.Owner, facts: RouteFacts, table: Indirect<RoutingTable>,
        lane: DeviceKey?
    ) {
        sharedRequest = Indirect(request)
        self.byteCount = byteCount
        self.subject = subject
        memorySize =
            byteCount + (subject?.payload?.document.memorySize ?? 0) + (facts.keys?.memorySizeOfKeyValues ?? 0)
        self.osVersion = osVersion
        self.record = record
        self.owner = owner
        self.facts = facts
        sharedTable = table
        self.lane = lane
        if subject == nil { letGo() }
    }

    /// An invocation of a request that is being accepted.
    init(
        of arrival: Arrival, record: InvocationRecord, owner: PlannedInvocation.Owner, table: Indirect<RoutingTable>,
        lane: DeviceKey?
    ) {
        self.init(
            request: arrival.request, byteCount: arrival.request.body.count, subject: arrival.subject,
            osVersion: arrival.subject.osVersion, record: record, owner: owner, facts: arrival.facts(record.callback),
            table: table, lane: lane)
    }

    /// How its callback is completed: by its owner's invocation, never by an observer's.
    var completions: Completions {
        Completions(
            record.isObserver ? .none : record.callback, rules: table.completion, osVersion: osVersion)
    }

    /// The position of the first route at or after its own that matches, and does not observe.
    var nextOwner: Int? {
        guard let matches else { return table.owner(of: facts, from: position) }
        return matches.first { $0 >= position }
    }

    /// Lets go of the request line and the payload: the ledger has them. What routes need of them is decided first.
    mutating func letGo() {
        if matches == nil { matches = isPinned ? [] : table.positions(for: facts, observing: false) }
        facts.keys = nil
        sharedRequest.value.body = []
        subject = nil
    }

    /// Lets it wait until it goes on: with its payload if there is room for so many more bytes.
    ///
    /// - Returns: how many bytes more it keeps than before.
    mutating func park(_ room: Int) -> Int {
        guard subject != nil, !isCounted else { return 0 }
        guard memorySize <= room else {
            letGo()
            return 0
        }
        isCounted = true
        return memorySize
    }

    /// Whether it holds one of the places to run.
    var holdsPlace: Bool {
        switch stage {
        case .starting, .running, .terminating: true
        case .waiting, .ready, .pausing: false
        }
    }

    /// Whether a deadline that comes now is missed by its handler. A program that was not even started says nothing of
    /// itself; what answers by lines was there to answer, and who asked for a retry was asked.
    var hasFailedAtDeadline: Bool {
        switch stage {
        case .running, .terminating, .pausing: true
        case .starting: attempts.countOfHandler > 1 || handler?.value.kind.instanceRules != nil
        case .ready: attempts.countOfHandler > 0
        case .waiting: false
        }
    }

    /// When its handler is to get SIGTERM; `nil`: it is not.
    var terminationDue: Instant? {
        guard let deadline = record.deadline, let grace = handler?.value.grace, grace < record.budget else {
            return nil
        }
        return deadline + (.zero - grace)
    }

    /// How it ends when its time is up.
    var missed: Outcome { firstStart == nil ? .expired : .timedOut }
}

/// What the request line of an invocation says beside what the ledger's columns say.
public struct InvocationSubject: Sendable {
    /// What was asked; `nil` if the line was accepted by another version that could read it.
    public var action: Request.Action?
    /// The payload: the delivery's as it came, for an interaction as it was handed back or delivered; `nil` when nobody
    /// knows it.
    public var payload: JSONNode?
    /// The version of the operating system.
    public var osVersion: OSVersion?

    /// Joins the parts.
    public init(action: Request.Action? = nil, payload: JSONNode? = nil, osVersion: OSVersion? = nil) {
        self.action = action
        self.payload = payload
        self.osVersion = osVersion
    }

    /// What a request says.
    ///
    /// - Parameter past: the delivery that an interaction is about, where the ledger knows it.
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
        case .session, .token, .log: break
        }
    }
}

/// A Braze payload on its way to the tracker.
struct Receipt: Sendable {
    var campaignID: String?
    /// Whether the message id is the payload's own, not the request's.
    var hasOwnID: Bool
    var uniqueID: String?
    var isDisplayed: Bool
    var inForeground: Bool
    /// Of the payload; `nil` where its own id tells.
    var digest: UInt64?
    var buttons: ButtonList
    var at: WallTime
}

/// The handlers that were asked in vain to take an invocation, for the reason of its outcome.
struct DeclinedHandlers: Sendable {
    /// How many are named: an invocation may go past hundreds of routes.
    private static let namesMax = 5

    private var names: [String] = []
    private var count = 0

    /// Notes one.
    ///
    /// - Parameter took: from its start until it declined.
    mutating func append(_ handler: String, took: Duration) {
        count += 1
        if names.count < Self.namesMax { names.append("\(handler) declined after \(took.milliseconds) ms") }
    }

    /// Who declined, for people; `nil` when nobody did.
    var remark: String? {
        guard count > 0 else { return nil }
        return names.joined(separator: ", ") + (count > names.count ? ", and \(count - names.count) more" : "")
    }
}

/// The handlers that an invocation went past because their breakers were open, for the reason of its outcome.
struct PassedOverHandlers: Sendable {
    private static let namesMax = 5

    private var names: [String] = []
    private var count = 0

    var isEmpty: Bool { count == 0 }

    /// Notes one.
    mutating func append(_ handler: String) {
        count += 1
        if names.count < Self.namesMax { names.append(handler) }
    }

    /// Who was not asked, for people; `nil` when everybody was.
    var remark: String? {
        guard count > 0 else { return nil }
        let others = count > names.count ? " and \(count - names.count) more" : ""
        return "not asked, because the breaker is open: " + names.joined(separator: ", ") + others
    }
}

extension AcceptedRequest {
    /// What one of its invocations takes of the memory while it is in flight, beside line and payload, in bytes: about as
    /// much as was measured, and the texts.
    var memoryInFlight: Int {
        func length(_ text: String?) -> Int { text?.utf8.count ?? 0 }
        return 1600 + length(id) + length(app) + length(device) + length(externalID) + length(messageID)
    }
}
