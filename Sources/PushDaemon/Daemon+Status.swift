import Glibc
import HandlerRuns
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import Store

extension Daemon {
    func status(isForwarderConnected: Bool) -> Status {
        let now = Moment.now()
        return Status(
            version: pushrouterdVersion, processID: getpid(), mode: processor.router.mode,
            uptime: now.monotonic - startedAt.monotonic, state: isEnding ? "stopping" : "running",
            configurationProblem: configuration.problem, routes: settings.routing.routes.count,
            accepted: processor.accepted,
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
                inject: servers?.inject, control: servers?.control, read: servers?.read, refusals: parts.refusals.counts
            ),
            store: DiskStatus(
                pipeline, parts.health, pruning, parts.committer.status, sizeMax: settings.store.sizeMax,
                filterBytes: inject.filterBytes, setAside: parts.committer.setAside, at: now.monotonic),
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
                isForwarderConnected: isForwarderConnected,
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
