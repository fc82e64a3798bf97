import Glibc
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews
import Store

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

    /// How long the service manager waits for a node whose database gives no answer, or whose copy is being fetched: then
    /// the node is ready, and its status says what it lacks.
    private static let readyTime: Duration = .seconds(10)

    private let loop: EventLoop
    private let journal: JournalWriter
    /// The configuration, as it was read last.
    private(set) var settings: Settings
    private let configuration: Configuration
    private let node: NodeIncarnation
    private let refusals: RefusalLog
    /// Records acts in the journal alone: only the leader writes rows.
    private let audit: Audit
    private let accounts = NamedAccounts()
    private var servers: Daemon.Servers?
    private var sources: [AnyObject] = []
    private var leader: String?
    private var term: Int64 = 0
    /// The reason for which no machine can lead; `nil` while one leads, or can.
    private var unprotected: StoreError?
    /// Why the database does not serve this machine; `nil`: it does.
    private var away: StoreError?
    /// Whether the copy was compared with the chain.
    private var hasFollowed = false
    /// Whether the service manager was told that the node is ready.
    private var isReady = false
    /// The obstacle that keeps the node from following; `nil` if it follows.
    private var obstacle: String? = "the database was not asked yet"
    private var reader: ConfigurationReader?
    private var reloads = Reloads()
    /// The configuration in force.
    private(set) var state: ConfigurationState
    private var questions: ConfigurationQuestions?
    private var waitingForReload: [(client: ControlClient?, deed: Deed, reading: Int)] = []
    private var follower: ChainFollower?
    private let startedAt = Moment.now()
    private var end = End.stopped

    init(
        settings: Settings, configuration: Configuration, state: ConfigurationState, node: NodeIncarnation,
        journal: JournalWriter
    ) throws {
        loop = try EventLoop()
        (self.settings, self.configuration, self.node, self.journal) = (settings, configuration, node, journal)
        self.state = state
        refusals = RefusalLog(journal: journal)
        audit = Audit(journal: journal, node: node.node) { _, _ in false }
    }

    /// Follows until one of the ends of ``End``.
    ///
    /// - Parameters:
    ///   - directory: the state directory, which this process has locked.
    ///   - listeners: the sockets, which a leader of this process keeps.
    ///   - engine: the session of the follower.
    func run(in directory: String, listeners: Listeners, engine: any ShardEngine) throws -> End {
        let mailbox = try Mailbox<ChainFollower.News>()
        let readings = try Mailbox<ConfigurationReader.News>()
        let reader = ConfigurationReader(configuration) { readings.post($0) }
        (self.reader, questions) = (reader, ConfigurationQuestions(reader))
        let follower = ChainFollower(
            engine, node: node, directory: directory, lease: settings.store.shared.lease
        ) { mailbox.post($0) }
        self.follower = follower
        servers = try serve(listeners)
        defer {
            reader.leave()
            (servers, sources, questions) = (nil, [], nil)
        }
        let patience = try TimerSource(loop: loop) { [unowned self] in becomeReady() }
        patience.arm(at: EventLoop.nowNanoseconds + Self.readyTime.nanoseconds)
        // `unowned` holds: the sources are dropped before this returns.
        sources = [
            try mailbox.receive(on: loop, priority: .important) { [unowned self] in $0.forEach(take) },
            try SignalSource(loop: loop, signal: SIGTERM) { [unowned self] in loop.exit(code: 0) },
            try SignalSource(loop: loop, signal: SIGINT) { [unowned self] in loop.exit(code: 0) },
            try SignalSource(loop: loop, signal: SIGHUP) { [unowned self] in reloadBySignal() },
            try readings.receive(on: loop, priority: .important) { [unowned self] in $0.forEach(take) },
            patience,
        ]
        let watchdog = try loop.answerWatchdog()
        let thread = try WorkerThread("follower") { follower.run() }
        notifyStatus()
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
        let other = leader.map { "\($0) leads" } ?? "no machine leads\(unprotected.map { ": \($0)" } ?? " yet")"
        return obstacle.map { "does not follow as \(node.node): \($0)" } ?? "follows as \(node.node); \(other)"
    }

    private func notifyStatus() { Notify.status(status) }

    private func becomeReady() {
        guard !isReady else { return notifyStatus() }
        isReady = true
        Notify.ready(status: state.text(status, after: "configuration"))
        journal.log(JournalEntry(.info, "ready: \(status)", messageID: .follows))
    }

    private func release(_ news: [ChainFollower.News], _ engine: any ShardEngine) {
        for case .took(let term) in news { try? engine.release(node, epoch: term.epoch) }
    }

    private func take(_ news: ChainFollower.News) {
        switch news {
        case .leader(let name, let term):
            // An earlier process of this machine has the lease until another one takes it.
            (leader, self.term, unprotected) = (name == node.node ? nil : name, term, nil)
            guard isReady else { return }
            notifyStatus()
            journal.log(JournalEntry(.info, status, messageID: .follows))
        case .current: break
        case .follows:
            (obstacle, away, hasFollowed) = (nil, nil, true)
            becomeReady()
        case .fetches(let snapshot):
            obstacle = "fetches the snapshot behind batch \(snapshot.reference.number)"
            notifyStatus()
            journal.log(
                JournalEntry(
                    .notice,
                    "there is no ledger here: fetches the snapshot behind batch \(snapshot.reference.number), "
                        + "\(snapshot.length) bytes"))
        case .away(let error):
            (obstacle, away) = ("\(error)", error)
            journal.log(JournalEntry(.error, "\(error)", messageID: .storeStalled))
            // An upgrade may be hours away.
            if error.kind == .newerSchema { becomeReady() } else { notifyStatus() }
        case .answers:
            (obstacle, away) = (hasFollowed ? nil : "the log was not read yet", nil)
            notifyStatus()
            journal.log(JournalEntry(.notice, "the database answers again", messageID: .storeResumed))
        case .clock(let change): journal.log(JournalEntry(change))
        case .unprotected(let error):
            (leader, unprotected) = (nil, error)
            notifyStatus()
            journal.log(JournalEntry(.error, "\(status)", messageID: .storeStalled))
        case .erased:
            let message = "a person was erased from this copy as well"
            journal.log(JournalEntry(.notice, message, messageID: .erased))
        case .erasureWaits(let error): journal.log(JournalEntry(erasureWaitsFor: error))
        case .took(let term): finish(.leads(term))
        case .forked(let error): finish(.forked(error))
        case .failed(let error): finish(.failed(error))
        }
    }

    // MARK: Configuration

    /// Whether a reading of the configuration is under way.
    var isReading: Bool { reloads.underWay > 0 }

    /// Begins to read the configuration again.
    ///
    /// - Returns: the number of the reading that sees the files as they are now: a new one, or the second of two under way,
    ///   which has not begun.
    @discardableResult
    private func reload() -> Int {
        // A start that is not over has no reload.
        if isReady { Notify.reloading(nowNanoseconds: EventLoop.nowNanoseconds) }
        guard reloads.underWay < 2 else { return reloads.requested }
        reloads.requested += 1
        let reading = reloads.requested
        do throws(SystemError) {
            try reader?.read()
        } catch {
            didRead(.failure(StartFailure("cannot read the configuration: \(error)", exitStatus: StartFailure.system)))
        }
        return reading
    }

    private func reloadBySignal() {
        let reading = reload()
        guard !waitingForReload.contains(where: { $0.client == nil && $0.reading == reading }) else { return }
        waitingForReload.append((nil, audit.begin(AuditRecord.Subject(.reload), from: .signal), reading))
        // A reading that could not begin is done.
        answerReloads()
    }

    /// Takes a line that asks for a reload.
    ///
    /// - Returns: whether it does.
    private func reload(_ line: [UInt8], for client: ControlClient) -> Bool {
        guard let request = try? ControlRequest(line: line), case .reload = request.operation,
            waitingForReload.count < ControlServer.waitingForReloadMax
        else { return false }
        var client = client
        client.id = request.id
        let deed = audit.begin(AuditRecord.Subject(.reload), by: client.session, on: .control)
        waitingForReload.append((client, deed, reload()))
        // A reading that could not begin is done.
        answerReloads()
        return true
    }

    private func take(_ news: ConfigurationReader.News) {
        switch news {
        case .read(let reading): didRead(reading)
        case .answer(let token, let line): questions?.take(token, line)
        }
    }

    /// Takes a line that asks for a configuration.
    ///
    /// - Returns: whether it does.
    private func describe(_ line: [UInt8], for client: ControlClient) -> Bool {
        guard let request = try? ControlRequest(line: line), case .configuration(let id) = request.operation else {
            return false
        }
        var client = client
        client.id = request.id
        do throws(ProtocolError) {
            try questions?.ask(id, for: client)
        } catch {
            client.reply(Reply.refused(error))
        }
        return true
    }

    private func didRead(_ read: ConfigurationReader.Reading) {
        reloads.done += 1
        switch read {
        case .success(let reading):
            var new = reading.settings
            for warning in reading.warnings + new.keepUntilRestart(of: settings) {
                journal.log(JournalEntry(.warning, warning))
            }
            settings = new
            state = ConfigurationState(inForce: reading.inForce, problem: nil)
            state.warnings = reading.warnings
            servers?.inject.limits = new.daemon.injectLimits
            servers?.control.limits = new.daemon.controlLimits
            servers?.read.limits = new.daemon.readLimits
            journal.log(JournalEntry(.info, "reloaded: \(settings.routing.summary)", messageID: .reloaded))
        case .failure(let error):
            state.problem = error.lines.joined(separator: "\n")
            for line in error.lines { journal.log(JournalEntry(.error, line, messageID: .reloadFailed)) }
            for warning in error.warnings { journal.log(JournalEntry(.warning, warning)) }
            state.warnings = error.warnings
            journal.log(
                JournalEntry(
                    .error, "reload refused, still as before: \(settings.routing.summary)", messageID: .reloadFailed))
        }
        answerReloads()
        guard isReady, reloads.underWay == 0 else { return }
        Notify.ready(status: state.text(status, after: "reload"))
    }

    private func answerReloads() {
        let answered = waitingForReload.filter { $0.reading <= reloads.done }
        waitingForReload.removeAll { $0.reading <= reloads.done }
        for (client, deed, _) in answered {
            deed.ends(state)
            client?.reply(Reply.reloaded(settings.routing, state, id: client?.id))
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
            if name != .inject, describe(line, for: ControlClient(session: session, place: place)) { return }
            if name == .control, reload(line, for: ControlClient(session: session, place: place)) { return }
            let id = (try? JSONDocument(scanning: line))?.root["id"]?.string
            // `pushctl gateway rotate` has done its act before it asks, and writes the journal entry itself.
            if name != .inject, let operation = (try? ControlRequest(line: line))?.operation,
                let subject = operation.administrative, subject.act != .gatewayRotate
            {
                audit.begin(subject, by: session, on: name).ends(.refused, "this machine does not lead")
            }
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
        return NodeStatus(
            node: node.node, leader: leader, term: term, engine: progress.engine,
            engineProblem: (away ?? unprotected)?.description, copy: progress.copy
        )
        .ofFollower(
            mode: settings.routing.mode, configurationProblem: state.problem, since: startedAt,
            processID: getpid(), at: now)
    }

    private func refusal(id: String?) -> ProtocolError {
        let advice = leader.map { "\($0) leads: send the request there" } ?? "no machine leads yet: try again"
        return ProtocolError(
            .unavailable, message: "\(node.node) follows, and \(advice)", retryAfter: .milliseconds(250),
            leader: leader, id: id)
    }
}
