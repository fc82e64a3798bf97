import LinuxSystem
import PushGateway
import PushModel

/// The connection to the daemon's `inject.sock` on the event loop.
final class InjectLink {
    /// A request that waits for the daemon's reply.
    struct Waiting {
        let exchange: GatewayDesk.Exchange
        let pending: PendingRequest
    }

    /// A line that waits for its reply.
    private struct Line {
        /// The request; `nil` if nobody waits for the reply.
        let waiting: Waiting?
        let length: Int
        /// When it was sent, in monotonic nanoseconds.
        var since: Int64 = 0
    }

    private let loop: EventLoop
    private let link: LineLink
    /// The lines that wait for replies, in order.
    private var awaited = Queue<Line>()
    private let take: (Waiting, [UInt8]?) -> Void
    private let report: (String?) -> Void
    private var source: IOSource?
    private var timer: TimerSource?
    private var isConnected = false
    private var willFlush = false
    private var patienceTimer: RepeatingTimer?
    /// How long the daemon may take to reply, in nanoseconds: the known clients wait at least 15 s.
    private static let patience: Int64 = 10_000_000_000
    /// Lines that are not sent yet.
    private var lines = FairLineQueue<(line: [UInt8], waiting: Waiting?)>()
    /// The bytes of the lines that wait for replies.
    private(set) var waitingBytes = 0
    /// The number of lines that wait for replies.
    var waiting: Int { awaited.count + lines.count }

    /// How many lines the daemon has at a time: enough for its commits, so that a line of another client soon gets
    /// among them.
    private static let sentAtOnce = 512

    /// - Parameters:
    ///   - loop: the event loop of the calling thread.
    ///   - path: the path of the socket.
    ///   - take: gets the reply to a line; `nil`: there will be none.
    ///   - report: gets the reason why there is no connection; `nil`: there is one.
    init(
        loop: EventLoop, path: String, take: @escaping (Waiting, [UInt8]?) -> Void, report: @escaping (String?) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.take = take
        self.report = report
        link = LineLink(path: path, maximumLineLength: 1 << 20)
        // `unowned` is safe: this object owns both.
        timer = try TimerSource(loop: loop) { [unowned self] in link.connect() }
        link.news = { [unowned self] in handle($0) }
        patienceTimer = try RepeatingTimer(loop: loop, every: .seconds(1)) { [unowned self] in checkPatience() }
    }

    private func handle(_ news: LineLink.News) {
        switch news {
        case .connected:
            isConnected = true
            report(nil)
            watch()
        case .disconnected(let reason):
            isConnected = false
            source = nil
            waitingBytes = 0
            if let delay = link.retryDelay { timer?.arm(at: EventLoop.nowNanoseconds + delay.nanoseconds) }
            report(reason)
            while let line = awaited.popFirst() { if let waiting = line.waiting { take(waiting, nil) } }
            while let next = lines.popFirst() { if let waiting = next.waiting { take(waiting, nil) } }
        case .answered(let line):
            guard let asked = awaited.popFirst() else { preconditionFailure("the link counts the lines") }
            link.noteGoodReply()
            waitingBytes -= asked.length
            if let waiting = asked.waiting { take(waiting, line) }
            sendNext()
        }
    }

    /// Drops the connection to a daemon that does not reply; its requests may be on disk or not.
    private func checkPatience() {
        guard let oldest = awaited.first, EventLoop.nowNanoseconds - oldest.since > Self.patience else { return }
        link.fail("the daemon has not replied for 10 s")
    }

    /// Connects, and reconnects whenever the connection ends.
    func connect() { link.connect() }

    /// Sends a line in the turn of its client's connection. Without a connection to the daemon `take` gets `nil` at
    /// once.
    ///
    /// - Parameters:
    ///   - waiting: the request; `nil` if nobody waits for the reply.
    ///   - isContinuation: whether an earlier line of the request had its turn.
    func send(_ line: [UInt8], _ waiting: Waiting?, isContinuation: Bool) {
        guard isConnected else {
            if let waiting { take(waiting, nil) }
            return
        }
        waitingBytes += line.count
        if let waiting, !isContinuation, awaited.count >= Self.sentAtOnce || lines.count > 0 {
            lines.append((line, waiting), of: waiting.pending.ticket.connection)
        } else {
            sendNow(line, waiting)
        }
    }

    private func sendNext() {
        while isConnected, lines.count > 0, awaited.count < Self.sentAtOnce, let next = lines.popFirst() {
            sendNow(next.line, next.waiting)
        }
    }

    private func sendNow(_ line: [UInt8], _ waiting: Waiting?) {
        awaited.append(Line(waiting: waiting, length: line.count, since: EventLoop.nowNanoseconds))
        link.send(line)
        guard !willFlush else { return }
        willFlush = true
        loop.atEndOfTurn { [weak self] in self?.flush() }
    }

    private func flush() {
        willFlush = false
        link.flush()
        watch()
    }

    private func watch() {
        guard isConnected, let descriptor = link.descriptor else { return }
        let interest: IOEvents = link.wants == .readingAndWriting ? [.read, .write] : .read
        guard source == nil else {
            source?.interest = interest
            return
        }
        do throws(SystemError) {
            source = try IOSource(loop: loop, descriptor: descriptor, interest: interest) { [unowned self] events in
                if events.contains(.write) { flush() }
                link.serve()
            }
        } catch {
            link.fail("\(error)")
        }
    }
}

/// The lines to send, in one queue for each connection; the connections take turns.
struct FairLineQueue<Line> {
    private var queues: [UInt64: Queue<Line>] = [:]
    /// The connections with lines, in the order of their turns.
    private var turns = Queue<UInt64>()
    /// The number of lines.
    private(set) var count = 0

    mutating func append(_ line: Line, of connection: UInt64) {
        if queues[connection] == nil {
            queues[connection] = Queue()
            turns.append(connection)
        }
        queues[connection]?.append(line)
        count += 1
    }

    /// Takes the next line, by turns.
    mutating func popFirst() -> Line? {
        guard let connection = turns.popFirst(), let line = queues[connection]?.popFirst() else { return nil }
        count -= 1
        if queues[connection]?.isEmpty == false { turns.append(connection) } else { queues[connection] = nil }
        return line
    }
}
