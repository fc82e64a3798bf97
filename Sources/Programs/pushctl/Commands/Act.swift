import PushModel

extension Command {
    static let act = Command(
        name: "act", summary: "send a press on a button of a notification",
        description: [
            """
            Tells the daemon that the user pressed a button of a notification. ACTION is the button's id: on iOS and the \
            web the action's identifier, for Braze on Android the value of ab_a0_id, ab_a1_id and so on. --text is what \
            was typed, where the button has a text field. MESSAGE and --payload name the notification as in "open". \
            A button that a push of Braze's does not have is accepted and counts nothing.
            """,
            """
            Text may be private: a handler gets it on standard input only, and it does not reach the journal. The exit \
            status says whether the request was accepted: with --wait too it is 0 whatever the outcome is.
            """,
        ],
        operands: Operands(usage: "[MESSAGE]", count: 0...1),
        options: [
            .action, .text, .payload, .platform, .app, .device, .externalID, .sdk, .at, .id, .wait, .json,
        ],
        examples: [
            Example(line: "pushctl act 41 --action accept", meaning: "a press on the button accept"),
            Example(
                line: "pushctl act --action reply --text 'on my way' --wait 41",
                meaning: "an answer typed into the notification, and what became of it"),
        ]
    ) { arguments, session throws(Failure) in
        guard arguments.has(.action) else {
            throw arguments.usageFailure("--action ACTION says which button was pressed")
        }
        return try session.send(try RequestLine.interaction(.action, arguments), arguments)
    }
}
