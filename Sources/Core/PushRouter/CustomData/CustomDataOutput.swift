public import PushModel

/// The decisions of one turn, appended in order.
public struct CustomDataOutput: Sendable {
    /// New events.
    public var events: [AnalyticsEvent] = []
    /// Changes of the state, to be written in one transaction with the events.
    public var records: [CustomDataRecord] = []

    /// An output without events and records.
    public init() {}
}

/// The origin and the time of custom data.
public struct EntrySource: Hashable, Sendable {
    /// The request.
    public var cause: SequenceNumber
    /// The suite or the profile that the entry goes to.
    public var destination: EntryDestination
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user that the producer names; `nil`: the user at the time of the flush.
    public var externalID: String?
    /// When the event happened.
    public var at: WallTime

    public init(
        cause: SequenceNumber, destination: EntryDestination, platform: Platform, app: String?, device: String?,
        externalID: String?,
        at: WallTime
    ) {
        self.cause = cause
        self.destination = destination
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.at = at
    }
}

/// A session start that flushes, or a person's order to flush without one.
public struct SessionStart: Hashable, Sendable {
    /// The request that caused it; `nil` for a person's order.
    public var cause: SequenceNumber?
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user; `nil`: anonymous.
    public var externalID: String?
    /// The time of the session start.
    public var at: WallTime

    public init(
        cause: SequenceNumber?, platform: Platform, app: String?, device: String?, externalID: String?, at: WallTime
    ) {
        self.cause = cause
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.at = at
    }
}

/// The reason why a part of logged data was rejected.
public struct Rejection: Hashable, Sendable {
    /// The number of the rejected entry.
    public var number: EntryNumber
    /// The problem of the rejected part.
    public var problem: EntryProblem

    init(number: EntryNumber, problem: EntryProblem) {
        (self.number, self.problem) = (number, problem)
    }

    /// The rejection of a rejected entry in the ledger.
    init(of record: EntryRecord) {
        number = record.entry.number
        // A backup may lack the problem.
        problem = record.problem ?? EntryProblem(.unknown, record.reason ?? "")
    }
}

/// The counts of waiting entries, for the status.
public struct CustomDataSummary: Hashable, Sendable {
    /// Entries in suites.
    public var pending = 0
    /// Entries to be sent, without those that the forwarder holds.
    public var queued = 0
    /// Entries that the forwarder holds.
    public var claimed = 0
    /// Entries of unknown outcome that wait for a person.
    public var unknown = 0
    /// Bytes of names and values of all these.
    public var bytes = 0
    /// When the oldest entry to be sent was saved, including those that the forwarder holds.
    public var oldestUnsent: WallTime?

    /// A summary without entries.
    init() {}
}
