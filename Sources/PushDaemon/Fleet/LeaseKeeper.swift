import LinuxSystem
import PushModel
import Synchronization

/// Renews the leader's lease on its own thread, as long as the loop answers: a leader whose loop hangs loses its lease.
final class LeaseKeeper: Sendable {
    /// The reports of the thread.
    enum News: Sendable {
        /// A question that the loop must answer.
        case question
        /// A confirmed renewal: the row, and the outage before it if there was one.
        case renewed(LeaseRow, after: StoreHealth.Stall?)
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
