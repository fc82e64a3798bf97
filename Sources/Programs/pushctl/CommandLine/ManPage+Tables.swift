import PushModel

extension ManPage {
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
