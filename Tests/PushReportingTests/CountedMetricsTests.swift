import Testing

@testable import PushModel
@testable import PushViews

@Suite("The daemon's counters as metrics")
struct CountedMetricsTests {
    private static let status = #"""
        {"process":{"started_at_ms":1700000000250},"clients":{"refused_by_rule":[
        {"rule":"10-shop","uid":"1000","count":4,"age_ms":5}]},"accepted_since_start":5,"figures":{
        "outcomes":{"handled":4,"timed_out":1,"unrouted":0},"observed":{"handled":2},
        "providers":{"a \"b\"":{"handled":4,"failed":0}},
        "handlers":{"crm":{"outcomes":{"handled":3,"failed":0,"timed_out":1,"expired":0,"duplicate":0,"unrouted":2},
        "start_failures":7,"attempts":{"retry":2,"not_started":7},"queue":{"bounds_us":[100000,9000000],"added_us":[50000,50000,8400000,10000000]}}},
        "commits":{"bounds_us":[500],"added_us":[10,10,10,10,10,10,10,20]},
        "refusals":[{"reason":"overloaded","uid":"1000","count":3},{"reason":"idle","uid":"(other)","count":1}]}}
        """#

    private func lines(_ format: MetricsFormat) throws -> [String] {
        let status = StatusValue(withHistograms: try JSONDocument(scanning: Array(Self.status.utf8)).root)
        return OpenMetrics.text(of: status, as: format).split(separator: "\n").map(String.init)
    }

    @Test("are counters by outcome, provider, handler, reason and user; a handler has all its possible outcomes")
    func counters() throws {
        let lines = try lines(.prometheus)
        for line in [
            #"pushrouterd_outcomes_total{outcome="handled"} 4"#, #"pushrouterd_outcomes_total{outcome="unrouted"} 0"#,
            #"pushrouterd_observer_outcomes_total{outcome="handled"} 2"#,
            #"pushrouterd_provider_outcomes_total{provider="a \"b\"",outcome="handled"} 4"#,
            #"pushrouterd_handler_outcomes_total{handler="crm",outcome="failed"} 0"#,
            #"pushrouterd_handler_outcomes_total{handler="crm",outcome="unrouted"} 2"#,
            #"pushrouterd_handler_start_failures_total{handler="crm"} 7"#,
            #"pushrouterd_handler_failed_attempts_total{handler="crm",answer="retry"} 2"#,
            #"pushrouterd_peer_refused_total{reason="overloaded",uid="1000"} 3"#,
            #"pushrouterd_peer_refused_total{reason="idle",uid="(other)"} 1"#,
            #"pushrouterd_rule_refused_total{rule="10-shop",uid="1000"} 4"#,
        ] { #expect(lines.contains(line), "\(line)") }
        #expect(!lines.contains { $0.contains(#"outcome="duplicate""#) })
        #expect(!lines.contains { $0.contains("provider_outcomes") && $0.contains(#"outcome="failed""#) })
    }

    @Test("are cumulative histograms; one that the status lacks is left out")
    func histograms() throws {
        let lines = try lines(.openMetrics)
        let queue = lines.filter { $0.hasPrefix("pushrouterd_handler_queue_seconds") }
        #expect(
            queue == [
                #"pushrouterd_handler_queue_seconds_bucket{handler="crm",le="0.1"} 2"#,
                #"pushrouterd_handler_queue_seconds_bucket{handler="crm",le="9.0"} 3"#,
                #"pushrouterd_handler_queue_seconds_bucket{handler="crm",le="+Inf"} 4"#,
                #"pushrouterd_handler_queue_seconds_count{handler="crm"} 4"#,
                #"pushrouterd_handler_queue_seconds_sum{handler="crm"} 18.5"#,
                #"pushrouterd_handler_queue_seconds_created{handler="crm"} 1700000000.25"#,
            ])
        #expect(!lines.contains { $0.contains("handler_exec_seconds") })
        #expect(lines.contains(#"pushrouterd_commit_seconds_bucket{le="0.0005"} 8"#))
        #expect(lines.contains("# UNIT pushrouterd_commit_seconds seconds"))
    }

    @Test("have the names of their values, no unit, no creation time and no end marker in the older format")
    func olderFormat() throws {
        let old = try lines(.prometheus)
        #expect(old.contains("# TYPE pushrouterd_outcomes_total counter"))
        #expect(old.contains("# TYPE pushrouterd_commit_seconds histogram"))
        #expect(!old.contains { $0.hasPrefix("# UNIT") || $0.hasPrefix("# EOF") || $0.contains("_created") })
        let new = try lines(.openMetrics)
        #expect(new.contains("# TYPE pushrouterd_outcomes counter") && new.last == "# EOF")
        let samples = { (lines: [String]) in lines.filter { !$0.hasPrefix("#") && !$0.contains("_created") } }
        #expect(samples(old) == samples(new))
    }
}

@Suite("The format of metrics that a client prefers")
struct MetricsFormatTests {
    @Test(
        "is OpenMetrics if the client names it and prefers it at least as much",
        arguments: [
            // The Accept headers of Prometheus 2.42, and 2.5x.
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;q=0.4",
            "Application/OpenMetrics-Text ; version=1.0.0",
            "application/openmetrics-text",
        ])
    func openMetrics(header: String) { #expect(MetricsFormat(accepting: header) == .openMetrics) }

    @Test(
        "is the older one for all other clients",
        arguments: [
            nil, "", "*/*", "text/plain", "text/html,application/xhtml+xml", ";;;,,q=1",
            "application/openmetrics-text;version=0.0.1", "application/openmetrics-text;version=2.0.0",
            "application/openmetrics-text;version=1.0.0;q=0.2,text/plain;q=0.9",
            "application/openmetrics-text;q=0", "application/openmetrics-text;version=1.0.0;q=nan",
        ])
    func older(header: String?) { #expect(MetricsFormat(accepting: header) == .prometheus) }
}
