/// A change of the tracker's state. The daemon writes it in one transaction with the events of the same turn, in order,
/// so that after a crash the tracker's state agrees with its events.
///
/// Large rows are `indirect`; the records that a session start makes for each delivery need no allocation. A row has
/// only what a restart needs, and omits the facts that its delivery's `Received` event has.
public enum TrackerRecord: Hashable, Sendable {
    /// A new delivery.
    indirect case delivery(TrackedRow)
    /// A request opened a delivery at this time: columns of the delivery's row.
    case opened(SequenceNumber, at: WallTime, by: SequenceNumber)
    /// A delivery had its influenced open: sets a column of its row.
    case influenced(SequenceNumber)
    /// The tracker no longer remembers a delivery.
    case forgottenDelivery(SequenceNumber)
    /// The verdict on an interaction: one new row for each, for the figures that events do not show.
    indirect case interaction(InteractionRow)
    /// A session; replaces the row of its number. An app on a device has one at most.
    indirect case session(SessionRow)
    /// The tracker no longer needs a session.
    case forgottenSession(SequenceNumber)
    /// The latest session starts of a user; replaces the row of their number.
    indirect case starts(StartsRow)
    /// The tracker no longer remembers the session starts of a user, by their number.
    case forgottenStarts(SequenceNumber)
    /// A session start with undecided influenced opens; the row's key is the cause.
    indirect case pendingStart(PendingStart)
    /// The influenced opens of a session start are decided: deletes its row.
    case decidedStart(SequenceNumber)
    /// An interaction that waits for its delivery; the row's key is the cause.
    indirect case held(HeldInteraction)
    /// A held interaction is settled: deletes its row.
    case settled(SequenceNumber)
}

/// A delivery that may still be opened. Its other facts are in the `Received` event with the same number.
public struct TrackedRow: Hashable, Sendable {
    /// The open of a delivery.
    public struct Opening: Hashable, Sendable {
        /// The time of the open.
        public var at: WallTime
        /// The request that reported it.
        public var by: SequenceNumber

        public init(at: WallTime, by: SequenceNumber) {
            (self.at, self.by) = (at, by)
        }
    }

    /// The number of the delivery.
    public var seq: SequenceNumber
    /// The time of receipt, to the millisecond.
    public var receivedAt: WallTime
    /// The daemon's clock when the tracker took the delivery over; its retention counts from then.
    public var since: WallTime
    /// Whether it was displayed (T9).
    public var isDisplayed: Bool
    /// Whether its message id is the payload's own.
    public var hasOwnID: Bool
    /// The id by which the provider's SDK detects a repeated receipt.
    public var uniqueID: String?
    /// The digest of its payload; `nil` if the message id identifies the delivery.
    public var digest: UInt64?
    /// Its buttons in the tracker's own encoding; empty if it has none.
    public var buttons: [UInt8]
    /// Its open; `nil` if nobody opened it.
    public var opened: Opening?
    /// Whether it had its influenced open.
    public var isInfluenced: Bool

    public init(
        seq: SequenceNumber, receivedAt: WallTime, since: WallTime, isDisplayed: Bool, hasOwnID: Bool,
        uniqueID: String?, digest: UInt64?, buttons: [UInt8], opened: Opening? = nil, isInfluenced: Bool = false
    ) {
        self.seq = seq
        self.receivedAt = receivedAt
        self.since = since
        self.isDisplayed = isDisplayed
        self.hasOwnID = hasOwnID
        self.uniqueID = uniqueID
        self.digest = digest
        self.buttons = buttons
        self.opened = opened
        self.isInfluenced = isInfluenced
    }
}

/// The facts of a delivery's `Received` event that the tracker remembers beside its ``TrackedRow``.
public struct TrackedReceipt: Hashable, Sendable {
    /// The user; `nil` if none was known.
    public var externalUserID: String?
    /// The device; `nil` if none was named.
    public var deviceID: String?
    /// The app; `nil` if none was named.
    public var appID: String?
    /// The platform.
    public var platform: Platform
    /// The campaign; `nil` if there is none.
    public var campaignID: String?
    /// The message id; `nil` if there is none.
    public var messageID: String?

    public init(
        externalUserID: String?, deviceID: String?, appID: String?, platform: Platform, campaignID: String?,
        messageID: String?
    ) {
        self.externalUserID = externalUserID
        self.deviceID = deviceID
        self.appID = appID
        self.platform = platform
        self.campaignID = campaignID
        self.messageID = messageID
    }
}

/// The tracker's verdict on an interaction.
public struct InteractionRow: Hashable, Sendable {
    /// The request that reported it.
    public var cause: SequenceNumber
    /// The delivery; `nil` if the tracker found none.
    public var delivery: SequenceNumber?
    /// The verdict.
    public var verdict: Interaction.Verdict
    /// The button's id; `nil` for the body and a dismissal.
    public var button: String?
    /// The button's action; `nil` also for an unknown button.
    public var buttonAction: ButtonAction?
    /// The time of the interaction.
    public var at: WallTime

    public init(
        cause: SequenceNumber, delivery: SequenceNumber?, verdict: Interaction.Verdict, button: String?,
        buttonAction: ButtonAction?, at: WallTime
    ) {
        self.cause = cause
        self.delivery = delivery
        self.verdict = verdict
        self.button = button
        self.buttonAction = buttonAction
        self.at = at
    }
}

/// The session of an app on a device: open, or ended so recently that it can be resumed.
public struct SessionRow: Hashable, Sendable {
    /// The end of a session.
    public struct End: Hashable, Sendable {
        /// The time of the end.
        public var at: WallTime
        /// The request that reported it.
        public var by: SequenceNumber
        /// The time by the daemon's clock from which the session cannot be resumed.
        public var due: WallTime

        public init(at: WallTime, by: SequenceNumber, due: WallTime) {
            (self.at, self.by, self.due) = (at, by, due)
        }
    }

    /// The request that began it: the key of the row.
    public var number: SequenceNumber
    /// The app on the device.
    public var key: DeviceKey
    /// The platform.
    public var platform: Platform
    /// The user; `nil`: anonymous.
    public var externalID: String?
    /// The time of the beginning.
    public var startedAt: WallTime
    /// Its end; `nil` while it is open.
    public var end: End?
    /// The daemon's clock when the session began, was resumed or ended; its retention counts from then.
    public var since: WallTime

    public init(
        number: SequenceNumber, key: DeviceKey, platform: Platform, externalID: String?, startedAt: WallTime,
        end: End?, since: WallTime
    ) {
        self.number = number
        self.key = key
        self.platform = platform
        self.externalID = externalID
        self.startedAt = startedAt
        self.end = end
        self.since = since
    }
}

/// The latest session starts of a user in an app.
public struct StartsRow: Hashable, Sendable {
    /// The user and the app of session starts.
    public struct Key: Hashable, Sendable {
        /// The user, or the device of an anonymous user.
        public var owner: String
        /// Whether `owner` is a device.
        public var isAnonymous: Bool
        /// The app.
        public var app: String?

        public init(owner: String, isAnonymous: Bool, app: String?) {
            (self.owner, self.isAnonymous, self.app) = (owner, isAnonymous, app)
        }
    }

    /// The request whose session start made the row: its key. A request begins at most one session, so the key is
    /// unique.
    public var number: SequenceNumber
    /// The user and the app.
    public var key: Key
    /// The times of at most ten starts, the earliest first.
    public var starts: [WallTime]
    /// The daemon's clock when the tracker got the last start; their retention counts from then.
    public var since: WallTime

    public init(number: SequenceNumber, key: Key, starts: [WallTime], since: WallTime) {
        (self.number, self.key, self.starts, self.since) = (number, key, starts, since)
    }
}

/// A session start whose influenced opens wait for the end of the grace (T6).
public struct PendingStart: Hashable, Sendable {
    /// The request that reported the session start, or the tap that led to it.
    public var cause: SequenceNumber
    /// The app on the device.
    public var key: DeviceKey
    /// The user of the session.
    public var externalID: String?
    /// The time of the start.
    public var at: WallTime
    /// The window of attribution in milliseconds: deliveries received less than this before the start can be credited.
    public var window: Int64
    /// The time by the daemon's clock at which the tracker decides the influenced opens.
    public var due: WallTime

    public init(
        cause: SequenceNumber, key: DeviceKey, externalID: String?, at: WallTime, window: Int64, due: WallTime
    ) {
        self.cause = cause
        self.key = key
        self.externalID = externalID
        self.at = at
        self.window = window
        self.due = due
    }
}

/// An interaction that waits for its delivery until the end of the grace (T15).
public struct HeldInteraction: Hashable, Sendable {
    /// The interaction.
    public var interaction: Interaction
    /// The time by the daemon's clock at which the tracker gives up waiting.
    public var due: WallTime

    public init(_ interaction: Interaction, due: WallTime) {
        (self.interaction, self.due) = (interaction, due)
    }
}
