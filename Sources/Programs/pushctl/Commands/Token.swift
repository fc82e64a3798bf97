import PushModel

extension Command {
    static let token = Command(
        name: "token", summary: "report a new push token, or that a token became invalid",
        description: [
            """
            Tells the daemon that the push service gave a token to the app on a device, or took it back. The platform \
            tells the app (onNewToken; didRegister on iOS), and every route that matches gets the callback. \
            "registered" and "unregistered" belong to FCM's second generation, which has installation ids.
            """,
            """
            A token is a secret: a handler gets it on standard input only, and it does not reach the journal.
            """,
        ],
        operands: Operands(usage: "[TOKEN]", count: 0...1),
        options: [.tokenKind, .platform, .app, .device, .externalID, .at, .id, .wait, .fail, .json],
        examples: [
            Example(line: "pushctl token --device pixel-1 --wait bk3RNwTe3H0", meaning: "the device has a new token"),
            Example(
                line: "pushctl token --device pixel-1 --kind unregistered",
                meaning: "the device has no token any "
                    + "more"),
        ]
    ) { arguments, session throws(Failure) in
        try session.send(try RequestLine.token(arguments), arguments)
    }
}
