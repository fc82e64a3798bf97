extension ManPage {
    /// The notes that apply to all expectations.
    static let expectationNotes = [
        """
        These are the expectations of a scenario of "test". INVOCATION stands for an object with any of the members \
        that "simulate" prints for an invocation: seq, n, id, at, callback, provider, route, handler, observer, \
        outcome, reason, reason_code, queue_ms, exec_ms, total_ms, waited_for with seq, n, handler, and completion \
        with by, times, result, options. EVENT is an object with the members of an analytics event, whose time is in \
        seconds, and at. ENTRY is an object with the members of an entry of custom data: entry, seq, at, state, kind, \
        suite, braze_id, external_id, alias, name, properties, attributes, reason. INTERACTION is an object with seq, \
        id, at, verdict, delivery, reason: an interaction found the push that it waited for, or stopped waiting \
        (unmatched, elsewhere). BREAKER is an object with at, handler, and state (open or closed): the breaker of a \
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
