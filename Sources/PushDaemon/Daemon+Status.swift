import EventLoop
import Glibc
import HandlerRuns
import JournalLog
import LinuxSystem
import PushModel
import PushRouting
import PushSettings
import Store

extension Daemon: ControlServer.DaemonItself {
    func status(isForwarderConnected: Bool) -> Status {
        let now = Moment.now()
        return Status(
            version: pushrouterdVersion, processID: getpid(), mode: processor.mode,
            uptime: now.monotonic - startedAt.monotonic, state: isStopping ? "stopping" : "running",
            configurationProblem: configurationProblem, accepted: processor.accepted,
            lastSeq: processor.lastNumber.value, requestsInFlight: processor.requestsInFlight,
            bytesInFlight: processor.bytesInFlight, payloadBytes: processor.payloadBytes,
            invocationBytes: processor.invocationBytes,
            handlersRunning: processor.handlersRunning, processes: runner.processCount,
            handlers: processor.handlers, lanes: processor.lanes,
            containment: containment.name, containmentReason: containment.reason, service: service,
            deliveriesTracked: processor.deliveriesTracked,
            clients: ClientsStatus(
                inject: injectClients, control: controlClients, read: readClients, refusals: refusals.counts),
            store: DiskStatus(
                pipeline, health, pruning, committer.status, sizeMax: settings.store.sizeMax,
                filterBytes: inject.filterBytes, setAside: committer.setAside, at: now.monotonic),
            turns: loop.turns,
            process: ProcessStatus(
                startedAt: startedAt.wall, residentBytes: ProcessMemory.residentBytes, adopted: runner.adoptedCount,
                journalDrops: journal.dropCount),
            figures: CountedFigures(
                deliveries: processor.figures, commits: health.commits, refusals: refusals.countsByAccount),
            customData: CustomDataStatus(
                summary: processor.customDataSummary, rejected: processor.rejectionCount, sending: processor.sending,
                isForwarderConnected: isForwarderConnected, now: now.wall))
    }

    var readings: Int { reloads.done }

    /// Mode and routes, for the journal and the service manager.
    var statusLine: String { "\(processor.mode.rawValue) mode, \(counted(settings.routing.routes.count, "route"))" }
}
