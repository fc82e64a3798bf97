import Glibc
import LinuxSystem
import PushModel
import PushRouter

/// Requests of the daemon itself: actions of people on its notifications, and lines of bridges beside their answers.
/// They go through a socket pair of the daemon with itself, as every producer's requests, so that ids, look-ups, the
/// disk and overload are handled the same way. No client waits for them: requests that are too long or too many are
/// dropped.
final class OwnRequests {
    /// The limits that the socket's reader enforces for clients of `inject.sock`. Own requests have no such reader.
    struct Limits {
        /// The longest line, in bytes.
        var requestLength = Int.max
        /// How many bytes may wait for their replies.
        var inputSize = Int.max

        /// The actions of people: short, and limited by ``limit`` alone.
        static let ofActs = Limits()
    }

    /// A request, and its source.
    private struct OwnRequest {
        let line: [UInt8]
        /// The handler whose bridge wrote it; `nil`: a person did it.
        let handler: String?
    }

    /// How many requests may wait; more are dropped, with a journal entry.
    static let limit = 1024
    /// How many requests are sent before a reply must come.
    private static let outstandingMax = 16

    /// A reload may change them.
    var limits: Limits
    private let inject: InjectServer
    private let refusals: RefusalLog
    private let journal: JournalWriter
    private let buffer = ReadBuffer()
    /// The other end of the socket pair, which gets the replies.
    private let replies: Connection
    private var session: ClientSession?
    private var waiting = Queue<OwnRequest>()
    private var outstanding = OutstandingRequests<OwnRequest>()
    /// The bytes of requests that have no reply yet.
    private var bytes = 0
    /// The sources whose losses are in the journal, since one of their requests was accepted.
    private var reportedSources: Set<String?> = []
    /// Whether replies can be read.
    private(set) var needsFlush = false
    /// Whether a request waits to be sent or for its reply.
    var isBusy: Bool { !waiting.isEmpty || outstanding.unansweredCount > 0 }
    private var retryTimer: TimerSource?
    private var pausedUntil: Int64 = 0

    /// - Parameters:
    ///   - inject: takes the requests.
    ///   - loop: the event loop.
    ///   - account: the daemon's own account.
    ///   - limits: the limits of the requests.
    ///   - refusals: counts dropped requests.
    ///   - journal: gets an entry for lost requests.
    /// - Throws: when the process has no descriptor left.
    init(
        _ inject: InjectServer, loop: EventLoop, account: Account, limits: Limits = .ofActs, refusals: RefusalLog,
        journal: JournalWriter
    ) throws(SystemError) {
        self.inject = inject
        self.limits = limits
        self.refusals = refusals
        self.journal = journal
        let (sessionEnd, replyEnd) = try Connection.pair()
        replies = replyEnd
        session = ClientSession(
            sessionEnd, account: account, isOwn: true, owner: self, now: EventLoop.nowNanoseconds)
        // `unowned` is safe: this object owns the timer.
        retryTimer = try TimerSource(loop: loop) { [unowned self] in send() }
    }

    /// Submits the action of a person.
    func submit(_ act: NotificationAct) { submit(OwnRequest(line: act.line, handler: nil)) }

    /// Submits a line that the bridge of a handler wrote.
    func submit(_ line: [UInt8], of handler: String) { submit(OwnRequest(line: line, handler: handler)) }

    private func submit(_ own: OwnRequest) {
        guard own.line.count <= limits.requestLength else {
            return drop(own, .tooLong(limit: limits.requestLength))
        }
        guard waiting.count + outstanding.unansweredCount < Self.limit else {
            return drop(own, ProtocolError(.overloaded, message: "\(Self.limit) requests wait to be accepted already"))
        }
        guard bytes + own.line.count <= limits.inputSize else {
            return drop(own, ProtocolError(.overloaded, message: "\(bytes) bytes wait to be accepted already"))
        }
        bytes += own.line.count
        waiting.append(own)
        send()
    }

    private func drop(_ own: OwnRequest, _ error: ProtocolError) {
        refusals.note(
            RefusalReason(error.code), "a request of the daemon's own (\(error.code.rawValue))", of: session?.account,
            at: EventLoop.nowNanoseconds)
        logLoss(of: own, error.message)
    }

    /// Logs that a request is lost; later losses of its source are logged only after one of its requests was accepted.
    private func logLoss(of own: OwnRequest, _ reason: String) {
        guard reportedSources.insert(own.handler).inserted else { return }
        let what = own.handler == nil ? "taps on notifications are" : "requests of the handler's bridge are"
        journal.log(
            JournalEntry(
                .warning, "\(what) lost: \(reason)", fields: own.handler.map { [.init(.handler, $0)] } ?? []))
    }

    /// Reads the replies of the turn, and sends requests again that were refused for now.
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
            reportedSources.remove(own.handler)
            return
        }
        if error["retry"]?.bool == true {
            waiting.append(own)
            let delay = min(max(error["retry_after_ms"]?.int64 ?? 1000, 10), 10_000)
            pausedUntil = EventLoop.nowNanoseconds + delay * 1_000_000
            retryTimer?.arm(at: pausedUntil)
        } else {
            bytes -= own.line.count
            logLoss(of: own, error["message"]?.string ?? "")
        }
    }
}

extension OwnRequests: ClientSession.Owner {
    func needsFlush(_ session: ClientSession) { needsFlush = true }

    func mayResume(_ session: ClientSession) { send() }
}
