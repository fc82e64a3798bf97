import HandlerProcess
import LinuxSystem
import PushModel
import PushRouter

/// Runs handlers with resident instances: carries out the decisions of each handler's pool.
final class InstanceRuns {
    /// One handler: its pool, and the channels of its instances.
    private final class Entry {
        var pool: InstancePool
        /// The handler of the latest run.
        var requestedHandler: Handler
        var channels: [InstanceID: any InstanceChannel] = [:]
        /// The unanswered invocations of each instance; only for kinds whose standard error is read.
        var outstanding: [InstanceID: Set<InvocationID>] = [:]
        /// The output to standard error of instances that are gone, for invocations that continue.
        var errors: [InvocationID: ErrorOutput] = [:]
        var timer: TimerSource?
        var armedFor: Instant?
        /// Whether the configuration lacked the handler already when this entry was made.
        var isToRetire = false
        /// The number of queued acts on the pool; while there are some, the entry is kept.
        var waitingActs = 0

        /// Whether the standard error of instances is read.
        let readsErrors: Bool

        init(_ handler: Handler) {
            pool = InstancePool(handler)
            requestedHandler = handler
            readsErrors = handler.kind.command != nil
        }
    }

    private typealias Act = (inout InstancePool, Instant, inout [InstancePool.Effect]) -> Void

    /// The base of this object's tokens: they are higher.
    private static let firstToken: UInt64 = 1 << 63

    private let system: InstanceSystem
    private let bridgeCommand: (Bridge) -> Handler.Command?
    /// The programs of bridges, by name, from their first use.
    private var bridges: [String: BridgeProgram] = [:]
    private var report: (RouterEvent) -> Void = { _ in preconditionFailure("a handler runs before anybody listens") }
    private var request: ([UInt8], String) -> Void = { _, _ in }
    /// By the handler's definition: after a reload the old and the new definition coexist until the old one is idle.
    private var entries: [Handler: Entry] = [:]
    /// The entry of each name that was used last: a handler has many parts to compare.
    private var recent: [String: Entry] = [:]
    /// The entries of the invocations under way.
    private var owners: [InvocationID: Entry] = [:]
    /// The handlers of the configuration; `nil` until it is known, which allows all.
    private var current: Set<Handler>?
    /// The present and future processes, each with the closure that ends it and retains its owner.
    private var processes: [UInt64: () -> Void] = [:]
    /// The processes that are being started.
    private(set) var starting: [UInt64: (Result<ChildProcess, SpawnError>) -> Void] = [:]
    private var lastToken = InstanceRuns.firstToken
    /// The acts that arrived during another act.
    private var queue = Queue<(Entry, Act)>()
    private var isWorking = false
    /// The number of invocations under way.
    var runCount: Int { owners.count }
    /// The number of present and future processes.
    var processCount: Int { processes.count }
    /// Whether an instance, or a process of one, is left.
    var hasInstances: Bool { !processes.isEmpty || entries.values.contains { !$0.channels.isEmpty } }

    /// - Parameters:
    ///   - system: the services for instances.
    ///   - bridgeCommand: returns how to start the program of a bridge; `nil` if it is not installed.
    init(_ system: InstanceSystem, bridgeCommand: @escaping (Bridge) -> Handler.Command?) {
        self.system = system
        self.bridgeCommand = bridgeCommand
    }

    /// - Parameters:
    ///   - report: takes the events of runs.
    ///   - request: takes the request of an instance, and the name of its handler.
    func begin(
        reportingTo report: @escaping (RouterEvent) -> Void, requesting request: @escaping ([UInt8], String) -> Void
    ) {
        self.report = report
        self.request = request
    }

    /// Returns whether the result of a start is for this object.
    func owns(_ token: UInt64) -> Bool { token > Self.firstToken }

    /// Takes the result of a start.
    func wasSpawned(_ result: SpawnResult) {
        guard let take = starting.removeValue(forKey: result.token) else {
            preconditionFailure("a process started that nobody asked for")
        }
        take(result.outcome)
    }

    private func newToken() -> UInt64 {
        lastToken += 1
        return lastToken
    }

    /// - Parameters:
    ///   - token: the token of the start.
    ///   - end: ends the process at once.
    ///   - take: takes the result of the start.
    private func expectProcess(
        _ token: UInt64, end: @escaping () -> Void, _ take: @escaping (Result<ChildProcess, SpawnError>) -> Void
    ) {
        processes[token] = end
        starting[token] = take
    }

    /// Forgets a process that is reaped, or that was never started: no result of its start follows.
    private func processIsGone(_ token: UInt64) {
        processes[token] = nil
        starting[token] = nil
    }

    // MARK: Invocations

    /// Gives a run to its handler's instances.
    func start(_ run: HandlerRun, at now: Moment) {
        let entry = entry(of: run.handler)
        owners[run.invocation.id] = entry
        perform(entry) { $0.start(run, at: $1, &$2) }
        // Retires the pool only after it has the run: a retired pool without a run is forgotten.
        if exchange(&entry.isToRetire, with: false) { perform(entry) { $0.retire(at: $1, &$2) } }
    }

    private func entry(of handler: Handler) -> Entry {
        if let entry = recent[handler.name], entry.requestedHandler == handler { return entry }
        let ofInstances = handler.ofInstances
        let entry: Entry
        if let known = entries[ofInstances] {
            entry = known
        } else {
            entry = Entry(ofInstances)
            entry.isToRetire = current?.contains(ofInstances) == false
            entries[ofInstances] = entry
        }
        entry.requestedHandler = handler
        recent[handler.name] = entry
        return entry
    }

    /// Ends a run that missed its deadline.
    ///
    /// - Returns: the standard error of its instance, if the instance had no other invocation.
    func stop(_ invocation: InvocationID) -> ErrorOutput? {
        guard let entry = owners.removeValue(forKey: invocation) else { return nil }
        defer { perform(entry) { $0.stop(invocation, at: $1, &$2) } }
        return takeErrors(of: invocation, entry)
    }

    // MARK: Standard error

    /// Notes that an instance was given an invocation; its standard error counts for that one while it has no other.
    private func give(_ invocation: InvocationID, to id: InstanceID, _ entry: Entry) {
        guard entry.readsErrors else { return }
        entry.outstanding[id, default: []].insert(invocation)
        attend(id, entry)
    }

    /// Returns the standard error for an invocation that is about to end, or to leave its instance.
    private func takeErrors(of invocation: InvocationID, _ entry: Entry) -> ErrorOutput? {
        guard entry.readsErrors else { return nil }
        var output = entry.errors.removeValue(forKey: invocation)
        for (id, outstanding) in entry.outstanding where outstanding.contains(invocation) {
            entry.outstanding[id]?.remove(invocation)
            guard let written = attend(id, entry) else { continue }
            if output == nil {
                output = written
            } else {
                written.end.withUnsafeBytes { output?.append($0) }
            }
        }
        return output
    }

    /// Sets the invocation of an instance's standard error: its only one, or none.
    ///
    /// - Returns: the output for the invocation that was its only one before.
    @discardableResult
    private func attend(_ id: InstanceID, _ entry: Entry) -> ErrorOutput? {
        let outstanding = entry.outstanding[id] ?? []
        return entry.channels[id]?.handOverErrors(to: outstanding.count == 1 ? outstanding.first : nil)
    }

    /// Keeps the standard error of an instance that is gone: its invocation may continue on another instance.
    private func forget(_ id: InstanceID, _ entry: Entry) {
        let outstanding = entry.outstanding.removeValue(forKey: id) ?? []
        guard let errors = entry.channels[id]?.handOverErrors(to: nil), let invocation = outstanding.first else {
            return
        }
        entry.errors[invocation] = errors
    }

    /// Ends all instances at once.
    func stopAll() {
        owners = [:]
        for entry in entries.values { perform(entry) { pool, _, effects in pool.closeAll(&effects) } }
        for end in Array(processes.values) { end() }
    }

    /// Ends the instances of all other handlers as soon as they are idle.
    func reconfigured(_ handlers: some Collection<Handler>) {
        let current = Set(handlers.lazy.filter { $0.kind.instanceRules != nil }.map(\.ofInstances))
        self.current = current
        for (handler, entry) in entries where !current.contains(handler) {
            perform(entry) { $0.retire(at: $1, &$2) }
        }
    }

    // MARK: Carrying out

    /// Runs an act on a pool and carries out its effects. Acts that arrive meanwhile are queued.
    private func perform(_ entry: Entry, _ act: @escaping Act) {
        queue.append((entry, act))
        entry.waitingActs += 1
        guard !isWorking else { return }
        isWorking = true
        while let (entry, act) = queue.popFirst() {
            entry.waitingActs -= 1
            var effects: [InstancePool.Effect] = []
            act(&entry.pool, .now, &effects)
            for effect in effects { carryOut(effect, entry) }
            arm(entry)
            if entry.pool.isRetired, entry.pool.isEmpty, entry.waitingActs == 0 { forget(entry) }
        }
        isWorking = false
    }

    private func forget(_ entry: Entry) {
        let handler = entry.pool.handler
        entries[handler] = nil
        if recent[handler.name] === entry { recent[handler.name] = nil }
    }

    private func carryOut(_ effect: InstancePool.Effect, _ entry: Entry) {
        switch effect {
        case .open(let id):
            let channel = channel(id, entry)
            entry.channels[id] = channel
            channel.open()
        case .send(let run, let line, let id):
            let line = HandlerInput.object(run, id: line, at: .now())
            system.observe?(.given(line))
            give(run.invocation.id, to: id, entry)
            entry.channels[id]?.send(line)
        case .reassign(let invocation, let id):
            entry.outstanding[id]?.remove(invocation)
            attend(id, entry)
        case .cancel(let line, let id): entry.channels[id]?.send(HandlerInput.cancellation(of: line))
        case .finishInput(let id): entry.channels[id]?.finishInput()
        case .close(let id):
            forget(id, entry)
            entry.channels.removeValue(forKey: id)?.close()
        case .report(let event):
            switch event {
            case .finished(let id, _), .failedToStart(let id, _):
                owners[id] = nil
                let facts = RunFacts(output: takeErrors(of: id, entry))
                if facts.isWorthTelling { report(.observed(id, facts)) }
            case .started, .observed, .clock, .reconfigured, .handingOver, .draining: break
            }
            report(event)
        case .request(let line): request(line, entry.pool.handler.name)
        case .note(let text):
            system.log(
                JournalEntry(.warning, text, fields: [.init(.handler, entry.pool.handler.name)]))
        }
    }

    private func arm(_ entry: Entry) {
        let due = entry.pool.nextDue
        guard due != entry.armedFor else { return }
        entry.armedFor = due
        guard let due else { return entry.timer?.disarm() ?? () }
        do throws(SystemError) {
            if entry.timer == nil {
                entry.timer = try TimerSource(loop: system.loop) { [unowned self, unowned entry] in
                    entry.armedFor = nil
                    perform(entry) { $0.clock(at: $1, &$2) }
                }
            }
            entry.timer?.arm(at: due.nanoseconds)
        } catch {
            // The next act on the handler tries again.
            entry.armedFor = nil
        }
    }

    // MARK: Channels

    /// Makes the channel of a new instance: the one switch over the kinds with channels.
    private func channel(_ id: InstanceID, _ entry: Entry) -> any InstanceChannel {
        let handler = entry.pool.handler
        // Weak: the process of a channel may outlive this object and the entry.
        let report = { [weak self, weak entry] (report: ChannelReport) in
            if let self, let entry { handle(report, id, entry) }
        }
        switch handler.kind {
        case .worker(let command, _):
            let token = newToken()
            let channel = WorkerChannel(
                command, name: handler.name,
                mark: "\(system.starter.owner):\(handler.name):w\(token - Self.firstToken)", token: token,
                system: system
            ) { [weak self] in
                if case .gone = $0 { self?.processIsGone(token) }
                report($0)
            }
            expectProcess(token, end: channel.close) { channel.wasSpawned($0) }
            return channel
        case .socket(let path, let rules):
            let source = ConnectionSource(path: path, greets: false)
            return SocketChannel(source, isSingleUse: rules.isSingleUse, system: system, report: report)
        case .bridge(let bridge, _):
            let service = bridge.serviceSocket.map { ConnectionSource(path: $0, greets: true) }
            let source = service ?? ConnectionSource(program(of: bridge))
            return SocketChannel(source, isSingleUse: false, system: system, report: report)
        case .exec, .notify, .journal, .discard:
            preconditionFailure("a handler of the kind \(handler.kind.name) has no instances")
        }
    }

    private func program(of bridge: Bridge) -> BridgeProgram {
        if let program = bridges[bridge.program] { return program }
        // Unowned: this object owns the programs, which start nothing after its release.
        let command = { [bridgeCommand] in bridgeCommand(bridge) }
        let program = BridgeProgram(bridge.program, command, system: system) { [unowned self] run in
            let token = newToken()
            expectProcess(token, end: run.kill) { run.wasSpawned($0) }
            return token
        } gone: { [unowned self] in
            processIsGone($0)
        }
        bridges[bridge.program] = program
        return program
    }

    private func handle(_ report: ChannelReport, _ id: InstanceID, _ entry: Entry) {
        switch report {
        case .opened: perform(entry) { $0.opened(id, at: $1, &$2) }
        case .failedToOpen(let reason):
            entry.channels[id] = nil
            perform(entry) { $0.failedToOpen(id, reason: reason, at: $1, &$2) }
        case .line(let line):
            system.observe?(.line(line))
            perform(entry) { $0.wrote(line, by: id, at: $1, &$2) }
        case .acceptsNoLines(let leavesLast):
            perform(entry) { $0.acceptsNoLines(id, leavesLast: leavesLast, at: $1, &$2) }
        case .closed(let reason):
            forget(id, entry)
            entry.channels[id] = nil
            perform(entry) { $0.closed(id, reason: reason, at: $1, &$2) }
        case .gone: break
        }
    }
}

extension Instant {
    fileprivate static var now: Instant { Instant(nanoseconds: EventLoop.nowNanoseconds) }
}
