import LinuxSystem
import PushModel
import PushReporting

/// What `op: status` tells of a machine that shares a log with others.
struct NodeStatus: Sendable {
    /// How far the copy of a machine that follows is.
    struct Copy: Sendable {
        /// The id of its ledger; `nil` before the first comparison with the chain.
        var state: UUID128?
        /// How many batches it lacks, as the last reading found.
        var batchesBehind: UInt64
        /// When it had all that there was, in monotonic nanoseconds.
        var completeAt: Int64
    }

    /// The name of the machine.
    var node: String
    /// The name of the one that leads; `nil`: nobody does.
    var leader: String?
    /// The term of the one that leads.
    var term: Int64
    var engine: EngineWatch
    /// `nil`: it leads.
    var copy: Copy?

    /// - Parameter now: in monotonic nanoseconds.
    func members(_ writer: inout StatusObject, at now: Int64) {
        func age(_ time: Int64) -> Int64 { max(0, now - time) / 1_000_000 }
        writer.member("role", copy == nil ? "leader" : "follower")
        writer.member("node", node)
        writer.member("leader", leader)
        writer.member("term", term)
        writer.member("engine_answers", engine.awaySince == nil)
        writer.member("engine_answer_age_ms", age(engine.answeredAt))
        writer.member("unprotected_ms", engine.unprotectedSince.map(age) ?? 0)
        writer.member("batches_behind", copy?.batchesBehind)
        writer.member("behind_ms", copy.map { age($0.completeAt) })
    }

    /// The whole status of a machine that follows.
    ///
    /// - Parameters:
    ///   - mode: that of its configuration.
    ///   - configurationProblem: what is wrong with the configuration that was read last.
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
