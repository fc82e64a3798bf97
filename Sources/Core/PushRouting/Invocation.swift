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
    private(set) var sharedRequest: Indirect<AcceptedRequest>
    /// What the request asks for; `nil` once that is let go of.
    var subject: InvocationSubject? { content?.value.subject }
    private var content: Indirect<Content>?
    /// How many bytes the request line has.
    let byteCount: Int
    /// How many bytes of memory line and payload take, the payload of the delivery that an interaction is about included.
    let memorySize: Int
    var record: InvocationRecord
    /// The routes that match; `nil` while the payload is there to match against.
    private var matches: [Int]?
    /// The table that it was accepted under: a reload does not move it.
    var table: RoutingTable { _read { yield sharedTable.value } }
    private let sharedTable: Indirect<RoutingTable>
    /// The place of its route in `table`.
    var position = 0
    /// What runs it: large, and the same as long as it has it.
    var handler: Indirect<Handler>?
    /// Where it waits for others: with those of its request's device, or nowhere.
    var lane: DeviceKey? { isInLane ? request.lane : nil }
    /// Of those before it in its lane, the one that took longest.
    var waitedFor: Predecessor? {
        get { sharedWaitedFor?.value }
        set { sharedWaitedFor = newValue.map { Indirect($0) } }
    }
    private var sharedWaitedFor: Indirect<Predecessor>?
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
    /// The handlers that it went past.
    var bypassed: BypassedHandlers {
        _read { yield sharedBypassed.value }
        _modify { yield &sharedBypassed.value }
    }
    private var sharedBypassed = Invocation.noneBypassed
    private static let noneBypassed = Indirect(BypassedHandlers())
    /// What the ledger has of the row; `nil` before the first write.
    var stored: ChangingFields?
    // The small ones are next to each other, where they fill eight bytes and not eight each.
    let osVersion: OSVersion?
    let owner: PlannedInvocation.Owner
    /// Whether its bytes are counted among those that are kept in memory.
    var isCounted = false
    /// Whether only the route at `position` is meant: an observer's, or one of those that hear a broadcast.
    var isPinned = false
    private let isInLane: Bool
    var stage = Stage.waiting
    /// From when its time counts; `nil` while it waits in its lane in `device` mode.
    var clockStart: Instant?
    /// How many were ahead of it in its lane when it came.
    var ahead: Int32?

    /// What a request's objects take of the memory beside the bytes of line and payload: about as much as was measured.
    static let memorySizeOfContent = 304

    /// What is let go of while others are ahead.
    private struct Content: Sendable {
        var subject: InvocationSubject
        var keys: PayloadKeys?
    }

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
            (started, isDecided) = (record.started, record.sharedResult != nil)
        }
    }

    /// - Parameters:
    ///   - request: the request.
    ///   - byteCount: how many bytes its line has.
    ///   - subject: what it asks for; `nil`: the ledger has it, and no route asks for anything of the payload.
    ///   - record: the row.
    ///   - owner: whose it is.
    ///   - keys: what routes are held against, of the payload.
    ///   - table: what it was accepted under.
    ///   - isInLane: whether it waits for others of its request's device.
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

    /// An invocation of a request that is being accepted.
    init(
        of arrival: Arrival, record: InvocationRecord, owner: PlannedInvocation.Owner, table: Indirect<RoutingTable>,
        isInLane: Bool
    ) {
        self.init(
            request: arrival.sharedRequest, byteCount: arrival.request.body.count, subject: arrival.subject,
            osVersion: arrival.subject.osVersion, record: record, owner: owner, keys: arrival.keys, table: table,
            isInLane: isInLane)
    }

    /// What routes are held against.
    private func facts(_ keys: PayloadKeys?) -> RouteFacts {
        RouteFacts(
            provider: record.provider, platform: request.platform, callback: record.callback, app: request.app,
            keys: keys)
    }

    /// How its callback is completed: by its owner's invocation, never by an observer's.
    var completions: Completions {
        Completions(
            record.isObserver ? .none : record.callback, rules: table.completion, osVersion: osVersion)
    }

    /// The position of the first route at or after its own that matches, and does not observe.
    var nextOwner: Int? {
        guard let matches else { return table.owner(of: facts(content?.value.keys), from: position) }
        return matches.first { $0 >= position }
    }

    /// Lets go of the request line and the payload: the ledger has them. What routes need of them is decided first.
    mutating func letGo() {
        if matches == nil {
            matches = isPinned ? [] : table.positions(for: facts(content?.value.keys), observing: false)
        }
        sharedRequest.value.body = []
        content = nil
    }

    /// Lets it wait until it goes on: with its payload if there is room for so many more bytes.
    ///
    /// - Returns: how many bytes more it keeps than before.
    mutating func park(_ room: Int) -> Int {
        guard content != nil, !isCounted else { return 0 }
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
    var missed: Outcome { attempts.first == nil ? .expired : .timedOut }
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
        case .session, .token, .log, .topic, .publish, .device: break
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

extension AcceptedRequest {
    /// What one of its invocations takes of the memory while it is in flight, beside line and payload, in bytes: about as
    /// much as was measured, and the texts.
    var memoryInFlight: Int {
        func length(_ text: String?) -> Int { text?.utf8.count ?? 0 }
        return 900 + length(id) + length(app) + length(device) + length(externalID) + length(messageID)
    }
}
