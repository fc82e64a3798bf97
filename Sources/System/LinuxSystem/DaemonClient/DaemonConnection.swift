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

/// The question for the state of a gateway, by its Unix socket.
public enum GatewayStatusQuestion {
    /// How many bytes of the answer are read at most.
    private static let longest = 1 << 20

    /// Asks with `GET /status`.
    ///
    /// - Parameters:
    ///   - path: the gateway's Unix socket.
    ///   - timeoutMilliseconds: how long the connection, and each line of the answer, may take.
    /// - Throws: why the gateway gave no status, for people.
    public static func ask(_ path: String, timeoutMilliseconds: Int) throws -> JSONNode {
        let client = try Client(path: path, timeoutMilliseconds: timeoutMilliseconds)
        try client.send(Array("GET /status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".utf8))
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
        var description: String { "\(path) gives no status: it is not the socket of pushrouter-gateway" }
    }
}
