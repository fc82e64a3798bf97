import PushModel

extension Command {
    static let session = Command(
        name: "session", summary: "send that a session of the app began or ended",
        description: [
            """
            Tells the daemon that the user began to use the app on a device, or stopped. That another user took over the \
            device is a start with that user. No callback of a push SDK runs for it, so there is no outcome to wait for.
            """,
            """
            A start while the session of that user is open there continues it, and one soon after its end resumes it: \
            neither is a new session. An end where no session is open, and either without --device, is accepted and \
            changes nothing. A time later than the daemon's clock is taken for the clock's, an earlier one is kept.
            """,
        ],
        operands: Operands(usage: "start|end", count: 1...1),
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
