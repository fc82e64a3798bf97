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
