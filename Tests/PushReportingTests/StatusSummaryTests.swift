import Testing

@testable import PushModel
@testable import PushViews

@Suite("The status in ten lines")
struct StatusSummaryTests {
    private static let now = WallTime(milliseconds: 1_795_230_600_000)

    private static let status = #"""
        {"version":"1.0","pid":41,"mode":"relay","uptime_ms":307000,"state":"running","configuration_problem":null,
         "routes":3,"store_problem":null,"accepted_since_start":1204,"requests_in_flight":3,"bytes_in_flight":4096,
         "process":{"started_at_ms":1795230293000},
         "store":{"ledger_problem":null,"is_slow":false,"last_commit_us":412,"log_used_bytes":1024,
                  "log_limit_bytes":67108864,"ledger_bytes":1610612736,"ledger_limit_bytes":null},
         "custom_data":{"pending":0,"queued":2,"claimed":0,"unknown":1,
                        "sending":{"phase":"waiting","reason":"HTTP status 503"}},
         "handlers":{"crm":{"running":2,"waiting":5,"breaker":"closed","draining":false},
                     "audit":{"running":0,"waiting":0,"breaker":null,"draining":false}}}
        """#

    private func lines(
        _ status: String = Self.status, _ outcomes: [Outcome]? = [], unreadable: String? = nil
    ) throws -> [ReportLine] {
        let root = try JSONDocument(scanning: Array(status.utf8)).root
        let figures = outcomes.map { outcomes in
            var figures = LiveFigures(since: WallTime(milliseconds: Self.now.milliseconds - 300_000))
            for (index, outcome) in outcomes.enumerated() {
                var row = row(Int64(index + 1), outcome, handler: "crm", exec: .milliseconds(5))
                row.invocation.result?.decidedAt = WallTime(milliseconds: Self.now.milliseconds - 1000)
                figures.add(row)
            }
            return figures
        }
        return StatusSummary(root, figures, at: Self.now, .utc).lines(unreadable: unreadable)
    }

    @Test("shows the uptime, how the deadline was kept, and that there is no problem")
    func whole() throws {
        #expect(
            try lines(Self.status, [.handled, .handled, .failed, .timedOut]).map(\.text) == [
                "pushrouterd 1.0, mode relay, running, since 2026-11-21 03:04:53 +00:00, up 5 min 7 s, pid 41",
                "Configuration  in force as it was last read: 3 routes",
                "Handlers       2 handlers, 2 running, 5 waiting",
                "Accepted       0.0/s  1,204 since start, in flight 3 (4,096 bytes)",
                "Decided        0.4/s  4 in the last 5 min",
                "Deadline       75.0 % of 9 s  due 4, missed 1, failed 1",
                "Last miss      2026-11-21 03:09:59.000 +00:00  seq 4  timed_out  crm  5 ms",
                "Disk           log 1 KiB of 64 MiB, ledger 1.5 GiB, last commit 0.412 ms",
                "Custom data    2 queued, 1 unknown; forwarder waiting: HTTP status 503",
                "Problems       none",
            ])
        #expect(try lines()[6].text == "Last miss      none in the last 5 min")
    }

    @Test("names dead letters by handler, open publishes and an erasure that waits")
    func backlog() throws {
        let found = try lines(
            Self.status.replacing(
                #""custom_data":"#,
                with: #"""
                    "dead_letters":{"count":1203,"bytes":2048,"oldest_age_ms":7200000,
                    "handlers":{"crm":{"count":1200,"bytes":2000},"(none)":{"count":3,"bytes":48}}},
                    "publishes_open":2,"publish_deliveries_left":3000,"erasures_waiting":1,"custom_data":
                    """#))
        #expect(
            found.suffix(4).map(\.text) == [
                "Dead letters   1,203 of 2 KiB, the oldest for 2 h: crm 1,200, (none) 3",
                "Publishes      2 with 3,000 deliveries left", "Erasures       one is not complete",
                "Problems       none",
            ])
    }

    @Test("names the limits that refused connections and requests, with the number of each")
    func limits() throws {
        let refused = #"{"descriptors":1200,"overloaded":3,"connections":0,"idle":9}"#
        let clients = #""clients":{"refused":"# + refused + #"},"custom_data":"#
        let line = try #require(try lines(Self.status.replacing(#""custom_data":"#, with: clients)).suffix(2).first)
        #expect(line.text == "Refused        by limits: descriptors 1,200, overloaded 3")
        #expect(line.tone == .warning)
    }

    @Test("names the rules of producers that refused requests, and when they did last")
    func refused() throws {
        let clients = #"""
            "clients":{"refused_by_rule":[{"rule":"20-b","uid":"7","count":2000,"age_ms":7200000},
            {"rule":"10-a","uid":"7","count":1,"age_ms":60000},{"rule":"10-a","uid":"8","count":2,"age_ms":90000}]},
            "custom_data":
            """#
        let found = try lines(Self.status.replacing(#""custom_data":"#, with: clients))
        let line = try #require(found.suffix(2).first)
        #expect(line.text == "Refused        by rules of producers.d: 10-a 3, 20-b 2,000, the last 1 min ago")
        #expect(line.tone == .warning)
    }

    @Test("has a line for every problem of the status, with its severity")
    func problems() throws {
        let wrong = Self.status.replacing(
            #""configuration_problem":null"#, with: #""configuration_problem":"a.route:2""#
        )
        .replacing(#""ledger_problem":null"#, with: #""ledger_problem":"the disk is full""#)
        .replacing(#""breaker":"closed""#, with: #""breaker":"open""#)
        let found = try lines(wrong)
        #expect(
            found.suffix(2).map(\.text) == [
                "Problem        configuration: a.route:2", "Problem        ledger: the disk is full",
            ])
        #expect(found.suffix(2).allSatisfy { $0.tone == .bad })
        #expect(found[1].text == "Configuration  the last good one, since the one on disk has an error: 3 routes")
        #expect(found[2].text == "Handlers       2 handlers, 2 running, 5 waiting; crm: breaker open")
        #expect(found[2].tone == .warning)
    }

    @Test("names a forwarder that is not connected, and its problem")
    func forwarder() throws {
        let found = try lines(
            Self.status.replacing(
                #""sending":{"phase":"waiting","reason":"HTTP status 503"}"#,
                with: #""sending_problem":"it is away","sending":{"phase":"not_connected","reason":null}"#))
        #expect(
            found.suffix(2).map(\.text) == [
                "Custom data    2 queued, 1 unknown; forwarder not connected", "Problem        sending: it is away",
            ])
    }

    @Test("reports the missing right to read the ledger, and the other facts")
    func unreadable() throws {
        let found = try lines(Self.status, nil, unreadable: "not permitted").map(\.text)
        #expect(found[3] == "Accepted       1,204 since start, in flight 3 (4,096 bytes)")
        #expect(found[4] == "Deadline       not permitted")
        #expect(found.count == 8)
    }
}
