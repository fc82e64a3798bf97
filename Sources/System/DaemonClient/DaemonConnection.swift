import Glibc
import LinuxSystem
public import PushModel
import UnixSockets

/// A connection to a socket of the daemon for a program that waits for each answer. Used on one thread.
public struct DaemonConnection {
    private let client: Client
    private let path: String

    /// Connects; waits while the socket's backlog is full.
    ///
    /// - Parameters:
    ///   - path: the socket's.
    ///   - timeoutMilliseconds: how long to wait at most; `nil` is for ever.
    public init(_ path: String, timeoutMilliseconds: Int? = nil) throws(DaemonError) {
        self.path = path
        do { client = try Client(path: path, timeoutMilliseconds: timeoutMilliseconds) } catch { throw .socket(error) }
    }

    /// Asks the daemon over `control.sock`, and waits for its answer.
    ///
    /// - Parameters:
    ///   - operation: what is asked.
    ///   - timeoutMilliseconds: how long to wait; `nil` is for ever.
    /// - Throws: why there is no answer, and what the daemon refuses.
    public func ask(
        _ operation: ControlRequest.Operation, timeoutMilliseconds: Int? = nil
    ) throws(DaemonError) -> ControlReply {
        try send(ControlRequest(operation).line)
        guard let line = try receiveLine(timeoutMilliseconds: timeoutMilliseconds) else { throw .noAnswer(path: path) }
        do { return try ControlReply(line: line) } catch { throw DaemonError(error, path: path) }
    }

    /// Reads a part of an answer.
    ///
    /// - Throws: what the answer lacks.
    public func read<Part>(_ part: () throws(ControlReplyError) -> Part) throws(DaemonError) -> Part {
        do { return try part() } catch { throw DaemonError(error, path: path) }
    }

    /// Waits until the daemon sent something or has room for more.
    ///
    /// - Returns: whether it sent something. A program that sends without receiving may wait for a daemon that waits too.
    public func mustReceive() throws(DaemonError) -> Bool {
        var request = pollfd(fd: client.descriptor, events: Int16(POLLIN | POLLOUT), revents: 0)
        guard retryingInterrupts({ poll(&request, 1, -1) }) >= 0 else {
            throw .socket(.system(operation: "wait for", path: path, errno: errno))
        }
        return Int32(request.revents) & POLLIN != 0
    }

    /// Sends bytes as they are.
    public func send(_ bytes: [UInt8]) throws(DaemonError) {
        do { try client.send(bytes) } catch { throw .socket(error) }
    }

    /// Tells the daemon that nothing more comes.
    public func finishSending() { client.finishSending() }

    /// The next line; `nil` when the daemon closed the connection.
    public func receiveLine(timeoutMilliseconds: Int? = nil) throws(DaemonError) -> [UInt8]? {
        do { return try client.receiveLine(timeoutMilliseconds: timeoutMilliseconds) } catch { throw .socket(error) }
    }
}
