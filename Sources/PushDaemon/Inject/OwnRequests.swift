import EventLoop
import Glibc
import JournalLog
import LinuxSystem
import PushModel
import PushRouting
import UnixSockets

/// Requests of the daemon's own: what people do with the notifications that it shows, or what bridges write beside their
/// answers. They go the way of every producer's, over a connection of the daemon with itself, so that ids, look-ups, the disk
/// and overload are theirs as well. No client waits behind them: what is too long, or too much, is dropped.
final class OwnRequests {
    /// What a client of `inject.sock` may send, as far as no reading of its socket limits it here.
    struct Limits {
        /// The longest line, in bytes.
        var requestLength = Int.max
        /// How many bytes may wait.
        var inputSize = Int.max

        /// What people do is short, and is counted alone.
        static let ofActs = Limits()
    }

    /// A request on its way, and where it is from.
    private struct Own {
        let line: [UInt8]
        /// The handler whose bridge wrote it; `nil`: a person did something.
        let handler: String?
    }

    /// How many wait at most; more are dropped, and the journal says so.
    static let limit = 1024
    /// How many are on their way at once.
    private static let outstandingMax = 16

    /// A reload may change them.
    var limits: Limits
    private let inject: InjectServer
    private let refusals: RefusalLog
    private let journal: JournalWriter
    private let buffer = ReadBuffer()
    /// The other end: where the replies come out.
    private let replies: Connection
    private var session: ClientSession?
    private var waiting = Queue<Own>()
    private var outstanding = OutstandingRequests<Own>()
    /// How many bytes wait, or have no reply.
    private var bytes = 0
    /// Of whose losses the journal was told since one of theirs was accepted.
    private var told: Set<String?> = []
    /// Whether replies have come that are not taken in.
    private(set) var needsFlush = false
    /// Whether one waits, or has no reply.
    var isBusy: Bool { !waiting.isEmpty || outstanding.unansweredCount > 0 }
    private var retryTimer: TimerSource?
    private var pausedUntil: Int64 = 0

    /// - Parameters:
    ///   - inject: takes the requests.
    ///   - loop: the loop.
    ///   - account: the daemon's own.
    ///   - limits: what is taken.
    ///   - refusals: counts what is dropped.
    ///   - journal: is told of what is lost.
    /// - Throws: when there is no descriptor left.
    init(
        _ inject: InjectServer, loop: EventLoop, account: Account, limits: Limits = .ofActs, refusals: RefusalLog,
        journal: JournalWriter
    ) throws(SystemError) {
        self.inject = inject
        self.limits = limits
        self.refusals = refusals
        self.journal = journal
        let (here, there) = try Connection.pair()
        replies = there
        session = ClientSession(here, account: account, owner: self, now: EventLoop.nowNanoseconds)
        // Holds: the timer is this object's own.
        retryTimer = try TimerSource(loop: loop) { [unowned self] in send() }
    }

    /// Submits what a person did.
    func submit(_ act: NotificationAct) { submit(Own(line: act.line, handler: nil)) }

    /// Submits what the bridge of a handler wrote.
    func submit(_ line: [UInt8], of handler: String) { submit(Own(line: line, handler: handler)) }

    private func submit(_ own: Own) {
        guard own.line.count <= limits.requestLength else {
            return drop(own, .tooLong(limit: limits.requestLength))
        }
        guard waiting.count + outstanding.unansweredCount < Self.limit else {
            return drop(own, ProtocolError(.overloaded, message: "\(Self.limit) wait to be accepted already"))
        }
        guard bytes + own.line.count <= limits.inputSize else {
            return drop(own, ProtocolError(.overloaded, message: "\(bytes) bytes wait to be accepted already"))
        }
        bytes += own.line.count
        waiting.append(own)
        send()
    }

    private func drop(_ own: Own, _ error: ProtocolError) {
        refusals.note(
            RefusalReason(error.code), "a request of its own (\(error.code.rawValue))", of: session?.account,
            at: EventLoop.nowNanoseconds)
        tell(of: own, error.message)
    }

    /// Tells the journal that a request is lost; what follows it only once another one is accepted.
    private func tell(of own: Own, _ reason: String) {
        guard told.insert(own.handler).inserted else { return }
        let what = own.handler == nil ? "taps on notifications are" : "requests of the handler's bridge are"
        journal.log(
            JournalEntry(
                .warning, "\(what) lost: \(reason)", fields: own.handler.map { [.init(.handler, $0)] } ?? []))
    }

    /// Takes in the replies of the turn; what is to be sent again is.
    func endTurn() {
        guard needsFlush, let session else { return }
        needsFlush = false
        _ = session.flush()
        while case .lines(let lines) = replies.read(using: buffer, maximumLineLength: 64 << 10) { lines.forEach(take) }
        send()
    }

    private func send() {
        guard let session, EventLoop.nowNanoseconds >= pausedUntil else { return }
        while !session.isBlocked, outstanding.unansweredCount < Self.outstandingMax, let own = waiting.popFirst() {
            outstanding.append(own)
            inject.take(own.line, from: session)
        }
    }

    private func take(_ reply: [UInt8]) {
        let root = (try? JSONDocument(scanning: reply))?.root
        guard case .reply(let own?) = outstanding.take(root) else { return }
        guard let root, root["ok"]?.bool != true, let error = root["error"] else {
            bytes -= own.line.count
            told.remove(own.handler)
            return
        }
        if error["retry"]?.bool == true {
            waiting.append(own)
            let delay = min(max(error["retry_after_ms"]?.int64 ?? 1000, 10), 10_000)
            pausedUntil = EventLoop.nowNanoseconds + delay * 1_000_000
            retryTimer?.arm(at: pausedUntil)
        } else {
            bytes -= own.line.count
            tell(of: own, error["message"]?.string ?? "")
        }
    }
}

extension OwnRequests: ClientSession.Owner {
    func needsFlush(_ session: ClientSession) { needsFlush = true }

    func mayGoOn(_ session: ClientSession) { send() }
}
