import Glibc
import HandlerRuns
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews
import Store

/// The status that `op: status` returns.
struct Status: Sendable {
    var version: String
    var processID: Int32
    var mode: DispatchMode
    var uptime: Duration
    var state: String
    var configurationProblem: String?
    var routes: Int
    var accepted: Int64
    var warnings: WarningCounts
    var lastSeq: Int64
    var requestsInFlight: Int
    var bytesInFlight: Int
    var payloadBytes: Int
    var invocationBytes: Int
    var handlersRunning: Int
    var processes: Int
    var handlers: [HandlerStatus]
    var lanes: LanesStatus
    var containment: String
    var containmentReason: String?
    var service: ServiceFacts
    var deliveriesTracked: Int
    var devices: DevicesStatus
    var clients: ClientsStatus
    var store: DiskStatus
    var waiting: WaitingStatus
    /// The number of gaps of each kind since the start.
    var gaps: [DaemonGap.Kind: Int]
    /// The facts of a node of a fleet; `nil` on one machine.
    var node: NodeStatus?
    var turns: TurnWindow
    var process: ProcessStatus
    /// The counters for metrics.
    var figures: CountedFigures
    var customData: CustomDataStatus

    /// The status with the counters for metrics.
    var withFigures: StatusValue {
        .object {
            members(&$0)
            $0.member("figures", object: figures.members)
        }
    }

    /// The status, with the fields that ``StatusField/all`` declares.
    var value: StatusValue { .object(members) }

    private func members(_ writer: inout StatusObject) {
        writer.member("version", version)
        writer.member("pid", processID)
        writer.member("mode", mode.rawValue)
        writer.member("uptime_ms", uptime.milliseconds)
        writer.member("state", state)
        writer.member("configuration_problem", configurationProblem)
        writer.member("routes", routes)
        writer.member("store_problem", store.problem)
        if let node {
            writer.member("fleet", object: { node.members(&$0, at: EventLoop.nowNanoseconds) })
        } else {
            writer.member("fleet", String?.none)
        }
        writer.member(
            "gaps",
            object: { writer in
                for kind in DaemonGap.Kind.allCases { writer.member(kind.rawValue, gaps[kind] ?? 0) }
            })
        writer.member("accepted_since_start", accepted)
        writer.member(
            "payload_warnings",
            object: { writer in
                for (rule, all) in warnings.byRule.sorted(by: { $0.key < $1.key }) { writer.member(rule, all.count) }
            })
        writer.member("payloads_examined", warnings.lookedAt)
        writer.member("last_seq", lastSeq)
        writer.member("requests_in_flight", requestsInFlight)
        writer.member("bytes_in_flight", bytesInFlight)
        writer.member("payload_bytes_in_memory", payloadBytes)
        writer.member("invocation_bytes_in_memory", invocationBytes)
        writer.member("handlers_running", handlersRunning)
        writer.member("handler_processes", processes)
        writer.member("containment", containment)
        writer.member("containment_reason", containmentReason)
        writer.member(
            "sandbox",
            object: { writer in
                for (name, fact) in ServiceFacts.names { writer.member(name, service[keyPath: fact]) }
            })
        writer.member("deliveries_tracked", deliveriesTracked)
        writer.member("device_problem", devices.problem)
        writer.member("devices", object: devices.members)
        writer.member("inject_connections", clients.inject.connections)
        writer.member("control_connections", clients.control.connections)
        writer.member("read_connections", clients.read.connections)
        writer.member("bytes_waiting_for_disk", store.bytesWaiting)
        writer.member("transactions", store.commits)
        writer.member("longest_turn_us", turns.longest / 1000)
        writer.member("turns", object: { $0.members(of: turns.all) })
        writer.member(
            "recent_turns",
            object: { writer in
                writer.members(of: turns.recent)
                writer.member("longest_turn_us", turns.recentLongest / 1000)
            })
        writer.member("process", object: process.members)
        writer.member("clients", object: clients.members)
        writer.member("store", object: store.members)
        waiting.members(&writer)
        writer.member("custom_data", object: customData.members)
        writer.member(
            "handlers",
            object: { writer in
                for handler in handlers { writer.member(handler.name, object: handler.members) }
            })
        writer.member("lanes", object: lanes.members)
    }
}

extension StatusObject {
    fileprivate mutating func members(of turns: Histogram) {
        member("count", turns.count)
        member("p99_us", turns.quantile(permille: 990) ?? 0)
        member("longest_us", turns.max ?? 0)
    }
}

/// The facts of the devices that the router remembers.
struct DevicesStatus: Sendable {
    var usage: DeviceUsage
    var evictions: DeviceEvictions
    /// The problem for people; `nil`: there is none.
    var problem: String?

    fileprivate func members(_ writer: inout StatusObject) {
        writer.member("known", usage.count)
        writer.member("bytes", usage.byteCount)
        writer.member("evicted", evictions.count)
        writer.member("evicted_registered", evictions.registered)
    }
}

/// The facts of the daemon's own process.
struct ProcessStatus: Sendable {
    var startedAt: WallTime
    /// Bytes of its memory that are in RAM; `nil` where the system does not say.
    var residentBytes: Int64?
    /// Processes that runs left behind, and that the daemon adopted and has not reaped.
    var adopted: Int
    /// Entries that were dropped because the journal did not take them.
    var journalDrops: UInt64

    fileprivate func members(_ writer: inout StatusObject) {
        writer.member("started_at_ms", startedAt.milliseconds)
        writer.member("resident_bytes", residentBytes)
        writer.member("adopted_processes", adopted)
        writer.member("journal_drops", journalDrops)
    }
}

extension HandlerStatus {
    fileprivate func members(_ writer: inout StatusObject) {
        writer.member("running", running)
        writer.member("waiting", waiting)
        writer.member("observers_running", observersRunning)
        writer.member("observers_waiting", observersWaiting)
        writer.member("limit", limit)
        writer.member("queue_limit", queueLimit)
        writer.member("refused", refused)
        writer.member("breaker", breaker?.rawValue)
        writer.member("breaker_pause_ms", pause.milliseconds)
        writer.member("passed_over", passedOver)
        writer.member("draining", isDraining)
    }
}

extension LanesStatus {
    fileprivate func members(_ writer: inout StatusObject) {
        writer.member("crowded", crowded)
        writer.member("waiting", waiting)
        writer.member("longest", list: longest.map { .object($0.members) })
    }
}

extension LaneStatus {
    fileprivate func members(_ writer: inout StatusObject) {
        writer.member("app", device.app)
        writer.member("device", device.device)
        writer.member("waiting", waiting)
        writer.member("seq", head.seq.value)
        writer.member("n", head.n)
        writer.member("handler", handler)
        writer.member("turn_ms", turn.milliseconds)
        writer.member("age_ms", age.milliseconds)
    }
}

/// The facts of the sockets' clients.
struct ClientsStatus: Sendable {
    /// The facts of one socket.
    struct Socket: Sendable {
        var connections: Int
        var inputBytes: Int
        var outputBytes: Int

        init(_ server: LineServer?) {
            connections = server?.connectionCount ?? 0
            inputBytes = server?.inputBytes ?? 0
            outputBytes = server?.outputBytes ?? 0
        }
    }

    var inject: Socket
    var control: Socket
    var read: Socket
    var refusals: [(reason: RefusalReason, count: UInt64)]
    /// The refusals by the rules for producers.
    var byRule: [(rule: String, account: String, refusals: ProducerDesk.Refusals)]

    init(
        inject: LineServer?, control: LineServer?, read: LineServer?,
        refusals: [(reason: RefusalReason, count: UInt64)],
        byRule: [(rule: String, account: String, refusals: ProducerDesk.Refusals)]
    ) {
        self.inject = Socket(inject)
        self.control = Socket(control)
        self.read = Socket(read)
        (self.refusals, self.byRule) = (refusals, byRule)
    }

    fileprivate func members(_ writer: inout StatusObject) {
        writer.member("input_bytes", inject.inputBytes + control.inputBytes + read.inputBytes)
        writer.member("output_bytes", inject.outputBytes + control.outputBytes + read.outputBytes)
        writer.member(
            "refused",
            object: { writer in
                for (reason, count) in refusals { writer.member(reason.rawValue, count) }
            })
        let now = EventLoop.nowNanoseconds
        writer.member(
            "refused_by_rule",
            list: byRule.map { refused in
                .object {
                    $0.member("rule", refused.rule)
                    $0.member("uid", refused.account)
                    $0.member("count", refused.refusals.count)
                    $0.member("age_ms", (now - refused.refusals.lastAt) / 1_000_000)
                }
            })
    }
}

/// The facts of the log and the ledger.
struct DiskStatus: Sendable {
    var problem: String?
    var ledgerProblem: String?
    /// The commit that has taken longer than `SlowCommit=`, with the reason; `nil`: there is none.
    var commitProblem: String?
    var bytesWaiting: Int
    var commits: UInt64
    var lastCommit: Duration
    var longestCommit: Duration
    var slowCommits: UInt64
    var isSlow: Bool
    var state: StoreStatus
    /// The age of the oldest batch that the ledger does not have; zero without one.
    var behind: Duration
    var filterBytes: Int
    /// The directories in the state directory to which a start or a restore moved files.
    var setAside: [String]

    var sizeMax: Int?
    var prunedByRetention: Int
    var prunedBySize: Int
    /// Why pruning by age waits; `nil`: it does not.
    var pruningWaits: String?

    init(
        _ pipeline: CommitPipeline, _ health: StoreHealth, _ pruning: LedgerPruning, _ state: StoreStatus,
        sizeMax: Int?, filterBytes: Int, setAside: [String], at now: Instant
    ) {
        self.sizeMax = sizeMax
        self.setAside = setAside
        prunedByRetention = pruning.byRetention
        prunedBySize = pruning.bySize
        pruningWaits = pruning.objection(at: Moment.now().wall, boot: SystemClock.bootNanoseconds)
        problem = health.problem
        ledgerProblem = health.ledgerProblem
        commitProblem = health.commitProblem(at: now.nanoseconds)
        bytesWaiting = pipeline.bytesWaiting
        commits = pipeline.batches
        lastCommit = .nanoseconds(pipeline.lastDuration)
        longestCommit = health.longestCommit
        slowCommits = health.slowCommits
        isSlow = health.slowSince != nil
        self.state = state
        behind = state.behindSince.map { .nanoseconds(max(0, now.nanoseconds - $0)) } ?? .zero
        self.filterBytes = filterBytes
    }

    fileprivate func members(_ writer: inout StatusObject) {
        writer.member("ledger_problem", ledgerProblem)
        writer.member("commit_problem", commitProblem)
        writer.member("is_slow", isSlow)
        writer.member("slow_commits", slowCommits)
        writer.member("last_commit_us", lastCommit.microseconds)
        writer.member("longest_commit_us", longestCommit.microseconds)
        writer.member("log_used_bytes", state.logUsed)
        writer.member("log_bytes", state.logLength)
        writer.member("log_limit_bytes", state.logLimit)
        writer.member("batches_behind", state.batchesBehind)
        writer.member("bytes_behind", state.bytesBehind)
        writer.member("behind_us", behind.microseconds)
        writer.member("ledger_bytes", state.ledgerLength)
        writer.member("ledger_wal_bytes", state.walLength)
        writer.member("ledger_used_bytes", state.ledgerUsed)
        writer.member("ledger_limit_bytes", sizeMax)
        writer.member("pruned_by_retention", prunedByRetention)
        writer.member("pruned_by_size", prunedBySize)
        writer.member("pruning_waits", pruningWaits)
        writer.member("id_filter_bytes", filterBytes)
        writer.member("set_aside", list: setAside.map(StatusValue.text))
    }
}

/// Work that waits beside requests: for a person, for time or for the disk.
struct WaitingStatus: Sendable {
    /// `nil` until they are counted after a start.
    var deadLetters: DeadLetterTotals?
    var dropped: (byAge: Int, bySize: Int)
    var publishes: (open: Int, left: Int)
    var isErasing: Bool
    /// The clock, for the ages.
    var now: WallTime

    fileprivate func members(_ writer: inout StatusObject) {
        if let deadLetters {
            writer.member("dead_letters", object: { members(&$0, of: deadLetters) })
        } else {
            writer.member("dead_letters", nil as String?)
        }
        writer.member("publishes_open", publishes.open)
        writer.member("publish_deliveries_left", publishes.left)
        writer.member("erasures_waiting", isErasing ? 1 : 0)
    }

    private func members(_ writer: inout StatusObject, of letters: DeadLetterTotals) {
        writer.member("count", letters.all.count)
        writer.member("bytes", letters.all.bytes)
        writer.member("oldest_age_ms", letters.oldest.map { max(0, now.milliseconds - $0.milliseconds) })
        writer.member("dropped_by_age", dropped.byAge)
        writer.member("dropped_by_size", dropped.bySize)
        writer.member(
            "handlers",
            object: { writer in
                for (name, share) in letters.handlers.sorted(by: { $0.key < $1.key }) {
                    writer.member(
                        name,
                        object: {
                            $0.member("count", share.count)
                            $0.member("bytes", share.bytes)
                        })
                }
            })
    }
}

/// The facts of the custom data.
struct CustomDataStatus: Sendable {
    var summary: CustomDataSummary
    /// The number of entries that were rejected on arrival since the start.
    var rejected: Int64
    var sending: SendingState?
    var forwarding: ForwardingFigures
    /// Whether `Endpoint=` is set, so that entries wait for a forwarder.
    var hasEndpoint: Bool
    /// The clock, for the ages.
    var now: WallTime

    /// A forwarder that restarts is back by then, in milliseconds.
    private static let absenceMax: Int64 = 5000

    private var oldestUnsentAge: Int64? { summary.oldestUnsent.map { max(0, now.milliseconds - $0.milliseconds) } }

    /// Why entries are not sent, or not as the configuration on disk has it; `nil`: they are, or none waits.
    private var sendingProblem: String? {
        if !forwarding.isConnected, hasEndpoint, let age = oldestUnsentAge, age >= Self.absenceMax {
            let count = counted(summary.queued + summary.claimed, "entry waits", "entries wait")
            return "pushrouter-forward is not connected, and \(count): systemctl status pushrouter-forward has more"
        }
        guard let sending, sending.phase != .waiting else { return nil }
        let act = sending.phase == .stopped ? "has stopped" : "sends"
        return sending.reason.map { "pushrouter-forward \(act): \($0)" }
    }

    fileprivate func members(_ writer: inout StatusObject) {
        writer.member("pending", summary.pending)
        writer.member("queued", summary.queued)
        writer.member("claimed", summary.claimed)
        writer.member("unknown", summary.unknown)
        writer.member("bytes", summary.bytes)
        writer.member("rejected_since_start", rejected)
        writer.member("oldest_unsent_age_ms", oldestUnsentAge)
        writer.member("sending_problem", sendingProblem)
        if let sending {
            let isAbsent = sending.phase == .sending && !forwarding.isConnected
            writer.member("sending", object: { sending.members(&$0, phase: isAbsent ? "not_connected" : nil) })
        } else {
            writer.member("sending", nil as String?)
        }
        writer.member("forwarder_connected", forwarding.isConnected)
        writer.member("requests_sent", forwarding.requests)
        writer.member(
            "settled",
            object: { writer in
                for state in SettleRequest.states { writer.member(state.rawValue, forwarding.settled[state] ?? 0) }
            })
        writer.member(
            "pauses",
            object: { writer in
                for pause in ForwardingFigures.Pause.allCases {
                    writer.member(pause.rawValue, forwarding.pauses[pause] ?? 0)
                }
            })
    }
}

extension SendingState {
    fileprivate func members(_ writer: inout StatusObject, phase word: String?) {
        writer.member("phase", word ?? phase.rawValue)
        writer.member("reason", reason)
        writer.member("failures", failures)
        writer.member("until", until?.rfc3339)
        writer.member("since", since.rfc3339)
    }
}

extension Daemon {
    func status(_ forwarding: ForwardingFigures) -> Status {
        let now = Moment.now()
        let stored = parts.committer.status
        return Status(
            version: pushrouterdVersion, processID: getpid(), mode: processor.router.mode,
            uptime: now.monotonic - startedAt.monotonic, state: isEnding ? "stopping" : "running",
            configurationProblem: configuration.problem, routes: settings.routing.routes.count,
            accepted: processor.accepted, warnings: processor.router.payloadWarnings,
            lastSeq: processor.lastNumber.value, requestsInFlight: processor.router.requestsInFlight,
            bytesInFlight: processor.router.bytesInFlight, payloadBytes: processor.router.payloadBytes,
            invocationBytes: processor.router.invocationBytes,
            handlersRunning: processor.handlersRunning, processes: parts.runner.processCount,
            handlers: processor.handlers, lanes: processor.lanes,
            containment: parts.containment.name, containmentReason: parts.containment.reason, service: parts.service,
            deliveriesTracked: processor.router.deliveriesTracked,
            devices: DevicesStatus(
                usage: processor.router.deviceUsage, evictions: processor.router.deviceEvictions,
                problem: processor.evictions.problem(at: now.monotonic.nanoseconds)),
            clients: ClientsStatus(
                inject: servers?.inject, control: servers?.control, read: servers?.read,
                refusals: parts.refusals.counts,
                byRule: inject.producers.refusals),
            store: DiskStatus(
                pipeline, parts.health, pruning, stored, sizeMax: settings.store.sizeMax,
                filterBytes: inject.filterBytes, setAside: parts.committer.setAside, at: now.monotonic),
            waiting: WaitingStatus(
                deadLetters: stored.deadLetters, dropped: pruning.deadLetters, publishes: processor.router.publishes,
                isErasing: erasures.isUnderway || stored.isErasing, now: now.wall),
            gaps: gaps.counts,
            node: parts.leadership.map {
                NodeStatus(node: $0.node, leader: $0.node, term: $0.store.epoch, engine: engine)
            },
            turns: parts.loop.turns,
            process: ProcessStatus(
                startedAt: startedAt.wall, residentBytes: ProcessMemory.residentBytes,
                adopted: parts.runner.adoptedCount,
                journalDrops: parts.journal.dropCount),
            figures: CountedFigures(
                deliveries: processor.router.figures, commits: parts.health.commits,
                refusals: parts.refusals.countsByAccount),
            customData: CustomDataStatus(
                summary: processor.router.customDataSummary,
                rejected: processor.rejectionCount, sending: customData.sending,
                forwarding: forwarding,
                hasEndpoint: settings.usersTrack.endpoint != nil, now: now.wall))
    }

    var readings: Int { reloads.done }

    /// Mode and routes, for the journal and the service manager.
    var statusLine: String { settings.routing.summary }
}

extension RoutingTable {
    /// Mode and routes, for the journal and the service manager.
    var summary: String { "\(mode.rawValue) mode, \(counted(routes.count, "route"))" }
}

extension Daemon {
    func runMaintenance() {
        if let error = parts.committer.displacedFile() { return fail(error) }
        let now = EventLoop.nowNanoseconds
        inject.buildFilter(at: now)
        parts.refusals.logDueRefusals(at: now)
        processor.logDueRejections(at: now)
        audit.writeDue()
        gaps.check(canWrite: parts.health.problem == nil)
        recordConfiguration()
        // A request that waits for the ledger gets its answer once the ledger has all of the log.
        if isStopping, !inject.isIdle { WorkProgress.askForTime() }
        pruning.check(settings.store, at: Moment.now().wall, boot: SystemClock.bootNanoseconds)
        parts.loop.beginTurnSlice()
        FreedMemory.trim()
    }

    /// Also the length of a slice of turn times: the status reports those of the last minute.
    static let housekeepingInterval = Duration.seconds(10)

    static let pruneInterval = Duration.seconds(3600)
}

/// The counters that only `op: metrics` returns, since the daemon's start.
struct CountedFigures: Sendable {
    var deliveries: DeliveryFigures
    var commits: DurationHistogram
    var refusals: [(reason: RefusalReason, account: String, count: UInt64)]

    func members(_ writer: inout StatusObject) {
        writer.member("outcomes", object: deliveries.outcomes.members)
        writer.member("observed", object: deliveries.observed.members)
        writer.member(
            "providers",
            object: { writer in
                for (name, outcomes) in deliveries.providers.entries { writer.member(name, object: outcomes.members) }
            })
        writer.member(
            "handlers",
            object: { writer in
                for (name, handler) in deliveries.handlers.entries { writer.member(name, object: handler.members) }
            })
        writer.member("commits", commits)
        writer.member(
            "refusals",
            list: refusals.map { refusal in
                .object {
                    $0.member("reason", refusal.reason.rawValue)
                    $0.member("uid", refusal.account)
                    $0.member("count", refusal.count)
                }
            })
    }
}

extension DeliveryFigures.Outcomes {
    fileprivate func members(_ writer: inout StatusObject) {
        for outcome in Outcome.allCases { writer.member(outcome.rawValue, self[outcome]) }
    }
}

extension DeliveryFigures.Handler {
    fileprivate func members(_ writer: inout StatusObject) {
        writer.member("outcomes", object: outcomes.members)
        writer.member("start_failures", startFailures)
        writer.member(
            "attempts",
            object: { writer in
                for answer in AttemptRecord.Answer.allCases where answer != .handled {
                    writer.member(answer.rawValue, unhandled[answer] ?? 0)
                }
            })
        writer.member("queue", queue)
        writer.member("exec", exec)
        writer.member("total", total)
    }
}
