import Glibc
import TestSupport
import Testing

@testable import HandlerRuns
@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import PushViews
@testable import Store

/// The daemon's parts wired as in `Daemon`, with the real store, a virtual clock, and handlers that follow a script. It
/// has neither sockets nor timers: the test decides which event comes and when.
final class TwinDaemon: ClientSession.Owner {
    private enum Message: Sendable {
        case store(StoreReport)
        case answer(LedgerAnswers.Answer)
        case largeRequest(token: UInt64, LargeRequestReader.Result)
    }

    let stateID: UUID128
    let committer: Committer
    let pipeline: CommitPipeline
    let inject: InjectServer
    /// Whether another process may hold the ledger's lock.
    var expectsStalls = false
    private let directory: String
    private let messages = Monitor<[Message]>([])
    let queries: LedgerQueries
    private let largeRequests: LargeRequestReader
    private let loader: RunLoader
    private let processor: Processor
    private let runner: ScriptedRunner
    private let clock: TwinClock
    private let session: TwinSession

    /// Starts on a state directory as the daemon does.
    init(
        directory: String, settings: Settings, boot: UUID128, clock: TwinClock, scripts: TwinScripts,
        surroundings: TwinSurroundings, logLength: Int = 16 << 20
    ) throws {
        self.directory = directory
        self.clock = clock
        let messages = messages
        let tracker = RecoveredState.FutureTracker()
        let (rules, now) = (settings.routing.tracking, clock.now.wall)
        committer = try Committer(
            directory: StateDirectory(path: directory), limits: Committer.Limits(logLength: logLength),
            onRecovered: { ledger in
                tracker.make { () throws(StoreError) in try Tracker(reading: ledger, rules: rules, now: now) }
            },
            onReport: { report in messages.update { $0.append(.store(report)) } })
        queries = LedgerQueries(committer, directory: directory) { answer in
            messages.update { $0.append(.answer(answer)) }
        }
        largeRequests = LargeRequestReader { token, request in
            messages.update { $0.append(.largeRequest(token: token, request)) }
        }
        let recovered = try RecoveredState(directory: directory, settings: settings)
        stateID = recovered.stateID
        pipeline = CommitPipeline(
            committer, lastSequence: recovered.lastNumber,
            watch: try CommitWatch(journal: surroundings.journal, slowCommit: .seconds(3600)))
        let router = Router(
            boot: boot, table: settings.routing,
            tracker: Tracker(stateID: recovered.stateID, rules: settings.routing.tracking),
            customData: recovered.customData, devices: recovered.devices, recentDeliveries: recovered.recentDeliveries,
            lastNumber: recovered.lastNumber)
        loader = RunLoader(pipeline: pipeline, queries: queries, reader: largeRequests)
        runner = ScriptedRunner(clock: clock, scripts: scripts)
        processor = Processor(
            router: router, pipeline: pipeline, runner: runner, loader: loader, journal: surroundings.journal,
            successLevel: .debug, clock: { clock.now }, isBelieved: { _ in true })
        inject = InjectServer(
            processor: processor, pipeline: pipeline, committer: committer, queries: queries, reader: largeRequests,
            health: surroundings.health, refusals: surroundings.refusals,
            audit: Audit(journal: surroundings.journal, node: nil) { _, _ in false },
            limits: settings.daemon.jsonLimits)
        session = try TwinSession()
        session.open(owner: self)
        _ = try processor.recover(from: recovered.ledger, tracker: tracker)
        processor.startsEarly = true
        inject.buildFilter(at: 0)
        try settle()
    }

    /// Ends the threads. Their last writes have no reader.
    func abandon() {
        largeRequests.stop()
        queries.stop()
        committer.stop()
    }

    func needsFlush(_ session: ClientSession) {}
    func mayResume(_ session: ClientSession) {}

    // MARK: Inputs

    /// The number of the next request.
    var nextNumber: SequenceNumber { processor.lastNumber.next }

    /// Reads a line, and carries out all its effects at this time.
    func take(_ line: [UInt8]) throws {
        inject.take(line, from: session.session)
        try settle()
    }

    /// Reads a line and decides on it, without a commit.
    func takeWithoutCommit(_ line: [UInt8]) { inject.take(line, from: session.session) }

    /// The time of the next event: a timer of the router's, or a handler's answer.
    var nextDue: WallTime? {
        if processor.hasWorkLeft { return clock.time }
        let timer = processor.nextDue.map { WallTime(milliseconds: ($0.nanoseconds + 999_999) / 1_000_000) }
        guard let timer, let answer = runner.answers.first?.due else { return timer ?? runner.answers.first?.due }
        return min(timer, answer)
    }

    /// Handles the events due now: timers before answers.
    func takeDue() throws {
        if processor.hasWorkLeft { processor.continueWork() } else { processor.handle(.clock) }
        #expect(runner.askedAt == clock.now.monotonic, "who starts programs is asked before the clock decides")
        try settle()
        while let answer = runner.answers.first, answer.due <= clock.now.wall {
            _ = runner.answers.popFirst()
            if answer.facts.isWorthTelling { processor.handle(.observed(answer.invocation, answer.facts)) }
            processor.handle(.finished(answer.invocation, answer.answer))
            try settle()
        }
    }

    /// Decides on the timers due now, without a commit.
    func takeDueWithoutCommit() {
        processor.handle(.clock)
        if let answer = runner.answers.first, answer.due <= clock.now.wall {
            if answer.facts.isWorthTelling { processor.handle(.observed(answer.invocation, answer.facts)) }
            processor.handle(.finished(answer.invocation, answer.answer))
        }
    }

    // MARK: Turns

    /// Takes turns until no work is left at this time.
    private func settle() throws {
        while true {
            while inject.large.mayResume(at: .max) { inject.admitLarge(at: .max) }
            processor.startEarly()
            _ = try pipeline.endTurn(mayWait: true, at: EventLoop.nowNanoseconds)
            _ = processor.performDue({ _ in })
            for id in runner.takeStarted() { processor.handle(.started(id)) }
            let isIdle = pipeline.isIdle && inject.isIdle && loader.isIdle && !runner.hasStarted
            if try takeMessages(waiting: isIdle ? .zero : .seconds(60)) { continue }
            if isIdle { return }
            if pipeline.isIdle, !processor.performDue({ _ in }) { throw Stuck() }
        }
    }

    /// Takes turns until a condition holds.
    func takeTurns(until isDone: () -> Bool) throws {
        while !isDone() {
            processor.startEarly()
            _ = try pipeline.endTurn(mayWait: true, at: EventLoop.nowNanoseconds)
            let mayResume = !processor.performDue({ _ in }) || pipeline.isReady
            guard try takeMessages(waiting: mayResume || isDone() ? .zero : .seconds(60)) || mayResume || isDone()
            else {
                throw Stuck()
            }
        }
    }

    /// Waits until the ledger has answered a question, and leaves the answer unread.
    func waitForAnswer() throws {
        try wait { if case .answer = $0 { true } else { false } }
    }

    /// Brings all decisions to the ledger, and handles neither its reports nor its earlier answers.
    func bringUpLedger() throws {
        while !pipeline.isIdle || pipeline.isReady {
            processor.startEarly()
            _ = try pipeline.endTurn(mayWait: true, at: EventLoop.nowNanoseconds)
            _ = processor.performDue({ _ in })
            // On a slow disk the log's thread writes the batch.
            for report in takeDurable() { try take(report) }
        }
        let number = pipeline.lastGrowingNumber
        committer.expedite(through: number)
        try wait { if case .store(.applied(let applied)) = $0 { applied >= number } else { false } }
    }

    private func takeDurable() -> [Message] {
        func isDurable(_ message: Message) -> Bool { if case .store(.durable) = message { true } else { false } }
        return messages.withLock { messages in
            defer { messages.removeAll(where: isDurable) }
            return messages.filter(isDurable)
        }
    }

    private func wait(for isWanted: (Message) -> Bool) throws {
        let came = messages.wait(atMost: .seconds(60)) { $0.contains(where: isWanted) ? true : nil }
        guard came == true else { throw Stuck() }
    }

    /// - Returns: whether other threads sent a message.
    private func takeMessages(waiting: Duration) throws -> Bool {
        let came = messages.wait(atMost: waiting) { messages -> [Message]? in
            defer { messages = [] }
            return messages.isEmpty ? nil : messages
        }
        for message in came ?? [] { try take(message) }
        // In the daemon, too, the ledger's answers come after the reports.
        repeat { queries.endTurn(at: 0) } while queries.hasMore
        return came != nil
    }

    private struct Stuck: Error {}

    private func take(_ message: Message) throws {
        switch message {
        case .store(.durable(let number, let duration)):
            pipeline.committed(number, took: duration, at: EventLoop.nowNanoseconds)
        case .store(.applied(let number)): queries.applied(through: number)
        case .store(.ledgerStalled) where expectsStalls: break
        case .store(.failed(let error)), .store(.stalled(let error)), .store(.ledgerStalled(let error)): throw error
        case .store: break
        case .answer(let answer): queries.take(answer)
        case .largeRequest(let token, let request): largeRequests.didRead(token, request)
        }
    }
}

/// The time, set by the test; both clocks show it.
final class TwinClock {
    var time: WallTime

    init(_ time: WallTime) { self.time = time }

    var now: Moment {
        Moment(monotonic: Instant(nanoseconds: time.milliseconds * 1_000_000), wall: time)
    }
}

/// The script of each request's handlers.
final class TwinScripts {
    var byRequest: [SequenceNumber: Script] = [:]
}

/// Handlers that do what a script says.
final class ScriptedRunner: HandlerRunning {
    var answers = Heap<ScriptedAnswer>()
    private let clock: TwinClock
    private let scripts: TwinScripts
    private var started: [InvocationID] = []

    init(clock: TwinClock, scripts: TwinScripts) {
        self.clock = clock
        self.scripts = scripts
    }

    var count: Int { 0 }
    var hasStarted: Bool { !started.isEmpty }

    func start(_ run: HandlerRun) {
        let id = run.invocation.id
        guard let script = scripts.byRequest[id.seq]?[run.handler.name] else {
            preconditionFailure("there is no script for \(id)")
        }
        started.append(id)
        let due = WallTime(milliseconds: clock.time.milliseconds + script.takes.milliseconds)
        let answer = HandlerAnswer(exitStatus: script.exit, content: script.reply)
        answers.insert(.init(due: due, invocation: id, answer: answer, facts: script.facts))
    }

    /// The time of the last question which programs may run.
    private(set) var askedAt: Instant?
    func reportStarts(due now: Instant) { askedAt = now }

    // The router ignores a handler's answer after its stop.
    func terminate(_ invocation: InvocationID) {}
    func stop(_ invocation: InvocationID) -> ErrorOutput? { nil }

    func takeStarted() -> [InvocationID] {
        defer { started = [] }
        return started
    }
}

/// Objects that the parts under test need and that no test checks.
struct TwinSurroundings {
    let loop: EventLoop
    let journal: JournalWriter
    let health: StoreHealth
    let refusals: RefusalLog

    /// - Parameter journal: the file for the log entries.
    init(journal path: String = "/dev/null") throws {
        loop = try EventLoop()
        journal = try JournalWriter(
            destination: .logfmt(descriptor: open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)))
        health = try StoreHealth(loop: loop, journal: journal, slowCommit: .seconds(3600))
        refusals = RefusalLog(journal: journal)
    }
}

/// A client that sends and never reads.
final class TwinSession {
    private let directory = TemporaryDirectory()
    private let listener: Listener
    private let client: Client
    private let connection: Connection
    private var opened: ClientSession?

    init() throws {
        listener = try Listener(path: directory.path + "/socket", mode: 0o600)
        client = try Client(path: directory.path + "/socket")
        guard case .connection(let connection) = listener.accept() else { throw NoConnection() }
        self.connection = connection
    }

    private struct NoConnection: Error {}

    func open(owner: any ClientSession.Owner) { opened = ClientSession(connection, owner: owner, now: 0) }

    var session: ClientSession {
        guard let opened else { preconditionFailure("the session is not open yet") }
        return opened
    }
}
