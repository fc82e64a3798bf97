/// A change of the tracker's state. It is written in one transaction with the events of the same turn, in order, so that
/// after a crash the tracker knows exactly what its events say.
///
/// Large rows are behind a reference; what a session start gives for each delivery needs no memory of its own. Rows are the
/// least that a restart needs. What a row shares with its delivery's `Received` event is not in it.
public enum TrackerRecord: Hashable, Sendable {
    /// A new delivery.
    indirect case delivery(TrackedRow)
    /// A delivery was opened, at this time, by that request: columns of its row.
    case opened(SequenceNumber, at: WallTime, by: SequenceNumber)
    /// A delivery had its influenced open: a column of its row.
    case influenced(SequenceNumber)
    /// A delivery that is no longer remembered.
    case forgottenDelivery(SequenceNumber)
    /// What became of an interaction: a new row, one for each, for the figures that events do not show.
    indirect case interaction(InteractionRow)
    /// A session; replaces what was known under its number. An app on a device has one at most.
    indirect case session(SessionRow)
    /// A session that there is no need to know of any more.
    case forgottenSession(SequenceNumber)
    /// The latest session starts of a user; replaces what was known under their number.
    indirect case starts(StartsRow)
    /// The session starts of a user are no longer remembered; by their number.
    case forgottenStarts(SequenceNumber)
    /// A session start whose influenced opens are not decided yet; keyed by its cause.
    indirect case pendingStart(PendingStart)
    /// The influenced opens of that session start are decided: its row goes.
    case decidedStart(SequenceNumber)
    /// An interaction that waits for its delivery; keyed by its cause.
    indirect case held(HeldInteraction)
    /// That interaction waits no more: its row goes.
    case settled(SequenceNumber)
}

/// A delivery that may still be opened; what is not here is in the `Received` event with the same number.
public struct TrackedRow: Hashable, Sendable {
    /// The open of a delivery.
    public struct Opening: Hashable, Sendable {
        /// When it was opened.
        public var at: WallTime
        /// The request that told of it.
        public var by: SequenceNumber

        public init(at: WallTime, by: SequenceNumber) {
            (self.at, self.by) = (at, by)
        }
    }

    /// Its number.
    public var seq: SequenceNumber
    /// When it was received, to the millisecond.
    public var receivedAt: WallTime
    /// When the tracker took it over, by the clock: what it is forgotten by.
    public var since: WallTime
    /// Whether it was displayed (T9).
    public var isDisplayed: Bool
    /// Whether its message id is the payload's own.
    public var hasOwnID: Bool
    /// The id by which the provider's SDK drops a second receipt.
    public var uniqueID: String?
    /// The digest of its payload; `nil` where the message id tells.
    public var digest: UInt64?
    /// Its buttons, in the tracker's own form; empty without any.
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

/// What the tracker remembers of the event of a delivery's receipt, beside its ``TrackedRow``.
public struct TrackedReceipt: Hashable, Sendable {
    /// The user; `nil` where none was known.
    public var externalUserID: String?
    /// The device; `nil` where none was named.
    public var deviceID: String?
    /// The app; `nil` where none was named.
    public var appID: String?
    /// The platform.
    public var platform: Platform
    /// The campaign; `nil` without one.
    public var campaignID: String?
    /// The message id; `nil` without one.
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

/// What became of an interaction.
public struct InteractionRow: Hashable, Sendable {
    /// The request that told of it.
    public var cause: SequenceNumber
    /// The delivery it was about, as far as one was found.
    public var delivery: SequenceNumber?
    /// What became of it.
    public var verdict: Interaction.Verdict
    /// The button's id; `nil` for the body and a dismissal.
    public var button: String?
    /// What the button does; `nil` for one that is not known, too.
    public var buttonAction: ButtonAction?
    /// When it was done.
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

/// The session of an app on a device: open, or ended so lately that it can be resumed.
public struct SessionRow: Hashable, Sendable {
    /// The end of a session.
    public struct End: Hashable, Sendable {
        /// When it ended.
        public var at: WallTime
        /// The request that told of it.
        public var by: SequenceNumber
        /// When it can no longer be resumed, by the clock.
        public var due: WallTime

        public init(at: WallTime, by: SequenceNumber, due: WallTime) {
            (self.at, self.by, self.due) = (at, by, due)
        }
    }

    /// The request that began it: the row's key.
    public var number: SequenceNumber
    /// The app on the device.
    public var key: DeviceKey
    /// The platform.
    public var platform: Platform
    /// Whose it is; `nil`: anonymous.
    public var externalID: String?
    /// When it began.
    public var startedAt: WallTime
    /// Its end; `nil` while it is open.
    public var end: End?
    /// When it began, was resumed or ended, by the clock: what it is forgotten by.
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
    /// Whose, in which app.
    public struct Key: Hashable, Sendable {
        /// The user, or the device of one who is anonymous.
        public var owner: String
        /// Whether `owner` is a device.
        public var isAnonymous: Bool
        /// The app.
        public var app: String?

        public init(owner: String, isAnonymous: Bool, app: String?) {
            (self.owner, self.isAnonymous, self.app) = (owner, isAnonymous, app)
        }
    }

    /// The request whose start made the row: its key. A request begins one session at most, so no two rows have the same.
    public var number: SequenceNumber
    /// Whose.
    public var key: Key
    /// At most ten times, the earliest first.
    public var starts: [WallTime]
    /// When the last one was taken in, by the clock: what they are forgotten by.
    public var since: WallTime

    public init(number: SequenceNumber, key: Key, starts: [WallTime], since: WallTime) {
        (self.number, self.key, self.starts, self.since) = (number, key, starts, since)
    }
}

/// A session start whose influenced opens wait for the end of the grace (T6).
public struct PendingStart: Hashable, Sendable {
    /// The request that told of it, or of the tap that led to it.
    public var cause: SequenceNumber
    /// The app on the device.
    public var key: DeviceKey
    /// Whose session it is.
    public var externalID: String?
    /// When it began.
    public var at: WallTime
    /// What was received less than this before can be credited, in milliseconds.
    public var window: Int64
    /// When it is decided, by the clock.
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
    /// When it is given up, by the clock.
    public var due: WallTime

    public init(_ interaction: Interaction, due: WallTime) {
        (self.interaction, self.due) = (interaction, due)
    }
}
