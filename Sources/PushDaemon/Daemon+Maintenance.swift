import LinuxSystem
import PushModel
import PushSettings
import Store

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
