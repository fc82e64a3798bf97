import DBus
import Glibc
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews
import Store

/// Serves the requests of `control.sock` and `read.sock`: reports the daemon's state, and passes to the router what
/// people and the forwarder request.
final class ControlServer {
    private let processor: Processor
    private let customData: CustomDataService
    private let health: StoreHealth
    private let forwarder: ForwarderService
    private let queries: LedgerQueries
    private let ledgerSync: LedgerSync
    private let deadLetters: DeadLetterService
    private let erasures: ErasureService
    private let logLevels: LogLevels
    private let metrics: MetricsService
    private let refusals: RefusalLog
    private let audit: Audit
    /// The clients that wait for a reload, and the number of the reading that they wait for.
    private var waitingForReload: [(client: ControlClient, reading: Int)] = []
    /// The reloads that signals asked for, at most two, each with the number of its reading.
    private var signalled: [(deed: Deed, reading: Int)] = []
    /// How many clients may wait for a reload.
    static let waitingForReloadMax = 64

    /// - Parameters:
    ///   - processor: carries out the router's decisions.
    ///   - customData: passes requests about custom data to the router.
    ///   - health: the reason why nothing can be written for now, for the replies to refused requests.
    ///   - queries: calls back clients that wait for the ledger.
    ///   - ledgerSync: answers readers when the ledger is up to date.
    ///   - deadLetters: replays and purges dead letters.
    ///   - erasures: erases persons.
    ///   - logLevels: the level of journal entries.
    ///   - metrics: writes metrics.
    ///   - refusals: counts refusals.
    ///   - audit: records administrative acts.
    ///   - leaseLeft: the rest of the lease, where other machines may lead.
    init(
        processor: Processor, customData: CustomDataService, health: StoreHealth, queries: LedgerQueries,
        ledgerSync: LedgerSync, deadLetters: DeadLetterService, erasures: ErasureService, logLevels: LogLevels,
        metrics: MetricsService, refusals: RefusalLog, audit: Audit, leaseLeft: @escaping () -> Duration? = { nil }
    ) {
        self.processor = processor
        self.customData = customData
        self.queries = queries
        self.ledgerSync = ledgerSync
        self.deadLetters = deadLetters
        self.erasures = erasures
        self.logLevels = logLevels
        self.health = health
        self.metrics = metrics
        self.refusals = refusals
        self.audit = audit
        forwarder = ForwarderService(processor, customData, leaseLeft: leaseLeft)
    }

    /// Serves one line of a client. Its reply comes now or later, in the place that the line reserves. `read.sock`
    /// takes only requests that change nothing.
    func take(_ line: [UInt8], from session: ClientSession, on socket: Sockets.Name, of daemon: Daemon) {
        var client = ControlClient(session: session, place: session.reserveReply())
        forwarder.endWait(of: session)
        do throws(ProtocolError) {
            let request = try ControlRequest(line: line)
            client.deed = request.operation.administrative.map { audit.begin($0, by: session, on: socket) }
            if socket == .read { try request.checkReadOnly() }
            try carryOut(request, for: client, of: daemon)
        } catch {
            let reason = RefusalReason(error.code)
            let message = "a request on \(socket.rawValue).sock was refused (\(error.code.rawValue))"
            refusals.note(reason, message, of: session.account, at: EventLoop.nowNanoseconds)
            client.deed?.ends(.refused, error.message)
            client.reply(Reply.refused(error))
        }
    }

    /// With more bytes on their way to the disk no request may change anything: twice the limit of producers.
    private static let bytesWaitingMax = 16 << 20

    /// Answers the forwarder's waiting claim, if entries for it came in this turn.
    func endTurn() {
        forwarder.serve()
        deadLetters.endTurn()
    }

    /// Sends entries to the forwarder once its claim is on disk.
    func handOver(_ entries: ClaimedEntries) { forwarder.handOver(entries) }

    /// Answers every waiting client: the daemon stops.
    func stop() {
        forwarder.endWait()
        queries.expireWaits()
        for (client, _) in exchange(&waitingForReload, with: []) {
            client.deed?.ends(.refused, "the daemon is stopping")
            client.reply(
                Reply.refused(ProtocolError(.unavailable, message: "the daemon is stopping", id: client.id)))
        }
    }

    private func carryOut(
        _ request: ControlRequest, for client: ControlClient, of daemon: Daemon
    ) throws(ProtocolError) {
        var client = client
        client.id = request.id
        switch request.operation {
        case .status:
            let status = daemon.status(forwarder.currentFigures)
            client.reply(Reply.status(status.value, id: request.id))
        case .metrics(let format):
            let status = daemon.status(forwarder.currentFigures)
            try metrics.write(status, format, for: client)
        case .sync(let timeout): ledgerSync.answer(client, timeout: timeout)
        // The forwarder reports facts, whatever the state of the disk; only the reply waits for the disk.
        case .settle(let settle): forwarder.settle(settle, for: client)
        case .sending(let report): try forwarder.report(report, for: client)
        case .depart(let depart):
            try checkStore(request)
            forwarder.depart(depart, for: client)
        case .peek(let after, let limit): forwarder.peek(after: after, limit: limit, for: client)
        case .claim(let claim):
            try checkStore(request)
            try forwarder.claim(claim, for: client)
        case .flush(let flush):
            try checkStore(request)
            let before = customData.flushedUnsent
            let count = customData.perform { $0.flush(flush.target, suite: flush.suite, at: $1, effects: &$2) }
            let unsent = customData.flushedUnsent - before
            client.deed?.ends(count: count, unsent == 0 ? nil : "\(unsent) could not be sent")
            let reply = Reply.flushed(count, unsent: unsent, id: request.id)
            customData.replyAfterRemoval(to: client, reply)
        case .reset(let suite, let app):
            try checkStore(request)
            let count = customData.perform { $0.reset(suite: suite, app: app, at: $1, effects: &$2) }
            client.deed?.ends(count: count)
            customData.replyAfterRemoval(to: client, Reply.counted("discarded", count, id: request.id))
        case .resolve(let resolve):
            try checkStore(request)
            let count = customData.perform { $0.resolve(resolve.entries, resolve.state, at: $1, effects: &$2) }
            client.deed?.ends(count: count)
            let reply = Reply.counted("resolved", count, id: request.id)
            // A request that names its entries is done at once; one for all entries may continue over turns.
            guard resolve.entries == nil else { return processor.reply(to: client, reply) }
            customData.replyAfterRemoval(to: client, reply)
        case .replay(let requests):
            try checkStore(request)
            try deadLetters.replay(requests, for: client)
        case .purge(let requests):
            try checkStore(request)
            deadLetters.purge(requests, for: client)
        case .logLevel(let word):
            if let word {
                guard let level = JournalEntry.Priority(word: word) else {
                    let words = JournalEntry.Priority.allCases.map(\.word).joined(separator: ", ")
                    throw ProtocolError(
                        .invalidValue, field: "level", message: "level is one of \(words)", id: request.id)
                }
                logLevels.set(level)
                client.deed?.ends()
            }
            let current = logLevels.level.word
            client.reply(Reply.done(id: request.id) { $0.member("level", current) })
        case .erase(let person):
            try checkStore(request)
            try erasures.erase(person, for: client)
        case .gatewayRotate:
            client.deed?.ends()
            client.reply(Reply.done(id: request.id))
        case .configuration(let id): try daemon.parts.questions.ask(id, for: client)
        case .reload:
            guard waitingForReload.count < Self.waitingForReloadMax else {
                throw ProtocolError(
                    .overloaded, message: "\(Self.waitingForReloadMax) other requests wait for a reload",
                    retryAfter: .seconds(1), id: request.id)
            }
            guard let reading = daemon.reload() else {
                throw ProtocolError(.unavailable, message: "the daemon is stopping", id: request.id)
            }
            waitingForReload.append((client, reading))
            // If the reading could not begin, it is done already.
            wasReloaded(daemon)
        }
    }

    /// Answers the clients whose reading of the configuration is done.
    func wasReloaded(_ daemon: Daemon) {
        let (configuration, table) = (daemon.configuration, daemon.settings.routing)
        let answered = waitingForReload.filter { $0.reading <= daemon.readings }
        waitingForReload.removeAll { $0.reading <= daemon.readings }
        for (deed, reading) in signalled where reading <= daemon.readings { deed.ends(configuration) }
        signalled.removeAll { $0.reading <= daemon.readings }
        for (client, _) in answered {
            client.deed?.ends(configuration)
            client.reply(Reply.reloaded(table, configuration, id: client.id))
        }
    }

    /// Reloads the configuration for a signal. Signals that share a reading are one act.
    func reload(_ daemon: Daemon) {
        guard let reading = daemon.reload(), reading != signalled.last?.reading else { return }
        signalled.append((audit.begin(AuditRecord.Subject(.reload), from: .signal), reading))
        wasReloaded(daemon)
    }

    private func checkStore(_ request: ControlRequest) throws(ProtocolError) {
        if let problem = health.refusal {
            throw ProtocolError(.unavailable, message: problem, retryAfter: .seconds(1), id: request.id)
        }
        guard processor.bytesWaiting > Self.bytesWaitingMax else { return }
        let message = "\(processor.bytesWaiting) bytes wait for the disk already"
        throw ProtocolError(.overloaded, message: message, retryAfter: .seconds(1), id: request.id)
    }
}

/// The client and the place of a request on `control.sock` or `read.sock`.
struct ControlClient {
    var session: ClientSession
    var place: Int
    /// The request's id.
    var id: String?
    /// The administrative act that the request asks for; `nil`: it asks for none.
    var deed: Deed?

    /// Sends the reply, a line with its line feed.
    func reply(_ line: [UInt8]) { session.reply(place, .line(stated(line))) }

    /// The line, with the version of the protocol if it is the first on its connection.
    func stated(_ line: [UInt8]) -> [UInt8] {
        place == 0 ? Reply.stating(version: ControlRequest.protocolVersion, line) : line
    }
}

/// The replies of `control.sock`, each with its line feed.
extension Reply {
    /// The reply to a claim.
    static func claimed(_ claimed: Claimed, id: String?) -> [UInt8] { done(id: id, claimed.write) }

    /// The reply to a departure: the entries that may be sent, and the rest of the lease, counted from the request on.
    static func departed(_ numbers: [EntryNumber], valid: Duration? = nil, id: String?) -> [UInt8] {
        done(id: id) {
            $0.member("entries", array: { list in numbers.forEach { list.int($0.value) } })
            if let valid { $0.member("valid_ms", max(0, valid.milliseconds)) }
        }
    }

    /// The reply to a status request.
    static func status(_ status: StatusValue, id: String?) -> [UInt8] {
        done(id: id) {
            $0.key("status")
            status.write(to: &$0)
        }
    }

    /// The reply to a request that changes entries: their number, under the name of the change.
    static func counted(_ what: String, _ count: Int, id: String?) -> [UInt8] {
        done(id: id) { $0.member(what, count) }
    }

    /// The reply to a flush: the number of flushed entries, and how many of them should have been sent and could not
    /// be.
    static func flushed(_ count: Int, unsent: Int, id: String?) -> [UInt8] {
        done(id: id) {
            $0.member("flushed", count)
            if unsent > 0 { $0.member("not_sent", unsent) }
        }
    }

    /// The reply to a replay: the new number of each request, and the requests that were not accepted again.
    static func replayed(_ results: [ReplayResult], id: String?) -> [UInt8] {
        done(id: id) { reply in
            reply.member(
                "replayed",
                array: { list in
                    for case .accepted(let seq, let replay) in results {
                        list.object {
                            $0.member("of", seq.value)
                            $0.member("seq", replay.value)
                        }
                    }
                })
            reply.member(
                "refused",
                array: { list in
                    for case .refused(let seq, let reason, let code, let retryAfter) in results {
                        list.object {
                            $0.member("of", seq.value)
                            $0.member("reason", reason)
                            if let code { $0.member("code", code.rawValue) }
                            if let retryAfter { $0.member("retry_after_ms", retryAfter.milliseconds) }
                        }
                    }
                })
        }
    }

    /// The reply to an erasure: the counts of erased rows, and the reason if the rest has to wait.
    static func erased(_ receipt: ErasureReceipt, waitsFor reason: String?, id: String?) -> [UInt8] {
        done(id: id) { reply in
            for count in ErasureReceipt.counts { reply.member(count.name, receipt[keyPath: count.value]) }
            if let batch = receipt.batch { reply.member("batch", Int64(batch)) }
            reply.member("complete", reason == nil)
            if let reason { reply.member("waits_for", reason) }
        }
    }

    /// The answer to a reload.
    ///
    /// - Parameters:
    ///   - table: the table in force.
    ///   - state: the result of the reading.
    static func reloaded(_ table: RoutingTable, _ state: ConfigurationState, id: String?) -> [UInt8] {
        done(id: id) {
            $0.member("reloaded", state.problem == nil)
            $0.member("problem", state.problem)
            $0.member("routes", table.routes.count)
            $0.member("handlers", table.handlers.count)
            $0.member("warnings", array: { list in state.warnings.prefix(warningsMax).forEach { list.string($0) } })
        }
    }

    /// The most warnings of a configuration in an answer; the journal has all.
    private static let warningsMax = 20

    /// The reply to a request that was done, without further members.
    static func done(id: String?) -> [UInt8] { done(id: id) { _ in } }

    /// The line with the version of the protocol of `control.sock`: for the first reply on a connection.
    static func stating(version: Int, _ line: [UInt8]) -> [UInt8] {
        Array(line.dropLast(2)) + Array(#","protocol":\#(version)}"#.utf8) + [UInt8(ascii: "\n")]
    }

    /// The reply to a request that was done, with the members that `content` adds.
    static func done(id: String?, _ content: (inout JSONWriter) -> Void) -> [UInt8] {
        line { reply in
            reply.member("ok", true)
            if let id { reply.member("id", id) }
            content(&reply)
        }
    }
}

/// Answers `op: sync` once the ledger has all that was acknowledged before the request, or, at its time limit, with
/// what is missing.
final class LedgerSync {
    /// How many syncs of a connection may wait: its next request waits with them.
    static let waitingMax = 8

    private let pipeline: CommitPipeline
    private let committer: Committer
    private let queries: LedgerQueries
    private let stateID: UUID128
    private var waitingOfSession: [ObjectIdentifier: Int] = [:]

    /// - Parameters:
    ///   - pipeline: knows the number of the last batch.
    ///   - committer: knows what the ledger lacks.
    ///   - queries: knows the last batch that the ledger has.
    ///   - stateID: the id of the state directory.
    init(pipeline: CommitPipeline, committer: Committer, queries: LedgerQueries, stateID: UUID128) {
        self.pipeline = pipeline
        self.committer = committer
        self.queries = queries
        self.stateID = stateID
    }

    /// Replies once the ledger has all batches up to now, at the latest after `timeout`.
    func answer(_ client: ControlClient, timeout: Duration) {
        let number = pipeline.lastGrowingNumber
        guard queries.applied < number, queries.stall == nil, timeout > .zero else {
            return answer(client, isComplete: queries.applied >= number)
        }
        let waiting = (waitingOfSession[ObjectIdentifier(client.session)] ?? 0) + 1
        waitingOfSession[ObjectIdentifier(client.session)] = waiting
        if waiting == Self.waitingMax { client.session.block() }
        let due = EventLoop.nowNanoseconds + timeout.nanoseconds
        queries.whenApplied(number, until: due, endsAtStop: true) { [self] isComplete in
            release(client)
            answer(client, isComplete: isComplete)
        }
    }

    /// Ends one wait of a connection, which may wait for another.
    private func release(_ client: ControlClient) {
        let session = ObjectIdentifier(client.session)
        guard let waiting = waitingOfSession[session] else { return }
        waitingOfSession[session] = waiting == 1 ? nil : waiting - 1
        guard waiting == Self.waitingMax else { return }
        client.session.unblock()
        client.session.resume()
    }

    private func answer(_ client: ControlClient, isComplete: Bool) {
        let status = committer.status
        let synced = Synced(
            state: stateID, isComplete: isComplete, batchesBehind: isComplete ? 0 : max(1, status.batchesBehind),
            bytesBehind: isComplete ? 0 : status.bytesBehind)
        client.reply(Reply.done(id: client.id, synced.write))
    }
}

/// The log level, and its D-Bus interface for "systemctl service-log-level pushrouterd": `org.freedesktop.LogControl1`
/// on the system bus. Without a bus the daemon runs without the interface.
final class LogLevels {
    /// The daemon's name on the system bus: `BusName=` of the unit, and the policy file of the package.
    private static let busName = "dev.pushrouterd"

    private let journal: JournalWriter
    private let loop: EventLoop
    private var service: LogControlService?
    private var source: IOSource?
    private var timer: TimerSource?

    /// - Parameters:
    ///   - loop: watches the bus.
    ///   - journal: the journal whose level it is.
    init(loop: EventLoop, journal: JournalWriter) {
        self.loop = loop
        self.journal = journal
    }

    /// The current level.
    var level: JournalEntry.Priority { journal.level }

    /// Called when the level was set over D-Bus, with its word. Set later: a follower has no ledger for an audit yet.
    var onBusLevel: ((String) -> Void)?

    /// Sets the level until the daemon ends.
    func set(_ level: JournalEntry.Priority) {
        guard level != journal.level else { return }
        let message = "the log level is \(level.word) from now on; it was \(journal.level.word)"
        journal.level = level
        journal.log(JournalEntry(.notice, message, isWrittenAlways: true))
    }

    /// Connects to the system bus if a service manager started the daemon, or the environment names a bus.
    func begin() {
        guard getenv("INVOCATION_ID") != nil || getenv("DBUS_SYSTEM_BUS_ADDRESS") != nil else { return }
        do throws(SystemError) {
            // `unowned` is safe here and below: this object owns service, source and timer.
            let log = LogControlService.Log(
                levels: JournalEntry.Priority.allCases.map(\.word), level: { [unowned self] in level.word },
                setLevel: { [unowned self] word in
                    JournalEntry.Priority(word: word).map { level in
                        set(level)
                        onBusLevel?(word)
                    }
                },
                target: journal.isOnTerminal ? "console" : "journal", identifier: "pushrouterd")
            let service = try LogControlService(
                address: LogControlService.systemAddress, name: Self.busName, log: log)
            self.service = service
            source = try IOSource(loop: loop, descriptor: service.descriptor, interest: .read) { [unowned self] _ in
                take()
            }
            timer = try TimerSource(loop: loop) { [unowned self] in take() }
            watch()
        } catch {
            end(error.description)
        }
    }

    private func take() {
        guard let service else { return }
        if let reason = service.process() { return end(reason) }
        watch()
    }

    private func watch() {
        guard let service else { return }
        // The bits of poll(2) and epoll_ctl(2) are the same for reading and writing.
        source?.interest = IOEvents(rawValue: service.events).intersection([.read, .write])
        if let due = service.dueNanoseconds { timer?.arm(at: due) } else { timer?.disarm() }
    }

    private func end(_ reason: String) {
        source = nil
        timer = nil
        service = nil
        let message = "\"systemctl service-log-level\" cannot reach the daemon, \"pushctl log-level\" can: \(reason)"
        journal.log(JournalEntry(.info, message))
    }
}

/// Answers `op: metrics`. The loop takes the figures; the thread `metrics` formats them, which takes longer than a turn
/// of the loop may if there are many handlers. The thread begins with the first request.
final class MetricsService {
    private struct Job: Sendable {
        var token: UInt64
        var status: Status
        var format: MetricsFormat
        var id: String?
    }

    /// How many requests may wait for their text; each holds some tens of kilobytes.
    private static let waitingMax = 8

    private let thread: JobThread<Job>
    private var waiting: [UInt64: ControlClient] = [:]
    private var nextToken: UInt64 = 0

    /// - Parameter onAnswer: gets each reply with its token, on the thread `metrics`.
    init(onAnswer: @escaping @Sendable (_ token: UInt64, _ line: [UInt8]) -> Void) {
        thread = JobThread("metrics") { { job in onAnswer(job.token, Self.reply(to: job)) } }
    }

    /// Formats the metrics on the thread, and then replies.
    ///
    /// - Throws: when too many requests wait, or when the system can start no thread.
    func write(_ status: Status, _ format: MetricsFormat, for client: ControlClient) throws(ProtocolError) {
        guard waiting.count < Self.waitingMax else {
            throw ProtocolError(
                .overloaded, message: "\(Self.waitingMax) others wait for metrics, the limit",
                retryAfter: .milliseconds(100), id: client.id)
        }
        nextToken += 1
        do throws(SystemError) {
            try thread.submit(Job(token: nextToken, status: status, format: format, id: client.id))
        } catch {
            throw ProtocolError(.overloaded, message: "\(error)", retryAfter: .seconds(1), id: client.id)
        }
        waiting[nextToken] = client
    }

    /// Sends a reply that the thread formatted.
    func wasWritten(_ token: UInt64, _ line: [UInt8]) { waiting.removeValue(forKey: token)?.reply(line) }

    /// Ends the thread.
    func stop() { thread.stop() }

    private static func reply(to job: Job) -> [UInt8] {
        Reply.metrics(job.status.withFigures, job.format, id: job.id)
    }
}

extension Reply {
    /// The metrics of a status.
    static func metrics(_ status: StatusValue, _ format: MetricsFormat, id: String?) -> [UInt8] {
        done(id: id) { reply in
            reply.member("content_type", format.contentType)
            reply.member("metrics", OpenMetrics.text(of: status, as: format))
        }
    }
}
