import EventLoop
import LinuxSystem
import PushFleet
import PushModel
import Synchronization

/// Renews the lease of the leader on a thread of its own, as long as the loop answers: a loop that hangs loses it.
final class LeaseKeeper: Sendable {
    /// What the thread tells.
    enum News: Sendable {
        /// The loop is to answer.
        case question
        /// A renewal was confirmed: the row, and the time before it in which none was, where there is one.
        case renewed(LeaseRow, after: StoreHealth.Stall?)
        /// A person wants another node to lead, this one or any; told once. The lease is renewed on.
        case handOver(to: String?)
        /// Another node has taken the lease. The thread has ended.
        case lost
        /// This machine's clock is off, or right again.
        case clock(ClockWatch.Change)
        /// The engine gives no answer; told once for each time.
        case away(EngineProblem)
        /// It answers questions, and confirms no renewal; told once for each time.
        case unprotected
    }

    /// How long the start of a leader may take before its loop answers first: a large ledger is opened in this time.
    private static let startTime: Duration = .seconds(300)

    /// Orders of people are read with each renewal.
    private static let longestPause: Duration = .seconds(1)

    private struct State: Sendable {
        var hold: LeaseHold
        var clock: EngineClock
        /// When the loop last answered, on `CLOCK_BOOTTIME`.
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
    ///   - engine: its session.
    ///   - node: this process.
    ///   - epoch: the term.
    ///   - lease: the lease's time.
    ///   - sentAt: when the taking was sent, on `CLOCK_BOOTTIME`.
    ///   - clock: the last reading of the engine's clock.
    ///   - post: called on the thread with what happens.
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

    /// How much of the lease is left now; on any thread.
    var left: Duration { state.withLock { $0.hold.left(at: Self.now) } }

    /// The loop answers.
    func answer() { state.withLock { $0.answeredAt = Self.now } }

    /// Has the thread end soon.
    func stop() { state.update { $0.isStopping = true } }

    /// What the thread does.
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
                } else if outage?.kind == .engineAway, (try? engine.lease()) != nil {
                    outage?.kind = .unprotected
                    post(.unprotected)
                }
            }
        }
    }

    /// Gives the lease back, so that another node takes it at once: the one that a person named, where one was named.
    /// Called when nothing is appended any more.
    func release() { try? engine.release(node, epoch: epoch) }

    /// - Returns: whether the thread is to end.
    private func pause() -> Bool {
        let time = min(Duration.nanoseconds(lease.nanoseconds / 3), Self.longestPause)
        return state.wait(atMost: time) { $0.isStopping ? true : nil } ?? false
    }

    private static var now: Instant { Instant(nanoseconds: SystemClock.bootNanoseconds) }
}
