import LinuxSystem
import PushModel
import PushRouter

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
    /// Whether it is the daemon's own, with requests of no producer.
    let isOwn: Bool
    /// The rules of `producers.d` for its user and groups; `nil`: they were not looked up yet.
    var standing: ProducerDesk.Standing?
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
    ///   - isOwn: whether it is the daemon's own.
    ///   - owner: its server.
    ///   - now: monotonic nanoseconds.
    init(_ connection: Connection, account: Account? = nil, isOwn: Bool = false, owner: any Owner, now: Int64) {
        (self.connection, self.isOwn) = (connection, isOwn)
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

    /// Tells the server that the session waits no longer, or that another request waits now. A closed session tells it,
    /// too: the memory of its request is free from now on.
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

/// The reply to a request.
enum ClientReply {
    /// The request is on disk: its number, its id, the number of outcomes that follow if the client waits for them, and
    /// its rejected entries. The line is made when it is sent.
    case accepted(SequenceNumber, id: String?, outcomes: Int?, rejected: [Rejection])
    /// A line, with its line feed.
    case line([UInt8])

    /// The reply to an accepted request, the first time and to each repetition.
    init(_ acceptance: Acceptance, to request: Request) {
        let outcomes = request.waitsForOutcome ? acceptance.invocations : nil
        if acceptance.members == nil, acceptance.topicResults == nil {
            self = .accepted(acceptance.seq, id: request.id, outcomes: outcomes, rejected: acceptance.rejections)
        } else {
            self = .line(
                Reply.accepted(
                    acceptance.seq, id: request.id, outcomes: outcomes, members: acceptance.members,
                    results: acceptance.topicResults, rejected: acceptance.rejections))
        }
    }

    /// The memory that it takes until it is sent, in bytes.
    var memorySize: Int {
        switch self {
        case .accepted(_, let id, _, let rejected):
            MemoryLayout<ClientReply>.stride + (id?.utf8.count ?? 0) + rejected.count * MemoryLayout<Rejection>.stride
        case .line(let bytes): MemoryLayout<ClientReply>.stride + bytes.count
        }
    }

    /// The line, with its line feed.
    var bytes: [UInt8] {
        switch self {
        case .accepted(let seq, let id, let outcomes, let rejected):
            Reply.accepted(seq, id: id, outcomes: outcomes, rejected: rejected)
        case .line(let bytes): bytes
        }
    }
}

/// The replies to a client, in the order of its requests.
///
/// A request reserves a place when it is read. A reply that is ready before earlier ones waits in its place.
struct ReplyQueue {
    /// A window of places; those before `head` are sent.
    private var places: [ClientReply?] = []
    private var head = 0
    /// The number of the first place in `places`.
    private var first = 0
    /// The memory of the replies that wait for earlier ones, in bytes.
    private(set) var heldBytes = 0

    /// Whether every request has its reply.
    var isEmpty: Bool { count == 0 }

    /// The number of replies still to be sent.
    var count: Int { places.count - head }

    /// Reserves the next place.
    mutating func reserve() -> Int {
        places.append(nil)
        return first + places.count - 1
    }

    /// Fills a reserved place, once; passes all replies that may be sent now to `send`, in order.
    mutating func fill(_ place: Int, with reply: ClientReply, send: (ClientReply) -> Void) {
        guard place == first + head else {
            places[place - first] = reply
            heldBytes += reply.memorySize
            return
        }
        send(reply)
        head += 1
        while head < places.count, let next = places[head] {
            heldBytes -= next.memorySize
            send(next)
            places[head] = nil
            head += 1
        }
        // Each place moves once on average.
        guard head == places.count || head > 64 && head * 2 > places.count else { return }
        first += head
        if head == places.count {
            places.removeAll(keepingCapacity: places.capacity <= 1024)
        } else {
            places.removeFirst(head)
        }
        head = 0
    }
}

/// A queue whose accounts take turns: an account with many elements delays each other account by one element at a time.
struct FairQueue<Element> {
    private var queues: [Account: Queue<Element>] = [:]
    /// The accounts with elements, in the order of their turns.
    private var turns = Queue<Account>()

    /// Whether the queue has no elements.
    var isEmpty: Bool { turns.isEmpty }

    /// Adds an element behind the account's others.
    mutating func append(_ element: Element, of account: Account) {
        if queues[account] == nil { turns.append(account) }
        queues[account, default: Queue()].append(element)
    }

    /// Takes the oldest element of the account whose turn it is.
    mutating func popFirst() -> Element? {
        guard let account = turns.popFirst() else { return nil }
        let element = queues[account]?.popFirst()
        if queues[account]?.isEmpty == true { queues[account] = nil } else { turns.append(account) }
        return element
    }
}

/// A client's wait for the outcomes of one request.
///
/// A producer may repeat a request while the first one is on its way to the disk. The repeated request gets its reply
/// after the first one. This object holds outcomes that are known earlier until that reply is sent.
final class OutcomeWait {
    /// The number of outcomes still to come.
    private(set) var remaining: Int

    private let session: ClientSession
    private let id: String?
    private var isReplied = false
    private var held: [UInt8] = []

    /// - Parameters:
    ///   - session: the client; it is kept until it has all outcomes.
    ///   - id: the request's id, for the outcome lines.
    ///   - outcomes: the number of outcomes still to come.
    init(_ session: ClientSession, id: String?, outcomes: Int) {
        self.session = session
        self.id = id
        remaining = outcomes
        session.outcomesAwaited += outcomes
    }

    /// Sends one outcome line, or holds it until the reply is sent.
    func send(_ invocation: InvocationRecord, _ result: InvocationResult) {
        remaining -= 1
        session.outcomesAwaited -= 1
        let line = Reply.outcome(invocation, result, id: id)
        if isReplied { session.send(line) } else { held += line }
    }

    /// Notes that the reply is sent: sends the held lines, and from now on each line at once.
    func release() {
        isReplied = true
        if !held.isEmpty { session.send(held) }
        held = []
    }
}
