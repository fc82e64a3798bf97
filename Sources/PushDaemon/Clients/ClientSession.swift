import EventLoop
import LinuxSystem
import PushModel
import UnixSockets

/// One client of a socket: its connection, the replies that it is owed, and whether it is still read.
final class ClientSession {
    /// What a session tells its server.
    protocol Owner: AnyObject {
        /// Something is queued for the client: it is to be flushed at the end of the turn.
        func needsFlush(_ session: ClientSession)
        /// The client may be worked for again.
        func mayGoOn(_ session: ClientSession)
    }

    let peer: Peer
    /// Whose its requests are.
    var account: Account { peer.account }
    let connection: Connection
    /// Outcome lines that it waits for, beside replies.
    var outcomesAwaited = 0
    /// Whether its bytes are thrown away because of a line that was too long, or too slow; and since when, in monotonic
    /// nanoseconds.
    var isDiscarding = false
    var discardingSince: Int64?
    /// Whether it will send no more.
    private(set) var hasEnded = false
    /// Whether it is gone: what it is owed goes nowhere.
    private(set) var isClosed = false
    /// Whether there may be lines among what it has sent.
    var mayHaveLines = false
    /// Whether it is in the server's queue to be worked for.
    var isQueued = false
    /// Whether it is in the server's list of those who wait until others have let go of something.
    var waitsForRoom = false
    /// Whether all that it sent has come: what is left of it is a last line.
    var isAtEnd = false
    /// How many bytes a request of its has that is being read elsewhere.
    var heldBytes = 0
    /// How much memory a request of its takes that was read and waits, in bytes.
    private(set) var waitingBytes = 0
    /// How many of its bytes the server's accounts have.
    var inputCounted = 0
    var outputCounted = 0
    var waitingCounted = 0
    /// Since when its unfinished line has waited for its end, in monotonic nanoseconds.
    var lineSince: Int64?
    /// Since when it has taken nothing of what it is owed, in monotonic nanoseconds.
    var unreadSince: Int64?
    /// When it last sent or took something, in monotonic nanoseconds.
    var lastActive: Int64

    /// Whether its next request must wait for something that only it waits for: a look-up, or a large request on its way.
    private(set) var isBlocked = false
    private var replies = ReplyQueue()
    private var member: IOMember?
    // Holds: the owner lives as long as the loop runs, and without the loop nobody calls a session.
    private unowned let owner: any Owner
    private var isFlushPending = false

    /// How many replies and outcomes it may be owed before it is worked for again.
    private static let repliesLimit = 4096

    /// - Parameters:
    ///   - connection: its connection.
    ///   - account: whose its requests are; `nil`: the user's, by its id.
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

    /// Begins to serve it.
    func open(in group: IOGroup, serve: @escaping (ClientSession, IOEvents) -> Void) throws(SystemError) {
        let descriptor = try connection.descriptor
        member = try IOMember(of: group, descriptor: descriptor, interest: .read) { [weak self] events in
            if let self { serve(self, events) }
        }
    }

    // MARK: Requests

    /// Takes the place of the next reply.
    func reserveReply() -> Int { replies.reserve() }

    /// Has its next requests wait until ``goOn()``.
    ///
    /// - Parameter bytes: how much memory the request takes that they wait with.
    func block(holding bytes: Int = 0) {
        isBlocked = true
        waitingBytes = bytes
    }

    /// What its next requests wait for has come: now it may block again.
    func beginAgain() {
        isBlocked = false
        waitingBytes = 0
    }

    /// Its next requests wait no more, or with another request; a connection that is closed still held memory.
    func goOn() { owner.mayGoOn(self) }

    /// Notes that it will send no more.
    func end() { hasEnded = true }

    // MARK: Replies

    /// Gives the reply for a place.
    func reply(_ place: Int, _ reply: ClientReply) {
        guard !isClosed else { return }
        replies.fill(place, with: reply) { connection.queue($0.bytes) }
        markForFlush()
    }

    /// Sends a line that follows its reply at some time.
    func send(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        connection.queue(bytes)
        markForFlush()
    }

    /// Whether it is owed so many replies that it is not worked for.
    var isOwedTooMany: Bool { replies.count + outcomesAwaited >= Self.repliesLimit }

    /// How many bytes it is owed: those on their way to it, and replies that wait for earlier ones.
    var owedBytes: Int { connection.pendingBytes + replies.heldBytes }

    /// Whether it is owed nothing.
    var isIdle: Bool { replies.isEmpty && outcomesAwaited == 0 && connection.pendingBytes == 0 }

    /// Whether it needs nothing any more.
    var isDone: Bool {
        isClosed || hasEnded && isIdle
    }

    /// Sends what is queued as far as it is taken.
    ///
    /// - Returns: whether it took something.
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

    /// Watches for what it may do now.
    ///
    /// - Parameter reads: whether it is read from.
    func watch(reads: Bool) {
        guard !isClosed else { return }
        var interest: IOEvents = []
        if reads, !hasEnded, !isAtEnd { interest.insert(.read) }
        if connection.pendingBytes > 0 { interest.insert(.write) }
        // A client that ended and waits is still watched for going away altogether.
        if interest.isEmpty, hasEnded || isAtEnd { interest.insert(.hangup) }
        member?.interest = interest
    }

    /// Lets go of the connection.
    func close() {
        isClosed = true
        // Also from its own handler, in which the member lives on.
        member?.leave()
        member = nil
        connection.close()
    }
}
