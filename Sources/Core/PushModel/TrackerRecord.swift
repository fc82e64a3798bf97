/// A change of the tracker's state. The ledger writes it in one transaction with the events of the same turn, in order,
/// so that after a crash the tracker's state and its events agree.
///
/// Large rows are behind a reference; the records that a session start gives for each delivery allocate nothing. A row
/// has only the fields that a restart needs, without those of its delivery's `Received` event.
public enum TrackerRecord: Hashable, Sendable {
    /// A new delivery.
    indirect case delivery(TrackedRow)
    /// A delivery was opened at this time by that request: sets columns of its row.
    case opened(SequenceNumber, at: WallTime, by: SequenceNumber)
    /// A delivery had its influenced open: sets a column of its row.
    case influenced(SequenceNumber)
    /// A delivery that is no longer remembered.
    case forgottenDelivery(SequenceNumber)
    /// The verdict on an interaction: a new row for each, for figures that events do not show.
    indirect case interaction(InteractionRow)
    /// A session; replaces the row with the same number. An app on a device has at most one.
    indirect case session(SessionRow)
    /// A session that is no longer needed.
    case forgottenSession(SequenceNumber)
    /// The latest session starts of a user; replaces the row with the same number.
    indirect case starts(StartsRow)
    /// The session starts of a user, by their number, are no longer remembered.
    case forgottenStarts(SequenceNumber)
    /// A session start whose influenced opens are not decided yet; keyed by its cause.
    indirect case pendingStart(PendingStart)
    /// The influenced opens of a session start are decided; deletes its row.
    case decidedStart(SequenceNumber)
    /// An interaction that waits for its delivery; keyed by its cause.
    indirect case held(HeldInteraction)
    /// A held interaction no longer waits; deletes its row.
    case settled(SequenceNumber)
}

/// A delivery that may still be opened. The `Received` event with the same number has its other fields.
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
    /// The time of receipt in milliseconds.
    public var receivedAt: WallTime
    /// The time by the clock when the tracker took it over; the time to forget it counts from here.
    public var since: WallTime
    /// Whether it was displayed (T9).
    public var isDisplayed: Bool
    /// Whether its message id is the payload's own.
    public var hasOwnID: Bool
    /// The id by which the provider's SDK drops a second receipt.
    public var uniqueID: String?
    /// The digest of its payload; `nil` if the message id identifies it.
    public var digest: UInt64?
    /// Its buttons in the tracker's own encoding; empty if it has none.
    public var buttons: [UInt8]
    /// Its open, if it was opened.
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

/// The fields of a delivery's `Received` event that the tracker remembers, beside its ``TrackedRow``.
public struct TrackedReceipt: Hashable, Sendable {
    /// The user; `nil` if unknown.
    public var externalUserID: String?
    /// The device; `nil` if the request named none.
    public var deviceID: String?
    /// The app; `nil` if the request named none.
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

/// The verdict on an interaction, with its facts.
public struct InteractionRow: Hashable, Sendable {
    /// The request that reported it.
    public var cause: SequenceNumber
    /// The delivery of the interaction; `nil` if the tracker found none.
    public var delivery: SequenceNumber?
    /// The verdict.
    public var verdict: Interaction.Verdict
    /// The button's id; `nil` for the body and a dismissal.
    public var button: String?
    /// The action of the button; `nil` also for a button whose action is unknown.
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
        /// The time by the clock from which it can no longer be resumed.
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
    /// The time of the start.
    public var startedAt: WallTime
    /// Its end; `nil` while it is open.
    public var end: End?
    /// The time by the clock when it last began, was resumed or ended; the time to forget it counts from here.
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
    /// The user, or an anonymous user's device, in an app.
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

    /// The request whose session start made the row: the key of the row. It is unique, because a request begins at most
    /// one session.
    public var number: SequenceNumber
    /// The user and the app.
    public var key: Key
    /// The times of at most ten starts, the earliest first.
    public var starts: [WallTime]
    /// The time by the clock when the last start was added; the time to forget them counts from here.
    public var since: WallTime

    public init(number: SequenceNumber, key: Key, starts: [WallTime], since: WallTime) {
        (self.number, self.key, self.starts, self.since) = (number, key, starts, since)
    }
}

/// A session start whose influenced opens wait for the end of the grace (T6).
public struct PendingStart: Hashable, Sendable {
    /// The request that reported the start, or the tap that led to it.
    public var cause: SequenceNumber
    /// The app on the device.
    public var key: DeviceKey
    /// The user of the session.
    public var externalID: String?
    /// The time of the start.
    public var at: WallTime
    /// The window in milliseconds: a delivery received less than this before the start can be credited.
    public var window: Int64
    /// The time by the clock when it is decided.
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
    /// The time by the clock when the tracker gives it up.
    public var due: WallTime

    public init(_ interaction: Interaction, due: WallTime) {
        (self.interaction, self.due) = (interaction, due)
    }
}
