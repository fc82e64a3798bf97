public import PushModel

/// The native tracker of opens: takes over Braze payloads, taps and sessions, and says which analytics events follow.
///
/// A pure value; the rules are T1 to T15 of the page TrackerRules. Two times come in with everything. The event's own (`at`)
/// decides what is counted (T4 to T7). The clock's (`now`) decides how long something is remembered or waited for. An
/// event time later than the clock is taken for the clock's, as the provider's own API does; one in the past is kept.
///
/// What comes out as records, given back to the `restore` calls after a restart, makes the same tracker again.
public struct Tracker: Sendable {
    /// Which ids the events of this state directory get.
    public let stateID: UUID128
    /// The settings; a change holds for what is decided from then on.
    public var rules: TrackerRules {
        didSet { rememberSeconds = rules.remember.seconds }
    }
    /// Whether something is forgotten by its age. By a clock that nobody believes it is not; what is too much goes all the same.
    public var forgetsByAge = true
    /// How long a delivery is remembered: read for every request.
    private var rememberSeconds: Int64

    var deliveries = Deliveries()
    var devices = Devices()
    var history = StartHistory()
    /// Users, campaigns and apps.
    var texts = SharedTexts()
    /// The close buttons that were pressed, of the few deliveries that have some.
    var closed: [SequenceNumber: Set<String>] = [:]
    /// Openings of deliveries that a session start before may still be an influenced open of.
    var openings: [SequenceNumber: TrackedRow.Opening] = [:]
    var pendingStarts = Slab<WaitingStart?>()
    /// Interactions that wait for their delivery.
    var held = HeldInteractions()
    var sessionCount = 0
    var timers = Heap<TrackerTimer>()
    /// How many of the timers mean nothing any more.
    var staleTimers = 0
    /// Where in the heap the last look for them stopped.
    var staleHand = 0
    var clock = TrackerClock()
    private var hasMoreToForget = false
    /// Whether timers are due that were too many for one go.
    var hasMoreDue = false

    /// - Parameters:
    ///   - stateID: the state directory's id; events derive their ids from it.
    ///   - rules: the settings.
    public init(stateID: UUID128, rules: TrackerRules = TrackerRules()) {
        self.stateID = stateID
        self.rules = rules
        rememberSeconds = rules.remember.seconds
    }

    /// Whether more was to be done than is done in one go; ``takeDue(now:into:)`` goes on.
    public var isBehind: Bool { hasMoreToForget || hasMoreDue }

    /// How many deliveries are remembered.
    public var count: Int { deliveries.count }

    /// Takes over a Braze payload.
    ///
    /// - Parameters:
    ///   - delivery: the delivery; a message or unique id of more than 1,024 bytes is taken for none.
    ///   - now: the clock.
    ///   - output: the receipt, and what interactions that waited for it lead to, are appended.
    @discardableResult
    public mutating func receive(
        _ delivery: TrackedDelivery, now: WallTime, into output: inout TrackerOutput
    ) -> ReceiptResult {
        begin(now, into: &output)
        let receivedAt = min(delivery.receivedAt, now)
        let messageID = Self.trackable(delivery.messageID)
        let uniqueID = Self.trackable(delivery.uniqueID)
        let campaignID = Self.trackable(delivery.campaignID)
        let isKnownByID = delivery.hasOwnID && messageID != nil
        // One that has its own id is told by it, and another of equal payload has the same.
        let digest = isKnownByID ? nil : delivery.digest
        let device = find(delivery.device, app: delivery.app)
        if let device, delivery.device != nil,
            let earlier = earlierReceipt(on: device, messageID: isKnownByID ? messageID : nil, uniqueID: uniqueID)
        {
            return .repeated(of: earlier)
        }

        let row = TrackedRow(
            seq: delivery.seq, receivedAt: receivedAt, since: now, isDisplayed: delivery.isDisplayed,
            hasOwnID: delivery.hasOwnID, uniqueID: uniqueID, digest: digest, buttons: delivery.buttons.bytes)
        add(
            row, on: device ?? add(delivery.device, app: delivery.app), isNamed: delivery.device != nil,
            user: delivery.externalID, campaign: campaignID, messageID: messageID, delivery.platform)
        let push = AnalyticsEvent.Push(campaignID: campaignID, messageID: messageID)
        output.events.append(event(.received(push), delivery, at: receivedAt))
        output.records.append(.delivery(row))
        if rules.reportsForeground, delivery.platform.tellsOfForeground, delivery.inForeground, delivery.isDisplayed,
            campaignID != nil, rules.emitsCampaignEvents(for: delivery.app)
        {
            output.events.append(event(.iosForeground(push), delivery, at: receivedAt))
        }
        if !held.isEmpty {
            settleHeld(by: delivery.seq, messageID, digest, on: delivery.device, now: now, into: &output)
        }
        forgetOld(into: &output)
        return .received
    }

    /// The push service gave the app on a device a token, or took it back.
    ///
    /// - Parameters:
    ///   - kind: which of them.
    ///   - token: the token.
    ///   - source: the request, and whom it is about.
    ///   - now: the clock.
    ///   - output: the events are appended.
    public func token(
        _ kind: TokenRequest.Kind, _ token: String?, _ source: TrackerSource, now: WallTime,
        into output: inout TrackerOutput
    ) {
        let change = AnalyticsEvent.Content.tokenStateChange(kind, token: token)
        output.events.append(event(change, number: source.cause, source, at: min(source.at, now)))
        guard kind == .unregistered else { return }
        output.events.append(event(.uninstall, number: source.cause, source, at: min(source.at, now)))
    }

    /// A delivery that this device had before: by its message id, if that is the payload's own, or the unique id.
    private func earlierReceipt(on device: UInt32, messageID: String?, uniqueID: String?) -> SequenceNumber? {
        if let messageID, let slot = deliveries.find(.message, messageID, device: device),
            deliveries[slot].flags.contains(.hasOwnID)
        {
            return SequenceNumber(deliveries[slot].seq)
        }
        let slot = uniqueID.flatMap { deliveries.find(.unique, $0, device: device) }
        return slot.map { SequenceNumber(deliveries[$0].seq) }
    }

    /// An id as it may be remembered. Real ones have at most a few hundred bytes; a payload has room for far more.
    private static func trackable(_ id: String?) -> String? { id.flatMap { $0.utf8.count <= 1024 ? $0 : nil } }

    // MARK: Memory

    /// Reads the clock and forgets what is too old by it.
    mutating func begin(_ now: WallTime, into output: inout TrackerOutput) {
        clock.read(now)
        forgetOld(into: &output)
    }

    /// How many deliveries are forgotten, and how many timers taken, in one go: no turn of a loop is long.
    static let workAtOnce = 256

    /// Forgets deliveries that are too old or too many, some at a time.
    private mutating func forgetOld(into output: inout TrackerOutput) {
        let horizon = horizon(rememberSeconds)
        var left = Self.workAtOnce
        while let oldest = deliveries.oldest,
            Int64(deliveries[oldest].since) < horizon || deliveries.count > rules.rememberMax
        {
            guard left > 0 else {
                hasMoreToForget = true
                return
            }
            left -= 1
            forgetOldest(into: &output)
        }
        hasMoreToForget = false
    }

    /// The time in Unix seconds before which a last use is more than `age` seconds ago; `.min` where nothing goes by its age.
    func horizon(_ age: Int64) -> Int64 { forgetsByAge ? clock.seconds.saturatingSubtract(age) : .min }

    /// Remembers a delivery, as the newest.
    ///
    /// - Parameter isNamed: whether the device has a name.
    @discardableResult
    mutating func add(
        _ row: TrackedRow, on device: UInt32, isNamed: Bool, user: String?, campaign: String?, messageID: String?,
        _ platform: Platform
    ) -> UInt32 {
        devices[device].deliveries += 1
        var flags: Deliveries.Flags = row.hasOwnID ? [.hasOwnID] : []
        if isNamed { flags.insert(.hasDevice) }
        if row.isDisplayed { flags.insert(.displayed) }
        let entry = Deliveries.Entry(
            seq: row.seq.value, receivedAt: row.receivedAt.milliseconds, since: row.since.clockSeconds,
            user: texts.retain(user), campaign: texts.retain(campaign), device: device, textStart: 0,
            messageLength: 0, uniqueLength: 0, extraLength: 0, flags: flags, platform: platform)
        let slot = deliveries.append(
            entry, message: messageID, unique: row.uniqueID, digest: row.digest, buttons: row.buttons)
        if row.isDisplayed, isNamed { list(slot) }
        return slot
    }

    /// The app on a device, if it is remembered.
    private func find(_ name: String?, app: String?) -> UInt32? {
        texts.find(app).flatMap { devices.find(name, app: $0) }
    }

    /// Remembers the app on a device, which is not remembered yet.
    private mutating func add(_ name: String?, app: String?) -> UInt32 { devices.add(name, app: texts.retain(app)) }

    /// The app on a device, which is remembered from now on.
    mutating func findOrAdd(_ name: String?, app: String?) -> UInt32 {
        find(name, app: app) ?? add(name, app: app)
    }

    /// Lets go of a device of which nothing is remembered.
    mutating func releaseIfUnused(_ device: UInt32) {
        guard devices[device].isUnused else { return }
        texts.release(devices[device].app)
        devices.remove(device)
    }

    private mutating func forgetOldest(into output: inout TrackerOutput) {
        guard let slot = deliveries.oldest else { return }
        let entry = deliveries[slot]
        if !entry.flags.contains(.erased) {
            output.records.append(.forgottenDelivery(SequenceNumber(entry.seq)))
        }
        unlist(slot)
        deliveries.removeOldest()
        if !closed.isEmpty { closed[SequenceNumber(entry.seq)] = nil }
        if !openings.isEmpty { openings[SequenceNumber(entry.seq)] = nil }
        texts.release(entry.user)
        texts.release(entry.campaign)
        devices[entry.device].deliveries -= 1
        releaseIfUnused(entry.device)
    }

    // MARK: The unopened deliveries of a device

    private mutating func list(_ slot: UInt32) {
        deliveries[slot].flags.insert(.listed)
        devices[deliveries[slot].device].unopened.append(slot)
    }

    mutating func unlist(_ slot: UInt32) {
        guard deliveries[slot].flags.contains(.listed) else { return }
        deliveries[slot].flags.remove(.listed)
        devices[deliveries[slot].device].unopened.remove(slot)
    }

    // MARK: Events

    /// An event about a delivery that is just received.
    private func event(
        _ content: AnalyticsEvent.Content, _ delivery: TrackedDelivery, at time: WallTime
    ) -> AnalyticsEvent {
        AnalyticsEvent(
            id: AnalyticsEvent.identifier(state: stateID, number: delivery.seq, kind: content.kind),
            time: time.seconds, seq: delivery.seq, delivery: delivery.seq, externalUserID: delivery.externalID,
            deviceID: delivery.device, appID: delivery.app, platform: delivery.platform, content: content)
    }

    /// An event about no delivery.
    func event(
        _ content: AnalyticsEvent.Content, number: SequenceNumber, _ source: TrackerSource, at time: WallTime
    ) -> AnalyticsEvent {
        AnalyticsEvent(
            id: AnalyticsEvent.identifier(state: stateID, number: number, kind: content.kind), time: time.seconds,
            seq: source.cause, delivery: source.cause, externalUserID: source.externalID, deviceID: source.device,
            appID: source.app, platform: source.platform, content: content)
    }

    /// An event about a remembered delivery that something else caused.
    func event(
        _ content: AnalyticsEvent.Content, number: SequenceNumber, cause: SequenceNumber, about slot: UInt32,
        user: String?, at time: WallTime
    ) -> AnalyticsEvent {
        let entry = deliveries[slot]
        let device = devices[entry.device]
        return AnalyticsEvent(
            id: AnalyticsEvent.identifier(state: stateID, number: number, kind: content.kind), time: time.seconds,
            seq: cause, delivery: SequenceNumber(entry.seq), externalUserID: user, deviceID: device.name,
            appID: texts[device.app], platform: entry.platform, content: content)
    }

    /// What an event says of a remembered delivery.
    func push(_ slot: UInt32) -> AnalyticsEvent.Push {
        AnalyticsEvent.Push(
            campaignID: texts[deliveries[slot].campaign], messageID: deliveries.messageID(of: slot))
    }
}

extension Platform {
    /// Whether the provider has an event for a push that an app in the foreground shows.
    fileprivate var tellsOfForeground: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }
}

/// A request about a device: who, where, when.
public struct TrackerSource: Hashable, Sendable {
    /// The request.
    public var cause: SequenceNumber
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user; `nil`: anonymous.
    public var externalID: String?
    /// When it happened.
    public var at: WallTime

    public init(
        cause: SequenceNumber, platform: Platform, app: String?, device: String?, externalID: String?, at: WallTime
    ) {
        self.cause = cause
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.at = at
    }
}
