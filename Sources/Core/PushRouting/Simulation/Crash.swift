import PushModel

/// A line of a scenario at which the daemon dies and restarts: `{"at":1000,"crash":{"down_ms":2500,"reboot":true}}`.
///
/// All earlier decisions are recorded. Running handlers are gone; the restarted router recovers unfinished requests.
struct Crash: Sendable {
    /// The time at which the daemon dies. Work that is due at that time is not done.
    var at: WallTime
    /// The time for which no daemon runs.
    var downtime: Duration = .zero
    /// Whether the machine reboots meanwhile: waiting invocations then have no time left.
    var reboots = false

    /// - Throws: the fault of the line.
    init(_ root: JSONNode) throws(ProtocolError) {
        for (key, _) in root.members where !["at", "crash"].contains(key) {
            throw ProtocolError(.unknownKey, field: key, message: "a line with crash has only at beside it")
        }
        guard let node = root["at"] else {
            throw ProtocolError(
                .missingKey, field: "at", message: "at is missing: each line of a simulation needs its time")
        }
        let time = node.string.map(WallTime.init(rfc3339:)) ?? node.int64.map(WallTime.init(milliseconds:))
        guard let at = time, Step.span.contains(at.milliseconds) else {
            throw ProtocolError(
                .invalidValue, field: "at",
                message: "at is RFC 3339 or Unix milliseconds, of the years 1970 to 2200")
        }
        self.at = at
        guard let crash = root["crash"], crash.kind == .object else {
            throw ProtocolError(
                .invalidType, field: "crash", message: "crash is an object: {\"down_ms\":2500,\"reboot\":true}, or {}")
        }
        for (key, value) in crash.members {
            switch key {
            case "down_ms":
                guard let milliseconds = value.int64, 0...86_400_000 ~= milliseconds else {
                    throw ProtocolError(
                        .invalidValue, field: "crash.down_ms", message: "down_ms is a whole number from 0 to 86400000")
                }
                downtime = .milliseconds(milliseconds)
            case "reboot":
                guard let reboots = value.bool else {
                    throw ProtocolError(.invalidType, field: "crash.reboot", message: "reboot is true or false")
                }
                self.reboots = reboots
            default:
                throw ProtocolError(
                    .unknownKey, field: "crash.\(key)", message: "crash has down_ms and reboot")
            }
        }
    }

    /// The time at which the daemon runs again.
    var end: WallTime { WallTime(milliseconds: at.milliseconds + downtime.milliseconds) }

    /// Reads the crash from a line; returns `nil` for any other line.
    static func read(_ root: JSONNode?) throws(ProtocolError) -> Crash? {
        guard let root, root["op"] == nil, root["crash"] != nil else { return nil }
        return try Crash(root)
    }
}
