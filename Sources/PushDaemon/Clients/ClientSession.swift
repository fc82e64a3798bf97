import EventLoop
import LinuxSystem
import PushModel
import UnixSockets

/// One client of a socket: its connection, the replies that it is owed, and whether it is still read.
final class ClientSession {
    let peer: Peer
    let connection: Connection
    /// Outcome lines that it waits for, beside replies.
    var outcomesAwaited = 0
    /// Whether its bytes are thrown away because of a line that was too long.
    var isDiscarding = false
    /// Whether it will send no more.
    private(set) var hasEnded = false
    /// Whether it is gone: what it is owed goes nowhere.
    private(set) var isClosed = false

    /// Lines that were read and wait for their turn, and what comes after them.
    var backlog = Queue<[UInt8]>()
    var afterBacklog = AfterBacklog.more
    private var replies = ReplyQueue()
    private var source: IOSource?
    private var readsAllowed = true
    private let needsFlush: (ClientSession) -> Void
    private var isFlushPending = false

    /// Above this many bytes, or replies and outcomes, it is not read until it has taken some.
    private static let outputLimit = 1 << 20
    private static let repliesLimit = 4096

    /// What the lines that were read are followed by.
    enum AfterBacklog {
        /// Whatever is read next.
        case more
        /// A line that is too long.
        case tooLong
        /// Nothing: the client sends no more.
        case end
    }

    init(_ connection: Connection, needsFlush: @escaping (ClientSession) -> Void) {
        self.connection = connection
        self.needsFlush = needsFlush
        peer = Peer(
            uid: connection.peer.userID, gid: connection.peer.groupID, pid: connection.peer.processID)
    }

    /// Begins to serve it.
    func open(on loop: EventLoop, serve: @escaping (ClientSession, IOEvents) -> Void) throws(SystemError) {
        source = try IOSource(loop: loop, descriptor: connection.descriptor, interest: .read) { [weak self] events in
            if let self { serve(self, events) }
        }
    }

    /// Takes the place of the next reply.
    func reserveReply() -> Int { replies.reserve() }

    /// Gives the reply for a place.
    func reply(_ place: Int, _ bytes: [UInt8]) {
        guard !isClosed else { return }
        replies.fill(place, with: bytes) { connection.queue($0) }
        markForFlush()
    }

    /// Sends a line that follows its reply at some time.
    func send(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        connection.queue(bytes)
        markForFlush()
    }

    /// Notes that it will send no more.
    func end() {
        hasEnded = true
        updateInterest()
    }

    /// Whether it needs nothing any more.
    var isDone: Bool {
        isClosed || hasEnded && replies.isEmpty && outcomesAwaited == 0 && connection.pendingBytes == 0
    }

    /// Reads from it, or not, as the server as a whole can take requests.
    func allowReads(_ allowed: Bool) {
        readsAllowed = allowed
        updateInterest()
    }

    /// Sends what is queued as far as it is taken.
    func flush() {
        isFlushPending = false
        if !isClosed, connection.flush() == .closed { close() }
        updateInterest()
    }

    /// Lets go of the connection.
    func close() {
        isClosed = true
        // Out of epoll before the descriptor is closed. Dropping the source alone is too late when this is called from
        // its own handler: it lives until that returns. Outcomes may still be awaited here for long.
        source?.interest = []
        source = nil
        connection.close()
        backlog = Queue()
    }

    private func markForFlush() {
        guard !isClosed, !isFlushPending else { return }
        isFlushPending = true
        needsFlush(self)
    }

    /// Watches for what it may do now; to be called when something was read.
    func updateInterest() {
        guard !isClosed else { return }
        var interest: IOEvents = []
        let isOwedTooMuch =
            connection.pendingBytes >= Self.outputLimit || replies.count + outcomesAwaited >= Self.repliesLimit
        let takesMore = backlog.isEmpty && !isOwedTooMuch
        if readsAllowed, !hasEnded, takesMore { interest.insert(.read) }
        if connection.pendingBytes > 0 { interest.insert(.write) }
        // A client that ended and waits is still watched for going away altogether.
        if interest.isEmpty, hasEnded { interest.insert(.hangup) }
        source?.interest = interest
    }
}
