import PushModel

extension Command {
    static let session = Command(
        name: "session", summary: "report that a session of the app began or ended",
        description: [
            """
            Tells the daemon that the user began or stopped to use the app on a device. For a change of the user on a \
            device, send a start with the new user. No callback of a push SDK runs for a session, so there is no \
            outcome to wait for.
            """,
            """
            A start continues a session of the same user that is still open, and resumes one that ended a short time \
            ago: neither is a new session. An end without an open session, and any request without --device, is \
            accepted and changes nothing. A time later than the daemon's clock is replaced by the clock's time; an \
            earlier time is kept.
            """,
        ],
        operands: Operands(usage: "start|end", count: 1...1, words: ["start", "end"]),
        options: [.platform, .app, .device, .externalID, .at, .id, .json],
        examples: [
            Example(
                line: "pushctl session start --app com.shop --device pixel-1 --external-id anna",
                meaning: "anna opened the app")
        ]
    ) { arguments, session throws(Failure) in
        try session.send(try RequestLine.session(arguments), arguments)
    }
}
