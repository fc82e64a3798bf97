import Glibc
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

/// A socket whose clients send requests as lines, and get replies in the order of their requests.
///
/// The loop serves clients in slices of 200 us, the users by turns and the clients of each, so that no client and no
/// deadline waits behind another client's backlog. The bytes held for clients are bounded: beyond its share a client is
/// neither read nor served until it has read its replies, or other clients have released bytes.
final class LineServer {
    /// The limits of a server; a reload may change them.
    struct Limits {
        var connections: Int
        var connectionsPerPeer: Int
        var requestLength: Int
        /// The name of the setting of `requestLength`, for error messages.
        var lengthSetting: String? = "RequestLengthMax="
        /// Bytes of requests that were read and are not worked yet.
        var input: ByteAccount.Limits
        /// Bytes of replies that clients have not read.
        var output: ByteAccount.Limits
        var timeouts: ClientTimeouts
        /// Connections get descriptors below this one: the log, the ledger and handlers need the others.
        var descriptors: Int32 = .max
    }

    /// How long the server works one client's requests before the next client's, in nanoseconds.
    private static let slice: Int64 = 200_000

    var limits: Limits {
        didSet {
            accounts.setLimits(input: limits.input, output: limits.output)
            resumeWaitingClients()
        }
    }
    /// The number of clients.
    var connectionCount: Int { sessions.count }
    /// Bytes of requests that were read and are not worked yet.
    var inputBytes: Int { accounts.input.total }
    /// Bytes of replies that clients have not read.
    var outputBytes: Int { accounts.output.total }

    private let loop: EventLoop
    private let buffer = ReadBuffer()
    private var listener: Listener?
    private let clients: IOGroup
    private var acceptSource: IOSource?
    private var workSource: DeferSource?
    private var sweepTimer: TimerSource?
    /// Ends a pause of accepting.
    private var acceptTimer: TimerSource?
    private var sessions: [ObjectIdentifier: ClientSession] = [:]
    private var connectionsByAccount: [Account: Int] = [:]
    private var waitingForFlush: [ClientSession] = []
    private var waitingForWork = FairQueue<ClientSession>()
    /// Clients that are neither read nor served until others have released bytes.
    private var waitingForRoom: [ClientSession] = []
    private var accounts: ClientAccounts
    private var isCongested = false
    private let accountSource: any AccountSource
    private let refusals: RefusalLog
    private let takeLine: (ClientSession, [UInt8]) -> Void

    /// The reply to a client that is turned away for lack of a descriptor.
    static let refusalWithoutDescriptor = Reply.refused(
        refusal("the daemon has no file descriptor left for another connection"))

    /// - Parameters:
    ///   - listener: the listening socket.
    ///   - accounts: finds the account of a connection.
    ///   - refusals: counts refusals.
    ///   - takeLine: called for each line that is not empty; it reserves a reply, and gives the reply then or later.
    init(
        loop: EventLoop, listener: Listener, limits: Limits, accounts: any AccountSource, refusals: RefusalLog,
        takeLine: @escaping (ClientSession, [UInt8]) -> Void
    ) throws {
        self.listener = listener
        self.loop = loop
        self.limits = limits
        (accountSource, self.refusals) = (accounts, refusals)
        self.takeLine = takeLine
        clients = try IOGroup(loop: loop)
        self.accounts = ClientAccounts(input: limits.input, output: limits.output)
        // `unowned` is safe here and below: this object owns the sources, and sources that are gone call nothing.
        workSource = try DeferSource(loop: loop) { [unowned self] in workForNext() }
        sweepTimer = try TimerSource(loop: loop) { [unowned self] in sweep() }
        acceptTimer = try TimerSource(loop: loop) { [unowned self] in
            acceptSource?.interest = .read
        }
    }

    /// Begins to accept connections.
    func start() throws(SystemError) {
        guard let listener else { preconditionFailure("started after it stopped") }
        acceptSource = try IOSource(loop: loop, descriptor: listener.descriptor, interest: .read) { [unowned self] _ in
            accept()
        }
    }

    /// Stops accepting connections and requests, and removes the socket's path. Clients still get the replies that are
    /// ready.
    func stopListening() {
        acceptSource = nil
        listener = nil
        waitingForWork = FairQueue()
        for session in sessions.values {
            session.isQueued = false
            session.end()
            update(session)
            drop(ifDone: session)
        }
    }

    /// Whether clients have read all replies.
    var hasSentEverything: Bool { outputBytes == 0 && waitingForFlush.isEmpty }

    /// Stops or resumes work for clients: it stops while too many bytes wait for the disk.
    func setCongested(_ congested: Bool) {
        guard congested != isCongested else { return }
        isCongested = congested
        for session in sessions.values { update(session) }
    }

    /// Sends all that this turn queued, with one system call for each client.
    func flush() {
        while let session = waitingForFlush.popLast() {
            flush(session)
            drop(ifDone: session)
        }
        if !waitingForRoom.isEmpty, accounts.takeRelease() { resumeWaitingClients() }
    }

    /// Looks again at the clients that wait for room.
    private func resumeWaitingClients() {
        for session in exchange(&waitingForRoom, with: []) {
            session.waitsForRoom = false
            update(session)
        }
    }

    private func flush(_ session: ClientSession) {
        let now = EventLoop.nowNanoseconds
        let hasTaken = session.flush()
        if hasTaken { session.lastActive = now }
        session.unreadSince =
            session.connection.pendingBytes == 0 ? nil : hasTaken ? now : session.unreadSince ?? now
        accounts.count(session)
        update(session)
    }

    // MARK: Connections

    private func accept() {
        // At most 16 in a turn: the others wait in the kernel, and the loop has other work.
        for _ in 0..<16 {
            switch listener?.accept() {
            case .connection(let connection)?: admit(connection)
            case .refused(let number)?:
                return noteRefusedConnection(number)
            case .failed(let number)?:
                // The listener stays readable, so the loop would do nothing but call accept(2): accepting pauses.
                acceptSource?.interest = []
                acceptTimer?.arm(at: EventLoop.nowNanoseconds + Self.acceptPause)
                return noteRefusedConnection(number)
            case .wouldBlock?, nil: return
            }
        }
    }

    private static let acceptPause: Int64 = 100_000_000

    private func noteRefusedConnection(_ number: Int32) {
        let reason = "a connection was not accepted: \(errorText(number))\(Listener.advice(for: number))"
        refusals.note(.descriptors, reason, of: nil, at: EventLoop.nowNanoseconds)
    }

    private func admit(_ connection: Connection) {
        let account: Account
        do throws(ProtocolError) {
            account = try accountSource.account(of: connection.peer.userID)
        } catch {
            return turnAway(connection, RefusalReason(error.code), error)
        }
        if sessions.count >= limits.connections {
            return turnAway(
                connection, account, .connections,
                "there \(sessions.count == 1 ? "is" : "are") \(counted(sessions.count, "connection")), the limit"
            )
        }
        let ofPeer = connectionsByAccount[account] ?? 0
        if ofPeer >= limits.connectionsPerPeer {
            return turnAway(
                connection, account, .peerConnections,
                "\(account) has \(counted(ofPeer, "connection")), the limit")
        }
        if let descriptor = try? connection.descriptor, descriptor.rawValue >= limits.descriptors {
            return turnAway(
                connection, account, .descriptors,
                "the daemon keeps its last file descriptors for its log and its handlers; raise LimitNOFILE= of its unit"
            )
        }
        let session = ClientSession(connection, account: account, owner: self, now: EventLoop.nowNanoseconds)
        do {
            // `unowned` is safe: the server lives as long as the loop runs.
            try session.open(in: clients) { [unowned self] in serve($0, $1) }
        } catch {
            return turnAway(
                connection, account, .descriptors, "the daemon cannot watch another connection: \(error)")
        }
        if sessions.isEmpty { sweepTimer?.arm(at: EventLoop.nowNanoseconds + Self.sweepInterval) }
        sessions[ObjectIdentifier(session)] = session
        connectionsByAccount[account] = ofPeer + 1
        update(session)
    }

    private func turnAway(
        _ connection: Connection, _ account: Account, _ reason: RefusalReason, _ message: String
    ) {
        turnAway(connection, reason, Self.refusal(message), account)
    }

    private func turnAway(
        _ connection: Connection, _ reason: RefusalReason, _ error: ProtocolError, _ account: Account? = nil
    ) {
        connection.queue(Reply.refused(error))
        _ = connection.flush()
        refusals.note(reason, error.message, of: account, at: EventLoop.nowNanoseconds)
    }

    private static func refusal(_ message: String) -> ProtocolError {
        ProtocolError(.overloaded, message: message, retryAfter: .milliseconds(100))
    }

    /// Drops a session that needs nothing more.
    private func drop(ifDone session: ClientSession) {
        guard session.isDone else { return }
        session.close()
        guard sessions.removeValue(forKey: ObjectIdentifier(session)) != nil else { return }
        accounts.count(session)
        let left = (connectionsByAccount[session.account] ?? 1) - 1
        connectionsByAccount[session.account] = left == 0 ? nil : left
        if left == 0 { accounts.forget(session.account) }
        if sessions.isEmpty { sweepTimer?.disarm() }
    }

    // MARK: Turns

    private func serve(_ session: ClientSession, _ events: IOEvents) {
        if events.contains(.write) { flush(session) }
        if events.contains(.read), !session.isClosed { read(session) }
        if events.contains(.error) || (session.hasEnded || session.isAtEnd) && events.contains(.hangup) {
            session.close()
        }
        drop(ifDone: session)
    }

    private func read(_ session: ClientSession) {
        let limit = accounts.input.isFull(for: session.account) ? ClientAccounts.share : .max
        switch session.connection.fill(using: buffer, atMost: limit) {
        case .wouldBlock: return
        case .some: break
        case .endOfFile: session.isAtEnd = true
        }
        if session.isDiscarding {
            guard session.isAtEnd else { return }
            // Its end of file was read: there is nothing more to discard, and the client may still read its replies.
            session.end()
            session.discardingSince = nil
            return update(session)
        }
        session.mayHaveLines = true
        // Clients in the queue come first.
        if waitingForWork.isEmpty { work(for: session) } else { update(session) }
    }

    private func workForNext() {
        guard let session = waitingForWork.popFirst() else {
            workSource?.isEnabled = false
            return
        }
        session.isQueued = false
        guard !session.isClosed else { return }
        work(for: session)
        drop(ifDone: session)
        if waitingForWork.isEmpty { workSource?.isEnabled = false }
    }

    /// Works a client's lines for a slice of time.
    private func work(for session: ClientSession) {
        let start = EventLoop.nowNanoseconds
        var now = start
        while mayWork(for: session), session.mayHaveLines, now - start < Self.slice {
            switch session.connection.nextLine(maximumLength: limits.requestLength) {
            case .line(let line):
                session.lineSince = nil
                take(line, of: session)
            case .tooLong: refuseLongLine(of: session)
            case .incomplete:
                session.mayHaveLines = false
                if session.isAtEnd {
                    if let rest = session.connection.takeRest() { take(rest, of: session) }
                    session.end()
                }
            }
            now = EventLoop.nowNanoseconds
        }
        session.lastActive = now
        accounts.count(session)
        update(session)
    }

    private func take(_ line: [UInt8], of session: ClientSession) {
        if !line.isEmpty, line != [UInt8(ascii: "\r")] { takeLine(session, line) }
    }

    /// Whether the server may work a client's requests now.
    private func mayWork(for session: ClientSession) -> Bool {
        !session.isClosed && !session.isBlocked && !isCongested && !session.isOwedTooMany
            && accounts.hasOutputRoom(for: session) && accounts.mayHold(for: session)
    }

    /// Queues a client for work, and watches its connection, as its state allows now.
    private func update(_ session: ClientSession) {
        guard !session.isClosed else { return }
        let mayWork = mayWork(for: session)
        if session.mayHaveLines, !session.isQueued, mayWork, !session.hasEnded {
            session.isQueued = true
            waitingForWork.append(session, of: session.account)
            workSource?.isEnabled = true
        }
        // A client with lines that are not worked is not read.
        let mayRead = session.isDiscarding || mayWork && !session.mayHaveLines && accounts.hasInputRoom(for: session)
        if !mayRead, !session.isQueued, !session.waitsForRoom, !session.isBlocked {
            session.waitsForRoom = true
            waitingForRoom.append(session)
        }
        // The time limit of a line runs only while the server reads the client: a client that waits for room cannot
        // send the rest of its line.
        if !session.mayHaveLines {
            let isMidLine = mayRead && !session.isDiscarding && session.connection.unreadBytes > 0
            session.lineSince = isMidLine ? session.lineSince ?? EventLoop.nowNanoseconds : nil
        }
        session.watch(reads: mayRead)
    }

    // MARK: Clients that take too long

    private func refuseLongLine(of session: ClientSession) {
        let error = ProtocolError.tooLong(limit: limits.requestLength, setting: limits.lengthSetting)
        refuse(session, error, .invalidRequest)
    }

    private func refuse(_ session: ClientSession, _ error: ProtocolError, _ reason: RefusalReason) {
        let now = EventLoop.nowNanoseconds
        refusals.note(reason, error.message, of: session.account, at: now)
        session.reply(session.reserveReply(), .line(Reply.refused(error)))
        session.connection.discardInput()
        session.mayHaveLines = false
        session.isDiscarding = true
        session.lineSince = nil
        session.discardingSince = now
        accounts.count(session)
        update(session)
    }

    private static let sweepInterval: Int64 = 500_000_000
    /// How long a client may pause within a long line while others wait for the room that the line takes.
    private static let stallTime: Int64 = 2_000_000_000

    /// Ends clients that exceeded a time limit.
    private func sweep() {
        let now = EventLoop.nowNanoseconds
        for session in sessions.values {
            if let overdue = session.overdue(limits.timeouts, at: now) {
                end(session, overdue, at: now)
            } else if hasStalled(session, at: now), accounts.isHeldUp(by: session, waitingForRoom) {
                let message =
                    "the request is not complete, and other clients wait for its memory "
                    + "(InputSizeMax=, InputSizeMaxPerPeer=)"
                refuse(session, ProtocolError(.overloaded, message: message, retryAfter: .seconds(1)), .slowLine)
            }
            drop(ifDone: session)
        }
        refusals.logDueRefusals(at: now)
        if !sessions.isEmpty { sweepTimer?.arm(at: now + Self.sweepInterval) }
    }

    /// Whether a client that is read paused in the middle of a line for `stallTime`.
    private func hasStalled(_ session: ClientSession, at now: Int64) -> Bool {
        session.lineSince.map { now - max($0, session.lastActive) >= Self.stallTime } ?? false
    }

    private func end(_ session: ClientSession, _ overdue: Overdue, at now: Int64) {
        let account = session.account
        switch overdue {
        case .discarding: session.close()
        case .reading(let owed):
            let message = "the connection was closed, because the client left \(owed) bytes unread (WriteTimeout=)"
            refusals.note(.slowReader, message, of: account, at: now)
            session.close()
        case .line:
            let seconds = limits.timeouts.line / 1_000_000_000
            let message = "the request has no line feed after \(seconds) s (LineTimeout=): end each request with one"
            refuse(session, ProtocolError(.invalidJSON, message: message), .slowLine)
        case .idle:
            refusals.note(
                .idle, "the connection was closed, because the client was idle (IdleTimeout=)", of: account, at: now)
            session.close()
        }
    }
}

extension LineServer: ClientSession.Owner {
    func needsFlush(_ session: ClientSession) { waitingForFlush.append(session) }

    func mayResume(_ session: ClientSession) {
        accounts.count(session)
        update(session)
    }
}

/// File descriptors that no client gets: the log creates files, the ledger reopens its own, handlers have pipes.
/// Without them too many clients would end the daemon.
///
/// The kernel gives the lowest free descriptor, so the number of a client's descriptor tells how many are in use.
enum DescriptorReserve {
    /// The first descriptor that a producer does not get.
    static var belowForProducers: Int32 { limit - 2 * share }

    /// The first descriptor that a client of `control.sock` or `read.sock` does not get: they connect when producers
    /// cannot.
    static var belowForAdministrators: Int32 { limit - share }

    /// An eighth of all descriptors, at most 64.
    private static var share: Int32 { min(64, limit / 8) }

    /// The soft limit of this process; `.max` if `getrlimit` fails.
    private static var limit: Int32 {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return .max }
        return Int32(clamping: limits.rlim_cur)
    }
}

/// The daemon's sockets: those of the service manager if it passes any, otherwise made in the runtime directory.
struct Sockets {
    /// The sockets. The raw values are the names that a socket unit gives them (`FileDescriptorName=`).
    enum Name: String {
        case inject, control, read
    }

    private let settings: DaemonSettings
    private let directories: Directories
    private let journal: JournalWriter
    private var inherited: [Name: Int32] = [:]

    /// Takes the sockets that the service manager passes. Closes one with another name, with a warning.
    init(settings: DaemonSettings, directories: Directories, journal: JournalWriter) throws {
        self.settings = settings
        self.directories = directories
        self.journal = journal
        for (name, descriptor) in InheritedSockets.take() {
            guard let socket = Name(rawValue: name), inherited[socket] == nil else {
                _ = FileDescriptor(owning: descriptor)
                let message =
                    "the service manager's socket \(name) is not used: FileDescriptorName= is inject, control or read"
                journal.log(JournalEntry(.warning, message))
                continue
            }
            inherited[socket] = descriptor
        }
    }

    /// Returns a listening socket.
    mutating func listener(_ name: Name) throws -> Listener {
        let refusal = LineServer.refusalWithoutDescriptor
        if let descriptor = inherited.removeValue(forKey: name) {
            let listener = try Listener(inherited: descriptor, refusal: refusal)
            let message = "\(name).sock is the service manager's socket \(listener.path), with its mode and group"
            journal.log(JournalEntry(.debug, message))
            return listener
        }
        switch name {
        case .inject: return try listener(directories.injectSocket, settings.injectSocket, refusal)
        case .control: return try listener(directories.controlSocket, settings.controlSocket, refusal)
        case .read: return try listener(directories.readSocket, settings.readSocket, refusal)
        }
    }

    private func listener(_ path: String, _ socket: SocketSettings, _ refusal: [UInt8]) throws -> Listener {
        let group = try groupID(of: socket)
        return try retrying(while: { $0 == ListenError.alreadyListening(path: path) }) { () throws(ListenError) in
            try Listener(path: path, mode: socket.mode, group: group, refusal: refusal)
        }
    }
}

/// All sockets of the daemon, listening.
struct Listeners {
    let control: Listener
    let read: Listener
    let inject: Listener

    /// Makes the sockets, or takes those of the service manager.
    init(_ sockets: inout Sockets) throws {
        // inject.sock is last: a client that sees it can already use the others.
        control = try sockets.listener(.control)
        read = try sockets.listener(.read)
        inject = try sockets.listener(.inject)
    }
}
