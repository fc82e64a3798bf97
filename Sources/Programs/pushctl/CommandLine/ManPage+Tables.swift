import PushModel
import PushReporting

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

    /// The fields of `status`, in their order; those without a meaning stand beside the one before them.
    static let statusFields = StatusField.all.reduce(into: [(name: String, meaning: String)]()) { rows, field in
        if field.meaning.isEmpty, !rows.isEmpty {
            rows[rows.count - 1].name += ", \(field.name)"
        } else {
            rows.append((field.name, field.meaning))
        }
    }

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
