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
        verify ends with 1 for a configuration that is missing or wrong, where explain and simulate end with 78; \
        report then uses the defaults. doctor ends with 1 for an error, not for a warning. erase and pending --clear \
        end with 1 when the answer to their question is not the number.
        """
    ]
}
