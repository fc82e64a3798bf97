import EventLoop
import Glibc
import LinuxSystem
import PushModel
import PushProtocol
import UnixSockets

/// A socket whose clients send requests as lines and get replies in their order.
final class LineServer {
    /// What a server allows; a reload may change it.
    struct Limits {
        var connections: Int
        var connectionsPerPeer: Int
        var requestLength: Int
    }

    var limits: Limits
    private(set) var isCongested = false
    var connectionCount: Int { sessions.count }

    private let loop: EventLoop
    private let buffer = ReadBuffer()
    private var listener: Listener?
    private var acceptSource: IOSource?
    private var sessions: [ObjectIdentifier: ClientSession] = [:]
    private var connectionsByPeer: [UInt32: Int] = [:]
    private var waitingForFlush: [ClientSession] = []
    private var backlogged: [ClientSession] = []
    private var backlogTimer: TimerSource?
    /// Clients whose line was too long: they are read for a second more, so that they can read why.
    private var discarding: [ObjectIdentifier: TimerSource] = [:]
    private let takeLine: (ClientSession, [UInt8]) -> Void

    /// Listens on `path`.
    ///
    /// - Parameter takeLine: called for each line that is not empty; it reserves a reply and gives it, now or later.
    init(
        loop: EventLoop, path: String, mode: UInt32, group: UInt32?, limits: Limits,
        takeLine: @escaping (ClientSession, [UInt8]) -> Void
    ) throws(ListenError) {
        self.loop = loop
        self.limits = limits
        self.takeLine = takeLine
        let refusal = Self.refusal("the daemon has no file descriptor left for another connection")
        listener = try Listener(path: path, mode: mode, group: group, refusal: refusal)
    }

    /// Begins to accept.
    func start() throws(SystemError) {
        backlogTimer = try TimerSource(loop: loop) { [unowned self] in workOnBacklog() }
        guard let listener else { preconditionFailure("started after it stopped") }
        acceptSource = try IOSource(loop: loop, descriptor: listener.descriptor, interest: .read) { [unowned self] _ in
            accept()
        }
    }

    /// Takes no more connections and no more requests. Its path is gone; clients keep their replies as far as they come.
    func stopListening() {
        acceptSource = nil
        listener = nil
        for session in sessions.values {
            session.backlog = Queue()
            session.end()
            drop(ifDone: session)
        }
    }

    /// Reads from its clients, or lets them wait: backpressure, when more is on its way to the disk than is healthy.
    func setCongested(_ congested: Bool) {
        guard congested != isCongested else { return }
        isCongested = congested
        for session in sessions.values { session.allowReads(!congested) }
    }

    /// Sends all that this turn queued, with one call per client.
    func flush() {
        while let session = waitingForFlush.popLast() {
            session.flush()
            drop(ifDone: session)
        }
    }

    /// Lets go of a session that is owed nothing more.
    func drop(ifDone session: ClientSession) {
        guard session.isDone else { return }
        session.close()
        let id = ObjectIdentifier(session)
        guard sessions.removeValue(forKey: id) != nil else { return }
        discarding[id] = nil
        let left = (connectionsByPeer[session.peer.uid] ?? 1) - 1
        connectionsByPeer[session.peer.uid] = left == 0 ? nil : left
    }

    private func accept() {
        // A few at a time: the others wait in the kernel, and the loop has other work.
        for _ in 0..<16 {
            guard let listener, case .connection(let connection) = listener.accept() else { return }
            admit(connection)
        }
    }

    private func admit(_ connection: Connection) {
        let uid = connection.peer.userID
        if sessions.count >= limits.connections {
            return turnAway(connection, "there are \(sessions.count) connections, the most that is allowed")
        }
        let ofPeer = connectionsByPeer[uid] ?? 0
        if ofPeer >= limits.connectionsPerPeer {
            return turnAway(connection, "uid \(uid) has \(ofPeer) connections, the most that is allowed")
        }
        let session = ClientSession(connection) { [unowned self] in waitingForFlush.append($0) }
        do {
            try session.open(on: loop) { [unowned self] in serve($0, $1) }
        } catch {
            return turnAway(connection, "the daemon cannot watch another connection: \(error)")
        }
        if isCongested { session.allowReads(false) }
        sessions[ObjectIdentifier(session)] = session
        connectionsByPeer[uid] = ofPeer + 1
    }

    private func turnAway(_ connection: Connection, _ message: String) {
        connection.queue(Self.refusal(message))
        _ = connection.flush()
    }

    private static func refusal(_ message: String) -> [UInt8] {
        Reply.refused(ProtocolError(.overloaded, message: message, retryAfter: .milliseconds(100)))
    }

    private func serve(_ session: ClientSession, _ events: IOEvents) {
        if events.contains(.write) { session.flush() }
        if events.contains(.read), !session.isClosed { read(session) }
        if events.contains(.error) || session.hasEnded && events.contains(.hangup) { session.close() }
        drop(ifDone: session)
    }

    private func read(_ session: ClientSession) {
        switch session.connection.read(using: buffer, maximumLineLength: limits.requestLength) {
        case .wouldBlock: break
        case .lines(let lines): lines.forEach { session.backlog.append($0) }
        case .tooLong(let lines):
            lines.forEach { session.backlog.append($0) }
            session.afterBacklog = .tooLong
        case .endOfFile(let unterminated):
            if let unterminated { session.backlog.append(unterminated) }
            session.afterBacklog = .end
        }
        work(on: session)
    }

    /// Takes some of the lines that were read, and leaves the rest for the next turn: however many lines one read
    /// brings, deadlines and other clients do not wait for them all.
    private func work(on session: ClientSession) {
        for _ in 0..<Self.linesAtOnce {
            guard let line = session.backlog.popFirst() else { break }
            if !line.isEmpty, line != [UInt8(ascii: "\r")] { takeLine(session, line) }
        }
        if !session.backlog.isEmpty {
            backlogged.append(session)
            backlogTimer?.arm(at: 0)
        } else {
            switch exchange(&session.afterBacklog, with: .more) {
            case .more: break
            case .tooLong:
                session.reply(session.reserveReply(), Reply.refused(.tooLong(limit: limits.requestLength)))
                discard(session)
            case .end: session.end()
            }
        }
        session.updateInterest()
    }

    private func workOnBacklog() {
        for session in exchange(&backlogged, with: []) where !session.isClosed {
            work(on: session)
            drop(ifDone: session)
        }
    }

    private static let linesAtOnce = 128

    /// Throws away what still comes, for a second at most: closing at once would reset the connection before the
    /// client has read why.
    private func discard(_ session: ClientSession) {
        guard !session.isDiscarding else { return }
        session.isDiscarding = true
        let close = { [unowned self, unowned session] in
            session.end()
            session.close()
            drop(ifDone: session)
        }
        guard let timer = try? TimerSource(loop: loop, handler: close) else { return session.close() }
        timer.arm(at: EventLoop.nowNanoseconds + 1_000_000_000)
        discarding[ObjectIdentifier(session)] = timer
    }
}
