import PushModel

extension Command {
    static let token = Command(
        name: "token", summary: "send a new push token, or that it is gone",
        description: [
            """
            Tells the daemon that the push service gave the app on a device a token, or took it back. The platform tells \
            the app (onNewToken; didRegister on iOS), and every route that matches hears of it. "registered" and \
            "unregistered" are those of FCM's second generation, by installation.
            """,
            """
            A token is a secret: a handler gets it on standard input only, and it does not reach the journal.
            """,
        ],
        operands: Operands(usage: "[TOKEN]", count: 0...1),
        options: [.tokenKind, .platform, .app, .device, .externalID, .at, .id, .wait, .fail, .json],
        examples: [
            Example(line: "pushctl token --device pixel-1 --wait bk3RNwTe3H0", meaning: "the device has a new token"),
            Example(line: "pushctl token --device pixel-1 --kind unregistered", meaning: "it has none any more"),
        ]
    ) { arguments, session throws(Failure) in
        try session.send(try RequestLine.token(arguments), arguments)
    }
}
