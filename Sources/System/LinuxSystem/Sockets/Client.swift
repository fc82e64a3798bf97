import Glibc

/// The reason why a client cannot talk to a daemon.
public enum ClientError: Error, Equatable, CustomStringConvertible {
    /// The path is empty or longer than ``SocketPath/maximumLength``.
    case pathTooLong(path: String)
    /// The path does not exist.
    case noSuchSocket(path: String)
    /// There is a socket, but the process that made it has ended.
    case noListener(path: String)
    /// This user may not write to the socket, or not pass through its directory.
    case permissionDenied(path: String)
    /// The daemon closed the connection.
    case closed(path: String)
    /// No line came in time.
    case timedOut(path: String)
    /// A line is longer than the caller's limit.
    case lineTooLong(path: String, maximumLength: Int)
    /// A system call failed.
    case system(operation: String, path: String, errno: Int32)

    /// One sentence for the person at the terminal.
    public var description: String {
        switch self {
        case .pathTooLong(let path): SocketPath.tooLong(path)
        case .noSuchSocket(let path): "there is no socket at \(path)"
        case .noListener(let path): "no process listens on \(path): the process that made the socket has ended"
        case .permissionDenied(let path): "this user may not connect to \(path)"
        case .closed(let path): "\(path): the connection was closed"
        case .timedOut(let path): "\(path): no answer in time"
        case .lineTooLong(let path, let maximumLength): "\(path): an answer is longer than \(maximumLength) bytes"
        case .system(let operation, let path, let errno): "cannot \(operation) \(path): \(reason(errno))"
        }
    }
}

/// The client end of a ``Connection``, for command line tools and tests: its calls block. Used on one thread.
///
/// The buffers of a socket are limited. A client that only sends will finally block on a daemon that blocks on it:
/// receive at least every few hundred lines.
final class Client {
    /// The descriptor for poll; the client owns it.
    public var descriptor: Int32 { socket.rawValue }

    private let path: String
    private let socket: FileDescriptor
    private let buffer = ReadBuffer()
    private var input = LineReader()
    private var lines: ArraySlice<[UInt8]> = []
    private var hasEnded = false
    private var isTooLong = false

    /// Connects to the socket at `path`; waits while its backlog is full.
    ///
    /// - Parameters:
    ///   - path: the path of the socket.
    ///   - timeoutMilliseconds: the limit for the wait for a place in the backlog, and in each send for room; nil means
    ///     no
    ///     limit.
    /// - Throws: `pathTooLong`, `noSuchSocket`, `noListener`, `permissionDenied`, `timedOut`, `system`.
    init(path: String, timeoutMilliseconds: Int? = nil) throws(ClientError) {
        self.path = path
        socket = try FileDescriptor.connected(
            to: path, nonblocking: false, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Sends bytes; waits until the socket has accepted them.
    ///
    /// - Throws: `closed`.
    public func send(_ bytes: [UInt8]) throws(ClientError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                retryingInterrupts {
                    Glibc.send(socket.rawValue, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
            }
            guard count >= 0 else { throw .closed(path: path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends a line with a line feed.
    ///
    /// - Throws: `closed`.
    public func send(line: String) throws(ClientError) { try send(Array(line.utf8) + [UInt8(ascii: "\n")]) }

    /// Closes the output (SHUT_WR). Answers can still be received.
    public func finishSending() { shutdown(socket.rawValue, Int32(SHUT_WR)) }

    /// Waits for the next line.
    ///
    /// - Parameters:
    ///   - maximumLength: in bytes.
    ///   - timeoutMilliseconds: the longest wait; nil means no limit.
    /// - Returns: the line without its line feed; nil if the daemon has closed the connection.
    /// - Throws: `timedOut`, `lineTooLong`.
    public func receiveLine(
        maximumLength: Int = 16 * 1024 * 1024, timeoutMilliseconds: Int? = nil
    ) throws(ClientError) -> [UInt8]? {
        let deadline = timeoutMilliseconds.map { monotonicMilliseconds() + $0 }
        while true {
            if let line = lines.popFirst() { return line }
            if hasEnded { return nil }
            if isTooLong { throw .lineTooLong(path: path, maximumLength: maximumLength) }
            switch input.read(from: socket.rawValue, using: buffer, maximumLineLength: maximumLength) {
            case .lines(let lines): self.lines = lines[...]
            case .tooLong(let lines):
                self.lines = lines[...]
                isTooLong = true
            case .endOfFile(let unterminated):
                hasEnded = true
                return unterminated
            case .wouldBlock: try waitUntilReadable(deadline: deadline)
            }
        }
    }

    private func waitUntilReadable(deadline: Int?) throws(ClientError) {
        let remaining = deadline.map { max(0, $0 - monotonicMilliseconds()) } ?? -1
        guard remaining != 0 else { throw .timedOut(path: path) }
        var request = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
        // The caller reads again after any wake-up, and waits for the remaining time.
        poll(&request, 1, Int32(clamping: remaining))
    }
}

extension Connection {
    /// Connects to the socket at `path` as a client; never waits, even if its backlog is full.
    ///
    /// - Throws: `pathTooLong`, `noSuchSocket`, `noListener`, `permissionDenied`, `system`.
    public convenience init(connectingTo path: String) throws(ClientError) {
        self.init(owning: try FileDescriptor.connected(to: path, nonblocking: true))
    }
}

extension FileDescriptor {
    /// Returns a stream socket connected to the one at `path`.
    fileprivate static func connected(
        to path: String, nonblocking: Bool, timeoutMilliseconds: Int? = nil
    ) throws(ClientError) -> FileDescriptor {
        guard SocketPath.fits(path) else { throw .pathTooLong(path: path) }
        guard let socket = streamSocket(nonblocking: nonblocking) else {
            throw .system(operation: "create a socket for", path: path, errno: errno)
        }
        let descriptor = socket.rawValue
        if let timeoutMilliseconds {
            var limit = timeval(tv_sec: timeoutMilliseconds / 1000, tv_usec: timeoutMilliseconds % 1000 * 1000)
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        let connected = retryingInterrupts {
            Int(SocketPath.withAddress(of: path) { address, length in connect(descriptor, address, length) })
        }
        guard connected == 0 else {
            switch errno {
            case ENOENT, ENOTDIR: throw .noSuchSocket(path: path)
            case ECONNREFUSED: throw .noListener(path: path)
            // unix(7): the limit for a place in the backlog has passed.
            case EAGAIN where timeoutMilliseconds != nil: throw .timedOut(path: path)
            case EACCES, EPERM: throw .permissionDenied(path: path)
            default: throw .system(operation: "connect to", path: path, errno: errno)
            }
        }
        return socket
    }
}

private func monotonicMilliseconds() -> Int { Int(SystemClock.monotonicNanoseconds / 1_000_000) }
