import PushModel
import PushRouting

/// What the daemon counts for metrics alone, since its start.
struct CountedFigures: Sendable {
    var deliveries: DeliveryFigures
    var commits: DurationHistogram
    var refusals: [(reason: RefusalReason, account: String, count: UInt64)]

    func members(_ writer: inout JSONWriter) {
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
        writer.member("commits", object: commits.members)
        writer.member(
            "refusals",
            array: { list in
                for refusal in refusals {
                    list.object {
                        $0.member("reason", refusal.reason.rawValue)
                        $0.member("uid", refusal.account)
                        $0.member("count", refusal.count)
                    }
                }
            })
    }
}

extension DeliveryFigures.Outcomes {
    fileprivate func members(_ writer: inout JSONWriter) {
        for outcome in Outcome.allCases { writer.member(outcome.rawValue, self[outcome]) }
    }
}

extension DeliveryFigures.Handler {
    fileprivate func members(_ writer: inout JSONWriter) {
        writer.member("outcomes", object: outcomes.members)
        writer.member("start_failures", startFailures)
        writer.member("queue", object: queue.members)
        writer.member("exec", object: exec.members)
        writer.member("total", object: total.members)
    }
}
