extension ManPage {
    /// What holds for all of them.
    static let expectationNotes = [
        """
        What a scenario of "test" may expect. INVOCATION stands for an object with any of the members that "simulate" \
        prints of one: seq, n, id, at, callback, provider, route, handler, observer, outcome, reason, reason_code, queue_ms, \
        exec_ms, total_ms, waited_for with seq, n, handler, and completion with by, \
        times, result, options. EVENT is one with those of an analytics event. ENTRY is one \
        with those of an entry of custom data: entry, seq, at, state, kind, suite, braze_id, external_id, alias, name, \
        properties, attributes, reason; of properties and attributes the named ones are compared. What is not named \
        may be anything; null means that there is none. Of reason and of an error's message it is enough that they \
        contain the text. An event_type may be the last part of its name, such as Open. Times may be RFC 3339.
        """,
        """
        INVOCATION is an owner's: the copy that an observing route gets matches only where "observer":true stands, but \
        counts for {"none":INVOCATION}, too.
        """,
        """
        A member or a word that does not exist, the name of no handler, route or provider, or an id or number that no \
        request of the scenario has makes the scenario unreadable, so that no expectation holds by a mistake \
        in writing it.
        """,
    ]

    /// What may stand in `expect`.
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
            name: #"{"none":INVOCATION}, {"none":{"event":EVENT}}, {"none":{"entry":ENTRY}}"#,
            meaning: #"none matches; {"none":{}} means that no invocation was decided"#
        ),
        (
            name: #"{"count":INVOCATION,"is":N}, {"count":{"event":EVENT},"is":N}, {"count":{"entry":ENTRY},"is":N}"#,
            meaning: "this many match"
        ),
        (
            name: #"{"invocations":[INVOCATION,...],"of":REQUEST}"#,
            meaning: """
            these and no others, observers among them, in the order of seq and n; of the request with this id (a text) or seq (a number), or of \
            all
            """
        ),
        (
            name: #"{"error":{"code":CODE,"field":FIELD,"message":TEXT}}"#,
            meaning: "the request before was refused with this error; any of the three"
        ),
        (name: #"{"pending":N}"#, meaning: "this many requests wait for an outcome"),
    ]
}
