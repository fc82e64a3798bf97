package import PushModel

/// What was decided in a turn; appended to in order.
package struct CustomDataOutput: Sendable {
    /// New events.
    package var events: [AnalyticsEvent] = []
    /// Changes of the state, to be written in one transaction with the events.
    package var records: [CustomDataRecord] = []

    /// Nothing.
    package init() {}
}

/// Where custom data comes from, and when.
package struct EntrySource: Hashable, Sendable {
    /// The request.
    package var cause: SequenceNumber
    /// Where the entry is to go.
    package var way: EntryWay
    /// The platform.
    package var platform: Platform
    /// The app.
    package var app: String?
    /// The device.
    package var device: String?
    /// The user that the producer names; `nil`: whoever uses the app when it is flushed.
    package var externalID: String?
    /// When it happened.
    package var at: WallTime

    /// Joins the parts.
    package init(
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
package struct SessionStart: Hashable, Sendable {
    /// The request that caused it; `nil` for a person's order.
    package var cause: SequenceNumber?
    /// The platform.
    package var platform: Platform
    /// The app.
    package var app: String?
    /// The device.
    package var device: String?
    /// The user; `nil`: anonymous.
    package var externalID: String?
    /// When.
    package var at: WallTime

    /// Joins the parts.
    package init(
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
package struct Rejection: Hashable, Sendable {
    /// The entry under which it is kept.
    package var number: EntryNumber
    /// The field, as a path within what was logged: `properties.time`.
    package var field: String
    /// What is wrong, and what to do.
    package var reason: String

    /// Joins the parts.
    package init(number: EntryNumber, field: String, reason: String) {
        self.number = number
        self.field = field
        self.reason = reason
    }
}

/// What waits, for the status.
package struct CustomDataSummary: Hashable, Sendable {
    /// Entries in suites.
    package var pending = 0
    /// Entries to be sent, those with the forwarder not among them.
    package var queued = 0
    /// Entries with the forwarder.
    package var claimed = 0
    /// Entries of unknown outcome that wait for a person.
    package var unknown = 0
    /// Bytes of names and values of all these.
    package var bytes = 0
    /// When the oldest of those to be sent was saved, those with the forwarder among them.
    package var oldestUnsent: WallTime?

    /// Nothing waits.
    package init() {}
}
