public import PushModel

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
    private let link: LineLink<ControlRequest.Operation>

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

    private func take(_ news: LineLink<ControlRequest.Operation>.News) {
        switch news {
        case .connected: self.news(.connected)
        case .disconnected(let reason, _): self.news(.disconnected(reason))
        case .answered(let operation, let line):
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
        link.send(ControlRequest(operation).line, awaiting: operation)
    }

    /// Sends queued requests, as far as the socket accepts them.
    public func flush() { link.flush() }

    /// Reads the available replies.
    public func serve() { link.serve() }

    /// Breaks the connection, also if the program cannot use an answer.
    public func fail(_ reason: String) { link.fail(reason) }
}
