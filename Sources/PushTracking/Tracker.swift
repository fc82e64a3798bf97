public import PushModel

/// The native tracker of opens: takes over Braze payloads and says which analytics events follow.
///
/// A pure value. It remembers the deliveries that may still be opened, the newest `capacity` of them and
/// none that it took over longer than `retention` ago, and is rebuilt at start from the events that the ledger holds.
/// The rules are those of the tracker's table: T1 to T3, and T14 for repeats.
public struct Tracker: Sendable {
    /// Which ids the events of this state directory get.
    public let stateID: UUID128
    private let capacity: Int
    private let retention: Duration

    private var deliveries: [SequenceNumber: Remembered] = [:]
    /// Those among them that were opened; a delivery is opened once.
    private var opened: Set<SequenceNumber> = []
    private var latest: [Name: SequenceNumber] = [:]
    private var oldestFirst = Queue<(seq: SequenceNumber, since: WallTime)>()
    private var pool = TextPool()

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
    /// - Parameters:
    ///   - delivery: the delivery.
    ///   - hasOwnID: whether its message id is the payload's own. Only such an id tells a repeat (T14): the request's
    ///     id, which stands in for it, is unique for its producer alone.
    ///   - now: the clock; what is remembered for too long is forgotten by it, whatever times the requests give.
    /// - Returns: the receipt; `nil` for a message that this device had before.
    public mutating func receive(_ delivery: TrackedDelivery, hasOwnID: Bool, now: WallTime) -> AnalyticsEvent? {
        if hasOwnID, delivery.device != nil, let message = delivery.messageID,
            let earlier = self.delivery(for: .message(message), app: nil, device: delivery.device),
            earlier.app == delivery.app, earlier.device == delivery.device
        {
            return nil
        }
        remember(delivery, since: now)
        forget(before: now)
        return event(
            .received, cause: delivery.seq, about: delivery, user: delivery.externalID, at: delivery.receivedAt)
    }

    /// The delivery that an interaction is about, as far as it is remembered; without a device, the latest on any.
    public func delivery(for subject: Subject, app: String?, device: String?) -> TrackedDelivery? {
        let found: TrackedDelivery? =
            switch subject {
            case .delivery(let seq): deliveries[seq]?.delivery
            case .message, .campaign:
                latest[Name(device: device, subject: subject)].flatMap { deliveries[$0]?.delivery }
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
        guard let delivery = deliveries[seq]?.delivery else { return .unknown }
        guard opened.insert(seq).inserted else { return .alreadyOpened }
        guard delivery.campaignID != nil else { return .unattributed }
        return .opened(event(.open, cause: cause, about: delivery, user: user ?? delivery.externalID, at: time))
    }

    /// Takes in what an earlier run of the daemon decided: a delivery's receipt before its open.
    ///
    /// The tap on a delivery without a campaign leaves no event, so that much is not known after a restart.
    public mutating func restore(_ event: AnalyticsEvent) {
        switch event.kind {
        case .received:
            let time = WallTime(milliseconds: event.time * 1000)
            let delivery = TrackedDelivery(
                seq: event.delivery, platform: event.platform, app: event.appID, device: event.deviceID,
                externalID: event.externalUserID, messageID: event.messageID, campaignID: event.campaignID,
                receivedAt: time)
            remember(delivery, since: time)
        case .open:
            if deliveries[event.delivery] != nil { opened.insert(event.delivery) }
        }
    }

    private mutating func remember(_ delivery: TrackedDelivery, since time: WallTime) {
        deliveries[delivery.seq] = Remembered(pool.share(delivery))
        oldestFirst.append((delivery.seq, time))
        delivery.forEachName { name in
            // One that waited in its lane is taken over after those that came later; the number says what is latest.
            if let other = latest[name], other > delivery.seq { return }
            latest[name] = delivery.seq
        }
        while deliveries.count > capacity { forgetOldest() }
    }

    private mutating func forget(before now: WallTime) {
        let horizon = now.milliseconds - retention.milliseconds
        while let oldest = oldestFirst.first, oldest.since.milliseconds < horizon { forgetOldest() }
    }

    private mutating func forgetOldest() {
        guard let (seq, _) = oldestFirst.popFirst(), let old = deliveries.removeValue(forKey: seq) else { return }
        opened.remove(seq)
        old.delivery.forEachName { name in
            if latest[name] == seq { latest[name] = nil }
        }
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

/// A delivery behind a reference: a dictionary has room for twice what is in it, and a delivery is large.
private final class Remembered: Sendable {
    let delivery: TrackedDelivery

    init(_ delivery: TrackedDelivery) { self.delivery = delivery }
}

/// Texts that many deliveries have in common, each held once. Begins anew when there are too many different ones.
private struct TextPool {
    private var texts: Set<String> = []

    mutating func share(_ delivery: TrackedDelivery) -> TrackedDelivery {
        var shared = delivery
        shared.app = share(delivery.app)
        shared.campaignID = share(delivery.campaignID)
        return shared
    }

    private mutating func share(_ text: String?) -> String? {
        guard let text else { return nil }
        if texts.count == 1024 { texts = [] }
        return texts.insert(text).memberAfterInsert
    }
}

/// What an interaction may call a delivery by; without a device, the latest on any.
private struct Name: Hashable {
    var device: String?
    var subject: Subject
}

extension TrackedDelivery {
    /// Its names beside its number: on its device, and on any.
    fileprivate func forEachName(_ body: (Name) -> Void) {
        func name(_ subject: Subject) {
            body(Name(device: device, subject: subject))
            if device != nil { body(Name(device: nil, subject: subject)) }
        }
        if let messageID { name(.message(messageID)) }
        // FCM payloads always carry an id; those of APNs and web push come back without one.
        if platform != .android, let campaignID { name(.campaign(campaignID)) }
    }
}
