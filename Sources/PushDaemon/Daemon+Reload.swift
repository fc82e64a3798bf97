import EventLoop
import HandlerRuns
import JournalLog
import LinuxSystem
import PushModel
import PushRouting
import PushSettings
import SettingsFiles

/// The number of readings of the configuration that were asked for, and that are done.
struct Reloads {
    var requested = 0
    var done = 0

    /// The number of readings that are not done.
    var underWay: Int { requested - done }
}

extension Daemon {
    /// Begins to read the configuration again.
    ///
    /// - Returns: the number of the reading that sees the files as they are now; it may be done. `nil`: the daemon
    ///   stops.
    @discardableResult
    func reload() -> Int? {
        guard !isEnding else { return nil }
        Notify.reloading(nowNanoseconds: EventLoop.nowNanoseconds)
        // The second reading has not begun: it will see the files as they are now.
        guard reloads.underWay < 2 else { return reloads.requested }
        reloads.requested += 1
        let reading = reloads.requested
        do throws(SystemError) {
            try parts.configuration.read()
        } catch {
            didRead(.failure(StartFailure("cannot read the configuration: \(error)", exitStatus: StartFailure.system)))
        }
        return reading
    }

    func didRead(_ read: ConfigurationReader.Reading) {
        reloads.done += 1
        guard !isEnding else { return }
        switch read {
        case .success((let settings, let warnings)):
            for warning in warnings { parts.journal.log(JournalEntry(.warning, warning)) }
            reconfigure(settings)
            configurationProblem = nil
            parts.journal.log(JournalEntry(.info, "reloaded: \(statusLine)", messageID: .reloaded))
        case .failure(let error):
            configurationProblem = error.lines.joined(separator: "\n")
            for line in error.lines { parts.journal.log(JournalEntry(.error, line, messageID: .reloadFailed)) }
            for warning in error.warnings { parts.journal.log(JournalEntry(.warning, warning)) }
            parts.journal.log(
                JournalEntry(.error, "reload refused, still as before: \(statusLine)", messageID: .reloadFailed))
        }
        control.wasReloaded(self)
        guard reloads.underWay == 0 else { return }
        Notify.ready(status: configurationProblem == nil ? statusLine : "reload failed, still as before: \(statusLine)")
    }

    private func reconfigure(_ new: Settings) {
        var settings = new
        for warning in settings.keepUntilRestart(of: self.settings) {
            parts.journal.log(JournalEntry(.warning, warning))
        }
        self.settings = settings
        inject.limits = settings.daemon.jsonLimits
        parts.health.slowCommit = settings.store.slowCommit
        parts.commitWatch.setSlowCommit(settings.store.slowCommit)
        processor.successLevel = settings.journal.successLevel
        processor.handle(.reconfigured(settings.routing))
        parts.runner.reconfigured(settings.routing.handlers.values)
        servers?.inject.limits = settings.daemon.injectLimits
        sources?.ofBridges.limits = settings.daemon.ownLimits
        servers?.control.limits = settings.daemon.controlLimits
        servers?.read.limits = settings.daemon.readLimits
    }
}
