import PushModel
import PushRouter
import PushViews

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
        writer.member("queue", queue)
        writer.member("exec", exec)
        writer.member("total", total)
    }
}
