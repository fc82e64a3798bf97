import PushCustomData
import PushModel
import PushTracking

/// What the router remembers of requests that are over: the tracker, the custom data, and what was said of each device.
/// Whatever changes is written in the same turn.
struct RouterMemory: Sendable {
    private(set) var tracker: Tracker
    private(set) var customData: CustomData
    var devices: DeviceMemory
    var fanOuts = FanOuts()
    /// Whether the tracker forgets by age: not by a clock that is not believed.
    var forgetsByAge = true

    init(_ tracker: Tracker, _ customData: CustomData, _ devices: DeviceMemory) {
        self.tracker = tracker
        self.customData = customData
        self.devices = devices
    }

    /// The settings are these now.
    mutating func configure(_ table: RoutingTable) {
        tracker.rules = table.tracking
        customData.rules = table.customData
        devices.byteLimit = table.limits.deviceMemory
    }

    /// Takes over what the tracker remembers.
    mutating func adopt(_ tracker: Tracker) { self.tracker = tracker }

    /// Lets the tracker do something, and has what it decides written; a session that begins by it flushes what waited for
    /// it, the first of it in the same transaction.
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

    /// Lets the custom data do something, and has what it decides written.
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

    /// Forgets a person. Nothing is written: whoever asks takes the rows out.
    mutating func forget(_ person: Person) {
        devices.forget(person)
        tracker.forget(person)
        customData.forget(person)
    }
}

extension TrackerOutput {
    /// The sessions that began, by whatever way: each has its event.
    fileprivate var sessionStarts: [SessionStart] {
        events.lazy.filter { $0.kind == .sessionStart }.map { event in
            // An event has whole seconds, the row of its session has them all.
            let start = records.lazy.compactMap { record in
                if case .session(let row) = record, row.number == event.seq { row.startedAt } else { nil }
            }.first
            return SessionStart(
                cause: event.seq, platform: event.platform, app: event.appID, device: event.deviceID,
                externalID: event.externalUserID, at: start ?? WallTime(milliseconds: event.time * 1000))
        }
    }
}
