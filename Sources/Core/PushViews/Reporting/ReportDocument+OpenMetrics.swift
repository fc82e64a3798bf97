import PushModel

extension ReportDocument {
    /// The figures of the window as metrics in OpenMetrics 1.0 text: gauges, because their values depend on the window.
    public var openMetrics: String {
        var writer = MetricWriter(format: .openMetrics, created: nil)
        func family(_ name: String, _ help: String, _ samples: [(labels: [(String, String)], value: String)]) {
            let family = MetricFamily("report_" + name, help) { _ in [] }
            writer.write(family, samples.map { MetricSample($0.value, $0.labels) })
        }
        let handlers = report.byHandler.sorted { $0.key < $1.key }
        if report.source == .ledger {
            family("invocations", "Invocations accepted in the window.", [([], String(report.accepted))])
            family("in_flight", "Invocations without an outcome.", [([], String(report.inFlight))])
        }
        family(
            "outcomes", "Invocations by outcome.",
            Outcome.allCases.map { ([("outcome", $0.rawValue)], String(report.outcomes[$0] ?? 0)) })
        family("due", "Invocations that owed an answer.", [([], String(report.compliance.due))])
        family("missed", "Invocations that missed the deadline.", [([], String(report.compliance.missed))])
        family(
            "missed_by_reason", "Missed invocations by reason code; none: without one.",
            detail.all.sortedMissReasons.map { ([("reason", $0.code.word)], String($0.count)) })
        family(
            "compliance_ratio", "The share of the due that kept the deadline.",
            report.compliance.fraction.map { [([], $0.description)] } ?? [])
        family(
            "handler_missed", "Missed invocations by handler.",
            handlers.map { ([("handler", $0.key)], String($0.value.compliance.missed)) })
        family(
            "handler_failed", "Failed invocations by handler.",
            handlers.map { ([("handler", $0.key)], String($0.value.failed)) })
        let clocks: [(FigureGroup.Clock, String)] = [
            (.queue, "Time from acceptance to the start of the handler"),
            (.exec, "Time from the start of the handler to its end"), (.total, "Time from acceptance to the end"),
        ]
        for (clock, meaning) in clocks {
            family(
                "handler_\(clock.rawValue)_seconds", "\(meaning): that share of 1 takes no longer.",
                handlers.flatMap { name, group in
                    [("0.5", 500), ("0.9", 900), ("0.99", 990), ("0.999", 999)].compactMap { share, permille in
                        group.histogram(clock).quantile(permille: permille).map {
                            ([("handler", name), ("share", share)], decimal($0, scale: 6))
                        }
                    }
                })
        }
        family(
            "limit_exceeded", "Invocations past a limit of the platform.",
            report.limits.map { ([("limit", $0.limit.id)], String($0.over)) })
        if let serviceLevel {
            family(
                "error_budget_left_ratio", "The share of the error budget that is left.",
                serviceLevel.budgetLeft.map { [([], $0.description)] } ?? [])
            family(
                "burn_rate", "How many times too fast the error budget is used up.",
                BurnRates.Window.allCases.compactMap { window in
                    serviceLevel.burnRate(window).map { ([("window", window.rawValue)], $0.description) }
                })
            family(
                "alert", "1 for an alert of two windows that both burn too fast.",
                ServiceLevel.Alert.all.map { alert in
                    (
                        [("severity", alert.severity.rawValue), ("long", alert.long.rawValue)],
                        serviceLevel.firing.contains(alert) ? "1" : "0"
                    )
                })
        }
        family(
            "first_accepted_seconds", "When the first request of the window was accepted, in seconds since 1970.",
            report.covered.map { [([], decimal($0.lowerBound.milliseconds, scale: 3))] } ?? [])
        family(
            "last_accepted_seconds", "When the last request of the window was accepted, in seconds since 1970.",
            report.covered.map { [([], decimal($0.upperBound.milliseconds, scale: 3))] } ?? [])
        family("source", "1 for where the figures come from.", [([("source", report.source.word)], "1")])
        return writer.ended()
    }
}
