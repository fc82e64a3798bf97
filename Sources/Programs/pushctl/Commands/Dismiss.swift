import PushModel

extension Command {
    static let dismiss = Command(
        name: "dismiss", summary: "report that a notification was dismissed",
        description: [
            """
            Tells the daemon that the user dismissed a notification without opening it. The app learns of the \
            dismissal only if the platform reports it: on iOS if the notification's category asks for it, on the web \
            as notificationclose. MESSAGE and --payload name the notification as in "open".
            """,
            """
            The exit status is 0 when the request was accepted and none of its custom data was rejected. With --wait \
            --fail it is 1 as well when an outcome is neither handled nor handed_to_tracker.
            """,
        ],
        operands: Operands(usage: "[MESSAGE]", count: 0...1),
        options: [.payload, .platform, .app, .device, .externalID, .at, .id, .wait, .fail, .json],
        examples: [
            Example(line: "pushctl dismiss 41", meaning: "the notification of the delivery with the number 41")
        ]
    ) { arguments, session throws(Failure) in
        try session.send(try RequestLine.interaction(.dismissed, arguments), arguments)
    }
}
