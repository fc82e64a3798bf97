import LedgerReports
import LinuxSystem
import PushModel
import PushSettings
import PushViews

/// A job for one of the threads that read and act.
enum WorkerJob: Sendable {
    case answer(UInt64, WebRequest)
    case listen(UInt64, WebSubscription)
    case leave(UInt64)
    /// Sends new changes to the subscriptions.
    case poll
    /// Reads a part of the ledger for the index, for a time at most.
    case index(nanoseconds: Int64)
    /// Reads the configuration again.
    case readConfiguration
}

/// The result of a job, for the loop.
enum WorkerResult: Sendable {
    case answer(UInt64, WebAnswer)
    case feed(UInt64, LiveFeeds.Output)
    case polled
    case indexed
}

/// The parameters of the page's threads.
struct WorkerPlan: Sendable {
    let facts: WebDesk.Facts
    let directories: Directories
    /// Whether the command line named the configuration directory.
    let isConfigurationRequired: Bool
    let gatewaySocket: String
    let results: Mailbox<WorkerResult>
    let log: @Sendable (JournalEntry) -> Void

    /// How often a follower's delay is asked for.
    private static let delayInterval: Int64 = 2_000_000_000

    /// Prepares a thread; to be called on it.
    ///
    /// - Returns: the closure that does a job on this thread.
    func begin() -> (WorkerJob) -> Void {
        let daemon = DaemonSockets(directories, gatewaySocket: gatewaySocket)
        let configurations = Configurations(directories, isRequired: isConfigurationRequired, ask: daemon.configuration)
        let source = LedgerSource(
            directory: directories.state, table: configurations.current.table, clock: { Moment.now() })
        func useSettings() {
            let settings = configurations.settings
            (source.table, source.objective) = (settings.routing, settings.objective)
            source.campaignIDRule = settings.campaignIDRule
        }
        useSettings()
        let desk = WebDesk(
            facts, source: source, daemon: daemon, configurations: configurations, now: { WallClock.ofMachine },
            note: { [log] in log(JournalEntry(.notice, $0)) })
        source.detection = desk.detection(of:)
        var feeds = LiveFeeds(desk)
        var nextDelay: Int64 = 0
        // On a machine that follows, the leader's.
        var recorded = source.configurationInForce()
        return { [results] job in
            switch job {
            case .answer(let number, let request):
                let now = EventLoop.nowNanoseconds
                if now >= nextDelay {
                    nextDelay = now + Self.delayInterval
                    source.delay = daemon.followerDelay()
                }
                if let id = source.configurationInForce(), id != recorded {
                    recorded = id
                    _ = configurations.refreshed()
                    useSettings()
                }
                results.post(.answer(number, desk.answer(request)))
            case .listen(let number, let subscription): feeds.add(subscription, as: number)
            case .leave(let number): feeds.remove(number)
            case .poll:
                for (number, output) in feeds.poll() { results.post(.feed(number, output)) }
                results.post(.polled)
            case .index(let nanoseconds):
                let end = EventLoop.nowNanoseconds + nanoseconds
                while (try? source.buildIndex()) == true, EventLoop.nowNanoseconds < end {}
                results.post(.indexed)
            case .readConfiguration:
                configurations.readAgain()
                useSettings()
            }
        }
    }
}
