import LinuxSystem
import PushModel

/// One client of a socket: its connection, the queue of its replies, and whether the server still reads it.
final class ClientSession {
    /// The server of a session.
    protocol Owner: AnyObject {
        /// Called when a reply is queued: the server flushes the session at the end of the turn.
        func needsFlush(_ session: ClientSession)
        /// Called when the server may work the client's requests again.
        func mayResume(_ session: ClientSession)
    }

    let peer: Peer
    /// The account that its requests belong to.
    var account: Account { peer.account }
    let connection: Connection
    /// The number of outcome lines that are still to be sent, beside replies.
    var outcomesAwaited = 0
    /// Whether its input is discarded, because of a line that was too long or too slow; and since when, in monotonic
    /// nanoseconds.
    var isDiscarding = false
    var discardingSince: Int64?
    /// Whether the server takes no more requests from it.
    private(set) var hasEnded = false
    /// Whether its connection is closed: replies are dropped.
    private(set) var isClosed = false
    /// Whether the input buffer may have complete lines.
    var mayHaveLines = false
    /// Whether it is in the server's queue of clients with work.
    var isQueued = false
    /// Whether it is in the server's list of clients that wait for room.
    var waitsForRoom = false
    /// Whether the connection's end of file was read: the rest of the input is its last line.
    var isAtEnd = false
    /// The length of its large request that another thread reads, in bytes.
    var heldBytes = 0
    /// The memory of its parsed request that waits, in bytes.
    private(set) var waitingBytes = 0
    /// The bytes that the server's accounts count for it.
    var inputCounted = 0
    var outputCounted = 0
    var waitingCounted = 0
    /// When its unfinished line began, in monotonic nanoseconds; `nil` without one.
    var lineSince: Int64?
    /// Since when it has read none of its replies, in monotonic nanoseconds; `nil` without unread replies.
    var unreadSince: Int64?
    /// When it last sent or took something, in monotonic nanoseconds.
    var lastActive: Int64

    /// Whether its next request waits for its current one: for a look-up, or for the thread of large requests.
    private(set) var isBlocked = false
    private var replies = ReplyQueue()
    private var member: IOMember?
    // Safe: the owner lives as long as the loop runs, and only the loop calls a session.
    private unowned let owner: any Owner
    private var isFlushPending = false

    /// With more replies and outcomes to come than this the server works none of its requests.
    private static let repliesLimit = 4096

    /// - Parameters:
    ///   - connection: its connection.
    ///   - account: the account of its requests; `nil`: that of its user id.
    ///   - owner: its server.
    ///   - now: monotonic nanoseconds.
    init(_ connection: Connection, account: Account? = nil, owner: any Owner, now: Int64) {
        self.connection = connection
        self.owner = owner
        lastActive = now
        let credentials = connection.peer
        peer = Peer(
            account: account ?? Account(uid: credentials.userID), gid: credentials.groupID, pid: credentials.processID)
    }

    /// Adds the connection to the event loop's group.
    func open(in group: IOGroup, serve: @escaping (ClientSession, IOEvents) -> Void) throws(SystemError) {
        let descriptor = try connection.descriptor
        member = try IOMember(of: group, descriptor: descriptor, interest: .read) { [weak self] events in
            if let self { serve(self, events) }
        }
    }

    // MARK: Requests

    /// Reserves the place of the next reply.
    func reserveReply() -> Int { replies.reserve() }

    /// Holds back its next requests until ``resume()``.
    ///
    /// - Parameter bytes: the memory of the request that holds them back.
    func block(holding bytes: Int = 0) {
        isBlocked = true
        waitingBytes = bytes
    }

    /// Ends the block, so that its next request may block again.
    func unblock() {
        isBlocked = false
        waitingBytes = 0
    }

    /// Tells the server that the session no longer waits, or waits with another request. Also for a closed session,
    /// because it still held memory.
    func resume() { owner.mayResume(self) }

    /// Notes that no more requests are taken from it.
    func end() { hasEnded = true }

    // MARK: Replies

    /// Fills the place of a reply.
    func reply(_ place: Int, _ reply: ClientReply) {
        guard !isClosed else { return }
        replies.fill(place, with: reply) { connection.queue($0.bytes) }
        markForFlush()
    }

    /// Sends a line at some time after the reply that it belongs to.
    func send(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        connection.queue(bytes)
        markForFlush()
    }

    /// Whether so many replies are still to come that the server works none of its requests.
    var isOwedTooMany: Bool { replies.count + outcomesAwaited >= Self.repliesLimit }

    /// The bytes of replies that the client has not read, or that wait for earlier replies.
    var owedBytes: Int { connection.pendingBytes + replies.heldBytes }

    /// Whether no reply and no outcome is still to come or unread.
    var isIdle: Bool { replies.isEmpty && outcomesAwaited == 0 && connection.pendingBytes == 0 }

    /// Whether the server can drop the session.
    var isDone: Bool {
        isClosed || hasEnded && isIdle
    }

    /// Writes queued bytes until the socket is full.
    ///
    /// - Returns: whether the socket took any.
    func flush() -> Bool {
        isFlushPending = false
        guard !isClosed else { return false }
        let before = connection.pendingBytes
        if connection.flush() == .closed {
            close()
            return false
        }
        return connection.pendingBytes < before
    }

    private func markForFlush() {
        guard !isClosed, !isFlushPending else { return }
        isFlushPending = true
        owner.needsFlush(self)
    }

    // MARK: The connection

    /// Sets the events that the loop watches the connection for.
    ///
    /// - Parameter reads: whether the server reads from it.
    func watch(reads: Bool) {
        guard !isClosed else { return }
        var interest: IOEvents = []
        if reads, !hasEnded, !isAtEnd { interest.insert(.read) }
        if connection.pendingBytes > 0 { interest.insert(.write) }
        // A client that sent its end of file and waits for replies is still watched for EPOLLHUP.
        if interest.isEmpty, hasEnded || isAtEnd { interest.insert(.hangup) }
        member?.interest = interest
    }

    /// Closes the connection.
    func close() {
        isClosed = true
        // This may run in the member's own handler, which keeps the member alive.
        member?.leave()
        member = nil
        connection.close()
    }
}

/// How long clients may take, in nanoseconds; a reload may change it.
struct ClientTimeouts {
    /// From the first byte of a line to its end.
    var line: Int64
    /// While replies are unread, until the client reads some.
    var write: Int64
    /// Without a request or an unread reply; `nil`: for ever.
    var idle: Int64?
}

/// The time limit that a client exceeded.
enum Overdue {
    /// The client was refused, and has had the time to read why.
    case discarding
    /// The client leaves this number of bytes unread.
    case reading(owed: Int)
    /// The client does not end its line.
    case line
    /// The client sends no request and waits for no reply.
    case idle
}

extension ClientSession {
    /// How long the server reads and discards input after a line that was too long or too slow, in nanoseconds: closing
    /// at once would reset the connection before the client has read the error.
    private static let discardTime: Int64 = 1_000_000_000

    /// The time limit that the client exceeds; `nil`: none.
    ///
    /// - Parameters:
    ///   - timeouts: the limits.
    ///   - now: monotonic nanoseconds.
    func overdue(_ timeouts: ClientTimeouts, at now: Int64) -> Overdue? {
        if let since = discardingSince { return now - since >= Self.discardTime ? .discarding : nil }
        if let since = unreadSince, now - since >= timeouts.write { return .reading(owed: connection.pendingBytes) }
        if let since = lineSince, now - since >= timeouts.line { return .line }
        if let limit = timeouts.idle, now - lastActive >= limit, isIdle, !isBlocked { return .idle }
        return nil
    }
}
