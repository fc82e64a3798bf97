import CLinux
import Glibc

/// The identity of a client when it connected (`SO_PEERCRED`), verified by the kernel.
public struct PeerCredentials: Hashable, Sendable {
    /// Its process, which may have ended since; 0 if it is in a PID namespace that this process cannot see.
    public let processID: Int32
    /// Its effective user.
    public let userID: UInt32
    /// Its effective group.
    public let groupID: UInt32

    init(of socket: Int32) {
        var processID: Int32 = 0
        var userID: UInt32 = 0
        var groupID: UInt32 = 0
        let result = CLinux_peer_credentials(socket, &processID, &userID, &groupID)
        precondition(result == 0, "every connected Unix socket has peer credentials")
        self.processID = processID
        self.userID = userID
        self.groupID = groupID
    }
}

/// A client's connection: reads lines, sends bytes, never waits. Used on one thread. Closed by ``close()``, or at its
/// release.
public final class Connection {
    /// The client's identity.
    public let peer: PeerCredentials
    /// The descriptor for a loop's source.
    ///
    /// - Throws: `EBADF` after `close`.
    public var descriptor: SharedDescriptor {
        get throws(SystemError) {
            guard let socket else { throw SystemError(operation: "watch a closed connection", errno: EBADF) }
            return socket
        }
    }
    /// The number of bytes that are queued and not yet sent.
    public var pendingBytes: Int { output.pendingBytes }
    /// Whether the client will never read the last queued bytes to their end. Valid at the end of its output.
    public var leftLastUnread: Bool { output.pendingBytes > 0 || output.wasCut || input.wasReset }

    private var socket: SharedDescriptor?
    private var number: Int32 { socket?.rawValue ?? -1 }
    private var input = LineReader()
    private var output = WriteQueue()

    /// Takes over a connected Unix stream socket.
    public convenience init(owning socket: consuming FileDescriptor) { self.init(SharedDescriptor(socket)) }

    /// Takes over a connected Unix stream socket.
    public init(_ socket: SharedDescriptor) {
        peer = PeerCredentials(of: socket.rawValue)
        self.socket = socket
    }

    /// The groups that the client had when it connected, with its effective one.
    public var peerGroups: [UInt32] {
        var groups = [UInt32](repeating: 0, count: 64)
        var count = CLinux_peer_groups(number, &groups, UInt32(groups.count))
        if count > groups.count {
            groups = [UInt32](repeating: 0, count: Int(count))
            count = CLinux_peer_groups(number, &groups, UInt32(groups.count))
        }
        return [peer.groupID] + groups.prefix(max(0, Int(count)))
    }

    /// Reads the available bytes, at most one buffer full, so that no client keeps the others waiting.
    ///
    /// - Parameters:
    ///   - buffer: scratch memory, shared by all connections of a thread.
    ///   - maximumLineLength: in bytes, without the line feed.
    /// - Returns: the complete lines, or why there are none.
    public func read(using buffer: ReadBuffer, maximumLineLength: Int) -> ReadResult {
        input.read(from: number, using: buffer, maximumLineLength: maximumLineLength)
    }

    /// The number of bytes received and not yet taken as a line.
    public var unreadBytes: Int { input.unreadBytes }

    /// Reads the available bytes, at most one buffer full.
    ///
    /// - Parameters:
    ///   - buffer: scratch memory, shared by all connections of a thread.
    ///   - limit: the largest number of bytes.
    public func fill(using buffer: ReadBuffer, atMost limit: Int = .max) -> FillResult {
        input.fill(from: number, using: buffer, atMost: limit)
    }

    /// Removes and returns the next line of the received bytes.
    ///
    /// - Parameter maximumLength: in bytes, without the line feed.
    public func nextLine(maximumLength: Int) -> NextLine { input.nextLine(maximumLength: maximumLength) }

    /// Removes and returns the bytes after the last line feed; `nil` if there are none. At the end of the stream they
    /// are a line, too.
    public func takeRest() -> [UInt8]? { input.takeRest() }

    /// Discards received bytes and all later ones; the end of the stream is still reported.
    public func discardInput() { input.discard() }

    /// Queues bytes for the next ``flush()``.
    public func queue(_ bytes: some Collection<UInt8>) { output.append(bytes) }

    /// Sends queued bytes, in one call, as far as the socket accepts them.
    public func flush() -> FlushResult { output.flush(to: number) }

    /// Closes the output (SHUT_WR). The client's output can still be read.
    public func finishSending() { shutdown(number, Int32(SHUT_WR)) }

    /// Releases the socket, even if this object lives on; the descriptor closes once no loop watches it. No read or
    /// flush may follow.
    public func close() { socket = nil }
}

extension Connection {
    /// Creates a connection of this process with itself.
    ///
    /// - Throws: if there is no descriptor left.
    public static func pair() throws(SystemError) -> (Connection, Connection) {
        var ends: (Int32, Int32) = (-1, -1)
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let result = withUnsafeMutableBytes(of: &ends) { bytes in
            socketpair(AF_UNIX, kind, 0, bytes.assumingMemoryBound(to: Int32.self).baseAddress)
        }
        guard result == 0, let one = FileDescriptor(ends.0), let other = FileDescriptor(ends.1) else {
            throw SystemError(operation: "create a pair of sockets", errno: errno)
        }
        return (Connection(owning: one), Connection(owning: other))
    }
}

extension Connection {
    /// The result of receiving a connection (SCM_RIGHTS).
    public enum ReceivedConnection {
        /// A connection; nonblocking.
        case connection(Connection)
        /// No connection is waiting.
        case wouldBlock
        /// The other end is closed.
        case end
        /// The message held no connection.
        case failed(errno: Int32)
    }

    /// Makes a connection, and sends its other end to the process at the other end of a socket.
    ///
    /// - Parameter socket: a connected Unix stream socket.
    /// - Throws: if there is no descriptor left, or the other process does not accept it.
    public convenience init(handingOverTo socket: SharedDescriptor) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard CLinux_socket_pair(&ends) == 0 else { throw SystemError(operation: "make a connection", errno: errno) }
        self.init(owning: FileDescriptor(owning: ends[0]))
        let theirs = FileDescriptor(owning: ends[1])
        let result = retryingInterrupts { CLinux_send_descriptor(socket.rawValue, theirs.rawValue) }
        guard result == 0 else { throw SystemError(operation: "hand over a connection", errno: errno) }
    }

    /// Receives a connection from another process. Does not wait.
    ///
    /// - Parameter socket: a connected Unix stream socket.
    public static func received(over socket: SharedDescriptor) -> ReceivedConnection {
        let descriptor = retryingInterrupts { CLinux_receive_descriptor(socket.rawValue) }
        guard descriptor >= 0 else {
            if descriptor == -2 { return .end }
            return errno == EAGAIN ? .wouldBlock : .failed(errno: errno)
        }
        let taken = FileDescriptor(owning: descriptor)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return .connection(Connection(owning: taken))
    }
}

extension FileDescriptor {
    /// Creates a Unix stream socket, close-on-exec; nil with `errno` set if there is no descriptor left.
    static func streamSocket(nonblocking: Bool) -> FileDescriptor? {
        let flags = SOCK_CLOEXEC.rawValue | (nonblocking ? SOCK_NONBLOCK.rawValue : 0)
        return FileDescriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | flags), 0))
    }
}

/// Scratch memory for reads, one for all connections of a thread: an idle connection needs no buffer.
public final class ReadBuffer {
    /// The memory, with the data of the last read.
    public let storage: UnsafeMutableRawBufferPointer

    /// - Parameter size: in bytes; the limit of one read.
    public init(size: Int = 64 * 1024) {
        precondition(size > 0, "a read buffer has room for something")
        storage = .allocate(byteCount: size, alignment: 16)
    }

    deinit { storage.deallocate() }
}

/// The result of one read.
public enum ReadResult: Equatable {
    /// The complete lines, in order, without their line feeds; the list, or a line, may be empty.
    case lines([[UInt8]])
    /// A line longer than the limit follows these lines. Later reads discard the input, until its end.
    case tooLong(after: [[UInt8]])
    /// The peer has closed its output. A last line without a line feed counts as a line (`printf '{...}' | nc -U`), and
    /// is given here.
    case endOfFile(unterminated: [UInt8]?)
    /// No bytes are available. Try again when the connection is readable.
    case wouldBlock
}

/// The result of a fill.
public enum FillResult: Equatable, Sendable {
    /// Bytes were read.
    case some
    /// The peer has closed its output.
    case endOfFile
    /// No bytes are available. Try again when the connection is readable.
    case wouldBlock
}

/// The next one of the received lines.
public enum NextLine: Equatable, Sendable {
    /// A line without its line feed; it may be empty.
    case line([UInt8])
    /// A line longer than the limit. Later input is discarded, until its end.
    case tooLong
    /// No line is complete.
    case incomplete
}

/// Splits a byte stream into lines. Keeps the bytes that were not taken yet.
struct LineReader {
    private var bytes: [UInt8] = []
    /// The number of bytes that were taken.
    private var taken = 0
    /// The number of bytes that were taken or searched: there is no line feed between `taken` and here.
    private var searched = 0
    private var isDiscarding = false
    /// Whether the peer closed the connection with unread data (ECONNRESET).
    private(set) var wasReset = false

    /// The number of bytes received and not yet taken as a line.
    var unreadBytes: Int { bytes.count - taken }

    /// Reads the available bytes, at most one buffer full, and at most `limit` bytes.
    mutating func fill(from descriptor: Int32, using buffer: ReadBuffer, atMost limit: Int = .max) -> FillResult {
        let storage = UnsafeMutableRawBufferPointer(rebasing: buffer.storage.prefix(limit))
        let count = retryingInterrupts {
            recv(descriptor, storage.baseAddress, storage.count, Int32(MSG_DONTWAIT))
        }
        guard count > 0 else {
            if count < 0, errno == EAGAIN { return .wouldBlock }
            precondition(
                count == 0 || errno != EBADF && errno != ENOTSOCK, "read from something that is not an open socket")
            // ECONNRESET: the peer left replies unread. After any error no more input follows.
            if count < 0, errno == ECONNRESET { wasReset = true }
            return .endOfFile
        }
        guard !isDiscarding else { return .some }
        if taken > 0 {
            bytes.removeFirst(taken)
            searched -= taken
            taken = 0
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: storage[..<count]))
        return .some
    }

    /// Removes and returns the next line.
    mutating func nextLine(maximumLength: Int) -> NextLine {
        let end = bytes.withUnsafeBytes { all -> Int? in
            guard let base = all.baseAddress, searched < all.count,
                let found = memchr(base + searched, Int32(UInt8(ascii: "\n")), all.count - searched)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
        searched = end ?? bytes.count
        guard searched - taken <= maximumLength else {
            discard()
            return .tooLong
        }
        guard let end else { return .incomplete }
        let line = Array(bytes[taken..<end])
        taken = end + 1
        searched = taken
        if taken == bytes.count { clear() }
        return .line(line)
    }

    /// Removes and returns the bytes after the last line feed; `nil` if there are none. At the end of the stream they
    /// are a line, too.
    mutating func takeRest() -> [UInt8]? {
        guard unreadBytes > 0 else { return nil }
        defer { clear() }
        return Array(bytes[taken...])
    }

    /// Reads the available bytes, and returns all complete lines.
    mutating func read(from descriptor: Int32, using buffer: ReadBuffer, maximumLineLength: Int) -> ReadResult {
        switch fill(from: descriptor, using: buffer) {
        case .wouldBlock: return .wouldBlock
        case .endOfFile: return .endOfFile(unterminated: takeRest())
        case .some: break
        }
        var lines: [[UInt8]] = []
        while true {
            switch nextLine(maximumLength: maximumLineLength) {
            case .line(let line): lines.append(line)
            case .tooLong: return .tooLong(after: lines)
            case .incomplete: return .lines(lines)
            }
        }
    }

    /// Discards received bytes and all later ones.
    mutating func discard() {
        isDiscarding = true
        clear()
    }

    /// Frees the memory as well: an idle connection has none.
    private mutating func clear() {
        bytes = []
        taken = 0
        searched = 0
    }
}

/// The result of a flush.
public enum FlushResult: Equatable, Sendable {
    /// The queue is empty.
    case done
    /// The peer accepts no more for now. Flush again when the connection is writable.
    case wouldBlock
    /// The peer has closed the connection; the queue is dropped.
    case closed
}

/// A queue of outgoing bytes.
struct WriteQueue {
    private var bytes: [UInt8] = []
    /// The number of `bytes` that have been sent.
    private var sent = 0
    /// Whether the peer closed the connection before all bytes were sent.
    private(set) var wasCut = false

    var pendingBytes: Int { bytes.count - sent }

    mutating func append(_ more: some Collection<UInt8>) {
        // Moves the rest to the front only if it is the smaller part: each byte moves once on average.
        if sent > bytes.count / 2 {
            bytes.removeFirst(sent)
            sent = 0
        }
        bytes.append(contentsOf: more)
    }

    mutating func flush(to descriptor: Int32) -> FlushResult {
        guard pendingBytes > 0 else { return .done }
        let count = bytes.withUnsafeBytes { bytes in
            retryingInterrupts {
                send(
                    descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
                    Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
        }
        guard count >= 0 else {
            if errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM { return .wouldBlock }
            precondition(errno != EBADF && errno != ENOTSOCK, "write to something that is not an open socket")
            clear()
            wasCut = true
            return .closed
        }
        sent += count
        guard pendingBytes == 0 else { return .wouldBlock }
        clear()
        return .done
    }

    private mutating func clear() {
        // An idle connection frees the memory of its largest reply.
        bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
        sent = 0
    }
}
