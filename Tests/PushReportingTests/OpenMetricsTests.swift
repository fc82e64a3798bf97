import Testing

@testable import PushModel
@testable import PushViews

@Suite("The daemon's metrics")
struct OpenMetricsTests {
    private static let status = #"""
        {"version":"1.0 \"a\\b\"","mode":"device","uptime_ms":61500,"state":"running","configuration_problem":null,
        "store_problem":"full","accepted_since_start":7,"inject_connections":1,"control_connections":2,
        "longest_turn_us":9250,"turns":{"count":99,"p99_us":940,"longest_us":9250},
        "recent_turns":{"count":9,"p99_us":640,"longest_us":1000,"longest_turn_us":1250},
        "process":{"started_at_ms":1700000000250,"resident_bytes":4096,"adopted_processes":2,"journal_drops":3},"clients":{"input_bytes":3,"output_bytes":4,
        "refused":{"connections":0,"overloaded":5}},"transactions":6,"store":{"ledger_problem":null,"is_slow":true,
        "slow_commits":2,"last_commit_us":90,"longest_commit_us":1500000,"log_used_bytes":8192,"log_bytes":1048576,
        "log_limit_bytes":268435456,"batches_behind":1,"bytes_behind":700,"behind_us":2500,"ledger_bytes":65536,
        "ledger_wal_bytes":16384,"id_filter_bytes":8192},"custom_data":{"pending":1,"queued":2,"claimed":3,"unknown":4,"bytes":500,"rejected_since_start":6,
        "oldest_unsent_age_ms":1500,"sending_problem":null,"sending":{"phase":"waiting","failures":3},
        "forwarder_connected":true},
        "handlers":{"crm":{"running":2,"waiting":3,"limit":null,"queue_limit":9,"refused":4,"breaker":"open",
        "breaker_pause_ms":50,"passed_over":6,"draining":false}}}
        """#

    private func text(_ status: String, as format: MetricsFormat = .openMetrics) throws -> String {
        OpenMetrics.text(
            of: StatusValue(withHistograms: try JSONDocument(scanning: Array(status.utf8)).root), as: format)
    }

    /// The samples of a text, without creation times.
    private func samples(_ text: String) -> [Substring] {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") && !$0.contains("_created") }
    }

    @Test("has base units, labels and an end marker; facts that the status lacks are left out")
    func metrics() throws {
        let text = try text(Self.status)
        #expect(
            Set(samples(text)) == [
                "pushrouterd_up 1", #"pushrouterd_build_info{version="1.0 \"a\\b\"",mode="device"} 1"#,
                "pushrouterd_start_time_seconds 1700000000.25", "pushrouterd_uptime_seconds 61.5",
                "pushrouterd_running 1", "pushrouterd_configuration_problem 0",
                "pushrouterd_store_problem 1", "pushrouterd_ledger_problem 0", "pushrouterd_requests_accepted_total 7",
                #"pushrouterd_handler_running{handler="crm"} 2"#, #"pushrouterd_handler_waiting{handler="crm"} 3"#,
                #"pushrouterd_handler_queue_limit{handler="crm"} 9"#,
                #"pushrouterd_handler_refused_total{handler="crm"} 4"#,
                #"pushrouterd_handler_passed_over_total{handler="crm"} 6"#,
                #"pushrouterd_handler_breaker_open{handler="crm"} 1"#,
                #"pushrouterd_connections{socket="inject"} 1"#, #"pushrouterd_connections{socket="control"} 2"#,
                "pushrouterd_input_bytes 3", "pushrouterd_output_bytes 4",
                #"pushrouterd_refused_total{reason="connections"} 0"#,
                #"pushrouterd_refused_total{reason="overloaded"} 5"#, "pushrouterd_log_commits_total 6",
                "pushrouterd_slow_commits_total 2", "pushrouterd_disk_slow 1",
                "pushrouterd_last_commit_seconds 0.00009", "pushrouterd_longest_commit_seconds 1.5",
                "pushrouterd_log_used_bytes 8192", "pushrouterd_log_bytes 1048576",
                "pushrouterd_log_limit_bytes 268435456", "pushrouterd_ledger_behind_bytes 700",
                "pushrouterd_ledger_behind_seconds 0.0025", "pushrouterd_ledger_bytes 65536",
                "pushrouterd_ledger_wal_bytes 16384", "pushrouterd_id_filter_bytes 8192",
                "pushrouterd_longest_turn_seconds 0.00125", #"pushrouterd_turn_seconds{share="0.99"} 0.00064"#,
                "pushrouterd_resident_memory_bytes 4096", "pushrouterd_adopted_processes 2",
                "pushrouterd_journal_dropped_total 3",
                #"pushrouterd_custom_data_entries{state="pending"} 1"#,
                #"pushrouterd_custom_data_entries{state="queued"} 2"#,
                #"pushrouterd_custom_data_entries{state="claimed"} 3"#,
                #"pushrouterd_custom_data_entries{state="unknown"} 4"#, "pushrouterd_custom_data_bytes 500",
                "pushrouterd_custom_data_rejected_total 6",
                "pushrouterd_custom_data_oldest_unsent_seconds 1.5", "pushrouterd_forwarder_connected 1",
                #"pushrouterd_sending_phase{phase="sending"} 0"#, #"pushrouterd_sending_phase{phase="waiting"} 1"#,
                #"pushrouterd_sending_phase{phase="stopped"} 0"#,
                #"pushrouterd_sending_phase{phase="not_connected"} 0"#, "pushrouterd_sending_failures 3",
                "pushrouterd_sending_problem 0",
            ])
        #expect(text.hasSuffix("\n# EOF\n"))
    }

    @Test("has each metric's type, its unit if any, and its help text before its values")
    func metadata() throws {
        let lines = try text(Self.status).split(separator: "\n").dropLast()
        var name: Substring?
        var seen: Set<Substring> = []
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 3)
            switch (words[0], words[1]) {
            case ("#", "TYPE"):
                #expect(seen.insert(words[2]).inserted, "\(line)")
                #expect(["gauge", "counter", "histogram"].contains(words[3]), "\(line)")
                name = words[2]
            case ("#", "UNIT"): #expect(words[2] == name && words[2].hasSuffix("_\(words[3])"), "\(line)")
            case ("#", "HELP"): #expect(words[2] == name && words[3].hasSuffix("."), "\(line)")
            default:
                let sample = line.prefix { $0 != "{" && $0 != " " }
                let suffixes = ["", "_total", "_created", "_bucket", "_count", "_sum"]
                #expect(suffixes.contains { sample == (name ?? "") + $0 }, "\(line)")
            }
        }
        #expect(seen.contains("pushrouterd_custom_data_oldest_unsent_seconds"))
    }

    @Test(
        "escapes a quotation mark, a backslash and a line feed in a label, each alone, too",
        arguments: [
            (#"\""#, #"\""#), (#"\\"#, #"\\"#), (#"\n"#, #"\n"#), ("1.0", "1.0"), ("", ""),
            (#"\"\"\\\n"#, #"\"\"\\\n"#),
            ("é", "é"),
        ])
    func escapes(_ json: String, _ label: String) throws {
        let text = try text(#"{"version":"\#(json)","mode":"device"}"#)
        #expect(samples(text).contains(#"pushrouterd_build_info{version="\#(label)",mode="device"} 1"#[...]), "\(text)")
    }

    @Test("has the names and the labels of its samples in the list of the manual page")
    func manual() throws {
        let list = OpenMetrics.manualList.split(separator: "\n").filter { $0.hasPrefix(".It Cm ") }
        let samples = samples(try text(Self.status))
        for sample in samples {
            let name = sample.dropFirst("pushrouterd_".count).prefix { $0 != "{" && $0 != " " }
            let labels = sample.matches(of: /[{,](\w+)="/).map { String($0.output.1) }
            let more = labels.isEmpty ? "" : " Bro Cm \(labels.joined(separator: " , ")) Brc"
            #expect(list.contains(".It Cm \(name)\(more)"), "\(sample)")
        }
        #expect(Set(list).count == list.count && list.count > samples.count / 2)
        #expect(OpenMetrics.manualList.hasSuffix(".\n"), "each name has its meaning behind it")
    }

    @Test("has no age without unsent entries, and no phase without a forwarder")
    func nothing() throws {
        let status = #"{"custom_data":{"oldest_unsent_age_ms":null,"sending":null,"forwarder_connected":false}}"#
        let text = try text(status)
        #expect(
            samples(text) == [
                "pushrouterd_up 1", "pushrouterd_custom_data_oldest_unsent_seconds 0",
                "pushrouterd_forwarder_connected 0",
            ])
        #expect(samples(try self.text("{}")) == ["pushrouterd_up 1"])
        #expect(samples(OpenMetrics.textOfNoAnswer(as: .openMetrics)) == ["pushrouterd_up 0"])
    }
}
