public import LinuxSystem
public import PushModel
import UnixSockets

/// A connection to `control.sock` that never waits, for a program with an event loop. It is to be made again whenever it
/// breaks, or the daemon refuses what it is told; until then everything that was awaited is forgotten. Used on one thread.
///
/// The program watches ``descriptor`` for what ``wants`` says, calls ``serve()`` when there is something to read, and
/// ``flush()`` at the end of each turn; it calls ``connect()`` when ``retryDelay`` has passed.
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
    private let maximumLineLength: Int
    private let buffer = ReadBuffer()
    private var connection: Connection?
    /// The requests whose replies are to come, in order.
    private var awaited = Queue<ControlRequest.Operation>()
    private var nextDelay = shortestDelay

    private static let shortestDelay: Duration = .milliseconds(100)
    private static let longestDelay: Duration = .seconds(5)

    /// Takes what comes.
    public var news: (News) -> Void = { _ in }
    /// What the descriptor is to be watched for; changes with each call of this object.
    public private(set) var wants = Readiness.nothing
    /// After a connection broke: how long to wait before it is made again; `nil` while there is one.
    public private(set) var retryDelay: Duration?
    /// To watch for readiness; another one with each connection. `nil` while there is none.
    public var descriptor: SharedDescriptor? { try? connection?.descriptor }

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

    /// Queues a request; to be called while there is a connection. It leaves with the next ``flush()``.
    public func send(_ operation: ControlRequest.Operation) {
        awaited.append(operation)
        connection?.queue(ControlRequest(operation).line)
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
        guard let operation = awaited.popFirst() else { return fail("the daemon sent a reply without a request") }
        do throws(ControlReplyError) {
            let reply = try ControlReply(line: line)
            nextDelay = Self.shortestDelay
            news(.answered(operation, reply))
        } catch {
            fail(DaemonError(error, path: path).description)
        }
    }

    /// Gives the connection up: also for a program that cannot use an answer.
    public func fail(_ reason: String) {
        connection?.close()
        connection = nil
        awaited = Queue()
        wants = .nothing
        retryDelay = nextDelay
        nextDelay = min(nextDelay + nextDelay, Self.longestDelay)
        news(.disconnected(reason))
    }
}
