public import PushModel

/// The native tracker of opens: it takes over Braze payloads, taps and sessions, and produces the analytics events.
///
/// A pure value; its rules are T1 to T15 of the page TrackerRules. Every call has two times. The event's own time
/// (`at`) decides what is counted (T4 to T7). The clock's time (`now`) decides how long the tracker remembers and
/// waits. An event time later than the clock becomes the clock's time, as in the provider's API; an earlier one is
/// kept.
///
/// The `restore` calls rebuild the same tracker from its records after a restart.
public struct Tracker: Sendable {
    /// The id of the state directory, from which event ids derive.
    public let stateID: UUID128
    /// The settings; a change applies to later decisions.
    public var rules: TrackerRules {
        didSet { rememberSeconds = rules.remember.seconds }
    }
    /// Whether the tracker forgets by age; off while the wall clock is not trusted. The count limits always apply.
    public var forgetsByAge = true
    /// `rules.remember` in seconds, cached because every request reads it.
    private var rememberSeconds: Int64

    var deliveries = Deliveries()
    var devices = Devices()
    var history = StartHistory()
    /// The users, campaigns and apps.
    var texts = SharedTexts()
    /// The pressed close buttons of deliveries that have any.
    var closed: [SequenceNumber: Set<String>] = [:]
    /// The opens of deliveries that an earlier session start may still credit as an influenced open.
    var openings: [SequenceNumber: TrackedRow.Opening] = [:]
    var pendingStarts = Slab<WaitingStart?>()
    /// The interactions that wait for their delivery.
    var held = HeldInteractions()
    var sessionCount = 0
    var timers = Heap<TrackerTimer>()
    /// The number of stale timers.
    var staleTimers = 0
    /// The position in the heap where the last search for stale timers stopped.
    var staleHand = 0
    var clock = TrackerClock()
    private var hasMoreToForget = false
    /// Whether timers are due that exceeded the limits of the last call.
    var hasMoreDue = false

    /// - Parameters:
    ///   - stateID: the state directory's id; event ids derive from it.
    ///   - rules: the settings.
    public init(stateID: UUID128, rules: TrackerRules = TrackerRules()) {
        self.stateID = stateID
        self.rules = rules
        rememberSeconds = rules.remember.seconds
    }

    /// Whether a call left work because of its limits; ``takeDue(now:into:)`` continues it.
    var isBehind: Bool { hasMoreToForget || hasMoreDue }

    /// The number of remembered deliveries.
    public var count: Int { deliveries.count }

    /// Receives a Braze payload.
    ///
    /// - Parameters:
    ///   - delivery: the delivery; a message id, unique id or campaign id of more than 1,024 bytes counts as none.
    ///   - now: the clock.
    ///   - output: receives the receipt, and the results of interactions that waited for it.
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
        // A payload with an id of its own is identified by it; another delivery of an equal payload has the same id.
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
        if rules.reportsForeground, delivery.platform.reportsForegroundDelivery, delivery.inForeground,
            delivery.isDisplayed,
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

    /// Emits the events of a new or withdrawn push token of an app on a device.
    ///
    /// - Parameters:
    ///   - kind: the kind of change.
    ///   - token: the token.
    ///   - source: the request and its target.
    ///   - now: the clock.
    ///   - output: receives the events.
    public func token(
        _ kind: TokenRequest.Kind, _ token: String?, _ source: TrackerSource, now: WallTime,
        into output: inout TrackerOutput
    ) {
        let change = AnalyticsEvent.Content.tokenStateChange(kind, token: token)
        output.events.append(event(change, number: source.cause, source, at: min(source.at, now)))
        guard kind == .unregistered else { return }
        output.events.append(event(.uninstall, number: source.cause, source, at: min(source.at, now)))
    }

    /// Returns an earlier delivery on this device with the same message id, if it is the payload's own, or the same
    /// unique id.
    private func earlierReceipt(on device: UInt32, messageID: String?, uniqueID: String?) -> SequenceNumber? {
        if let messageID, let slot = deliveries.find(.message, messageID, device: device),
            deliveries[slot].flags.contains(.hasOwnID)
        {
            return SequenceNumber(deliveries[slot].seq)
        }
        let slot = uniqueID.flatMap { deliveries.find(.unique, $0, device: device) }
        return slot.map { SequenceNumber(deliveries[$0].seq) }
    }

    /// Returns the id if it is short enough to store. Real ids have at most a few hundred bytes, but a payload has room
    /// for far more.
    private static func trackable(_ id: String?) -> String? { id.flatMap { $0.utf8.count <= 1024 ? $0 : nil } }

    // MARK: Memory

    /// Reads the clock, and forgets deliveries that are too old.
    mutating func begin(_ now: WallTime, into output: inout TrackerOutput) {
        clock.read(now)
        forgetOld(into: &output)
    }

    /// The limit of forgotten deliveries, and of handled timers, in one call: a turn of the loop must be short.
    static let workAtOnce = 256

    /// Forgets deliveries that are too old or too many, up to the limit.
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

    /// Returns the time `age` seconds ago in Unix seconds; `.min` if the tracker does not forget by age.
    func horizon(_ age: Int64) -> Int64 { forgetsByAge ? clock.seconds.saturatingSubtract(age) : .min }

    /// Stores a delivery as the newest.
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

    /// Returns the app on a device; `nil` if it is not stored.
    private func find(_ name: String?, app: String?) -> UInt32? {
        texts.find(app).flatMap { devices.find(name, app: $0) }
    }

    /// Stores the app on a device, which must not be stored yet.
    private mutating func add(_ name: String?, app: String?) -> UInt32 { devices.add(name, app: texts.retain(app)) }

    /// Returns the app on a device; stores it if it is not.
    mutating func findOrAdd(_ name: String?, app: String?) -> UInt32 {
        find(name, app: app) ?? add(name, app: app)
    }

    /// Removes a device without remembered data.
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

    /// Returns an event about a delivery that was just received.
    private func event(
        _ content: AnalyticsEvent.Content, _ delivery: TrackedDelivery, at time: WallTime
    ) -> AnalyticsEvent {
        AnalyticsEvent(
            id: AnalyticsEvent.identifier(state: stateID, number: delivery.seq, kind: content.kind),
            time: time.seconds, seq: delivery.seq, delivery: delivery.seq, externalUserID: delivery.externalID,
            deviceID: delivery.device, appID: delivery.app, platform: delivery.platform, content: content)
    }

    /// Returns an event without a delivery.
    func event(
        _ content: AnalyticsEvent.Content, number: SequenceNumber, _ source: TrackerSource, at time: WallTime
    ) -> AnalyticsEvent {
        AnalyticsEvent(
            id: AnalyticsEvent.identifier(state: stateID, number: number, kind: content.kind), time: time.seconds,
            seq: source.cause, delivery: source.cause, externalUserID: source.externalID, deviceID: source.device,
            appID: source.app, platform: source.platform, content: content)
    }

    /// Returns an event about a remembered delivery with another cause.
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

    /// Returns the facts about a remembered delivery for an event.
    func push(_ slot: UInt32) -> AnalyticsEvent.Push {
        AnalyticsEvent.Push(
            campaignID: texts[deliveries[slot].campaign], messageID: deliveries.messageID(of: slot))
    }
}

extension Platform {
    /// Whether the provider has an event for a push displayed by an app in the foreground.
    fileprivate var reportsForegroundDelivery: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }
}

/// The source of an event: the request, its target, and the time.
public struct TrackerSource: Hashable, Sendable {
    /// The number of the request.
    public var cause: SequenceNumber
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user; `nil`: anonymous.
    public var externalID: String?
    /// The time of the event.
    public var at: WallTime
}
