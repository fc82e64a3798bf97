public import PushFleet
public import PushSettings
import Store

/// What a session with the engine of a shared log is for. The raw value is part of the session's name at the engine.
public enum EngineSession: String, Sendable, CaseIterable {
    /// A follower reads the chain and the lease, and takes it.
    case follow
    /// The leader's log thread appends.
    case log
    /// The leader's ledger thread reads batches again.
    case read
    /// The leader renews its lease.
    case lease
    /// Snapshots are written, and what is behind them is deleted.
    case snapshot
}

/// Makes a session with the engine that the settings name; it connects when it is first used.
public typealias EngineConnector =
    @Sendable (_ settings: SharedLogSettings, _ node: NodeIncarnation, _ session: EngineSession) throws(EngineProblem)
    ->
    any ShardEngine

/// Asks the engine. Its problem becomes an error of the store.
func asking<Value>(_ ask: () throws(EngineProblem) -> Value) throws(StoreError) -> Value {
    do throws(EngineProblem) {
        return try ask()
    } catch {
        throw StoreError(error)
    }
}
