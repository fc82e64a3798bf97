public import PushModel
public import PushSettings
import Store

/// The purpose of a session with the engine of a shared log. The raw value is part of the session's name at the engine.
public enum EngineSession: String, Sendable, CaseIterable {
    /// A follower reads batches and the lease, and takes the lease.
    case follow
    /// The leader's log thread appends batches.
    case log
    /// The leader's ledger thread reads batches again.
    case read
    /// The leader renews its lease.
    case lease
    /// The snapshot thread writes snapshots, and deletes the batches behind them.
    case snapshot
}

/// Makes a session with the engine that the settings name; it connects at its first use.
public typealias EngineConnector =
    @Sendable (_ settings: SharedLogSettings, _ node: NodeIncarnation, _ session: EngineSession) throws(EngineProblem)
    ->
    any ShardEngine

/// Calls the engine, and turns its problem into a `StoreError`.
func mappingProblem<Value>(_ ask: () throws(EngineProblem) -> Value) throws(StoreError) -> Value {
    do throws(EngineProblem) {
        return try ask()
    } catch {
        throw StoreError(error)
    }
}

/// The state of a shared log's engine as this machine sees it: whether it answers, and whether a standby has all that
/// was written. Times are monotonic nanoseconds.
struct EngineWatch: Equatable, Sendable {
    /// The time of its last answer.
    private(set) var answeredAt: Int64
    /// The start of the outage; `nil`: it answers.
    private(set) var unreachableSince: Int64?
    /// Since when no standby has had the latest writes; `nil`: one has them.
    private(set) var unprotectedSince: Int64?

    /// The engine answered just now.
    init(at now: Int64) { answeredAt = now }

    /// Notes an answer.
    mutating func answered(at now: Int64) { (answeredAt, unreachableSince) = (now, nil) }

    /// Notes a confirmed commit.
    mutating func confirmed(at now: Int64) {
        answered(at: now)
        unprotectedSince = nil
    }

    /// Notes that it does not answer.
    mutating func noteUnreachable(since: Int64) { unreachableSince = unreachableSince ?? since }

    /// Notes that it answers, and that no standby has the latest writes.
    mutating func isUnprotected(since: Int64, at now: Int64) {
        answered(at: now)
        unprotectedSince = unprotectedSince ?? since
    }
}
