import PushModel

extension ManPage {
    /// The members of `report --json`.
    static let reportMembers = [
        (name: "mode", meaning: "device, relay, or mixed if the rows are of both"),
        (name: "window", meaning: "since and until; null without the option"),
        (name: "deadline_ms", meaning: "the configured time of an invocation"),
        (
            name: "accepted, in_flight, requests",
            meaning: """
            invocations, those without an outcome yet, and requests, among them those that lead to no invocation, such as \
            sessions
            """
        ),
        (name: "outcomes", meaning: "how many invocations ended in each; all names are there"),
        (name: "due, missed, compliance", meaning: "compliance is from 0 to 1; null when nothing was due"),
        (name: "slo", meaning: "null without --fail-under; else objective_percent, and met, true or false"),
        (
            name: "limits",
            meaning: """
            a list of the platforms' own limits: id, limit_ms, applies_to (platform, callback, and where it is not any, transport and priority), counts_from \
            (invocation or acceptance), how many ended within and over it, source
            """
        ),
        (
            name: "by_handler, by_route, by_provider, by_platform, by_callback",
            meaning: """
            objects by name; the provider none is nobody's. Each has count, due, missed, handled, failed, and queue, exec and total \
            with p50_ms, p90_ms, p99_ms, p999_ms and max_ms, null when nothing was timed. A quantile may be up to \
            0.8 % above the exact one
            """
        ),
        (
            name: "by_priority, lowered_priority",
            meaning: """
            the same by the priority with which FCM delivered a message, high or normal, of those that tell it; and how \
            many were sent with high priority and delivered with normal
            """
        ),
        (
            name: "slowest",
            meaning: """
            the ten with the longest total of what was due or went to the tracker: seq, n, callback, provider, \
            handler, outcome, exec_ms, total_ms; and, if it waited in its lane, waited_for with seq, n and handler of \
            what it waited for, which is null for the tracker
            """
        ),
        (
            name: "observers",
            meaning: """
            the invocations of observing routes, which are in none of the members above but requests: accepted, in_flight, \
            outcomes, due, missed, compliance, and by_route
            """
        ),
        (
            name: "gaps",
            meaning: """
            what makes the figures less than the whole story: kind (out_of_sequence, in_flight, daemon_down, \
            daemon_crashed, mixed_modes), count, message
            """
        ),
    ]

    /// The columns of `report --format csv`, in their order.
    static let reportColumns = [
        (name: "seq, n", meaning: "the request, and the invocation in it"),
        (name: "outcome", meaning: "empty while it is in flight, as are times and completion"),
        (name: "callback, provider", meaning: "provider is empty for nobody known"),
        (name: "platform, app, device", meaning: "where the payload came"),
        (name: "id, message_id", meaning: "the producer's id of the request, and the payload's own"),
        (name: "route, handler", meaning: "empty where none was picked"),
        (name: "mode", meaning: "device or relay, as it was on acceptance"),
        (name: "accepted_at", meaning: "RFC 3339, UTC"),
        (name: "queue_ms, exec_ms, total_ms", meaning: "with up to three decimals"),
        (name: "deadline_ms", meaning: "the time that the invocation had"),
        (name: "started", meaning: "true if a program was started last that is not Idempotent="),
        (name: "completion_by, completion_result", meaning: "who completed the callback, and with what"),
        (name: "reason", meaning: "why, for people"),
        (name: "observer", meaning: "true for the copy of an observing route"),
        (name: "waited_for", meaning: "what it waited for in its lane, as seq.n; empty if it did not wait"),
        (name: "reason_code", meaning: "why, for programs: a word of a closed set"),
        (
            name: "transport",
            meaning: "what brought a delivery: \(Transport.allCases.map(\.rawValue).joined(separator: ", "))"
        ),
        (name: "original_priority, delivered_priority", meaning: "high or normal, of a message over FCM that tells it"),
    ]

    /// The fields of `status`, in their order.
    static let statusFields = [
        (name: "version, pid, mode", meaning: "of the daemon"),
        (name: "uptime_ms", meaning: "since it started"),
        (name: "state", meaning: "running or stopping"),
        (
            name: "configuration_problem",
            meaning: "why the last SIGHUP changed nothing; the configuration before it is in force"
        ),
        (name: "store_problem", meaning: "why nothing can be written, and so nothing is accepted, for now"),
        (name: "accepted_since_start", meaning: "requests"),
        (name: "last_seq", meaning: "the number of the last accepted request"),
        (name: "requests_in_flight", meaning: "requests of which an outcome is still to come"),
        (name: "bytes_in_flight", meaning: "their request lines; RequestsInFlightSizeMax="),
        (name: "payload_bytes_in_memory", meaning: "what of them is kept in memory for what waits; PayloadMemoryMax="),
        (name: "handlers_running", meaning: "invocations that hold one of the HandlersMax= places"),
        (name: "handler_processes", meaning: "their processes, and those that were killed and are not gone yet"),
        (name: "deliveries_tracked", meaning: "Braze's deliveries whose open would be recognized"),
        (name: "inject_connections, control_connections", meaning: "clients of each socket"),
        (name: "bytes_waiting_for_disk", meaning: "what is to be written to the log"),
        (name: "transactions", meaning: "commits to the log since the start"),
        (name: "longest_turn_us", meaning: "the longest that something may have waited for the daemon's loop"),
        (
            name: "turns.count, .p99_us, .longest_us",
            meaning: "turns of the loop, and what processor time 99 of 100 of them stay below, and the longest took"
        ),
        (name: "clients.input_bytes", meaning: "requests that have come and are not worked yet; InputSizeMax="),
        (name: "clients.output_bytes", meaning: "what clients are owed and have not read; OutputSizeMax="),
        (
            name: "clients.refused",
            meaning: """
            what clients did not get since the start, by reason: connections, peer_connections (too many), descriptors \
            (none left), invalid_request, overloaded, unavailable, slow_line (LineTimeout=), slow_reader (WriteTimeout=), \
            idle (IdleTimeout=)
            """
        ),
        (
            name: "store.ledger_problem",
            meaning: "why the ledger cannot be written for now; requests are accepted as long as the log has room"
        ),
        (name: "store.is_slow", meaning: "whether commits take longer than SlowCommit= just now"),
        (name: "store.slow_commits", meaning: "how many did since the start"),
        (name: "store.last_commit_us, .longest_commit_us", meaning: "how long commits to the log took"),
        (
            name: "store.log_used_bytes, .log_bytes, .log_limit_bytes",
            meaning: "what of the log the ledger may not have on disk yet, the log's files, and LogSizeMax="
        ),
        (
            name: "store.batches_behind, .bytes_behind, .behind_us",
            meaning: "what is acknowledged and not in the ledger yet, and how old the oldest of it is"
        ),
        (name: "store.ledger_bytes, .ledger_wal_bytes", meaning: "the ledger's file and its WAL"),
        (name: "store.id_filter_bytes", meaning: "what tells of most ids of producers that they are new"),
        (
            name: "custom_data.pending, .queued, .claimed, .unknown",
            meaning: """
            entries of custom data: stored until a session starts, to be sent, with the forwarder, and of unknown \
            outcome, which wait for "pushctl pending --retry" or --discard
            """
        ),
        (name: "custom_data.bytes", meaning: "names and values of these; MaxPendingSize= bounds them"),
        (
            name: "custom_data.rejected_since_start",
            meaning: "entries that broke a rule when they came; \"pushctl pending --rejected\" lists them"
        ),
        (name: "custom_data.oldest_unsent_age_ms", meaning: "of what is to be sent or being sent; null for none"),
        (
            name: "custom_data.sending",
            meaning: """
            as the forwarder last said, null before it ever did: phase (sending, waiting, or stopped, which needs a \
            person), reason, failures in a row, until when it waits, since when
            """
        ),
        (name: "custom_data.forwarder_connected", meaning: "whether pushrouter-forward is connected"),
    ]

    /// The members of `pending --json`.
    static let pendingMembers = [
        (
            name: "entries",
            meaning: """
            a list: number, seq (the request), kind, state, suite (with storage, the key within it, and braze_id if it has one; null for what is sent, and then to: external_id, \
            braze_id or alias), platform, app, device, external_id, name, data (properties or attributes), time, saved_at, \
            age_ms, settled_at, settled_by, reason
            """
        ),
        (
            name: "counts",
            meaning: """
            of all that was asked for, also above --limit: suite, state, entries, bytes, oldest_saved_at
            """
        ),
    ]

    /// What the list of exit statuses does not say.
    static let statusNotes = [
        """
        inject, open, act, dismiss, session, token, log and import end with 0 when every request was accepted as a whole, \
        and with 1 when one was refused, or custom data of it rejected. --wait alone changes nothing about that; with --fail \
        an outcome of an owner that is neither handled nor handed_to_tracker gives 1, too. verify \
        ends with 1 for a configuration that is missing or wrong, where explain and simulate end with 78; report then \
        goes by the defaults.
        """
    ]
}
