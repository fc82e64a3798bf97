import PushModel

extension ManPage {
    /// The members of `report --json`.
    static let reportMembers = [
        (name: "mode", meaning: "device, relay, or mixed if the rows are of both"),
        (
            name: "window",
            meaning: """
            since and until, null without the option; first_at and last_at, when the first and the last request in it were \
            accepted, null when there was none
            """
        ),
        (
            name: "source",
            meaning: """
            kind, ledger or journal. Of the journal also unit; directory, null for this machine's; begin, the time of its \
            oldest entry; entries, the outcomes that are counted, observers' among them; first and last, the times of the \
            entries that were read; away_ms, the time between runs of the daemon; complete, false if outcomes are known \
            to be missing; unknown, the names of the members that it does not know
            """
        ),
        (name: "deadline_ms", meaning: "the configured time of an invocation"),
        (
            name: "accepted, decided, in_flight, requests",
            meaning: """
            invocations, those with and those without an outcome, and requests, among them those that lead to no \
            invocation, such as sessions. Of the journal all but decided are null
            """
        ),
        (name: "outcomes", meaning: "the number of invocations for each outcome, all outcomes included"),
        (name: "due, missed, compliance", meaning: "compliance is from 0 to 1; null when nothing was due"),
        (name: "slo", meaning: "null without an objective; else objective_percent, and met, true or false"),
        (
            name: "limits",
            meaning: """
            a list of the platforms' own limits: id, limit_ms, applies_to (platform, callback, and transport and priority \
            where they matter), counts_from (invocation or acceptance), within and over (numbers of invocations), source, and consequence:
            what happens past it
            """
        ),
        (
            name: "by_handler, by_route, by_provider, by_platform, by_callback",
            meaning: """
            objects by name; the provider none stands for payloads of no known provider. Each has count, due, missed, handled, failed, and queue, exec and total \
            with p50_ms, p90_ms, p99_ms, p999_ms and max_ms, null when nothing was timed. A quantile may be up to \
            0.8 % above the exact one
            """
        ),
        (
            name: "by_priority, lowered_priority",
            meaning: """
            the same figures by the priority with which FCM delivered a message, high or normal, where the payload has it; and \
            the number of messages that were sent with high priority and delivered with normal
            """
        ),
        (
            name: "slowest",
            meaning: """
            the ten longest invocations among those that were due or went to the tracker: seq, n, callback, provider, \
            handler, outcome, exec_ms, total_ms; and, if it waited in its lane, ahead, how many were ahead of it, and \
            waited_for with seq, n, handler and took_ms of the longest of them; handler is null for the tracker, ahead \
            and took_ms where they are not known
            """
        ),
        (
            name: "observers",
            meaning: """
            the invocations of observing routes, which the other members do not count, except requests: accepted, in_flight, \
            outcomes, due, missed, compliance, and by_route
            """
        ),
        (
            name: "gaps",
            meaning: """
            reasons why the figures are incomplete: kind (out_of_sequence, in_flight, daemon_down, \
            daemon_crashed, mixed_modes; of the journal also no_entry, summed_outcomes, dropped_entries, \
            suppressed_entries, foreign_entries, unreadable_entries, unended_runs, absences, clock_steps, store_stalls, \
            suspensions), count, message
            """
        ),
    ]

    /// The members of `report --json` behind those.
    static let reportDetailMembers = [
        (
            name: "from_acceptance, from_invocation",
            meaning: """
            due, missed and compliance against each invocation's deadline if it counted from acceptance, and if it \
            counted from the call of the callback
            """
        ),
        (name: "all", meaning: "the figures of all invocations but observers', in the form of by_handler"),
        (
            name: "by_app, by_outcome, by_transport",
            meaning: "as by_handler; none stands for a missing fact, in_flight for a missing outcome"
        ),
        (
            name: "crossed",
            meaning: """
            a list with one object for each --by: dimensions, groups (names, figures) and rest, the number of \
            invocations in further groups than the first 1,000
            """
        ),
        (
            name: "timeline",
            meaning: """
            width_s, the length of a span; bounds_ms, the exclusive upper bounds of the latency bands; spans, those \
            with invocations: begin, accepted, due, missed, compliance, bands (a count for each band, the last one \
            without a bound)
            """
        ),
        (
            name: "misses",
            meaning: """
            what missed its deadline, the 200 slowest: seq, n, accepted_at, callback, provider, route, handler, app, \
            outcome, reason_code, queue_ms, exec_ms, total_ms, budget_ms; and, if it waited in its lane, ahead and \
            waited_for as in slowest
            """
        ),
        (name: "waits", meaning: "the ten longest waits in a lane, in the form of slowest"),
        (
            name: "histograms",
            meaning: """
            all, by_handler, by_route and by_provider, each with queue, exec and total: pairs of the shortest time of \
            a bucket in microseconds, and a count. --baseline reads them
            """
        ),
        (
            name: "error_budget",
            meaning: """
            empty without an objective; else left (1 is all of it, below 0 it is overdrawn), until, burn_rates (5m, \
            30m, 1h, 6h, 3d; null when nothing was due) and alerts (severity, long, short, threshold)
            """
        ),
        (
            name: "rows_begin",
            meaning: """
            rows of the window before this were deleted by Retention= or MaxSize=: figures alone count there, of whole \
            minutes, and lists of single invocations lack it; null when the window has all of its rows, and of the journal
            """
        ),
        (
            name: "clock_set_back",
            meaning: "requests with an earlier time than the request before them; null of the journal"
        ),
        (
            name: "daemon_gaps",
            meaning: """
            times that touch the window: kind (down, clock_stepped, suspended, disk_stalled), begin, end, length_ms. Where \
            the clock was set, begin and end are what it showed before and after
            """
        ),
        (
            name: "comparison",
            meaning: """
            empty without --baseline; else file (the earlier report) with its since, until, first_at and last_at; \
            tests (how many figures were compared), significance and worse: part (all, handler, route, provider), name, \
            figure (missed, failed, queue_p50, queue_p90, queue_p99, exec_p50, exec_p90, exec_p99), before and after \
            (shares, or milliseconds), p_value
            """
        ),
        (name: "warnings", meaning: "sentences: handlers that handled nothing, alerts, what got worse"),
    ]

    /// The columns of `report --format csv`, in their order.
    static let reportColumns = [
        (name: "seq, n", meaning: "the request, and the invocation in it"),
        (name: "outcome", meaning: "empty while it is in flight, as are times and completion"),
        (name: "callback, provider", meaning: "provider is empty for a payload of no known provider"),
        (name: "platform, app, device", meaning: "where the payload arrived"),
        (name: "id, message_id", meaning: "the producer's id of the request, and the payload's own"),
        (name: "route, handler", meaning: "empty where no route matched"),
        (name: "mode", meaning: "device or relay: the mode when the request was accepted"),
        (name: "accepted_at", meaning: "RFC 3339, UTC"),
        (name: "queue_ms, exec_ms, total_ms", meaning: "milliseconds with up to three decimals"),
        (name: "deadline_ms", meaning: "the time that the invocation had"),
        (name: "started", meaning: "true if a program that is not Idempotent= was started"),
        (name: "completion_by, completion_result", meaning: "the part that completed the callback, and its result"),
        (name: "reason", meaning: "the reason in words, for people"),
        (name: "observer", meaning: "true for the copy of an observing route"),
        (
            name: "waited_for",
            meaning: "the longest invocation ahead of it in its lane, as seq.n; empty if it did not wait"
        ),
        (name: "reason_code", meaning: "the reason for programs: a word of those in pushrouterd(8)"),
        (
            name: "transport",
            meaning: "how a delivery was carried: \(Transport.allCases.map(\.rawValue).joined(separator: ", "))"
        ),
        (
            name: "original_priority, delivered_priority",
            meaning: "high or normal; empty if the payload does not have it"
        ),
        (name: "ahead", meaning: "how many were ahead of it in its lane when it came; empty if none was"),
        (name: "waited_for_ms", meaning: "how long the one in waited_for had its turn"),
        (name: "replay_of", meaning: "the request of which this one is a replay"),
        (name: "source", meaning: "ledger or journal"),
    ]

    /// The fields of `status`, in their order.
    static let statusFields = [
        (name: "version, pid, mode", meaning: "version, process id and mode of the daemon"),
        (name: "uptime_ms", meaning: "the time since the daemon started"),
        (name: "state", meaning: "running or stopping"),
        (
            name: "configuration_problem",
            meaning: "why the last reload failed; the previous configuration stays in force"
        ),
        (name: "store_problem", meaning: "why nothing can be written; no request is accepted until it ends"),
        (name: "accepted_since_start", meaning: "requests accepted since the start"),
        (name: "last_seq", meaning: "the number of the last accepted request"),
        (name: "requests_in_flight", meaning: "requests that still wait for an outcome"),
        (name: "bytes_in_flight", meaning: "the bytes of these requests; limited by RequestsInFlightSizeMax="),
        (
            name: "payload_bytes_in_memory",
            meaning: "the part of these bytes that is in memory; limited by PayloadMemoryMax="
        ),
        (
            name: "invocation_bytes_in_memory",
            meaning: "about what these requests take in memory beside that; limited by InvocationMemoryMax="
        ),
        (
            name: "handlers_running",
            meaning: "invocations that hold a place to run: those of HandlersMax= and those of ObserversMax= together"
        ),
        (name: "handler_processes", meaning: "processes of handlers, among them killed ones that have not ended yet"),
        (
            name: "containment",
            meaning: "how the processes of a run are kept together: cgroups, or process_groups (with the mark PUSH_RUN)"
        ),
        (name: "containment_reason", meaning: "why runs have no cgroups"),
        (
            name: "sandbox.change_user, .internet_sockets, .interfaces, .writable_code, .private_tmp, .hidden_homes, "
                + ".read_only_root",
            meaning: """
            what the service lets handlers do, as the daemon found it at its start: run as another user (User=), make sockets of \
            the internet, reach a network interface besides lo, make code while they run (node, java); and whether /tmp is its \
            own, home directories are hidden, and the file system is read-only
            """
        ),
        (name: "deliveries_tracked", meaning: "Braze's deliveries whose opens are still recognized"),
        (name: "inject_connections, control_connections, read_connections", meaning: "clients of each socket"),
        (name: "bytes_waiting_for_disk", meaning: "bytes that wait to be written to the log"),
        (name: "transactions", meaning: "commits to the log since the start"),
        (name: "longest_turn_us", meaning: "the longest turn of the loop by the clock: work may have waited so long"),
        (
            name: "turns.count, .p99_us, .longest_us",
            meaning: "the turns of the loop, and their processor time: 99 of 100 take less than p99_us"
        ),
        (
            name: "recent_turns.count, .p99_us, .longest_us, .longest_turn_us",
            meaning: "the same of the last minute, longest_turn_us too"
        ),
        (name: "process.started_at_ms", meaning: "when the daemon started, in milliseconds since 1970"),
        (name: "process.resident_bytes", meaning: "bytes of the daemon's memory that are in RAM"),
        (
            name: "process.adopted_processes",
            meaning: "processes that handlers left behind, which the daemon has adopted and which are not gone yet"
        ),
        (name: "process.journal_drops", meaning: "journal entries that the journal did not take since the start"),
        (
            name: "clients.input_bytes",
            meaning: "bytes of requests that were received and not processed yet; limited by InputSizeMax="
        ),
        (
            name: "clients.output_bytes",
            meaning: "bytes of replies that clients have not read yet; limited by OutputSizeMax="
        ),
        (
            name: "clients.refused",
            meaning: """
            connections and requests refused since the start, by reason: connections, peer_connections (too many), descriptors \
            (none left), invalid_request, overloaded, unavailable, slow_line (LineTimeout=), slow_reader (WriteTimeout=), \
            idle (IdleTimeout=)
            """
        ),
        (
            name: "store.ledger_problem",
            meaning: "why the ledger cannot be written for now; requests are accepted as long as the log has room"
        ),
        (name: "store.is_slow", meaning: "whether commits take longer than SlowCommit= now"),
        (name: "store.slow_commits", meaning: "the number of commits since the start that took longer"),
        (
            name: "store.last_commit_us, .longest_commit_us",
            meaning: "the times of the last and the longest commit to the log"
        ),
        (
            name: "store.log_used_bytes, .log_bytes, .log_limit_bytes",
            meaning:
                "bytes of the log that the ledger may not have on disk yet, bytes of the log's files, and LogSizeMax="
        ),
        (
            name: "store.batches_behind, .bytes_behind, .behind_us",
            meaning: "acknowledged batches and bytes that are not in the ledger yet, and the age of the oldest"
        ),
        (name: "store.ledger_bytes, .ledger_wal_bytes", meaning: "bytes of the ledger's file and of its WAL"),
        (
            name: "store.ledger_used_bytes, .ledger_limit_bytes",
            meaning: "bytes of the ledger's pages that have something, and MaxSize=; null without it"
        ),
        (
            name: "store.pruned_by_retention, .pruned_by_size",
            meaning: "requests that were deleted since the start because of Retention=, and because of MaxSize="
        ),
        (
            name: "store.pruning_waits",
            meaning: """
            why nothing is deleted or forgotten by its age: the clock is not believed; null where what is too old goes
            """
        ),
        (
            name: "store.id_filter_bytes",
            meaning: "bytes of the filter that recognizes new ids without asking the ledger"
        ),
        (
            name: "store.set_aside",
            meaning: """
            directories in the state directory to which a start or a restore moved what it did not go on with: a \
            damaged log, a ledger of another format, what a backup replaced; the daemon reads none of it and \
            removes none of it
            """
        ),
        (
            name: "custom_data.pending, .queued, .claimed, .unknown",
            meaning: """
            entries of custom data: stored until a session starts, to be sent, being sent, and unknown: \
            these wait for "pushctl pending --retry" or --discard
            """
        ),
        (name: "custom_data.bytes", meaning: "bytes of their names and values; limited by MaxPendingSize="),
        (
            name: "custom_data.rejected_since_start",
            meaning: "entries that were rejected on arrival; \"pushctl pending --rejected\" lists them"
        ),
        (
            name: "custom_data.oldest_unsent_age_ms",
            meaning: "the age of the oldest entry to be sent or being sent; null if there is none"
        ),
        (
            name: "custom_data.sending",
            meaning: """
            the forwarder's last report, null before the first: phase (sending, waiting, or stopped until a person \
            acts), reason, failures in a row, until when it waits, since when
            """
        ),
        (name: "custom_data.forwarder_connected", meaning: "whether pushrouter-forward is connected"),
        (
            name: "handlers",
            meaning: "an object for each handler that is not built in, also for one whose file is gone while it runs:"
        ),
        (
            name: "handlers.NAME.running, .waiting, .limit, .queue_limit",
            meaning: """
            callbacks that it runs and that wait for it; how many may run (MaxConcurrent=; null: it has no limit \
            of its own) and wait (Queue=)
            """
        ),
        (
            name: "handlers.NAME.observers_running, .observers_waiting",
            meaning: "how many of those that run and wait are copies for observing routes"
        ),
        (name: "handlers.NAME.refused", meaning: "requests that were refused because as many waited as may"),
        (
            name: "handlers.NAME.breaker, .breaker_pause_ms, .passed_over",
            meaning: """
            closed, open, or probing with one callback (Breaker=; null without one, and in device mode), how long it \
            still gets nothing, and how many callbacks went past it
            """
        ),
        (name: "handlers.NAME.draining", meaning: "whether its file is gone"),
        (
            name: "lanes.crowded, .waiting",
            meaning: "in how many lanes of devices deliveries wait for another, and how many do in all of them"
        ),
        (
            name: "lanes.longest",
            meaning: """
            the ten lanes in which most wait: app, device, waiting; of the request that has the turn seq, n, handler \
            (null for the tracker), turn_ms (how long it has had it) and age_ms (how long ago it was accepted: nothing \
            in the lane is older)
            """
        ),
    ]

    /// The members of `pending --json`.
    static let pendingMembers = [
        (
            name: "entries",
            meaning: """
            a list: number, seq (the request), kind, state, suite (with storage, the key within it, and braze_id if it has one; null for entries that are sent, and then to: external_id, \
            braze_id or alias), platform, app, device, external_id, name, data (properties or attributes), time, saved_at, \
            age_ms, settled_at, settled_by, reason
            """
        ),
        (
            name: "counts",
            meaning: """
            the figures of all selected entries, also above --limit: suite, state, entries, bytes, oldest_saved_at
            """
        ),
    ]

    /// What the list of exit statuses does not say.
    static let statusNotes = [
        """
        inject, open, act, dismiss, session, token, log and import end with 0 when every request was accepted as a whole, \
        and with 1 when one was refused, or custom data of it rejected. --wait does not change that; with --fail \
        they also end with 1 when an owner's outcome is neither handled nor handed_to_tracker. verify \
        ends with 1 for a configuration that is missing or wrong, where explain and simulate end with 78; report then \
        uses the defaults. doctor ends with 1 for an error, not for a warning. erase and pending --clear end with 1 when their question is not \
        answered with the number.
        """
    ]
}
