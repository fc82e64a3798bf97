import EventLoop
import LinuxSystem
import PushModel
import UnixSockets

/// The connection to the daemon's `control.sock`. It is made again whenever it breaks, or the daemon refuses what it is told:
/// with the new one everything that matters is said again.
final class DaemonLink {
    /// What comes from the daemon.
    enum News {
        case connected
        /// It is away, or refuses to talk; for people.
        case disconnected(String)
        case claimed(Claimed)
        /// The oldest settlement that was not confirmed is now.
        case settled
        /// It took a report of how sending goes.
        case reported
    }

    private enum Awaited { case claimed, settled, reported }

    private let loop: EventLoop
    private let path: String
    private let news: (News) -> Void
    private let buffer = ReadBuffer()
    private var connection: Connection?
    private var source: IOSource?
    private var timer: TimerSource?
    /// What replies are still to come, in order.
    private var awaited = Queue<Awaited>()
    private var nextWait = shortestWait

    private static let shortestWait: Int64 = 100_000_000
    private static let longestWait: Int64 = 5_000_000_000
    /// A claim is a mebibyte of data at most, or one entry, with what is around it; escapes may double it.
    private static let longestReply = 8 << 20

    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - path: of the socket.
    ///   - news: takes what comes.
    init(loop: EventLoop, path: String, news: @escaping (News) -> Void) throws(SystemError) {
        self.loop = loop
        self.path = path
        self.news = news
        timer = try TimerSource(loop: loop) { [unowned self] in connect() }
    }

    /// Connects, now and whenever it has to be done again.
    func connect() {
        do {
            let connection = try Connection(connectingTo: path)
            source = try IOSource(loop: loop, descriptor: connection.descriptor, interest: .read) { [unowned self] _ in
                serve()
            }
            self.connection = connection
            news(.connected)
        } catch {
            fail("\(error)" + (remedy(for: error) ?? ""))
        }
    }

    /// Sends a request; whoever calls it knows that there is a connection.
    func send(_ operation: ControlRequest.Operation) {
        switch operation {
        case .claim: awaited.append(.claimed)
        case .settle: awaited.append(.settled)
        case .sending: awaited.append(.reported)
        default: preconditionFailure("a forwarder claims, settles and reports")
        }
        connection?.queue(ControlRequest(operation).line)
    }

    /// Sends what is queued, as far as the daemon takes it; at the end of each turn.
    func flush() {
        guard let connection else { return }
        switch connection.flush() {
        case .closed: fail("the daemon has closed the connection")
        case .done: source?.interest = .read
        case .wouldBlock: source?.interest = [.read, .write]
        }
    }

    private func serve() {
        guard let connection else { return }
        switch connection.read(using: buffer, maximumLineLength: Self.longestReply) {
        case .wouldBlock: break
        case .lines(let lines): lines.forEach(take)
        case .tooLong(let lines):
            lines.forEach(take)
            fail("the daemon sends a line longer than \(Self.longestReply) bytes")
        case .endOfFile: fail("the daemon has closed the connection")
        }
    }

    private func take(_ line: [UInt8]) {
        // A line before may have ended the connection.
        guard connection != nil else { return }
        do {
            let reply = try ControlReply(line: line)
            nextWait = Self.shortestWait
            switch awaited.popFirst() {
            case .claimed: news(.claimed(try reply.claimed()))
            case .settled: news(.settled)
            case .reported: news(.reported)
            case nil: fail("the daemon says what it was not asked for")
            }
        } catch {
            switch error {
            case .refused(let refusal): fail("the daemon refuses: \(refusal.message)")
            case .unreadable(let what): fail("the daemon's reply cannot be read: \(what)")
            }
        }
    }

    /// What a person can do, as the end of a sentence.
    private func remedy(for error: any Error) -> String? {
        switch error as? ClientError {
        case .noSuchSocket, .nobodyListens: "; start pushrouterd: systemctl start pushrouterd"
        case .permissionDenied:
            "; set ControlSocketGroup= in [Daemon] of pushrouterd.conf to a group that this user is in"
        default: nil
        }
    }

    private func fail(_ reason: String) {
        source?.interest = []
        source = nil
        connection?.close()
        connection = nil
        awaited = Queue()
        timer?.arm(at: EventLoop.nowNanoseconds + nextWait)
        nextWait = min(2 * nextWait, Self.longestWait)
        news(.disconnected(reason))
    }
}
