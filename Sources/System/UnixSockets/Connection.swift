import CLinux
import Glibc
public import LinuxSystem

/// Who a client was when it connected (`SO_PEERCRED`): the kernel vouches for it.
public struct PeerCredentials: Hashable, Sendable {
    /// Its process, which may have ended since; 0 when it is in a PID namespace that this process cannot see.
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

/// One client: lines in, bytes out, never waiting. Used on one thread. Closed by ``close()``, or when it is dropped.
public final class Connection {
    /// Who the client is.
    public let peer: PeerCredentials
    /// To watch for readiness.
    ///
    /// - Throws: `EBADF` once it is closed.
    public var descriptor: SharedDescriptor {
        get throws(SystemError) {
            guard let socket else { throw SystemError(operation: "watch a closed connection", errno: EBADF) }
            return socket
        }
    }
    /// How many bytes are queued and not yet sent.
    public var pendingBytes: Int { output.pendingBytes }
    /// Whether the client has not read to its end what was queued last, and never will; known at the end of what it sends.
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

    /// Reads what has come, at most one buffer full, so that no client keeps the others waiting.
    ///
    /// - Parameters:
    ///   - buffer: scratch memory, shared by all connections of a thread.
    ///   - maximumLineLength: in bytes, without the line feed.
    /// - Returns: the lines that are complete now, or why there are none.
    public func read(using buffer: ReadBuffer, maximumLineLength: Int) -> ReadResult {
        input.read(from: number, using: buffer, maximumLineLength: maximumLineLength)
    }

    /// How many bytes have come that are no line yet, or a line that nobody asked for yet.
    public var unreadBytes: Int { input.unreadBytes }

    /// Takes in what has come, at most one buffer full.
    ///
    /// - Parameters:
    ///   - buffer: scratch memory, shared by all connections of a thread.
    ///   - limit: how many bytes at most.
    public func fill(using buffer: ReadBuffer, atMost limit: Int = .max) -> FillResult {
        input.fill(from: number, using: buffer, atMost: limit)
    }

    /// Takes out the next line of what has come.
    ///
    /// - Parameter maximumLength: in bytes, without the line feed.
    public func nextLine(maximumLength: Int) -> NextLine { input.nextLine(maximumLength: maximumLength) }

    /// Takes out what came after the last line feed; `nil` for nothing. At the end of the stream that is a line, too.
    public func takeRest() -> [UInt8]? { input.takeRest() }

    /// Throws away what has come and whatever still comes; the end of it is still noticed.
    public func discardInput() { input.discard() }

    /// Queues bytes. They leave with the next ``flush()``.
    public func queue(_ bytes: some Collection<UInt8>) { output.append(bytes) }

    /// Sends what is queued, in one call, as far as the client takes it.
    public func flush() -> FlushResult { output.flush(to: number) }

    /// Tells the other end that no more will be sent. What it sends can still be read.
    public func finishSending() { shutdown(number, Int32(SHUT_WR)) }

    /// Lets go of the client: its descriptor is free, unless a loop still watches it, whoever still holds this object. Nothing may
    /// be read or flushed any more.
    public func close() { socket = nil }
}
