import LinuxSystem
import PushModel
import PushViews

/// The facts that `op: status` returns for a machine of a fleet.
struct NodeStatus: Sendable {
    /// The state of a follower's ledger.
    struct Copy: Sendable {
        /// The id of the ledger; `nil` before its first comparison with the shared log.
        var state: UUID128?
        /// The number of batches that it lacked at the last reading.
        var batchesBehind: UInt64
        /// When it last had all batches, in monotonic nanoseconds.
        var completeAt: Int64
    }

    /// The name of the machine.
    var node: String
    /// The name of the leader; `nil`: no machine leads.
    var leader: String?
    /// The leader's term.
    var term: Int64
    var engine: EngineWatch
    /// Why the database does not serve this machine; `nil`: it does, or this machine leads.
    var engineProblem: String?
    /// `nil`: this machine leads.
    var copy: Copy?

    /// - Parameter now: in monotonic nanoseconds.
    func members(_ writer: inout StatusObject, at now: Int64) {
        func age(_ time: Int64) -> Int64 { max(0, now - time) / 1_000_000 }
        writer.member("role", copy == nil ? "leader" : "follower")
        writer.member("node", node)
        writer.member("leader", leader)
        writer.member("term", term)
        writer.member("engine_answers", engine.unreachableSince == nil)
        writer.member("engine_answer_age_ms", age(engine.answeredAt))
        writer.member("engine_problem", engineProblem)
        writer.member("unprotected_ms", engine.unprotectedSince.map(age) ?? 0)
        writer.member("batches_behind", copy?.batchesBehind)
        writer.member("behind_ms", copy.map { age($0.completeAt) })
    }

    /// The whole status of a follower.
    ///
    /// - Parameters:
    ///   - mode: that of its configuration.
    ///   - configurationProblem: the error of the configuration that was read last; `nil` without one.
    ///   - start: when the process began to follow.
    func ofFollower(
        mode: DispatchMode, configurationProblem: String?, since start: Moment, processID: Int32, at now: Moment
    ) -> StatusValue {
        .object { writer in
            writer.member("version", pushrouterdVersion)
            writer.member("pid", processID)
            writer.member("mode", mode.rawValue)
            writer.member("uptime_ms", (now.monotonic - start.monotonic).milliseconds)
            writer.member("state", "following")
            writer.member("configuration_problem", configurationProblem)
            writer.member("fleet", object: { members(&$0, at: now.monotonic.nanoseconds) })
            writer.member(
                "process",
                object: {
                    $0.member("started_at_ms", start.wall.milliseconds)
                    $0.member("resident_bytes", ProcessMemory.residentBytes)
                })
        }
    }
}
