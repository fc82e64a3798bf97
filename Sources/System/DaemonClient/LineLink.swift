public import LinuxSystem
import PushModel
import UnixSockets

/// A connection to a socket of the daemon that never waits, for a program with an event loop: lines out, and a reply to each
/// in their order. It is to be made again whenever it breaks. Used on one thread.
///
/// The program watches ``descriptor`` for what ``wants`` says, calls ``serve()`` when there is something to read, and
/// ``flush()`` at the end of each turn; it calls ``connect()`` when ``retryDelay`` has passed.
public final class LineLink<Awaited> {
    /// What comes from the daemon.
    public enum News {
        /// Requests can be sent.
        case connected
        /// It is away, or refuses to talk: for people; and the requests that get no reply any more.
        case disconnected(String, unanswered: [Awaited])
        /// The reply to a request, without its line feed.
        case answered(Awaited, [UInt8])
    }

    private let path: String
    private let maximumLineLength: Int
    private let buffer = ReadBuffer()
    private var connection: Connection?
    /// The requests whose replies are to come, in order.
    private var awaited = Queue<Awaited>()
    private var nextDelay = LinkDelay.shortest

    /// Takes what comes.
    public var news: (News) -> Void = { _ in }
    /// What the descriptor is to be watched for; changes with each call of this object.
    public private(set) var wants = DaemonLink.Readiness.nothing
    /// After a connection broke: how long to wait before it is made again; `nil` while there is one.
    public private(set) var retryDelay: Duration?
    /// To watch for readiness; another one with each connection. `nil` while there is none.
    public var descriptor: SharedDescriptor? { try? connection?.descriptor }
    /// How many bytes wait to be sent.
    public var pendingBytes: Int { connection?.pendingBytes ?? 0 }
    /// How many requests wait for their replies.
    public var unanswered: Int { awaited.count }
    /// The one of them that was sent first.
    public var oldest: Awaited? { awaited.first }

    /// - Parameters:
    ///   - path: of the socket.
    ///   - maximumLineLength: how long a reply may be, in bytes.
    public init(path: String, maximumLineLength: Int) {
        self.path = path
        self.maximumLineLength = maximumLineLength
    }

    /// Connects, or tells why not.
    public func connect() {
        do throws(ClientError) {
            connection = try Connection(connectingTo: path)
            retryDelay = nil
            wants = .reading
            news(.connected)
        } catch {
            let error = DaemonError.socket(error)
            fail(error.description + (error.remedy.map { "; \($0)" } ?? ""))
        }
    }

    /// Queues a line with its line feed; to be called while there is a connection. It leaves with the next ``flush()``.
    public func send(_ line: [UInt8], awaiting awaited: Awaited) {
        self.awaited.append(awaited)
        connection?.queue(line)
    }

    /// Sends what is queued, as far as the daemon takes it.
    public func flush() {
        guard let connection else { return }
        switch connection.flush() {
        case .closed: fail("the daemon has closed the connection")
        case .done: wants = .reading
        case .wouldBlock: wants = .readingAndWriting
        }
    }

    /// Takes in what came.
    public func serve() {
        guard let connection else { return }
        switch connection.read(using: buffer, maximumLineLength: maximumLineLength) {
        case .wouldBlock: break
        case .lines(let lines): lines.forEach(take)
        case .tooLong(let lines):
            lines.forEach(take)
            fail("the daemon sends a line longer than \(maximumLineLength) bytes")
        case .endOfFile: fail("the daemon has closed the connection")
        }
    }

    private func take(_ line: [UInt8]) {
        // A line before may have ended the connection.
        guard connection != nil else { return }
        guard let request = awaited.popFirst() else { return fail("the daemon sent a reply without a request") }
        news(.answered(request, line))
    }

    /// A reply was good: the next connection is made soon after a break.
    public func noteGoodReply() { nextDelay = LinkDelay.shortest }

    /// Gives the connection up: also for a program that cannot use a reply.
    public func fail(_ reason: String) {
        connection?.close()
        connection = nil
        var unanswered: [Awaited] = []
        while let request = awaited.popFirst() { unanswered.append(request) }
        wants = .nothing
        retryDelay = nextDelay
        nextDelay = min(nextDelay + nextDelay, LinkDelay.longest)
        news(.disconnected(reason, unanswered: unanswered))
    }
}

/// How long a link waits before it connects again: twice as long each time.
private enum LinkDelay {
    static let shortest: Duration = .milliseconds(100)
    static let longest: Duration = .seconds(5)
}
