import Glibc
public import PushModel

/// A connection to a socket of the daemon with blocking calls. Used on one thread.
public struct DaemonConnection {
    private let client: Client
    private let path: String

    /// Connects; waits while the socket's backlog is full.
    ///
    /// - Parameters:
    ///   - path: the path of the socket.
    ///   - timeoutMilliseconds: the longest wait; `nil` means no limit.
    public init(_ path: String, timeoutMilliseconds: Int? = nil) throws(DaemonError) {
        self.path = path
        do { client = try Client(path: path, timeoutMilliseconds: timeoutMilliseconds) } catch { throw .socket(error) }
    }

    /// Sends a request to `control.sock`, and waits for the answer.
    ///
    /// - Parameters:
    ///   - operation: the request.
    ///   - timeoutMilliseconds: the longest wait; `nil` means no limit.
    /// - Throws: why there is no answer, or the daemon's refusal.
    public func ask(
        _ operation: ControlRequest.Operation, timeoutMilliseconds: Int? = nil
    ) throws(DaemonError) -> ControlReply {
        try send(ControlRequest(operation).line)
        guard let line = try receiveLine(timeoutMilliseconds: timeoutMilliseconds) else { throw .noAnswer(path: path) }
        do { return try ControlReply(line: line) } catch { throw DaemonError(error, path: path) }
    }

    /// Reads a part of an answer.
    ///
    /// - Throws: if the answer lacks the part.
    public func read<Part>(_ part: () throws(ControlReplyError) -> Part) throws(DaemonError) -> Part {
        do { return try part() } catch { throw DaemonError(error, path: path) }
    }

    /// Waits until the daemon has sent data or accepts more.
    ///
    /// - Returns: whether it has sent data. A program that sends without receiving may block on a daemon that blocks,
    ///   too.
    public func mustReceive() throws(DaemonError) -> Bool {
        var request = pollfd(fd: client.descriptor, events: Int16(POLLIN | POLLOUT), revents: 0)
        guard retryingInterrupts({ poll(&request, 1, -1) }) >= 0 else {
            throw .socket(.system(operation: "wait for", path: path, errno: errno))
        }
        return Int32(request.revents) & POLLIN != 0
    }

    /// Sends bytes.
    public func send(_ bytes: [UInt8]) throws(DaemonError) {
        do { try client.send(bytes) } catch { throw .socket(error) }
    }

    /// Closes the output to the daemon.
    public func finishSending() { client.finishSending() }

    /// Returns the next line; `nil` if the daemon has closed the connection.
    public func receiveLine(timeoutMilliseconds: Int? = nil) throws(DaemonError) -> [UInt8]? {
        do { return try client.receiveLine(timeoutMilliseconds: timeoutMilliseconds) } catch { throw .socket(error) }
    }
}

/// The reason why the daemon did not carry out a request.
public enum DaemonError: Error, Equatable, CustomStringConvertible {
    /// There is no connection, or it broke.
    case socket(ClientError)
    /// The daemon closed the connection instead of answering.
    case noAnswer(path: String)
    /// The daemon refused the request.
    case refused(ProtocolError)
    /// The daemon's answer does not fit the request.
    case unreadable(path: String, reason: String)

    /// The fault, as one sentence without a full stop.
    public var description: String {
        switch self {
        case .socket(let error): error.description
        case .noAnswer(let path): "\(path): the daemon closed the connection without an answer"
        case .refused(let refusal): "the daemon refuses: \(refusal.message)"
        case .unreadable(_, let reason): "the daemon's reply cannot be read: \(reason)"
        }
    }

    /// A remedy for the user, as a part of a sentence; `nil` if none is known.
    public var remedy: String? {
        switch self {
        case .socket(.noSuchSocket), .socket(.noListener): "start pushrouterd: systemctl start pushrouterd"
        case .socket(.permissionDenied(let path)): Membership.advice(for: path)
        default: nil
        }
    }

    /// Converts the error of a reply.
    init(_ error: ControlReplyError, path: String) {
        switch error {
        case .refused(let refusal): self = .refused(refusal)
        case .unreadable(let reason): self = .unreadable(path: path, reason: reason)
        }
    }
}

/// A question to a gateway, by its Unix socket.
public enum GatewayStatusQuestion {
    /// How many bytes of the answer are read at most.
    private static let longest = 1 << 20

    /// Asks, and returns the JSON of the answer.
    ///
    /// - Parameters:
    ///   - path: the gateway's Unix socket.
    ///   - request: the method and the path; by default the question for the gateway's state.
    ///   - timeoutMilliseconds: how long the connection, and each line of the answer, may take.
    /// - Throws: why the gateway gave no answer, for people.
    public static func ask(
        _ path: String, for request: String = "GET /status", timeoutMilliseconds: Int
    ) throws -> JSONNode {
        let client = try Client(path: path, timeoutMilliseconds: timeoutMilliseconds)
        let headers = "host: localhost\r\nuser-agent: pushctl\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        try client.send(Array("\(request) HTTP/1.1\r\n\(headers)".utf8))
        var length = 0
        while length < longest, let line = try client.receiveLine(timeoutMilliseconds: timeoutMilliseconds) {
            length += line.count
            guard line.first == UInt8(ascii: "{") else { continue }
            return try JSONDocument(scanning: line).root
        }
        throw NoStatus(path: path)
    }

    private struct NoStatus: Error, CustomStringConvertible {
        let path: String
        var description: String { "\(path) gives no answer: it is not the socket of pushrouter-gateway" }
    }
}

/// A nonblocking connection to a socket of the daemon, for a program with an event loop: it sends lines, and gets a
/// reply to each in order. The program keeps what it awaits, and connects again after each break. Used on one thread.
///
/// The program watches ``descriptor`` for ``wants``, calls ``serve()`` when it is readable, and ``flush()`` at the end
/// of each turn; it calls ``connect()`` after ``retryDelay``.
public final class LineLink {
    /// News of the connection.
    public enum News {
        /// Requests can be sent.
        case connected
        /// The daemon is away, or refuses the connection, with a text for people. No request will get a reply.
        case disconnected(String)
        /// The reply to the oldest request without one, without its line feed.
        case answered([UInt8])
    }

    private let path: String
    private let maximumLineLength: Int
    private let buffer = ReadBuffer()
    private var connection: Connection?
    /// The number of requests without a reply.
    private var unanswered = 0
    private var nextDelay = LinkDelay.shortest

    /// Takes news.
    public var news: (News) -> Void = { _ in }
    /// The readiness to watch the descriptor for; any call of this object may change it.
    public private(set) var wants = DaemonLink.Readiness.nothing
    /// The time to wait before the next connection after a break; `nil` while there is one.
    public private(set) var retryDelay: Duration?
    /// The descriptor for a loop's source, which changes with each connection; `nil` without one.
    public var descriptor: SharedDescriptor? { try? connection?.descriptor }
    /// The number of bytes to send.
    public var pendingBytes: Int { connection?.pendingBytes ?? 0 }

    /// - Parameters:
    ///   - path: the path of the socket.
    ///   - maximumLineLength: the longest reply, in bytes.
    public init(path: String, maximumLineLength: Int) {
        self.path = path
        self.maximumLineLength = maximumLineLength
    }

    /// Connects; a failure is reported as news.
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

    /// Queues a line with its line feed for the next ``flush()``; to be called while there is a connection.
    public func send(_ line: [UInt8]) {
        unanswered += 1
        connection?.queue(line)
    }

    /// Sends queued lines, as far as the socket accepts them.
    public func flush() {
        guard let connection else { return }
        switch connection.flush() {
        case .closed: fail("the daemon has closed the connection")
        case .done: wants = .reading
        case .wouldBlock: wants = .readingAndWriting
        }
    }

    /// Reads the available replies.
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
        // An earlier line may have broken the connection.
        guard connection != nil else { return }
        guard unanswered > 0 else { return fail("the daemon sent a reply without a request") }
        unanswered -= 1
        news(.answered(line))
    }

    /// Resets the retry delay after a good reply, so that the next connection follows soon after a break.
    public func noteGoodReply() { nextDelay = LinkDelay.shortest }

    /// Breaks the connection, also if the program cannot use a reply.
    public func fail(_ reason: String) {
        connection?.close()
        connection = nil
        unanswered = 0
        wants = .nothing
        retryDelay = nextDelay
        nextDelay = min(nextDelay + nextDelay, LinkDelay.longest)
        news(.disconnected(reason))
    }
}

/// The retry delays of a link, doubled each time.
private enum LinkDelay {
    static let shortest: Duration = .milliseconds(100)
    static let longest: Duration = .seconds(5)
}

/// A nonblocking connection to `control.sock`, for a program with an event loop: a ``LineLink`` that parses the
/// replies. A refusal by the daemon breaks it. Used on one thread.
public final class DaemonLink {
    /// News of the connection.
    public enum News {
        /// Requests can be sent.
        case connected
        /// The daemon is away, or refuses the connection; the text is for people.
        case disconnected(String)
        /// The answer to a request; answers come in the order of the requests.
        case answered(ControlRequest.Operation, ControlReply)
    }

    /// The readiness that the program must watch for.
    public enum Readiness { case nothing, reading, readingAndWriting }

    private let path: String
    private let link: LineLink
    /// The requests without a reply, in order.
    private var awaited = Queue<ControlRequest.Operation>()

    /// Takes news.
    public var news: (News) -> Void = { _ in }
    /// The readiness to watch the descriptor for; any call of this object may change it.
    public var wants: Readiness { link.wants }
    /// The time to wait before the next connection after a break; `nil` while there is one.
    public var retryDelay: Duration? { link.retryDelay }
    /// The descriptor for a loop's source, which changes with each connection; `nil` without one.
    public var descriptor: SharedDescriptor? { link.descriptor }

    /// - Parameters:
    ///   - path: the path of the socket.
    ///   - maximumLineLength: the longest reply, in bytes.
    public init(path: String, maximumLineLength: Int) {
        self.path = path
        link = LineLink(path: path, maximumLineLength: maximumLineLength)
        // Unowned: this object owns the link, which makes no call after its release.
        link.news = { [unowned self] in take($0) }
    }

    private func take(_ news: LineLink.News) {
        switch news {
        case .connected: self.news(.connected)
        case .disconnected(let reason):
            awaited = Queue()
            self.news(.disconnected(reason))
        case .answered(let line):
            guard let operation = awaited.popFirst() else { preconditionFailure("the link counts the requests") }
            do throws(ControlReplyError) {
                let reply = try ControlReply(line: line)
                link.noteGoodReply()
                self.news(.answered(operation, reply))
            } catch {
                fail(DaemonError(error, path: path).description)
            }
        }
    }

    /// Connects; a failure is reported as news.
    public func connect() { link.connect() }

    /// Queues a request for the next ``flush()``; to be called while there is a connection.
    public func send(_ operation: ControlRequest.Operation) {
        awaited.append(operation)
        link.send(ControlRequest(operation).line)
    }

    /// Sends queued requests, as far as the socket accepts them.
    public func flush() { link.flush() }

    /// Reads the available replies.
    public func serve() { link.serve() }

    /// Breaks the connection, also if the program cannot use an answer.
    public func fail(_ reason: String) { link.fail(reason) }
}
