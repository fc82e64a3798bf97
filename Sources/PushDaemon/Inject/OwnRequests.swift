import EventLoop
import Glibc
import JournalLog
import LinuxSystem
import PushModel
import PushRouting
import UnixSockets

/// Requests of the daemon's own: what people do with the notifications that it shows. They go the way of every producer's,
/// over a connection of the daemon with itself, so that ids, look-ups, the disk and overload are theirs as well.
final class OwnRequests {
    /// How many wait at most; more are dropped, and the journal says so.
    private static let limit = 1024
    /// How many are on their way at once.
    private static let outstandingMax = 16

    private let inject: InjectServer
    private let journal: JournalWriter
    private let buffer = ReadBuffer()
    /// The other end: where the replies come out.
    private let replies: Connection
    private var session: ClientSession?
    private var waiting = Queue<[UInt8]>()
    private var outstanding = OutstandingRequests<[UInt8]>()
    private var dropped = 0
    /// Whether replies have come that are not taken in.
    private(set) var needsFlush = false
    private var retryTimer: TimerSource?
    private var pausedUntil: Int64 = 0

    /// - Parameters:
    ///   - inject: takes the requests.
    ///   - loop: the loop.
    ///   - journal: is told of what is lost.
    /// - Throws: when there is no descriptor left.
    init(_ inject: InjectServer, loop: EventLoop, journal: JournalWriter) throws(SystemError) {
        self.inject = inject
        self.journal = journal
        let (here, there) = try Connection.pair()
        replies = there
        session = ClientSession(here, owner: self, now: EventLoop.nowNanoseconds)
        // Holds: the timer is this object's own.
        retryTimer = try TimerSource(loop: loop) { [unowned self] in send() }
    }

    /// Submits what a person did.
    func submit(_ act: NotificationAct) {
        guard waiting.count + outstanding.unansweredCount < Self.limit else {
            dropped += 1
            if dropped == 1 {
                journal.log(
                    JournalEntry(
                        .warning, "taps on notifications are lost: \(Self.limit) wait to be accepted already"))
            }
            return
        }
        waiting.append(act.line)
        send()
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
        while !session.isBlocked, outstanding.unansweredCount < Self.outstandingMax, let line = waiting.popFirst() {
            outstanding.append(line)
            inject.take(line, from: session)
        }
    }

    private func take(_ reply: [UInt8]) {
        let root = (try? JSONDocument(scanning: reply))?.root
        guard case .reply(let line?) = outstanding.take(root) else { return }
        guard let root, root["ok"]?.bool != true, let error = root["error"] else {
            dropped = 0
            return
        }
        if error["retry"]?.bool == true {
            waiting.append(line)
            let delay = min(max(error["retry_after_ms"]?.int64 ?? 1000, 10), 10_000)
            pausedUntil = EventLoop.nowNanoseconds + delay * 1_000_000
            retryTimer?.arm(at: pausedUntil)
        } else {
            let message = error["message"]?.string ?? ""
            journal.log(JournalEntry(.warning, "a tap on a notification was not accepted: \(message)"))
        }
    }
}

extension OwnRequests: ClientSession.Owner {
    func needsFlush(_ session: ClientSession) { needsFlush = true }

    func mayGoOn(_ session: ClientSession) { send() }
}
