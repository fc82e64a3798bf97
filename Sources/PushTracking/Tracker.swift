public import PushModel

/// The native tracker of opens: takes over Braze payloads and says which analytics events follow.
///
/// A pure value. It remembers the deliveries that may still be opened, the newest `capacity` of them and
/// none older than `retention`, and is rebuilt at start from the events that the ledger holds.
/// The rules are those of the tracker's table: T1 to T3, and T14 for repeats.
public struct Tracker: Sendable {
    /// Which ids the events of this state directory get.
    public let stateID: UUID128
    private let capacity: Int
    private let retention: Duration

    private var deliveries: [SequenceNumber: TrackedDelivery] = [:]
    private var latest: [Name: SequenceNumber] = [:]
    private var oldestFirst = Queue<SequenceNumber>()

    /// - Parameters:
    ///   - stateID: the state directory's id; events derive their ids from it.
    ///   - capacity: how many deliveries are remembered at most.
    ///   - retention: how long a delivery can be opened.
    public init(stateID: UUID128, capacity: Int = 1_000_000, retention: Duration = .seconds(30 * 86_400)) {
        self.stateID = stateID
        self.capacity = capacity
        self.retention = retention
    }

    /// How many deliveries are remembered.
    public var count: Int { deliveries.count }

    /// Takes over a Braze payload.
    ///
    /// - Returns: the receipt; `nil` for a message id that this device had before (T14).
    public mutating func receive(_ delivery: TrackedDelivery, at time: WallTime) -> AnalyticsEvent? {
        if let message = delivery.messageID,
            let earlier = latest[Name(device: delivery.device, subject: .message(message))],
            deliveries[earlier]?.app == delivery.app
        {
            return nil
        }
        remember(delivery)
        forget(before: time)
        return event(.received, cause: delivery.seq, about: delivery, user: delivery.externalID, at: time)
    }

    /// The delivery that an interaction is about, as far as it is remembered.
    public func delivery(for subject: Subject, app: String?, device: String?) -> TrackedDelivery? {
        let found: TrackedDelivery? =
            switch subject {
            case .delivery(let seq): deliveries[seq]
            case .message, .campaign: latest[Name(device: device, subject: subject)].flatMap { deliveries[$0] }
            }
        guard let found, device == nil || found.device == device else { return nil }
        guard app == nil || found.app == nil || found.app == app else { return nil }
        return found
    }

    /// Records a tap on the body of a remembered delivery.
    ///
    /// - Returns: the open with its event; or why there is none.
    public mutating func open(
        _ seq: SequenceNumber, by user: String?, cause: SequenceNumber, at time: WallTime
    ) -> OpenResult {
        guard let delivery = deliveries[seq] else { return .unknown }
        guard !delivery.opened else { return .alreadyOpened }
        deliveries[seq]?.opened = true
        guard delivery.campaignID != nil else { return .unattributed }
        return .opened(event(.open, cause: cause, about: delivery, user: user ?? delivery.externalID, at: time))
    }

    /// Takes in what an earlier run of the daemon decided; in the order in which it was decided.
    public mutating func restore(_ event: AnalyticsEvent) {
        switch event.kind {
        case .received:
            remember(
                TrackedDelivery(
                    seq: event.delivery, platform: event.platform, app: event.appID, device: event.deviceID,
                    externalID: event.externalUserID, messageID: event.messageID, campaignID: event.campaignID,
                    receivedAt: WallTime(milliseconds: event.time * 1000)))
        case .open:
            deliveries[event.delivery]?.opened = true
        }
    }

    private mutating func remember(_ delivery: TrackedDelivery) {
        deliveries[delivery.seq] = delivery
        oldestFirst.append(delivery.seq)
        for name in names(of: delivery) { latest[name] = delivery.seq }
        while deliveries.count > capacity { forgetOldest() }
    }

    private mutating func forget(before now: WallTime) {
        let horizon = now.milliseconds - retention.milliseconds
        while let seq = oldestFirst.first, let oldest = deliveries[seq], oldest.receivedAt.milliseconds < horizon {
            forgetOldest()
        }
    }

    private mutating func forgetOldest() {
        guard let seq = oldestFirst.popFirst(), let delivery = deliveries.removeValue(forKey: seq) else { return }
        for name in names(of: delivery) where latest[name] == seq { latest[name] = nil }
    }

    /// What an interaction may call the delivery by, beside its number.
    private func names(of delivery: TrackedDelivery) -> [Name] {
        var names: [Name] = []
        if let message = delivery.messageID { names.append(Name(device: delivery.device, subject: .message(message))) }
        // FCM payloads always carry an id; those of APNs and web push come back without one.
        if delivery.platform != .android, let campaign = delivery.campaignID {
            names.append(Name(device: delivery.device, subject: .campaign(campaign)))
        }
        return names
    }

    private func event(
        _ kind: AnalyticsEvent.Kind, cause: SequenceNumber, about delivery: TrackedDelivery, user: String?,
        at time: WallTime
    ) -> AnalyticsEvent {
        AnalyticsEvent(
            id: AnalyticsEvent.identifier(state: stateID, cause: cause, kind: kind), kind: kind, time: time.seconds,
            seq: cause, delivery: delivery.seq, externalUserID: user, deviceID: delivery.device, appID: delivery.app,
            platform: delivery.platform, campaignID: delivery.campaignID, messageID: delivery.messageID)
    }
}

/// How an interaction names its delivery.
public enum Subject: Hashable, Sendable {
    /// By its number.
    case delivery(SequenceNumber)
    /// By the payload's own id; the latest on that device.
    case message(String)
    /// By the campaign, for a payload that carries no id of its own; the latest on that device.
    case campaign(String)
}

/// What a tap led to.
public enum OpenResult: Hashable, Sendable {
    /// A direct open (T1).
    case opened(AnalyticsEvent)
    /// It was opened before; counts nothing (T2).
    case alreadyOpened
    /// It has no campaign id, so there is nothing to attribute it to (T3).
    case unattributed
    /// It is not remembered.
    case unknown
}

private struct Name: Hashable {
    var device: String?
    var subject: Subject
}
