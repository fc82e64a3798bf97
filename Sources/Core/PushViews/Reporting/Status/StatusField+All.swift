import PushModel

extension StatusField {
    private typealias Field = StatusField

    /// All fields in the order of the status. A field without a meaning shares that of the field before it.
    public static let all: [StatusField] = [
        Field("version", "The version of the daemon."),
        Field("pid", "The process id of the daemon."),
        Field("mode", "The mode of the daemon: device or relay."),
        Field("uptime_ms", .gauge, "The time since the daemon started.", metric: "uptime_seconds"),
        Field(
            "state", .gauge,
            """
            The state of the daemon: running, stopping, or following (another machine leads); as a metric 0 for \
            stopping.
            """,
            metric: "running", samples: { [MetricSample($0.text == "stopping" ? "0" : "1", $1)] }),
        Field(
            "configuration_problem", .gauge,
            "The error of the configuration that was read last; the last good configuration is in force."),
        Field("routes", "Routes of the configuration in force."),
        Field(
            "store_problem", .gauge, "The error that keeps the daemon from writing; it accepts no request meanwhile."),
        Field(
            "fleet.role", .gauge,
            """
            The role of a machine that shares a log: leader or follower. A follower has fleet, process, version, pid, \
            mode, uptime_ms and state alone. fleet is null on a single machine. As a metric 1 or 0.
            """, metric: "leads", samples: { [MetricSample($0.text == "leader" ? "1" : "0", $1)] }),
        Field("fleet.node", "The name of the machine (Node=)."),
        Field("fleet.leader", "The name of the leader; null while no machine leads."),
        Field("fleet.term", .gauge, "The term of the leader; each leader begins a higher one.", metric: "term"),
        Field("fleet.engine_answers", .gauge, "Whether the database answers this machine."),
        Field(
            "fleet.engine_answer_age_ms", .gauge, "The age of the database's last answer to this machine.",
            metric: "engine_answer_age_seconds"),
        Field(
            "fleet.engine_problem",
            """
            Why the database does not serve a follower, with the remedy; null while it does, and for the leader, whose \
            store_problem says it.
            """),
        Field(
            "fleet.unprotected_ms", .gauge,
            "The time since a standby of the database last had all batches of this machine; 0 while one has them.",
            metric: "unprotected_seconds"),
        Field(
            "fleet.batches_behind", .gauge,
            "Batches that the copy of a follower lacks, as of its last read; null for the leader.",
            metric: "copy_behind_batches"),
        Field(
            "fleet.behind_ms", .gauge,
            "The time since a follower's copy last had every batch of the log; null for the leader.",
            metric: "copy_behind_seconds"),
        Field(
            "gaps", .counter,
            "Gaps of the daemon since the start, by kind; pushctl report lists them with their times.", each: "kind"),
        Field("accepted_since_start", .counter, "Requests accepted since the start.", metric: "requests_accepted"),
        Field(
            "payload_warnings", .counter, "Pushes with a warning of explain since the start, by its rule.", each: "rule"
        ),
        Field(
            "payloads_examined", .counter, "Pushes that were looked at for warnings, 50 at once and 2 a second."),
        Field("last_seq", .gauge, "The number of the last accepted request.", metric: "last_request_number"),
        Field("requests_in_flight", .gauge, "Requests that still wait for an outcome."),
        Field(
            "bytes_in_flight", .gauge, "Bytes of the requests in flight; limited by RequestsInFlightSizeMax=.",
            metric: "in_flight_bytes"),
        Field(
            "payload_bytes_in_memory", .gauge,
            "The part of the bytes in flight that is in memory; limited by PayloadMemoryMax=.",
            metric: "payload_memory_bytes"),
        Field(
            "invocation_bytes_in_memory", .gauge,
            "Approximate memory of the requests in flight beside their payloads; limited by InvocationMemoryMax=.",
            metric: "invocation_memory_bytes"),
        Field(
            "handlers_running", .gauge,
            "Invocations that hold a place to run: of HandlersMax= and of ObserversMax= together."),
        Field("handler_processes", .gauge, "Processes of handlers, among them killed ones that have not ended yet."),
        Field(
            "containment",
            "The containment of a run's processes: cgroups, or process_groups (with the mark PUSH_RUN)."),
        Field("containment_reason", "The reason that runs have no cgroups."),
        Field(
            "sandbox.change_user",
            "Whether the service lets handlers run as another user (User=), as found at the start."),
        Field("sandbox.internet_sockets", "Whether the service lets handlers make sockets of the internet."),
        Field("sandbox.interfaces", "Whether the service lets handlers reach a network interface besides lo."),
        Field("sandbox.writable_code", "Whether the service lets handlers generate code at run time (node, java)."),
        Field("sandbox.private_tmp", "Whether /tmp is the service's own."),
        Field("sandbox.hidden_homes", "Whether home directories are hidden."),
        Field("sandbox.read_only_root", "Whether the file system is read-only."),
        Field("deliveries_tracked", .gauge, "Braze deliveries whose opens the tracker still recognizes."),
        Field(
            "device_problem", .gauge,
            "The devices with a token or topics that were forgotten for want of room, for an hour after the last of them."
        ),
        Field("devices.known", .gauge, "Devices that the daemon remembers.", metric: "devices"),
        Field(
            "devices.bytes", .gauge, "Approximate memory of these devices; limited by DeviceMemoryMax=.",
            metric: "device_memory_bytes"),
        Field(
            "devices.evicted", .counter,
            "Devices that were forgotten because DeviceMemoryMax= was reached, since the start.",
            metric: "devices_evicted"),
        Field(
            "devices.evicted_registered", .counter, "Those of them that had a token or topics.",
            metric: "registered_devices_evicted"),
        Field(
            "inject_connections", .gauge, "Clients of each socket.",
            metric: "connections", label: ("socket", "inject")),
        Field("control_connections", .gauge, "", metric: "connections", label: ("socket", "control")),
        Field("read_connections", .gauge, "", metric: "connections", label: ("socket", "read")),
        Field(
            "bytes_waiting_for_disk", .gauge, "Bytes that wait to be written to the log.",
            metric: "waiting_for_disk_bytes"),
        Field("transactions", .counter, "Commits to the log since the start.", metric: "log_commits"),
        Field("longest_turn_us", "The longest turn of the loop by the clock: work may have waited as long."),
        Field("turns.count", "The turns of the loop, and their processor time: 99 of 100 take less than p99_us."),
        Field("turns.p99_us", ""),
        Field("turns.longest_us", ""),
        Field("recent_turns.count", "The turns of the last minute."),
        Field(
            "recent_turns.p99_us", .gauge,
            "Processor time that this share of the turns of the loop in the last minute did not exceed.",
            metric: "turn_seconds", label: ("share", "0.99")),
        Field("recent_turns.longest_us", "The longest turn of the last minute by processor time."),
        Field(
            "recent_turns.longest_turn_us", .gauge,
            "The longest turn of the loop in the last minute: work may have waited as long.",
            metric: "longest_turn_seconds"),
        Field(
            "process.started_at_ms", .gauge, "The start time of the daemon, since 1970.", metric: "start_time_seconds"),
        Field(
            "process.resident_bytes", .gauge, "Bytes of the daemon's memory that are in RAM.",
            metric: "resident_memory_bytes"),
        Field(
            "process.adopted_processes", .gauge,
            "Orphaned processes of handlers that the daemon adopted and that still exist."),
        Field(
            "process.journal_drops", .counter, "Journal entries that the journal did not take since the start.",
            metric: "journal_dropped"),
        Field(
            "clients.input_bytes", .gauge,
            "Bytes of requests that were received and not processed yet; limited by InputSizeMax=."),
        Field(
            "clients.output_bytes", .gauge,
            "Bytes of replies that clients have not read yet; limited by OutputSizeMax=."),
        Field(
            "clients.refused", .counter,
            """
            Connections and requests refused since the start, by reason: connections, peer_connections (too many), \
            descriptors (none left), invalid_request, not_allowed and rate (a rule of producers.d), overloaded, unavailable, \
            slow_line (LineTimeout=), slow_reader (WriteTimeout=), idle (IdleTimeout=).
            """, each: "reason"),
        Field(
            "clients.refused_by_rule",
            """
            Requests that a rule of producers.d refused since the start: rule, uid (the first 16 of each rule, then \
            (other)), count, age_ms (the time since the last one).
            """),
        Field(
            "store.ledger_problem", .gauge,
            "The error that keeps the daemon from writing the ledger; it accepts requests while the log has room."),
        Field(
            "store.commit_problem", .gauge,
            """
            The commit that has taken longer than SlowCommit= so far, with the reason: no request is acknowledged until it \
            ends.
            """),
        Field("store.is_slow", .gauge, "Whether commits take longer than SlowCommit= now.", metric: "disk_slow"),
        Field("store.slow_commits", .counter, "Commits since the start that took longer than SlowCommit=."),
        Field(
            "store.last_commit_us", .gauge, "The time of the last commit to the log.", metric: "last_commit_seconds"),
        Field(
            "store.longest_commit_us", .gauge, "The time of the longest commit to the log since the start.",
            metric: "longest_commit_seconds"),
        Field("store.log_used_bytes", .gauge, "Bytes of the log that the ledger may not have on disk yet."),
        Field("store.log_bytes", .gauge, "Bytes of the log's files."),
        Field("store.log_limit_bytes", .gauge, "The largest size of the log's files (LogSizeMax=)."),
        Field("store.batches_behind", "Acknowledged batches that are not in the ledger yet."),
        Field(
            "store.bytes_behind", .gauge, "Acknowledged bytes that are not in the ledger yet.",
            metric: "ledger_behind_bytes"),
        Field(
            "store.behind_us", .gauge,
            "The age of the oldest acknowledged data that is not in the ledger yet; 0 without any.",
            metric: "ledger_behind_seconds"),
        Field("store.ledger_bytes", .gauge, "Bytes of the ledger's file."),
        Field("store.ledger_wal_bytes", .gauge, "Bytes of the ledger's WAL."),
        Field("store.ledger_used_bytes", .gauge, "Bytes of the ledger's pages that are in use."),
        Field(
            "store.ledger_limit_bytes", .gauge,
            "The largest size of the ledger (MaxSize=); null, and no metric, without MaxSize=."),
        Field(
            "store.pruned_by_retention",
            "Requests deleted since the start because of Retention=, and because of MaxSize=."),
        Field("store.pruned_by_size", ""),
        Field(
            "store.pruning_waits",
            "The reason that the daemon deletes and forgets nothing by age: it does not trust the clock; else null."),
        Field(
            "store.id_filter_bytes", .gauge, "Bytes of the filter that recognizes new ids without asking the ledger."),
        Field(
            "store.set_aside",
            """
            Directories in the state directory to which a start or a restore moved files: a damaged log, a ledger of \
            another format, the files that a backup replaced; the daemon neither reads nor removes them.
            """),
        Field(
            "dead_letters.count", .gauge,
            """
            Dead letters of relay mode; dead_letters is null until they are counted after a start, which takes a moment.
            """, metric: "dead_letters"),
        Field(
            "dead_letters.bytes", .gauge, "Bytes of the dead letters; limited by DeadLetterSizeMax=.",
            metric: "dead_letter_bytes"),
        Field(
            "dead_letters.oldest_age_ms", .gauge,
            "The age of the oldest dead letter; null, as a metric 0, without any.",
            metric: "dead_letters_oldest_seconds", samples: ageOrZero),
        Field(
            "dead_letters.dropped_by_age", .counter,
            "Dead letters that were dropped since the start: by DeadLetterRetention=, and by DeadLetterSizeMax=.",
            metric: "dead_letters_dropped", label: ("by", "age")),
        Field("dead_letters.dropped_by_size", .counter, "", metric: "dead_letters_dropped", label: ("by", "size")),
        Field(
            "dead_letters.handlers.NAME.count", .gauge,
            "Dead letters by their last handler; (none): no route matched.", metric: "handler_dead_letters"),
        Field(
            "dead_letters.handlers.NAME.bytes", .gauge, "Bytes of the dead letters by their last handler.",
            metric: "handler_dead_letter_bytes"),
        Field("publishes_open", .gauge, "Publishes that have deliveries left to make."),
        Field("publish_deliveries_left", .gauge, "The deliveries that these publishes have left to make."),
        Field(
            "erasures_waiting", .gauge,
            "1 while an ordered erasure of a person is not complete: it waits, or is being carried out."),
        Field(
            "custom_data.pending", .gauge,
            """
            Entries of custom data: stored until a session starts, to be sent, being sent, and unknown; an unknown \
            entry waits for "pushctl pending --retry" or --discard.
            """, metric: "custom_data_entries", label: ("state", "pending")),
        Field("custom_data.queued", .gauge, "", metric: "custom_data_entries", label: ("state", "queued")),
        Field("custom_data.claimed", .gauge, "", metric: "custom_data_entries", label: ("state", "claimed")),
        Field("custom_data.unknown", .gauge, "", metric: "custom_data_entries", label: ("state", "unknown")),
        Field(
            "custom_data.bytes", .gauge, "Bytes of the names and values of these entries; limited by MaxPendingSize=.",
            metric: "custom_data_bytes"),
        Field(
            "custom_data.rejected_since_start", .counter,
            "Entries that were rejected on arrival; \"pushctl pending --rejected\" lists them.",
            metric: "custom_data_rejected"),
        Field(
            "custom_data.oldest_unsent_age_ms", .gauge,
            "The age of the oldest entry to be sent or being sent; null, as a metric 0, without any.",
            metric: "custom_data_oldest_unsent_seconds", samples: ageOrZero),
        Field(
            "custom_data.sending_problem", .gauge,
            """
            Why entries that wait are not sent, or why the forwarder refused a reload, with the remedy: it is not \
            connected, or it has stopped.
            """),
        Field(
            "custom_data.sending.phase", .gauge,
            """
            The last phase that the forwarder reported (null before): sending, waiting, or stopped until a person \
            acts; not_connected in place of sending while it is not connected.
            """,
            metric: "sending_phase", labels: ["phase"], samples: phases),
        Field("custom_data.sending.reason", "The reason that the forwarder waits or stopped."),
        Field(
            "custom_data.sending.failures", .gauge, "Requests to the endpoint that failed in a row.",
            metric: "sending_failures"),
        Field("custom_data.sending.until", "The end of the forwarder's wait, and the start of its phase."),
        Field("custom_data.sending.since", ""),
        Field("custom_data.forwarder_connected", .gauge, "Whether pushrouter-forward is connected."),
        Field(
            "custom_data.requests_sent", .counter, "Requests that left for the endpoint since the start.",
            metric: "custom_data_requests"),
        Field(
            "custom_data.settled", .counter,
            "Entries since the start by the state in which sending ended; queued: they are sent again.",
            metric: "custom_data_settled", each: "state"),
        Field(
            "custom_data.pauses", .counter,
            """
            Pauses of sending since the start: failed (no answer, or a failure of the endpoint), slow_down (the endpoint \
            asked for it), refused (a person must act).
            """, metric: "custom_data_pauses", each: "reason"),
        Field(
            "handlers.NAME.running", .gauge,
            "Callbacks that a handler runs: each handler that is not built in, even after its file was removed.",
            metric: "handler_running"),
        Field("handlers.NAME.waiting", .gauge, "Callbacks that wait for a handler.", metric: "handler_waiting"),
        Field(
            "handlers.NAME.observers_running",
            "Running callbacks, and waiting callbacks, that are copies for observing routes."),
        Field("handlers.NAME.observers_waiting", ""),
        Field(
            "handlers.NAME.limit", .gauge,
            "The number of callbacks that a handler may run at once (MaxConcurrent=); null without a limit of its own.",
            metric: "handler_limit"),
        Field(
            "handlers.NAME.queue_limit", .gauge, "The number of callbacks that may wait for a handler (Queue=).",
            metric: "handler_queue_limit"),
        Field(
            "handlers.NAME.refused", .counter, "Requests that were refused because the handler's queue was full.",
            metric: "handler_refused"),
        Field(
            "handlers.NAME.breaker", .gauge,
            """
            A handler's breaker (Breaker=): closed, open or probing with one callback, as a metric 0 or 1; null \
            without one, and in device mode.
            """, metric: "handler_breaker_open", samples: breaker),
        Field("handlers.NAME.breaker_pause_ms", "The remaining pause of the handler's breaker."),
        Field(
            "handlers.NAME.passed_over", .counter, "Callbacks that went past a handler with an open breaker.",
            metric: "handler_passed_over"),
        Field("handlers.NAME.draining", "Whether the handler's file was removed."),
        Field(
            "lanes.crowded",
            "The number of lanes in which deliveries wait, and the number of deliveries that wait in all lanes."),
        Field("lanes.waiting", ""),
        Field(
            "lanes.longest",
            """
            The ten lanes with the most waiting deliveries: app, device, waiting; and of the request that has the turn \
            seq, n, handler (null for the tracker), turn_ms (the time since its turn began) and age_ms (the time since \
            its acceptance: no request in the lane is older).
            """),
    ]

    /// The version and the mode as labels: metrics have no text values.
    static let buildInfo = MetricFamily(
        "build_info", "The version of the daemon and its mode.", labels: ["version", "mode"]
    ) { status in
        guard let version = status["version"]?.text, let mode = status["mode"]?.text else { return [] }
        return [MetricSample("1", [("version", version), ("mode", mode)])]
    }

    private static let ageOrZero: Samples = { [MetricSample(decimal($0.integer ?? 0, scale: 3), $1)] }

    private static let breaker: Samples = { breaker, labels in
        breaker.text.map { [MetricSample($0 == "closed" ? "0" : "1", labels)] } ?? []
    }

    /// Samples of 1 for the current phase and 0 for the others.
    private static let phases: Samples = { phase, labels in
        (SendingState.Phase.allCases.map(\.rawValue) + ["not_connected"]).map {
            MetricSample($0 == phase.text ? "1" : "0", labels + [("phase", $0)])
        }
    }
}
