import Glibc
import LedgerReports
import LinuxSystem
import PushModel
import PushViews
import Store

/// Sends requests over several connections and counts the replies, in one poll(2) loop. Its memory is bounded by
/// connections and pipeline.
struct BenchRun {
    /// A connection, with the planned send times of its requests that have no reply.
    private final class Lane {
        let connection: Connection
        var meant = Queue<Int64>()
        var isBlocked = false
        var isOpen = true
        /// Whether the daemon closed its reading end; its last replies are still read.
        var isEnding = false

        init(_ connection: Connection) { self.connection = connection }
    }

    /// How long the run waits for the last replies, in nanoseconds; the short one is for a run that a person ended.
    private static let patience: Int64 = 10_000_000_000
    private static let shortPatience: Int64 = 1_000_000_000
    /// How long the run waits while requests get no reply at all, in nanoseconds.
    private static let stall: Int64 = 60_000_000_000
    /// The longest single poll(2), in nanoseconds: after it the run looks for signals.
    private static let longestWait: Int64 = 100_000_000
    /// A connection with this many unsent bytes gets no further request.
    private static let queuedBytes = 1 << 20
    private static let replyLength = 1 << 20
    /// How often connect(2) is tried when the socket's backlog is full, once in a millisecond.
    private static let connectTries = 5000

    /// Blocks SIGINT and SIGTERM from the beginning on.
    let signals = Follower()

    private let plan: BenchPlan
    private let lanes: [Lane]
    private let buffer = ReadBuffer()
    private var polls: [pollfd]
    private var figures: LoadFigures
    private var schedule: LoadSchedule
    private var nextLane = 0
    private var waiting = 0
    /// The time of the last attempt to send.
    private var lastSend: Int64
    private var lastReply: Int64
    /// The time when the schedule last gave a request.
    private var lastTake: Int64
    /// When the run stops waiting for replies; `nil` while it sends requests.
    private var end: Int64?

    /// Connects to the daemon.
    init(_ plan: BenchPlan) throws(Failure) {
        self.plan = plan
        var lanes: [Lane] = []
        for _ in 0..<plan.setup.connections { lanes.append(Lane(try Self.connection(plan.socket))) }
        self.lanes = lanes
        polls = lanes.map { lane in
            pollfd(fd: (try? lane.connection.descriptor.rawValue) ?? -1, events: Int16(POLLIN), revents: 0)
        }
        figures = LoadFigures(plan.setup)
        let now = SystemClock.monotonicNanoseconds
        schedule = LoadSchedule(begin: now, length: plan.length, count: plan.count, rate: plan.setup.rate)
        (lastReply, lastSend, lastTake) = (now, now, now)
    }

    /// Sends until the count is reached, the time is over or a person ends it; then waits for the replies.
    mutating func run() throws(Failure) -> LoadFigures {
        var now = SystemClock.monotonicNanoseconds
        while lanes.contains(where: \.isOpen) {
            if !signals.wait(.zero) {
                // A second signal ends the wait for replies.
                if end != nil { break }
                stop(at: now, patience: Self.shortPatience)
            }
            if end == nil { send(at: now) }
            if end == nil, schedule.isOver(at: now) { stop(at: now, patience: Self.patience) }
            if end == nil, waiting > 0, now - max(lastReply, lastTake) >= Self.stall {
                stop(at: now, patience: Self.shortPatience)
            }
            if let end, waiting == 0 || now >= end { break }
            wait(at: now)
            now = SystemClock.monotonicNanoseconds
            receive()
            now = SystemClock.monotonicNanoseconds
        }
        if end == nil { figures.overdue = schedule.overdue(at: lastSend) }
        figures.length = .nanoseconds(max(lastReply - schedule.begin, 1000))
        return figures
    }

    private mutating func stop(at now: Int64, patience: Int64) {
        // Requests that became due after the last attempt to send do not count as overdue.
        figures.overdue = schedule.overdue(at: lastSend)
        end = now + patience
    }

    /// Sends the requests that are due, as far as connections have room.
    private mutating func send(at now: Int64) {
        lastSend = now
        var full = 0
        while full < lanes.count {
            let lane = lanes[nextLane]
            nextLane = (nextLane + 1) % lanes.count
            guard lane.isOpen, !lane.isEnding, lane.meant.count < plan.setup.pipeline,
                lane.connection.pendingBytes < Self.queuedBytes
            else {
                full += 1
                continue
            }
            full = 0
            guard let meant = schedule.take(at: now) else { break }
            lastTake = now
            lane.connection.queue(plan.line(figures.sent))
            lane.meant.append(meant)
            figures.sent += 1
            waiting += 1
        }
        for index in lanes.indices {
            let lane = lanes[index]
            if lane.isOpen, !lane.isEnding, lane.connection.pendingBytes > 0 { flush(index) }
        }
    }

    private mutating func flush(_ index: Int) {
        switch lanes[index].connection.flush() {
        case .done: lanes[index].isBlocked = false
        case .wouldBlock: lanes[index].isBlocked = true
        case .closed: (lanes[index].isEnding, lanes[index].isBlocked) = (true, false)
        }
        polls[index].events = Int16(POLLIN) | (lanes[index].isBlocked ? Int16(POLLOUT) : 0)
    }

    /// Waits for replies, for room, or for the time of the next request.
    private mutating func wait(at now: Int64) {
        var time = Self.longestWait
        // A request that is already due waits for room, which replies make.
        if end == nil, let next = schedule.nextTime(at: now), next > now { time = min(time, next - now) }
        if let end { time = min(time, end - now) }
        waitUntilReady(&polls, nanoseconds: time)
    }

    private mutating func receive() {
        for index in lanes.indices where polls[index].revents != 0 {
            if Int32(polls[index].revents) & POLLOUT != 0 { flush(index) }
            guard Int32(polls[index].revents) & ~POLLOUT != 0 else { continue }
            switch lanes[index].connection.read(using: buffer, maximumLineLength: Self.replyLength) {
            case .wouldBlock: break
            case .lines(let lines): take(lines, lanes[index])
            case .tooLong(let lines):
                take(lines, lanes[index])
                close(index)
            case .endOfFile(let rest):
                take(rest.map { [$0] } ?? [], lanes[index])
                close(index)
            }
        }
    }

    private mutating func take(_ lines: [[UInt8]], _ lane: Lane) {
        guard !lines.isEmpty else { return }
        lastReply = SystemClock.monotonicNanoseconds
        for line in lines {
            let meant = lane.meant.popFirst()
            if meant != nil { waiting -= 1 }
            figures.add(reply: line, latency: meant.map { lastReply - $0 })
        }
    }

    private mutating func close(_ index: Int) {
        figures.lostConnections += 1
        waiting -= lanes[index].meant.count
        lanes[index].isOpen = false
        lanes[index].connection.close()
        polls[index].fd = -1
        polls[index].revents = 0
    }

    private static func connection(_ path: String) throws(Failure) -> Connection {
        for _ in 0..<connectTries {
            do throws(ClientError) {
                return try Connection(connectingTo: path)
            } catch {
                // EAGAIN: the backlog is full until the daemon accepts connections.
                guard case .system(_, _, EAGAIN) = error else { throw Failure(.socket(error), path) }
                usleep(1000)
            }
        }
        throw Failure(.unavailable, "\(path): the daemon accepts no more connections; lower --connections")
    }
}

/// Reads the outcomes of a load generator's requests, which it finds by their ids.
struct BenchOutcomes {
    /// How often the daemon is asked whether a request is in flight, every 200 ms.
    private static let tries = 75

    private let plan: BenchPlan
    private let signals: Follower

    init(_ plan: BenchPlan, _ signals: Follower) {
        self.plan = plan
        self.signals = signals
    }

    /// Waits until no request is in flight, if the daemon can be asked, and reads the ledger. On failure the figures
    /// have the reason.
    func read(into figures: inout LoadFigures, _ session: Session) {
        guard let numbers = figures.numbers else { return }
        guard let prefix = plan.idPrefix else {
            figures.outcomesProblem = "the ledger does not distinguish requests without ids from other requests"
            return
        }
        do throws(Failure) {
            waitForOutcomes(session)
            figures.outcomes = try rows(numbers, prefix, session)
        } catch {
            figures.outcomesProblem = error.message.split(separator: "\n").first.map(String.init) ?? error.message
        }
    }

    private func waitForOutcomes(_ session: Session) {
        for _ in 0..<Self.tries {
            guard let status = (try? session.control(.status))?["status"],
                let inFlight = status["requests_in_flight"]?.int64, inFlight > 0, signals.wait()
            else { return }
        }
    }

    private func rows(
        _ numbers: ClosedRange<SequenceNumber>, _ prefix: String, _ session: Session
    ) throws(Failure) -> ComplianceReport {
        let ledger = try session.ledger()
        var report = ComplianceReport(mode: .device, budget: .zero)
        let before = SequenceNumber(numbers.lowerBound.value - 1)
        try ledger.eachRow(after: before, through: numbers.upperBound) { row in
            guard row.id?.hasPrefix(prefix) == true, let row = ReportRow(row) else { return }
            report.add(unordered: row)
        }
        return report
    }
}
