public import PushModel

/// What was decided in a turn; appended to in order.
public struct CustomDataOutput: Sendable {
    /// New events.
    public var events: [AnalyticsEvent] = []
    /// Changes of the state, to be written in one transaction with the events.
    public var records: [CustomDataRecord] = []

    /// Nothing.
    public init() {}
}

/// Where custom data comes from, and when.
public struct EntrySource: Hashable, Sendable {
    /// The request.
    public var cause: SequenceNumber
    /// Where the entry is to go.
    public var way: EntryWay
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user that the producer names; `nil`: whoever uses the app when it is flushed.
    public var externalID: String?
    /// When it happened.
    public var at: WallTime

    public init(
        cause: SequenceNumber, way: EntryWay, platform: Platform, app: String?, device: String?, externalID: String?,
        at: WallTime
    ) {
        self.cause = cause
        self.way = way
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.at = at
    }
}

/// A session start that flushes, or a person's order to flush as if there were one.
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
    /// When.
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

/// Why a part of what was logged was set aside.
public struct Rejection: Hashable, Sendable {
    /// The entry under which it is kept.
    public var number: EntryNumber
    /// What is wrong with it.
    public var problem: EntryProblem

    public init(number: EntryNumber, problem: EntryProblem) {
        (self.number, self.problem) = (number, problem)
    }

    /// That of a rejected entry in the ledger.
    public init(of record: EntryRecord) {
        number = record.entry.number
        // A backup may lack the problem.
        problem = record.problem ?? EntryProblem(.unknown, record.reason ?? "")
    }
}

/// What waits, for the status.
public struct CustomDataSummary: Hashable, Sendable {
    /// Entries in suites.
    public var pending = 0
    /// Entries to be sent, those with the forwarder not among them.
    public var queued = 0
    /// Entries with the forwarder.
    public var claimed = 0
    /// Entries of unknown outcome that wait for a person.
    public var unknown = 0
    /// Bytes of names and values of all these.
    public var bytes = 0
    /// When the oldest of those to be sent was saved, those with the forwarder among them.
    public var oldestUnsent: WallTime?

    /// Nothing waits.
    public init() {}
}
