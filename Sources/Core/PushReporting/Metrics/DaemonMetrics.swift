import PushModel

/// The metrics of the daemon that say what it is doing now, and where in its status they are.
enum DaemonMetrics {
    /// In the order in which they are written.
    static let all = [
        Metric("build_info", "The version of the daemon and its mode.") { status in
            guard let version = status["version"]?.string, let mode = status["mode"]?.string else { return [] }
            return [Sample("1", [("version", version), ("mode", mode)])]
        },
        Metric("start_time_seconds", "When the daemon started, in seconds since 1970.") {
            seconds($0["process"]?["started_at_ms"])
        },
        Metric("uptime_seconds", "Seconds since the daemon started.") { seconds($0["uptime_ms"]) },
        Metric("running", "1 while the daemon runs, 0 while it stops.") { status in
            guard let state = status["state"]?.string else { return [] }
            return [Sample(state == "running" ? "1" : "0")]
        },
        Metric("configuration_problem", "1 when the last reload failed.") { problem($0["configuration_problem"]) },
        Metric("store_problem", "1 while nothing can be written and no request is accepted.") {
            problem($0["store_problem"])
        },
        Metric("ledger_problem", "1 while the ledger cannot be written and the log fills.") {
            problem($0["store"]?["ledger_problem"])
        },
        Metric("requests_accepted", "Requests accepted since the start.", .counter) {
            number($0["accepted_since_start"])
        },
        Metric("last_request_number", "The number of the last accepted request.") { number($0["last_seq"]) },
        Metric("requests_in_flight", "Requests that still wait for an outcome.") {
            number($0["requests_in_flight"])
        },
        Metric("in_flight_bytes", "Bytes of the requests in flight.") { number($0["bytes_in_flight"]) },
        Metric("payload_memory_bytes", "Bytes of the requests in flight that are kept in memory.") {
            number($0["payload_bytes_in_memory"])
        },
        Metric("invocation_memory_bytes", "About what the requests in flight take in memory beside that.") {
            number($0["invocation_bytes_in_memory"])
        },
        Metric("handlers_running", "Invocations that count against HandlersMax=.") { number($0["handlers_running"]) },
        Metric("handler_processes", "Processes of handlers.") { number($0["handler_processes"]) },
        Metric("handler_running", "Callbacks that a handler runs.") { byHandler($0, "running") },
        Metric("handler_waiting", "Callbacks that wait for a handler.") { byHandler($0, "waiting") },
        Metric("handler_limit", "How many a handler may run at once (MaxConcurrent=).") { byHandler($0, "limit") },
        Metric("handler_queue_limit", "How many may wait for a handler (Queue=).") { byHandler($0, "queue_limit") },
        Metric("handler_refused", "Requests refused because the queue of a handler was full.", .counter) {
            byHandler($0, "refused")
        },
        Metric("handler_passed_over", "Callbacks that went past a handler with an open breaker.", .counter) {
            byHandler($0, "passed_over")
        },
        Metric("handler_breaker_open", "1 while a handler's breaker is open or probes it.") { status in
            status["handlers"]?.members.flatMap { name, handler -> [Sample] in
                guard let state = handler["breaker"]?.string else { return [] }
                return [Sample(state == "closed" ? "0" : "1", [("handler", name)])]
            } ?? []
        },
        Metric("deliveries_tracked", "Deliveries whose opens are still recognized.") {
            number($0["deliveries_tracked"])
        },
        Metric("connections", "Clients of each socket.") { status in
            ["inject", "control", "read"].flatMap { number(status["\($0)_connections"], [("socket", $0)]) }
        },
        Metric("input_bytes", "Bytes of requests that were received and not processed yet.") {
            number($0["clients"]?["input_bytes"])
        },
        Metric("output_bytes", "Bytes of replies that clients have not read yet.") {
            number($0["clients"]?["output_bytes"])
        },
        Metric("refused", "Connections and requests that were refused, by reason.", .counter) { status in
            status["clients"]?["refused"]?.members.flatMap { number($0.value, [("reason", $0.key)]) } ?? []
        },
        Metric("waiting_for_disk_bytes", "Bytes that wait to be written to the log.") {
            number($0["bytes_waiting_for_disk"])
        },
        Metric("log_commits", "Commits to the log since the start.", .counter) { number($0["transactions"]) },
        Metric("slow_commits", "Commits that took longer than SlowCommit=.", .counter) {
            number($0["store"]?["slow_commits"])
        },
        Metric("disk_slow", "1 while commits take longer than SlowCommit=.") { flag($0["store"]?["is_slow"]) },
        Metric("last_commit_seconds", "How long the last commit took.") {
            microseconds($0["store"]?["last_commit_us"])
        },
        Metric("longest_commit_seconds", "How long the longest commit since the start took.") {
            microseconds($0["store"]?["longest_commit_us"])
        },
        Metric("log_used_bytes", "Bytes of the log that the ledger may not have on disk yet.") {
            number($0["store"]?["log_used_bytes"])
        },
        Metric("log_bytes", "Bytes of the log's files.") { number($0["store"]?["log_bytes"]) },
        Metric("log_limit_bytes", "The largest size of the log's files (LogSizeMax=).") {
            number($0["store"]?["log_limit_bytes"])
        },
        Metric("ledger_behind_bytes", "Acknowledged bytes that are not in the ledger yet.") {
            number($0["store"]?["bytes_behind"])
        },
        Metric("ledger_behind_seconds", "The age of the oldest of them; 0 without any.") {
            microseconds($0["store"]?["behind_us"])
        },
        Metric("ledger_bytes", "Bytes of the ledger's file.") { number($0["store"]?["ledger_bytes"]) },
        Metric("ledger_used_bytes", "Bytes of the ledger's pages that have something.") {
            number($0["store"]?["ledger_used_bytes"])
        },
        Metric("ledger_limit_bytes", "MaxSize=; absent without it.") { number($0["store"]?["ledger_limit_bytes"]) },
        Metric("ledger_wal_bytes", "Bytes of the ledger's WAL.") { number($0["store"]?["ledger_wal_bytes"]) },
        Metric("id_filter_bytes", "Bytes of the filter that recognizes new ids without asking the ledger.") {
            number($0["store"]?["id_filter_bytes"])
        },
        Metric("longest_turn_seconds", "The longest turn of the loop in the last minute: so long may work have waited.")
        {
            microseconds($0["recent_turns"]?["longest_turn_us"])
        },
        Metric("turn_seconds", "Processor time of a turn of the loop in the last minute: that share takes no longer.") {
            microseconds($0["recent_turns"]?["p99_us"], [("share", "0.99")])
        },
        Metric("resident_memory_bytes", "Bytes of the daemon's memory that are in RAM.") {
            number($0["process"]?["resident_bytes"])
        },
        Metric("adopted_processes", "Processes that handlers left behind and that are not gone yet.") {
            number($0["process"]?["adopted_processes"])
        },
        Metric("journal_dropped", "Journal entries dropped because the journal did not take them.", .counter) {
            number($0["process"]?["journal_drops"])
        },
        Metric("custom_data_entries", "Unfinished entries of custom data, by state.") { status in
            ["pending", "queued", "claimed", "unknown"].flatMap {
                number(status["custom_data"]?[$0], [("state", $0)])
            }
        },
        Metric("custom_data_bytes", "Bytes of the names and values of these entries.") {
            number($0["custom_data"]?["bytes"])
        },
        Metric("custom_data_rejected", "Entries rejected on arrival since the start.", .counter) {
            number($0["custom_data"]?["rejected_since_start"])
        },
        Metric("custom_data_oldest_unsent_seconds", "The age of the oldest entry to be sent; 0 without any.") {
            guard let age = $0["custom_data"]?["oldest_unsent_age_ms"] else { return [] }
            return age.kind == .null ? [Sample("0")] : seconds(age)
        },
        Metric("forwarder_connected", "1 while a forwarder is connected.") {
            flag($0["custom_data"]?["forwarder_connected"])
        },
        Metric("sending_phase", "1 for the forwarder's phase: it sends, waits, or was stopped by a refusal.") {
            guard let phase = $0["custom_data"]?["sending"]?["phase"]?.string else { return [] }
            return SendingState.Phase.allCases.map {
                Sample($0.rawValue == phase ? "1" : "0", [("phase", $0.rawValue)])
            }
        },
        Metric("sending_failures", "Requests to the endpoint that failed in a row.") {
            number($0["custom_data"]?["sending"]?["failures"])
        },
    ]

    static func number(_ value: JSONNode?, _ labels: [(String, String)] = []) -> [MetricSample] {
        value?.int64.map { [Sample(String($0), labels)] } ?? []
    }

    private typealias Metric = MetricFamily
    private typealias Sample = MetricSample

    private static func byHandler(_ status: JSONNode, _ key: String) -> [Sample] {
        status["handlers"]?.members.flatMap { number($0.value[key], [("handler", $0.key)]) } ?? []
    }

    private static func seconds(_ milliseconds: JSONNode?) -> [Sample] {
        milliseconds?.int64.map { [Sample(decimal($0, scale: 3))] } ?? []
    }

    private static func microseconds(_ value: JSONNode?, _ labels: [(String, String)] = []) -> [Sample] {
        value?.int64.map { [Sample(decimal($0, scale: 6), labels)] } ?? []
    }

    private static func flag(_ value: JSONNode?) -> [Sample] { value?.bool.map { [Sample($0 ? "1" : "0")] } ?? [] }

    private static func problem(_ value: JSONNode?) -> [Sample] {
        value.map { [Sample($0.kind == .null ? "0" : "1")] } ?? []
    }
}
