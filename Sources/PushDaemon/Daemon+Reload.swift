import HandlerRuns
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import Store

/// The number of readings of the configuration that were asked for, and that are done.
struct Reloads {
    var requested = 0
    var done = 0

    /// The number of readings that are not done.
    var underWay: Int { requested - done }
}

extension Deed {
    /// Records the end of a reload.
    func ends(_ state: ConfigurationState) {
        guard state.problem != nil else { return ends() }
        ends(.refused, "the new configuration has errors, which the journal names")
    }
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

    func take(_ news: ConfigurationReader.News) {
        switch news {
        case .read(let reading): didRead(reading)
        case .answer(let token, let line): parts.questions.take(token, line)
        }
    }

    private func didRead(_ read: ConfigurationReader.Reading) {
        reloads.done += 1
        guard !isEnding else { return }
        switch read {
        case .success(let reading):
            for warning in reading.warnings { parts.journal.log(JournalEntry(.warning, warning)) }
            configuration.warnings = reading.warnings
            reconfigure(reading.settings)
            configuration.take(reading.inForce, from: processor.lastNumber.next)
            recordConfiguration()
            parts.journal.log(JournalEntry(.info, "reloaded: \(statusLine)", messageID: .reloaded))
        case .failure(let error):
            configuration.problem = error.lines.joined(separator: "\n")
            for line in error.lines { parts.journal.log(JournalEntry(.error, line, messageID: .reloadFailed)) }
            for warning in error.warnings { parts.journal.log(JournalEntry(.warning, warning)) }
            configuration.warnings = error.warnings
            parts.journal.log(
                JournalEntry(.error, "reload refused, still as before: \(statusLine)", messageID: .reloadFailed))
        }
        control.wasReloaded(self)
        guard reloads.underWay == 0 else { return }
        Notify.ready(status: configuration.text(statusLine, after: "reload"))
    }

    // MARK: The configuration that decides

    /// Notes whether the configuration in force decides from the next request on, and another one decided before.
    func noteConfiguration(of ledger: LedgerReader) throws(StoreError) {
        let inForce = configuration.inForce
        guard try ledger.lastConfiguration()?.id != inForce.id else { return }
        configuration.unrecorded = [
            ConfigurationPeriod(first: processor.lastNumber.next, id: inForce.id, since: inForce.since)
        ]
    }

    /// Records the configurations that decide requests, once all copies of a shared log read such a row. Until then the
    /// configuration of a request is unknown.
    func recordConfiguration() {
        guard !configuration.unrecorded.isEmpty, parts.health.problem == nil else { return }
        if let leadership = parts.leadership {
            guard let version = leadership.store.copiesRead, version >= RowKind.configuration.since else { return }
        }
        for period in configuration.unrecorded { processor.record(.configuration(period)) }
        configuration.unrecorded = []
    }

    private func reconfigure(_ new: Settings) {
        var settings = new
        for warning in settings.keepUntilRestart(of: self.settings) {
            parts.journal.log(JournalEntry(.warning, warning))
        }
        self.settings = settings
        inject.limits = settings.daemon.jsonLimits
        inject.producers.take(settings.producers)
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
