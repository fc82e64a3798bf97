import PushCustomData
import PushModel
import PushTracking

/// The memory of ended requests: the tracker, the custom data, and the known devices. Each change is recorded in the
/// same turn.
struct RouterMemory: Sendable {
    private(set) var tracker: Tracker
    private(set) var customData: CustomData
    var devices: DeviceMemory
    var fanOuts = FanOuts()
    /// Whether the tracker forgets deliveries by age; false while the civil clock is not trusted.
    var forgetsByAge = true

    init(_ tracker: Tracker, _ customData: CustomData, _ devices: DeviceMemory) {
        self.tracker = tracker
        self.customData = customData
        self.devices = devices
    }

    /// Applies the settings of a table.
    mutating func configure(_ table: RoutingTable) {
        tracker.rules = table.tracking
        customData.rules = table.customData
        devices.byteLimit = table.limits.deviceMemory
    }

    /// Takes the tracker's memory.
    mutating func adopt(_ tracker: Tracker) { self.tracker = tracker }

    /// Runs an operation of the tracker and records its output. A session that begins by it flushes the waiting
    /// entries, the first of them in the same transaction.
    @discardableResult
    mutating func track<Result>(
        at now: Moment, _ effects: inout Effects, _ act: (inout Tracker, inout TrackerOutput) -> Result
    ) -> Result {
        var output = TrackerOutput()
        tracker.forgetsByAge = forgetsByAge
        let result = act(&tracker, &output)
        for event in output.events { effects.record(event) }
        for record in output.records { effects.record(record) }
        for session in output.sessionStarts { keep(&effects) { $0.flush(session, now: now.wall, into: &$1) } }
        return result
    }

    /// Runs an operation of the custom data and records its output.
    @discardableResult
    mutating func keep<Result>(
        _ effects: inout Effects, _ act: (inout CustomData, inout CustomDataOutput) -> Result
    ) -> Result {
        var output = CustomDataOutput()
        let result = act(&customData, &output)
        for event in output.events { effects.record(event) }
        for record in output.records { effects.record(.customData(record)) }
        return result
    }

    /// Erases a person from memory. Writes nothing: the caller deletes the rows.
    mutating func forget(_ person: Person) {
        devices.forget(person)
        tracker.forget(person)
        customData.forget(person)
    }
}

extension TrackerOutput {
    /// The sessions that began; each has a `SessionStart` event.
    fileprivate var sessionStarts: [SessionStart] {
        events.lazy.filter { $0.kind == .sessionStart }.map { event in
            // An event's time is in whole seconds; the row of the session has the milliseconds.
            let start = records.lazy.compactMap { record in
                if case .session(let row) = record, row.number == event.seq { row.startedAt } else { nil }
            }.first
            return SessionStart(
                cause: event.seq, platform: event.platform, app: event.appID, device: event.deviceID,
                externalID: event.externalUserID, at: start ?? WallTime(milliseconds: event.time * 1000))
        }
    }
}
