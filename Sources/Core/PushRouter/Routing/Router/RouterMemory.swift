import PushModel

/// The router's memory of finished requests: the tracker, the custom data, and the devices. Each change is written in
/// the turn that makes it.
struct RouterMemory: Sendable {
    private(set) var tracker: Tracker
    private(set) var customData: CustomData
    var devices: DeviceMemory
    var fanOuts = FanOuts()
    /// Whether the tracker forgets by age; off while the wall clock is not trusted.
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

    /// Installs the recovered tracker.
    mutating func adopt(_ tracker: Tracker) { self.tracker = tracker }

    /// Calls the tracker and records its output. A session that begins flushes its waiting entries, the first of them
    /// in the same transaction.
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

    /// Calls the custom data and records its output.
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

    /// Forgets a person up to a bound. Writes nothing; the caller deletes the rows.
    mutating func forget(_ person: Person, through bound: ErasureBound) {
        devices.forget(person, through: bound.request)
        tracker.forget(person, through: bound.request)
        customData.forget(person, through: bound.entry)
    }
}

extension TrackerOutput {
    /// The sessions that began; each has one event.
    fileprivate var sessionStarts: [SessionStart] {
        events.lazy.filter { $0.kind == .sessionStart }.map { event in
            // An event's time has whole seconds; the row of its session has the exact time.
            let start = records.lazy.compactMap { record in
                if case .session(let row) = record, row.number == event.seq { row.startedAt } else { nil }
            }.first
            return SessionStart(
                cause: event.seq, platform: event.platform, app: event.appID, device: event.deviceID,
                externalID: event.externalUserID, at: start ?? WallTime(milliseconds: event.time * 1000))
        }
    }
}
