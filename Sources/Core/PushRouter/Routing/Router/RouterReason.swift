import PushModel

/// The router's reason for an outcome, if neither the platform's decision nor the person's act gives one.
enum RouterReason {
    case repeatedMessageID
    case noBrazeInstance, brazeInstanceDelayed
    case noCallbackForToken(Platform)
    // Routes.
    case noRouteMatches, everyRouteDeclined, handlerDeclined, routeGone
    case routeTimeOver(route: String)
    case breakerOpen
    // The end of a handler.
    case handlerNotStarted(String), handlerRejected(String), handlerLost(String)
    case retryInDeviceMode(String?)
    case retriesUsedUp(Int, last: String?)
    case noTimeForRetry(attempts: Int, last: String?)
    case endedBySignal(Int32), endedInGrace
    // The deadline.
    case waitingInLane, noHandlerStartedInTime, queueFull
    /// With the observation that replaces the answer.
    case notFinishedAtDeadline(String?)
    case notDoneAfterRetries(attempts: Int, last: String?)
    // A stop or a crash of the daemon, or the loss of the leader. Scripts search `reason` for these words, too.
    case daemonDown, daemonCrashed, leaderLost

    /// The code and the sentence for people.
    private var parts: (ReasonCode, String) {
        switch self {
        case .repeatedMessageID:
            (.repeatedMessageID, "FCM drops the message: its id is one of the last ten on this device")
        case .noBrazeInstance: (.noBrazeInstance, "the app had no Braze instance when the callback ran")
        case .brazeInstanceDelayed: (.brazeInstanceDelayed, "queued until the app has its Braze instance")
        case .noCallbackForToken(let platform):
            (.noCallbackForToken, "\(platform.name) runs no callback of the app for a push token")
        case .noRouteMatches: (.noRouteMatches, "no route matches")
        case .everyRouteDeclined: (.everyRouteDeclined, "every matching route declined")
        case .handlerDeclined: (.handlerDeclined, "its handler declined")
        case .routeGone: (.routeGone, "its route was removed from the configuration")
        case .routeTimeOver(let route):
            (.routeTimeOver, "the deadline of route \(route) had passed before its handler could start")
        case .breakerOpen: (.breakerOpen, "breaker_open")
        case .handlerNotStarted(let text): (.handlerNotStarted, text)
        case .handlerRejected(let text): (.handlerRejected, text)
        case .handlerLost(let text): (.handlerLost, text)
        case .retryInDeviceMode(let last):
            (
                .retryInDeviceMode,
                "the handler asked for a retry; device mode does not retry (Mode=)" + Self.behind(last)
            )
        case .retriesUsedUp(let most, let last):
            (.retriesUsedUp, "the handler asked for another retry after \(most) (Retry=)" + Self.behind(last))
        case .noTimeForRetry(let attempts, let last):
            (
                .notDoneAfterRetries,
                "tried \(Self.times(attempts)); the handler asked for another retry, but no time was left"
                    + Self.behind(last)
            )
        case .endedBySignal(let signal): (.endedBySignal, "ended by \(signalText(Int(signal)))")
        case .endedInGrace: (.endedInGrace, "the handler was ended by SIGTERM before its deadline (Grace=)")
        case .waitingInLane: (.waitingInLane, "still waiting in its lane")
        case .notFinishedAtDeadline(let seen):
            (.notFinishedAtDeadline, "not finished at the deadline" + Self.behind(seen))
        case .noHandlerStartedInTime: (.noHandlerStartedInTime, "no handler was started in time")
        case .notDoneAfterRetries(let attempts, let last):
            (
                .notDoneAfterRetries,
                "tried \(Self.times(attempts)) and not finished at the deadline" + Self.behind(last)
            )
        case .queueFull: (.queueFull, "no place at its handler became free in time (MaxConcurrent=, Queue=)")
        case .daemonDown: (.daemonDown, "daemon_down")
        case .daemonCrashed: (.daemonCrashed, "daemon_crashed")
        case .leaderLost: (.leaderLost, "leader_lost")
        }
    }

    /// Whether an earlier run of the daemon or another node had started the handler, and its end is unknown.
    var isCutOff: Bool {
        switch self {
        case .daemonCrashed, .leaderLost: true
        default: false
        }
    }

    private static func times(_ attempts: Int) -> String { attempts == 1 ? "once" : "\(attempts) times" }

    /// Returns the handler's own reason, formatted to follow the general sentence.
    private static func behind(_ reason: String?) -> String { reason.map { ": \($0)" } ?? "" }

    /// Returns the reason of an outcome.
    ///
    /// - Parameter remarks: further remarks for people.
    func ofOutcome(remarks: [String] = []) -> OutcomeReason {
        let (code, sentence) = parts
        return OutcomeReason(code, sentence, remarks: remarks)
    }
}
