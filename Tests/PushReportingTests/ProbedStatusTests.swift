import TestSupport
import Testing

@testable import PushModel
@testable import PushViews

/// A status of the daemon with another value in the place of each member, and the lines that change by it: of the summary,
/// of the live screen and of the metrics.
@Suite("Each member of the daemon's status")
struct ProbedStatusTests {
    private static let now = WallTime(milliseconds: 1_795_230_600_000)
    private static let status =
        #"{"version":"1.0","pid":41,"mode":"relay","uptime_ms":307000,"state":"running","configuration_problem":null,"#
        + #""routes":3,"store_problem":null,"accepted_since_start":1204,"requests_in_flight":3,"bytes_in_flight":4096,"#
        + #""inject_connections":6,"control_connections":2,"longest_turn_us":9250,"transactions":61,"containment":"cgroups","#
        + #""recent_turns":{"count":9,"p99_us":640,"longest_us":1000,"longest_turn_us":1250},"#
        + #""process":{"started_at_ms":1795230293000,"resident_bytes":40960,"adopted_processes":12,"journal_drops":13},"#
        + #""clients":{"input_bytes":31,"output_bytes":34,"refused":{"connections":0,"overloaded":5},"#
        + #""refused_by_rule":[{"rule":"10-shop","uid":"1000","count":4,"age_ms":5000}]},"#
        + #""fleet":null,"dead_letters":{"count":7,"bytes":7000,"handlers":{"crm":7}},"#
        + #""publishes":{"open":2,"to_come":1500},"erasure":{"waiting_ms":61000,"reader":"pushctl, pid 77"},"#
        + #""devices":{"count":71,"bytes":72000,"limit_bytes":640000},"#
        + #""store":{"ledger_problem":null,"is_slow":false,"slow_commits":14,"last_commit_us":412,"longest_commit_us":15000,"#
        + #""log_used_bytes":1024,"log_bytes":1048576,"log_limit_bytes":67108864,"batches_behind":16,"bytes_behind":700,"#
        + #""behind_us":2500,"ledger_bytes":1610612736,"ledger_wal_bytes":16384,"ledger_limit_bytes":null},"#
        + #""custom_data":{"pending":18,"queued":2,"claimed":19,"unknown":1,"bytes":500,"rejected_since_start":20,"#
        + #""oldest_unsent_age_ms":15500,"sending_problem":null,"forwarder_connected":true,"#
        + #""sending":{"phase":"waiting","reason":"HTTP status 503","failures":21}},"#
        + #""lanes":{"crowded":22,"waiting":48,"longest":[{"app":"com.example.shop","device":"phone","waiting":36,"seq":41,"#
        + #""n":0,"handler":"crm","turn_ms":8200,"age_ms":61000}]},"#
        + #""figures":{"outcomes":{"handled":44,"timed_out":45,"unrouted":0},"observed":{"handled":46},"#
        + #""providers":{"braze":{"handled":47,"failed":0}},"handlers":{"crm":{"outcomes":{"handled":49,"failed":50},"#
        + #""start_failures":51,"attempts":{"retry":52}}},"refusals":[{"reason":"overloaded","uid":"1000","count":53}]},"#
        + #""handlers":{"crm":{"running":2,"waiting":5,"limit":4,"queue_limit":23,"refused":24,"breaker":"open","#
        + #""breaker_pause_ms":1500,"passed_over":25,"draining":false},"#
        + #""audit":{"running":0,"waiting":0,"limit":null,"breaker":null,"draining":true}}}"#

    private static let figures: LiveFigures = {
        var figures = LiveFigures(since: WallTime(milliseconds: now.milliseconds - 300_000))
        for (index, outcome) in [Outcome.handled, .handled, .failed, .timedOut].enumerated() {
            var row = row(Int64(index + 1), outcome, handler: "crm", exec: .milliseconds(Int64(index) * 700 + 5))
            row.invocation.result?.decidedAt = WallTime(milliseconds: now.milliseconds - 1000)
            figures.add(row)
        }
        return figures
    }()

    private static func looks(_ text: String) -> [String] {
        guard let root = try? JSONDocument(scanning: Array(text.utf8)).root else { return ["no JSON"] }
        let summary = StatusSummary(root, figures, at: now, .utc).lines()
        let screen = LiveScreen(zone: .utc).lines(
            status: root, problem: nil, figures: figures, at: now, width: 130, height: nil)
        let metrics = OpenMetrics.text(of: StatusValue(withHistograms: root), as: .openMetrics)
        return summary.map { "status: \($0.tone) \($0.text)" } + screen.map { "top: \($0.tone) \($0.text)" }
            + metrics.split(separator: "\n").filter { !$0.hasPrefix("# ") }.map { "metrics: \($0)" }
    }

    @Test("changes what is shown as Fixtures/status/members.txt has it")
    func members() {
        let plain = Self.looks(Self.status)
        let values = ["null", "true", "0", "1", "17", "2500000", #""x""#, #""running""#, "[]", "{}"].map { ($0, $0) }
        let table = ProbedJSON.table(Self.status, probes: values) { text in
            let found = Self.looks(text)
            let (new, gone) = (Set(found).subtracting(plain), Set(plain).subtracting(found))
            let changed = found.filter { new.contains($0) }
            // The new line in the place of an old one says enough.
            return (changed + (changed.isEmpty ? plain.filter { gone.contains($0) }.map { "without \($0)" } : []))
                .joined(separator: " / ")
        }
        Fixture.expect(plain + table.dropFirst(3), in: "status/members.txt")
    }
}
