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

extension CustomEntry {
    /// Returns the changes that attributes make to the fields of a profile, in their order.
    ///
    /// Each subscription group is a field of its own, `subscription_groups.ID`: groups that are not named keep their state.
    ///
    /// - Parameter rules: has the maximum length of an array.
    func profileChanges(_ rules: CustomDataRules) -> [(name: String, change: AttributeChange)] {
        // `log` scanned the data and checked its depth.
        let document = try? JSONDocument(scanning: data, limits: JSONLimits(depth: .max))
        guard kind != .customEvent, let attributes = document?.root else { return [] }
        return attributes.members.flatMap { name, value in
            if kind == .userAttributes, name == UserField.subscriptionGroups.rawValue { return value.groupChanges }
            return [(name, change(by: value, rules))]
        }
    }

    private func change(by value: JSONNode, _ rules: CustomDataRules) -> AttributeChange {
        if value.kind == .null { return .remove }
        guard kind == .customAttributes, let operation = try? AttributeOperation(value) else {
            return .set(Array(value.rawBytes))
        }
        switch operation {
        case .add(let values):
            return .add(values.elements.map { Array($0.rawBytes) }, elementsMax: rules.arrayElementsMax)
        case .remove(let values): return .drop(values.elements.map { Array($0.rawBytes) })
        case .increment(let step): return .increment(step.int64 ?? 0)
        }
    }
}

extension JSONNode {
    /// The changes of an array of subscription groups.
    fileprivate var groupChanges: [(name: String, change: AttributeChange)] {
        elements.compactMap { group in
            guard let id = group["subscription_group_id"]?.string, let state = group["subscription_state"] else {
                return nil
            }
            return ("\(UserField.subscriptionGroups.rawValue).\(id)", .set(Array(state.rawBytes)))
        }
    }
}
