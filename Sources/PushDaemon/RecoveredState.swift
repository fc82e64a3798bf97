import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import Store

/// The state that the ledger has of the daemon's earlier runs.
struct RecoveredState {
    /// The tracker, which takes as long to read as all the rest. The ledger's thread reads it, through the connection
    /// that brought the ledger up to date: another connection would read the schema once more.
    typealias FutureTracker = Future<Tracker, StoreError>

    var stateID: UUID128
    var lastNumber: SequenceNumber
    var customData: CustomData
    var devices: [KnownDevice]
    var recentDeliveries: [RecentDelivery]
    /// The time of the last run's last sign of life; `nil` if there is none.
    var lastAlive: WallTime?
    /// The same by a clock that was believed.
    var lastBelieved: WallTime?
    /// The reader of the rest, the unfinished requests.
    let ledger: LedgerReader

    init(directory: String, settings: Settings) throws(StoreError) {
        let reader = try LedgerReader(directory: directory)
        ledger = reader
        stateID = reader.stateIdentity
        (lastNumber, devices, recentDeliveries, lastAlive, lastBelieved, customData) = try reader.snapshot {
            () throws(StoreError) in
            (
                try reader.highestSequenceNumber(), try reader.knownDevices(), try reader.recentDeliveries(),
                try reader.lastAlive(), try reader.lastBelieved(),
                try CustomData(stateID: reader.stateIdentity, rules: settings.routing.customData, ledger: reader)
            )
        }
    }
}

extension Tracker {
    /// Restores the tracker from the ledger's rows.
    init(reading ledger: LedgerReader, rules: TrackerRules, now: WallTime) throws(StoreError) {
        // One snapshot costs one lock; each read outside of one would cost its own.
        self = try ledger.snapshot { () throws(StoreError) in
            var tracker = Tracker(stateID: ledger.stateIdentity, rules: rules)
            try tracker.restore(from: ledger, now: now)
            return tracker
        }
    }

    private mutating func restore(from ledger: LedgerReader, now: WallTime) throws(StoreError) {
        for start in try ledger.pendingStarts() { restore(start, now: now) }
        try ledger.sessions { restore($0, now: now) }
        try ledger.sessionStarts { restore($0) }
        reserve(deliveries: min(try ledger.trackedDeliveryCount(), rules.rememberMax))
        try ledger.trackedDeliveries(newest: rules.rememberMax) { restore($0, received: $1) }
        try ledger.closedButtons(ofNewest: rules.rememberMax) { restore(closed: $1, of: $0) }
        for waiting in try ledger.heldInteractions() { restore(waiting, now: now) }
    }
}

extension CustomData {
    /// Restores the custom data from the ledger's rows.
    fileprivate init(stateID: UUID128, rules: CustomDataRules, ledger: LedgerReader) throws(StoreError) {
        self.init(stateID: stateID, rules: rules, lastNumber: try ledger.highestEntryNumber())
        try ledger.unfinishedEntries { record in
            restore(
                record.entry, record.state, claimant: record.claimant,
                by: record.state == .pending ? record.settledBy : nil)
        }
        for cause in interruptedFlushes {
            // Without a known session the entries wait for the next one.
            if let (request, event) = try ledger.sessionStart(of: cause) {
                resumeFlush(SessionStart(of: request, event))
            }
        }
        if let state = try ledger.sendingState() { restore(state) }
    }
}

extension SessionStart {
    /// The session that a request in the ledger began. The event's time has whole seconds; the request's has
    /// milliseconds.
    fileprivate init(of accepted: AcceptedRequest, _ event: AnalyticsEvent) {
        let clock = accepted.acceptedAt.wall
        self.init(
            cause: event.seq, platform: event.platform, app: event.appID, device: event.deviceID,
            externalID: event.externalUserID, at: min(Request(stored: accepted)?.at ?? clock, clock))
    }
}

extension DeliveryReference {
    /// The delivery that an accepted interaction named by its number or message id; `nil` for everything else.
    init?(_ request: Request, of accepted: SequenceNumber) {
        guard case .interact(let interact) = request.action else { return nil }
        self.init(interact, interaction: accepted)
    }
}

extension UnfinishedRequest {
    /// A request that an earlier run did not finish, with its line.
    init(reading left: UnfinishedRequest, _ ledger: LedgerReader) throws(StoreError) {
        var accepted = left.accepted
        accepted.body = try ledger.line(of: accepted.seq) ?? []
        let request = Request(stored: accepted)
        let reference = request.flatMap { DeliveryReference($0, of: accepted.seq) }
        let past = if let reference { try ledger.delivery(reference) } else { nil as RequestStory? }
        self.init(
            accepted: accepted, invocations: left.invocations, request: request, past: past.map(PastDelivery.init))
        attempts = left.attempts
    }
}

extension PastDelivery {
    /// The facts of a delivery in the ledger that an interaction needs.
    init(_ story: RequestStory) {
        var deliver: DeliverRequest?
        if case .deliver(let request) = Request(stored: story.request)?.action { deliver = request }
        self.init(accepted: story.request, provider: story.invocations.first?.provider, request: deliver)
    }
}

extension Request {
    /// A request that is in the ledger, read again; `nil` if this version cannot read it any more.
    fileprivate init?(stored accepted: AcceptedRequest) {
        // A stored request is read without limits: they may have been higher when it was accepted.
        guard let request = try? Request(acceptedLine: accepted.body) else { return nil }
        self = request
    }
}
