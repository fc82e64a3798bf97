import LinuxSystem
import PushModel
import PushRouter
import PushSettings

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
    /// The clients that wait for a reload, and the number of the reading that they wait for.
    private var waitingForReload: [(client: ControlClient, reading: Int)] = []
    /// How many may wait for it.
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
    ///   - leaseLeft: the rest of the lease, where other machines may lead.
    init(
        processor: Processor, customData: CustomDataService, health: StoreHealth, queries: LedgerQueries,
        ledgerSync: LedgerSync, deadLetters: DeadLetterService, erasures: ErasureService, logLevels: LogLevels,
        metrics: MetricsService, refusals: RefusalLog, leaseLeft: @escaping () -> Duration? = { nil }
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
        forwarder = ForwarderService(processor, customData, leaseLeft: leaseLeft)
    }

    /// Serves one line of a client. Its reply comes now or later, in the place that the line reserves. `read.sock`
    /// takes only requests that change nothing.
    func take(_ line: [UInt8], from session: ClientSession, on socket: Sockets.Name, of daemon: Daemon) {
        let client = ControlClient(session: session, place: session.reserveReply())
        forwarder.endWait(of: session)
        do throws(ProtocolError) {
            let request = try ControlRequest(line: line)
            if socket == .read { try request.checkReadOnly() }
            try carryOut(request, for: client, of: daemon)
        } catch {
            let reason = RefusalReason(error.code)
            let message = "a request on \(socket.rawValue).sock was refused (\(error.code.rawValue))"
            refusals.note(reason, message, of: session.account, at: EventLoop.nowNanoseconds)
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
            let status = daemon.status(isForwarderConnected: forwarder.isConnected)
            client.reply(Reply.status(status.value, id: request.id))
        case .metrics(let format):
            let status = daemon.status(isForwarderConnected: forwarder.isConnected)
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
            let reply = Reply.flushed(count, unsent: customData.flushedUnsent - before, id: request.id)
            customData.replyAfterRemoval(to: client, reply)
        case .reset(let suite, let app):
            try checkStore(request)
            let count = customData.perform { $0.reset(suite: suite, app: app, at: $1, effects: &$2) }
            customData.replyAfterRemoval(to: client, Reply.counted("discarded", count, id: request.id))
        case .resolve(let resolve):
            try checkStore(request)
            let count = customData.perform { $0.resolve(resolve.entries, resolve.state, at: $1, effects: &$2) }
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
            }
            let current = logLevels.level.word
            client.reply(Reply.done(id: request.id) { $0.member("level", current) })
        case .erase(let person):
            try checkStore(request)
            try erasures.erase(person, for: client)
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
        for (client, _) in answered { client.reply(Reply.reloaded(table, configuration, id: client.id)) }
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

    /// Sends the reply, a line with its line feed.
    func reply(_ line: [UInt8]) { session.reply(place, .line(stated(line))) }

    /// The line, with the version of the protocol if it is the first on its connection.
    func stated(_ line: [UInt8]) -> [UInt8] {
        place == 0 ? Reply.stating(version: ControlRequest.protocolVersion, line) : line
    }
}
