extension ManPage {
    /// What holds for all of them.
    static let expectationNotes = [
        """
        What a scenario of "test" may expect. INVOCATION stands for an object with any of the members that "simulate" \
        prints of one: seq, n, id, at, callback, provider, route, handler, observer (true for the copy of an observing \
        route), outcome, reason, reason_code, queue_ms, exec_ms, total_ms, waited_for with seq, n, handler, and completion with by, \
        times, result, options. EVENT is one with those of an analytics event. What is not named \
        may be anything; null means that there is none. Of reason and of an error's message it is enough that they \
        contain the text. An event_type may be the last part of its name, such as Open. Times may be RFC 3339.
        """,
        """
        A member or a word that does not exist makes the scenario unreadable, so that no expectation holds by a mistake \
        in writing it.
        """,
    ]

    /// What may stand in `expect`.
    static let expectations = [
        (name: "INVOCATION", meaning: #"at least one is so: {"id":"a1","outcome":"handled","handler":"crm"}"#),
        (
            name: #"{"event":EVENT}"#,
            meaning: #"at least one is so: {"event":{"event_type":"Open","campaign_id":"summer"}}"#
        ),
        (
            name: #"{"none":INVOCATION}, {"none":{"event":EVENT}}"#,
            meaning: #"none is so; {"none":{}} means that nothing was decided"#
        ),
        (name: #"{"count":INVOCATION,"is":N}, {"count":{"event":EVENT},"is":N}"#, meaning: "this many are so"),
        (
            name: #"{"invocations":[INVOCATION,...],"of":REQUEST}"#,
            meaning: """
            these and no others, in the order of seq and n; of the request with this id (a text) or seq (a number), or of \
            all
            """
        ),
        (
            name: #"{"error":{"code":CODE,"field":FIELD,"message":TEXT}}"#,
            meaning: "the request before was refused so; any of the three"
        ),
        (name: #"{"pending":N}"#, meaning: "this many requests wait for an outcome"),
    ]
}
