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
