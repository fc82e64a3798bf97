import HandlerRuns
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import Store

/// The daemon's adapters and the recovered state: parts that do not depend on one another.
///
/// They lead to the other threads (log, ledger, look-ups, large requests, spawn pool, journal), which answer through
/// the mailbox.
struct Parts {
    /// The messages of other threads to the loop.
    enum Message: Sendable {
        case store(StoreReport)
        case answer(LedgerAnswers.Answer)
        case largeRequest(token: UInt64, LargeRequestReader.Result)
        case metrics(token: UInt64, line: [UInt8])
        case configuration(ConfigurationReader.News)
    }

    let loop: EventLoop
    let journal: JournalWriter
    let mailbox: Mailbox<Message>
    let directories: Directories
    let configuration: ConfigurationReader
    let questions: ConfigurationQuestions
    /// The rights that the systemd unit gives the daemon and its handlers.
    let service: ServiceFacts
    let boot: UUID128
    let committer: Committer
    let tracker: RecoveredState.FutureTracker
    /// The state that an earlier run left: a connection to the ledger, and much memory; `nil` once the daemon has taken
    /// it.
    private var recovered: RecoveredState?
    let largeRequests: LargeRequestReader
    let metrics: MetricsService
    let health: StoreHealth
    let commitWatch: CommitWatch
    let refusals: RefusalLog
    let logLevels: LogLevels
    let containment: Containment
    /// The mark in the environment of all processes of this state directory.
    let owner: String
    let runner: HandlerRunner
    let clockSteps: ClockSteps
    /// The log that other machines share, and the lease; `nil`: the log is this machine's own.
    let leadership: Leadership?

    /// Opens the ledger of a locked state directory, and reads what an earlier run left.
    ///
    /// - Parameters:
    ///   - directories: the directories of configuration, state and sockets.
    ///   - configuration: reads the configuration again.
    ///   - settings: the configuration as it is.
    ///   - state: the locked state directory.
    ///   - boot: the machine's boot id.
    ///   - descriptorLimit: the soft limit of open files that handlers get.
    ///   - containment: how the processes of handlers are kept together.
    ///   - journal: where entries go.
    ///   - leadership: the log that other machines share, and the lease.
    init(
        directories: Directories, configuration: Configuration, settings: Settings, state: consuming StateDirectory,
        boot: UUID128, descriptorLimit: UInt64?, containment: Containment, journal: JournalWriter,
        leadership: Leadership? = nil
    ) throws {
        (self.directories, self.boot, self.containment, self.journal) = (directories, boot, containment, journal)
        self.leadership = leadership
        service = configuration.service
        loop = try EventLoop()
        let mailbox = try Mailbox<Message>()
        self.mailbox = mailbox
        self.configuration = ConfigurationReader(configuration) { mailbox.post(.configuration($0)) }
        questions = ConfigurationQuestions(self.configuration)
        let progress = WorkProgress()
        let tracker = RecoveredState.FutureTracker()
        self.tracker = tracker
        let rules = settings.routing.tracking
        let place = state.place
        let limits = Committer.Limits(logLength: settings.store.logLength)
        let onRecovered: @Sendable (LedgerReader) -> Void = { ledger in
            tracker.make { () throws(StoreError) in
                try Tracker(reading: ledger, rules: rules, now: Moment.now().wall)
            }
        }
        committer =
            if let shared = leadership?.store {
                try Committer(
                    directory: state, shared: shared, limits: limits, onProgress: { progress.report() },
                    onRecovered: onRecovered, onReport: { mailbox.post(.store($0)) })
            } else {
                try Committer(
                    directory: state, limits: limits, onMigration: { progress.beginsLongWork() },
                    onProgress: { progress.report() }, onRecovered: onRecovered,
                    onReport: { mailbox.post(.store($0)) })
            }
        largeRequests = LargeRequestReader { mailbox.post(.largeRequest(token: $0, $1)) }
        metrics = MetricsService { mailbox.post(.metrics(token: $0, line: $1)) }
        health = try StoreHealth(
            loop: loop, journal: journal, slowCommit: settings.store.slowCommit, isShared: leadership != nil)
        commitWatch = try CommitWatch(journal: journal, slowCommit: settings.store.slowCommit)
        refusals = RefusalLog(journal: journal)
        logLevels = LogLevels(loop: loop, journal: journal)
        let recovered = try RecoveredState(directory: directories.state, settings: settings)
        self.recovered = recovered
        // A copy of the state directory has the same id, and the handlers of its daemon are not this daemon's.
        owner = "\(recovered.stateID)@\(place)"
        runner = try HandlerRunner(
            loop: loop, owner: owner, descriptorLimit: descriptorLimit, cgroups: containment.cgroups,
            bridgeCommand: { [configuration] in
                BridgeFile.command(
                    of: $0, configuration: configuration.directories, isRequired: configuration.isRequired,
                    kept: configuration.isKept ? configuration.keeper : nil)
            },
            concealment: { [service] in service.concealment(of: resolvingLinks($0)) }, log: { journal.log($0) })
        clockSteps = ClockSteps(
            wall: Moment.now().wall, boot: SystemClock.bootNanoseconds, lastAlive: recovered.lastBelieved,
            // A leader follows the clock of the engine: whether that clock is synchronised is unknown.
            isSynchronised: leadership == nil ? { SystemClock.isSynchronised } : { nil })
    }
    /// Hands over the state that an earlier run left; to be called once.
    mutating func takeRecovered() -> RecoveredState {
        guard let recovered = recovered.take() else { preconditionFailure("it is taken once, by the daemon") }
        return recovered
    }
}
