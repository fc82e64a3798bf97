import PushModel

extension Command {
    static let act = Command(
        name: "act", summary: "report that a button of a notification was pressed",
        description: [
            """
            Tells the daemon that the user pressed a button of a notification. ACTION is the button's id: on iOS and \
            the web the action's identifier, for Braze on Android the value of ab_a0_id, ab_a1_id and so on. --text is \
            the text that the user typed, if the button has a text field. MESSAGE and --payload name the notification \
            as in "open". An ACTION that a Braze push does not have is accepted and not counted.
            """,
            """
            Text may be private: a handler gets it on standard input only, and it does not reach the journal. The exit \
            status is 0 when the request was accepted and none of its custom data was rejected. With --wait --fail it \
            is 1 as well when an outcome is neither handled nor handed_to_tracker.
            """,
        ],
        operands: Operands(usage: "[MESSAGE]", count: 0...1),
        options: [
            .action, .text, .payload, .platform, .app, .device, .externalID, .sdk, .at, .id, .wait, .fail, .json,
        ],
        examples: [
            Example(line: "pushctl act 41 --action accept", meaning: "a press on the button accept"),
            Example(
                line: "pushctl act --action reply --text 'on my way' --wait 41",
                meaning: "an answer typed into the notification, with its outcome"),
        ]
    ) { arguments, session throws(Failure) in
        guard arguments.has(.action) else {
            throw arguments.usageFailure("--action ACTION is missing: ACTION is the id of the pressed button")
        }
        return try session.send(try RequestLine.interaction(.action, arguments), arguments)
    }
}
