import PushModel
import PushViews

extension ManPage {
    /// The columns of `report --format csv`, in their order.
    static let reportColumns = [
        (name: "seq, n", meaning: "the request, and the invocation in it"),
        (name: "outcome", meaning: "empty while the invocation is in flight, as are times and completion"),
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
        (name: "ahead", meaning: "the number of invocations ahead of it in its lane when it came; empty if none was"),
        (name: "waited_for_ms", meaning: "the time for which the invocation in waited_for had its turn"),
        (name: "replay_of", meaning: "the request of which this one is a replay"),
        (name: "source", meaning: "ledger or journal"),
    ]

    /// The fields of `status`, in their order; a field without a meaning is listed with the one before it.
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

    /// The data that a command reads on a machine that follows another one.
    static let copyNotes = [
        """
        On a machine of a pair that follows, a command that reads the ledger reads the copy of that machine. Standard \
        error names the machine of the copy and its lag. Each JSON document that is an object says the same in a \
        member of its own; a document of the machine that leads, or of a single machine, does not have that member.
        """
    ]

    /// Facts that the list of exit statuses lacks.
    static let statusNotes = [
        """
        inject, open, act, dismiss, session, token, log and import end with 0 when every request was accepted as a \
        whole, and with 1 when a request was refused, or custom data of a request was rejected. --wait does not change \
        that; with --fail they also end with 1 when an owner's outcome is neither handled nor handed_to_tracker. \
        verify ends with 1 for a configuration that is missing or wrong, where explain and test --trace end with 78; \
        report then uses the defaults. doctor ends with 1 for an error, not for a warning. erase and pending --clear \
        end with 1 when the answer to their question is not the number.
        """
    ]
}

extension ManPage {
    /// The meanings of the figures of "campaigns", under their names in JSON.
    static let campaignFigures = [
        (
            name: "received",
            meaning: "deliveries with a campaign that reached a device; a repeated message does not count"
        ),
        (
            name: "direct_opens",
            meaning: "deliveries opened by a tap on the body, or on a button that opens the app or a link; each once"
        ),
        (
            name: "influenced_opens",
            meaning: """
            deliveries that a session of that user on that device followed within the window, displayed and not opened \
            until then; each once
            """
        ),
        (
            name: "influenced_and_direct",
            meaning: """
            influenced opens whose notification was tapped later: both events exist, and the total counts them as direct
            """
        ),
        (name: "total_opens", meaning: "direct_opens + influenced_opens - influenced_and_direct"),
        (name: "body_clicks", meaning: "opens by a tap on the body"),
        (
            name: "button_clicks",
            meaning: """
            a list of button_string (the button's id), button_action_type (uri, deep_link, none, close) and clicks. A \
            button that closes is not an open, and counts once for a delivery
            """
        ),
        (name: "unique_recipients", meaning: "users who received a push; without a user the device counts"),
        (
            name: "rates",
            meaning: """
            direct_opens, influenced_opens and total_opens divided by base; "of" names the base (received). They are null when \
            base is 0, and above 1 when opens belong to pushes received before --since
            """
        ),
    ]

    /// The members of `campaigns --json` around the figures.
    static let campaignMembers = [
        (name: "window, time_zone", meaning: "since and until in UTC; the zone in which days begin"),
        (
            name: "rows_begin",
            meaning: """
            Retention= or MaxSize= deleted the requests of the window before this time, with their opens, clicks and \
            interactions; receipts stay while the tracker knows the push; null when the window has all requests
            """
        ),
        (
            name: "in_all, campaigns, by_day",
            meaning: """
            the figures in all, by campaign_id (with opens_lost and by_day for each, and its name in --names), and by day. Days have \
            opens_lost, too, and days of all campaigns have unattributed, also without any other count
            """
        ),
        (name: "by", meaning: "null without --by; else field, and groups with their value, which may be null"),
        (
            name: "campaigns_decoded",
            meaning: "with CampaignIdRule=decode: by campaign_part, of ids that are the base64 of campaign_$_..."
        ),
        (name: "unattributed", meaning: "taps on deliveries without a campaign id"),
        (
            name: "interactions",
            meaning: """
            the number of interactions by verdict: opened, closed, duplicate, unattributed, dismissed, unknown_action \
            (the delivery has no such button), elsewhere (it went to another device or app), unmatched (no such push \
            came within Grace=). Only opened and closed change the figures of campaigns. The time of the clock \
            replaces a later time; an earlier time is kept
            """
        ),
        (
            name: "opens_lost",
            meaning: """
            shown_by_system: Braze pushes with a notification block, which Android shows in the background by \
            itself; unmatched: taps on pushes that the tracker does not know, such as these
            """
        ),
        (
            name: "opens_lost_without_campaign",
            meaning: "the lost opens without a campaign: of pushes without a campaign, and of unknown pushes"
        ),
    ]
}

extension ManPage {
    /// The notes that apply to all expectations.
    static let expectationNotes = [
        """
        INVOCATION stands for an object with any of the members \
        that "test --trace" prints for an invocation: seq, n, id, at, callback, provider, route, handler, observer, \
        outcome, reason, reason_code, queue_ms, exec_ms, total_ms, waited_for with seq, n, handler, and completion \
        with by, times, result, options. EVENT is an object with the members of an analytics event, whose time is in \
        seconds, and at. ENTRY is an object with the members of an entry of custom data: entry, seq, at, state, kind, \
        suite, braze_id, external_id, alias, name, properties, attributes, reason; state is \
        \(EntryState.allCases.map(\.rawValue).joined(separator: ", ")). INTERACTION is an object with seq, \
        id, at, verdict, delivery, reason: an interaction found the push that it waited for, or stopped waiting; \
        verdict is \(Interaction.Verdict.allCases.map(\.rawValue).joined(separator: ", ")). BREAKER is an object with at, handler, and state (open or closed): the breaker of a \
        handler changed; in properties and attributes only the named members are compared. A member that is not named \
        may have any value; null means that it is missing. A reason or an error's message need only contain the \
        expected text. An event_type may be the last part of its name, such as Open. Times are Unix milliseconds or \
        RFC 3339, except the member time.
        """,
        """
        INVOCATION means an owner's invocation. An observer's copy matches only with "observer":true, but it \
        counts for {"none":INVOCATION}, too.
        """,
        """
        The scenario is unreadable if an expectation has an unknown member or word, the name of a handler, route or provider \
        that does not exist, or an id or number that no request has; and if none, or count with 0, names a campaign, suite \
        or name of custom data that neither a request nor a track has: a misspelled expectation never holds.
        """,
    ]

    /// The forms of an element of `expect`.
    static let expectations = [
        (name: "INVOCATION", meaning: #"at least one matches: {"id":"a1","outcome":"handled","handler":"crm"}"#),
        (
            name: #"{"event":EVENT}"#,
            meaning: #"at least one matches: {"event":{"event_type":"Open","campaign_id":"summer"}}"#
        ),
        (
            name: #"{"entry":ENTRY}"#,
            meaning: #"at least one matches: {"entry":{"state":"queued","name":"push_opened","braze_id":"b1"}}"#
        ),
        (
            name: #"{"interaction":INTERACTION}"#,
            meaning:
                #"at least one matches: {"interaction":{"id":"tap","verdict":"unmatched"}}; also in none and count"#
        ),
        (
            name: #"{"breaker":BREAKER}"#,
            meaning: #"at least one matches: {"breaker":{"handler":"crm","state":"open"}}; also in none and count"#
        ),
        (
            name: #"{"none":INVOCATION}, {"none":{"event":EVENT}}, {"none":{"entry":ENTRY}}"#,
            meaning: #"none matches; {"none":{}} means that no invocation was decided"#
        ),
        (
            name: #"{"count":INVOCATION,"is":N}, {"count":{"event":EVENT},"is":N}, {"count":{"entry":ENTRY},"is":N}"#,
            meaning: "the number of matches is N"
        ),
        (
            name: #"{"invocations":[INVOCATION,...],"of":REQUEST}"#,
            meaning: """
            exactly these invocations, observers included, in the order of seq and n: of the request with this id (a \
            string) or seq (a number), or of all requests
            """
        ),
        (
            name: #"{"error":{"code":CODE,"field":FIELD,"message":TEXT}}"#,
            meaning: "the request before was refused with this error; each of the three members may be left out"
        ),
        (name: #"{"pending":N}"#, meaning: "N requests wait for an outcome"),
    ]
}
