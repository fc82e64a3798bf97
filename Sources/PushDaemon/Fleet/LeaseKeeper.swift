import LinuxSystem
public import PushModel
public import PushSettings
import Store
import Synchronization

/// Renews the leader's lease on its own thread, as long as the loop answers: a leader whose loop hangs loses its lease.
final class LeaseKeeper: Sendable {
    /// The reports of the thread.
    enum News: Sendable {
        /// A question that the loop must answer.
        case question
        /// A confirmed renewal: the row, and the outage before it if there was one.
        case renewed(LeaseRow, after: StoreHealth.Stall?)
        /// People's orders as acts, whose rows the ledger may lack; reported until it has them.
        case acts([OrderedAct])
        /// A person asks for a handover to this node, or to any; reported once. The keeper continues to renew.
        case handOver(to: String?)
        /// Another node has taken the lease. The thread has ended.
        case lost
        /// This machine's clock is wrong, or right again.
        case clock(ClockWatch.Change)
        /// The engine does not answer; reported once for each outage.
        case away(EngineProblem)
        /// The engine answers reads, confirms no renewal, and has no standby; reported once for each outage.
        case unprotected
    }

    /// How long the leader's start may take before the loop's first answer: a large ledger is opened within this time.
    private static let startTime: Duration = .seconds(300)

    /// The longest pause between two renewals: each one reads the orders of people.
    private static let longestPause: Duration = .seconds(1)

    private struct State: Sendable {
        var hold: LeaseHold
        var clock: EngineClock
        /// The time of the loop's last answer, on `CLOCK_BOOTTIME`.
        var answeredAt: Instant
        /// The number of the last act whose row is in the log, and of the last one whose row the ledger has.
        var actsWritten: Int64 = 0
        var actsApplied: Int64 = 0
        var isStopping = false
    }

    private let engine: any ShardEngine
    private let node: NodeIncarnation
    private let epoch: Int64
    private let lease: Duration
    private let state: Monitor<State>
    private let post: @Sendable (News) -> Void

    /// - Parameters:
    ///   - engine: the session of this thread.
    ///   - node: this process.
    ///   - epoch: the number of the term.
    ///   - lease: the time that a lease lasts.
    ///   - sentAt: when this node sent the statement that took the lease, on `CLOCK_BOOTTIME`.
    ///   - clock: the last reading of the engine's clock.
    ///   - post: called on the thread with each report.
    init(
        _ engine: any ShardEngine, node: NodeIncarnation, epoch: Int64, lease: Duration, sentAt: Instant,
        clock: ClockReading, post: @escaping @Sendable (News) -> Void
    ) {
        (self.engine, self.node, self.epoch) = (engine, node, epoch)
        (self.lease, self.post) = (lease, post)
        state = Monitor(
            State(
                hold: LeaseHold(length: lease, sentAt: sentAt), clock: EngineClock(clock),
                answeredAt: sentAt + Self.startTime))
    }

    /// Whether the lease holds now; on any thread.
    var holds: Bool { state.withLock { $0.hold.holds(at: Self.now) } }

    /// The wall clock of the term; on any thread.
    var wall: WallTime { state.withLock { $0.clock.wall(at: Self.now) } }

    /// The rest of the lease; on any thread.
    var left: Duration { state.withLock { $0.hold.left(at: Self.now) } }

    /// Notes an answer of the loop.
    func answer() { state.withLock { $0.answeredAt = Self.now } }

    /// Notes that the rows of the acts up to a number are in the batch of this turn, or in the ledger.
    func note(acts number: Int64, areApplied: Bool) {
        state.withLock { state in
            state.actsWritten = max(state.actsWritten, number)
            if areApplied { state.actsApplied = max(state.actsApplied, number) }
        }
    }

    /// Asks the thread to end.
    func stop() { state.update { $0.isStopping = true } }

    /// The body of the thread.
    func run() {
        var outage: StoreHealth.Stall?
        var (isAsked, clockWatch) = (false, ClockWatch())
        while !pause() {
            post(.question)
            let (sentAt, since) = (Self.now, SystemClock.monotonicNanoseconds)
            guard sentAt - state.withLock(\.answeredAt) < lease else { continue }
            do throws(EngineProblem) {
                guard let renewal = try engine.renew(node, epoch: epoch) else { return post(.lost) }
                let row = renewal.row
                let reading = ClockReading(
                    renewal.wall, sentAt: sentAt, answeredAt: Self.now, machine: WallClock.ofMachine)
                state.withLock { state in
                    state.hold.renewed(sentAt: sentAt)
                    state.clock.read(reading)
                }
                post(.renewed(row, after: outage.take()))
                if let change = clockWatch.read(reading) { post(.clock(change)) }
                // Ignores a failure here: the next renewal fails as well, and reports it.
                if let acts = try? engine.acts(after: state.withLock(\.actsApplied)), !acts.isEmpty {
                    post(.acts(acts))
                }
                if !isAsked, row.asksToHandOver(node.node) {
                    post(.handOver(to: row.successor))
                    isAsked = true
                }
            } catch {
                if outage == nil {
                    outage = StoreHealth.Stall(kind: .engineAway, since: since)
                    post(.away(error))
                } else if outage?.kind == .engineAway, (try? engine.absentStandby()) != nil {
                    outage?.kind = .unprotected
                    post(.unprotected)
                }
            }
        }
    }

    /// Stores the last batch of this machine's ledger, which no follower reports while it leads. To be called when
    /// nothing is appended any more.
    func note(applied number: UInt64) {
        _ = try? engine.note(node, applied: number, reads: ChainBatch.currentVersion, program: pushrouterdVersion)
    }

    /// Removes the acts whose rows are in the log, before the next leader reads them. To be called when all batches are
    /// committed.
    func forgetActs() { _ = try? engine.acts(after: state.withLock(\.actsWritten)) }

    /// Releases the lease, so that another node takes it at once: the one that a person named, if any. To be called
    /// when nothing is appended any more.
    func release() { try? engine.release(node, epoch: epoch) }

    /// - Returns: whether the thread is to end.
    private func pause() -> Bool {
        let time = min(Duration.nanoseconds(lease.nanoseconds / 3), Self.longestPause)
        return state.wait(atMost: time) { $0.isStopping ? true : nil } ?? false
    }

    private static var now: Instant { Instant(nanoseconds: SystemClock.bootNanoseconds) }
}

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
