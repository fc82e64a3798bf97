import PushModel

/// The metrics of the daemon's counters since its start, and their places in its status.
enum CountedMetrics {
    /// The metrics in the order of the output.
    static let all = [
        MetricFamily(
            "outcomes", "Invocations that ended, by outcome; copies for observing routes have a metric of their own.",
            .counter, labels: ["outcome"]
        ) {
            outcomes($0["figures"]?["outcomes"])
        },
        MetricFamily(
            "observer_outcomes", "Copies for observing routes that ended, by outcome.", .counter, labels: ["outcome"]
        ) {
            outcomes($0["figures"]?["observed"])
        },
        MetricFamily(
            "provider_outcomes", "Invocations that ended, by provider and outcome.", .counter,
            labels: ["provider", "outcome"]
        ) { status in
            status["figures"]?["providers"]?.members.flatMap { name, counts in
                outcomes(counts, [("provider", name)], keeping: [])
            } ?? []
        },
        MetricFamily(
            "handler_outcomes", "Invocations that ended, by handler and outcome.", .counter,
            labels: ["handler", "outcome"]
        ) {
            // The outcomes that every handler may have are present from the start: a rate needs an initial zero.
            byHandler($0) { outcomes($0["outcomes"], $1, keeping: Outcome.allCases.filter(\.isDue)) }
        },
        MetricFamily(
            "handler_start_failures", "Attempts for which a handler could not be started or reached.", .counter,
            labels: ["handler"]
        ) {
            byHandler($0) { number($0["start_failures"], $1) }
        },
        MetricFamily(
            "handler_failed_attempts",
            "Attempts that did not end with handled, by answer; a request that pushrouter-http sends is one.", .counter,
            labels: ["handler", "answer"]
        ) {
            byHandler($0) { handler, labels in
                handler["attempts"]?.members.flatMap { number($0.value, labels + [("answer", $0.name)]) } ?? []
            }
        },
        MetricFamily(
            "handler_queue_seconds", "From acceptance to the start of the handler, or to the end without one.",
            .histogram, labels: ["handler"]
        ) {
            byHandler($0) { histogram($0["queue"], $1) }
        },
        MetricFamily(
            "handler_exec_seconds", "From the start of the handler to its end.", .histogram, labels: ["handler"]
        ) {
            byHandler($0) { histogram($0["exec"], $1) }
        },
        MetricFamily(
            "handler_total_seconds", "From acceptance to the outcome of the handler.", .histogram, labels: ["handler"]
        ) {
            byHandler($0) { histogram($0["total"], $1) }
        },
        MetricFamily("commit_seconds", "The time of commits to the log.", .histogram) {
            histogram($0["figures"]?["commits"], [])
        },
        MetricFamily(
            "peer_refused", "Connections and requests that were refused, by reason and user.", .counter,
            labels: ["reason", "uid"]
        ) {
            status in
            status["figures"]?["refusals"]?.elements.flatMap { refusal in
                number(
                    refusal["count"],
                    [("reason", refusal["reason"]?.text ?? ""), ("uid", refusal["uid"]?.text ?? "")])
            } ?? []
        },
        MetricFamily(
            "rule_refused", "Requests that a rule of producers.d refused, by rule and user.", .counter,
            labels: ["rule", "uid"]
        ) {
            status in
            status["clients"]?["refused_by_rule"]?.elements.flatMap { refused in
                number(
                    refused["count"], [("rule", refused["rule"]?.text ?? ""), ("uid", refused["uid"]?.text ?? "")])
            } ?? []
        },
    ]

    /// - Parameter kept: the outcomes to write even with a count of 0; `nil`: all.
    private static func outcomes(
        _ counts: StatusValue?, _ labels: [(String, String)] = [], keeping kept: [Outcome]? = nil
    ) -> [MetricSample] {
        Outcome.allCases.flatMap { outcome -> [MetricSample] in
            let count = counts?[outcome.rawValue]
            guard kept?.contains(outcome) != false || count?.integer != 0 else { return [] }
            return number(count, labels + [("outcome", outcome.rawValue)])
        }
    }

    private static func number(_ value: StatusValue?, _ labels: [(String, String)]) -> [MetricSample] {
        value?.integer.map { [MetricSample(String($0), labels)] } ?? []
    }

    private static func histogram(_ value: StatusValue?, _ labels: [(String, String)]) -> [MetricSample] {
        if case .histogram(let histogram) = value { [MetricSample(.histogram(histogram), labels)] } else { [] }
    }

    private static func byHandler(
        _ status: StatusValue, _ samples: (StatusValue, [(String, String)]) -> [MetricSample]
    ) -> [MetricSample] {
        status["figures"]?["handlers"]?.members.flatMap { samples($0.value, [("handler", $0.name)]) } ?? []
    }
}
