public import LinuxSystem
public import PushModel

/// A connection to `control.sock` that never waits, for a program with an event loop: a ``LineLink`` whose replies are read.
/// The daemon's refusal breaks it. Used on one thread.
public final class DaemonLink {
    /// What comes from the daemon.
    public enum News {
        /// Requests can be sent.
        case connected
        /// It is away, or refuses to talk; for people.
        case disconnected(String)
        /// The answer to a request; answers come in the order of the requests.
        case answered(ControlRequest.Operation, ControlReply)
    }

    /// What the program has to watch the descriptor for.
    public enum Readiness { case nothing, reading, readingAndWriting }

    private let path: String
    private let link: LineLink<ControlRequest.Operation>

    /// Takes what comes.
    public var news: (News) -> Void = { _ in }
    /// What the descriptor is to be watched for; changes with each call of this object.
    public var wants: Readiness { link.wants }
    /// After a connection broke: how long to wait before it is made again; `nil` while there is one.
    public var retryDelay: Duration? { link.retryDelay }
    /// To watch for readiness; another one with each connection. `nil` while there is none.
    public var descriptor: SharedDescriptor? { link.descriptor }

    /// - Parameters:
    ///   - path: of the socket.
    ///   - maximumLineLength: how long a reply may be, in bytes.
    public init(path: String, maximumLineLength: Int) {
        self.path = path
        link = LineLink(path: path, maximumLineLength: maximumLineLength)
        // Unowned: the link is a property of this object, and calls nobody once it is gone.
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

    /// Connects, or tells why not.
    public func connect() { link.connect() }

    /// Queues a request; to be called while there is a connection. It leaves with the next ``flush()``.
    public func send(_ operation: ControlRequest.Operation) {
        link.send(ControlRequest(operation).line, awaiting: operation)
    }

    /// Sends what is queued, as far as the daemon takes it.
    public func flush() { link.flush() }

    /// Takes in what came.
    public func serve() { link.serve() }

    /// Gives the connection up: also for a program that cannot use an answer.
    public func fail(_ reason: String) { link.fail(reason) }
}
