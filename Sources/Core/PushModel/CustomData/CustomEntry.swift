/// The number of an entry of custom data: one counter a state directory, increasing in the order in which entries were
/// saved; never reused once acknowledged, gaps allowed.
public struct EntryNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number itself; the first one is 1.
    public var value: Int64

    /// - Parameter value: the number itself.
    public init(_ value: Int64) { self.value = value }

    /// The number that follows.
    public var next: EntryNumber { EntryNumber(value + 1) }

    public var description: String { String(value) }

    public static func < (left: EntryNumber, right: EntryNumber) -> Bool { left.value < right.value }
}

extension EntryNumber: ShardedKey {
    public var shardHash: UInt64 { SequenceNumber(value).shardHash }
}

/// What an entry of custom data tells. The raw values are the wire names.
public enum EntryKind: String, Sendable, CaseIterable {
    /// Something happened: a name, with properties.
    case customEvent = "custom_event"
    /// Fields of the profile that the customer defines.
    case customAttributes = "custom_attributes"
    /// Fields of the profile that the provider defines: `email`, `first_name`, ...
    case userAttributes = "user_attributes"

    /// The key under which an app's storage has entries of this kind: each its own, so that they never mix.
    public var storageKey: String {
        switch self {
        case .customEvent: "pending_custom_events"
        case .customAttributes: "pending_custom_attributes"
        case .userAttributes: "pending_user_attributes"
        }
    }
}

/// How `/users/track` finds a profile.
public enum UserIdentifier: Hashable, Sendable {
    /// The customer's own id of the user.
    case externalID(String)
    /// The provider's id of the profile.
    case brazeID(String)
    /// A name of the user that holds within a label.
    case alias(name: String, label: String)
}

/// Where an entry is to go.
public enum EntryWay: Hashable, Sendable {
    /// Kept in a suite (an app group, or `standard`) until the app's next session start. The profile is where it goes if
    /// what is flushed is sent as well (`SendFlushed=`), in place of the session's user.
    case stored(suite: String, brazeID: String? = nil)
    /// At once to `/users/track`, for this profile.
    case sent(UserIdentifier)

    /// To nobody: of what a track sets aside because it cannot tell whose profile it is. Never sent.
    public static let nobody = EntryWay.sent(.brazeID(""))

    /// The storage of the app itself, beside its app groups.
    public static let standardSuite = "standard"
}

/// Where an entry is on its way. The raw values are the names in the ledger.
public enum EntryState: String, Sendable, CaseIterable {
    /// In its suite, until the app's next session start.
    case pending
    /// Told or set at a session start: its end.
    case flushed
    /// To be sent.
    case queued
    /// With the forwarder: it may be sent at any moment, or has been.
    case claimed
    /// Accepted by the endpoint: its end.
    case sent
    /// It may have been sent, and nobody knows whether it was accepted. Waits for a person (`OnUnknown=hold`).
    case unknown
    /// Set aside with a reason.
    case rejected
    /// Taken out by a person: its end.
    case discarded
}

/// One entry of custom data: an event, or attributes that are set together.
public struct CustomEntry: Hashable, Sendable {
    /// Its number.
    public var number: EntryNumber
    /// The request that it comes from.
    public var cause: SequenceNumber
    /// What it tells.
    public var kind: EntryKind
    /// Where it is to go.
    public var way: EntryWay
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user, if the producer named one.
    public var externalID: String?
    /// The name of an event; `nil` for attributes.
    public var name: String?
    /// The properties of the event, or the attributes: a JSON object without white space, checked. Of a rejected entry
    /// whatever JSON came, or nothing: it is missing, or there was no room for it.
    public var data: [UInt8]
    /// When it happened, as the producer says.
    public var time: WallTime
    /// When it was saved, by the clock.
    public var savedAt: WallTime

    public init(
        number: EntryNumber, cause: SequenceNumber, kind: EntryKind, way: EntryWay, platform: Platform, app: String?,
        device: String?, externalID: String?, name: String?, data: [UInt8], time: WallTime, savedAt: WallTime
    ) {
        self.number = number
        self.cause = cause
        self.kind = kind
        self.way = way
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.name = name
        self.data = data
        self.time = time
        self.savedAt = savedAt
    }
}
