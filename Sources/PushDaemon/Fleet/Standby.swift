import EventLoop
import Glibc
import JournalLog
import LinuxSystem
import PushFleet
import PushModel
import PushReporting
import PushRouting
import PushSettings
import Store
import UnixSockets

/// A node that does not lead: it follows the shared log, and replies on all sockets that another node leads.
///
/// Everything here runs on the thread of `loop`.
final class Standby {
    /// The end of a standby.
    enum End {
        /// A signal stopped it.
        case stopped
        /// It has the lease, and leads.
        case leads(ChainFollower.Term)
        /// Its ledger is not a prefix of the shared log.
        case forked(StoreError)
        /// An error ended it.
        case failed(StoreError)
    }

    private let loop: EventLoop
    private let journal: JournalWriter
    private let settings: Settings
    private let node: NodeIncarnation
    private let refusals: RefusalLog
    private let accounts = NamedAccounts()
    private var servers: Daemon.Servers?
    private var sources: [AnyObject] = []
    private var leader: String?
    private var term: Int64 = 0
    private var follower: ChainFollower?
    private let startedAt = Moment.now()
    private var end = End.stopped

    init(settings: Settings, node: NodeIncarnation, journal: JournalWriter) throws {
        loop = try EventLoop()
        (self.settings, self.node, self.journal) = (settings, node, journal)
        refusals = RefusalLog(journal: journal)
    }

    /// Follows until one of the ends of ``End``.
    ///
    /// - Parameters:
    ///   - directory: the state directory, which this process has locked.
    ///   - listeners: the sockets, which a leader of this process keeps.
    ///   - engine: the session of the follower.
    func run(in directory: String, listeners: Listeners, engine: any ShardEngine) throws -> End {
        let mailbox = try Mailbox<ChainFollower.News>()
        let follower = ChainFollower(
            engine, node: node, directory: directory, lease: settings.store.shared.lease
        ) { mailbox.post($0) }
        self.follower = follower
        servers = try serve(listeners)
        defer { (servers, sources) = (nil, []) }
        // `unowned` is safe: this function drops the sources before it returns.
        sources = [
            try mailbox.receive(on: loop, priority: .important) { [unowned self] in $0.forEach(take) },
            try SignalSource(loop: loop, signal: SIGTERM) { [unowned self] in loop.exit(code: 0) },
            try SignalSource(loop: loop, signal: SIGINT) { [unowned self] in loop.exit(code: 0) },
            try SignalSource(loop: loop, signal: SIGHUP) { [unowned self] in told() },
        ]
        let watchdog = try loop.answerWatchdog()
        let thread = try WorkerThread("follower") { follower.run() }
        Notify.ready(status: status)
        journal.log(JournalEntry(.info, "ready: \(status)", messageID: .follows))
        let result = Result { () throws(SystemError) in
            try loop.run { [unowned self] in servers?.all.forEach { $0.flush() } }
        }
        follower.stop()
        thread.join()
        withExtendedLifetime(watchdog) {}
        _ = try result.get()
        // A signal came while the follower took the lease: the lease is released.
        if case .stopped = end { release(mailbox.takeAll(), engine) }
        return end
    }

    private var status: String {
        let other = leader.map { "\($0) leads" } ?? "nobody leads yet"
        return "follows as \(node.node); \(other)"
    }

    private func told() { Notify.status(status) }

    private func release(_ news: [ChainFollower.News], _ engine: any ShardEngine) {
        for case .took(let term) in news { try? engine.release(node, epoch: term.epoch) }
    }

    private func take(_ news: ChainFollower.News) {
        switch news {
        case .leader(let name, let term):
            (leader, self.term) = (name, term)
            Notify.status(status)
            journal.log(JournalEntry(.info, status, messageID: .follows))
        case .current: break
        case .fetches(let snapshot):
            journal.log(
                JournalEntry(
                    .notice,
                    "there is no ledger here: fetches the snapshot behind batch \(snapshot.reference.number), "
                        + "\(snapshot.length) bytes"))
        case .away(let error): journal.log(JournalEntry(.error, "\(error)", messageID: .storeStalled))
        case .answers: journal.log(JournalEntry(.notice, "the database answers again", messageID: .storeResumed))
        case .clock(let change): journal.log(JournalEntry(change))
        case .erased:
            let message = "a person was erased here as well: nothing that names the person is in this copy"
            journal.log(JournalEntry(.notice, message, messageID: .erased))
        case .erasureWaits(let error): journal.log(JournalEntry(erasureWaitsFor: error))
        case .took(let term): finish(.leads(term))
        case .forked(let error): finish(.forked(error))
        case .failed(let error): finish(.failed(error))
        }
    }

    private func finish(_ end: End) {
        self.end = end
        loop.exit(code: 0)
    }

    private func serve(_ listeners: Listeners) throws -> Daemon.Servers {
        let limits = settings.daemon
        let control = try server(listeners.control, limits.controlLimits, .control)
        let read = try server(listeners.read, limits.readLimits, .read)
        let inject = try server(listeners.inject, limits.injectLimits, .inject)
        let servers = Daemon.Servers(inject: inject, control: control, read: read)
        for server in servers.all { try server.start() }
        return servers
    }

    private func server(
        _ listener: Listener, _ limits: LineServer.Limits, _ name: Sockets.Name
    ) throws -> LineServer {
        try LineServer(loop: loop, listener: listener, limits: limits, accounts: accounts, refusals: refusals) {
            [unowned self] session, line in
            let place = session.reserveReply()
            if name != .inject, let answer = answer(line) {
                return ControlClient(session: session, place: place).reply(answer)
            }
            let id = (try? JSONDocument(scanning: line))?.root["id"]?.string
            let refused = Reply.refused(refusal(id: id))
            refusals.note(
                .unavailable, "a request on \(name.rawValue).sock: this machine does not lead", of: session.account,
                at: EventLoop.nowNanoseconds)
            if name == .inject {
                session.reply(place, .line(refused))
            } else {
                ControlClient(session: session, place: place).reply(refused)
            }
        }
    }

    /// The reply to a request about this machine or its ledger; `nil` if only the leader can reply.
    private func answer(_ line: [UInt8]) -> [UInt8]? {
        guard let request = try? ControlRequest(line: line) else { return nil }
        switch request.operation {
        case .status: return Reply.status(wholeStatus, id: request.id)
        case .metrics(let format): return Reply.metrics(wholeStatus, format, id: request.id)
        case .sync: return synced(id: request.id)
        default: return nil
        }
    }

    /// The reply to `op: sync`; `nil` before the first comparison of the ledger with the shared log.
    private func synced(id: String?) -> [UInt8]? {
        guard let copy = follower?.progress.copy, let state = copy.state else { return nil }
        let synced = Synced(
            state: state, isComplete: false, batchesBehind: Int(clamping: copy.batchesBehind), bytesBehind: 0,
            follower: Synced.Follower(
                node: node.node, leader: leader,
                behind: .nanoseconds(max(0, SystemClock.monotonicNanoseconds - copy.completeAt))))
        return Reply.done(id: id, synced.write)
    }

    private var wholeStatus: StatusValue {
        let now = Moment.now()
        let progress: (engine: EngineWatch, copy: NodeStatus.Copy?) =
            follower?.progress ?? (EngineWatch(at: now.monotonic.nanoseconds), nil)
        return NodeStatus(node: node.node, leader: leader, term: term, engine: progress.engine, copy: progress.copy)
            .ofFollower(mode: settings.routing.mode, since: startedAt, processID: getpid(), at: now)
    }

    private func refusal(id: String?) -> ProtocolError {
        let advice = leader.map { "\($0) leads: send it there" } ?? "nobody leads yet: try again"
        return ProtocolError(
            .unavailable, message: "\(node.node) follows, and \(advice)", retryAfter: .milliseconds(250),
            leader: leader, id: id)
    }
}
