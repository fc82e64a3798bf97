import PushModel

extension Command {
    static let open = Command(
        name: "open", summary: "send a tap on a notification",
        description: [
            """
            Tells the daemon that the user opened a notification by its body. MESSAGE is the number (seq) that "inject" \
            printed, or the payload's own message id if it is not all digits. With a message id the latest delivery to \
            the device counts. Where the platform hands the payload back, --payload names it instead.
            """,
            """
            A number or message id is looked up among the deliveries of Braze that the tracker remembers, then in the \
            ledger, which also tells the platform. A tap on another provider's notification is routed to a handler as \
            its push is; Android has no push callback for it, so there the callback is "none", and a message that \
            nobody knows is held by the tracker, in case its delivery is yet to come.
            """,
            """
            The exit status says whether the request was accepted: with --wait too it is 0 whatever the outcome is.
            """,
        ],
        operands: Operands(usage: "[MESSAGE]", count: 0...1),
        options: [.payload, .platform, .app, .device, .externalID, .sdk, .at, .id, .wait, .json],
        examples: [
            Example(line: "pushctl open 41", meaning: "a tap on the delivery with the number 41"),
            Example(
                line: "pushctl open --device pixel-1 --wait 0:1700000000%31bd1c96",
                meaning: "a tap on the message with this id, and what became of it"),
        ]
    ) { arguments, session throws(Failure) in
        try session.send(try RequestLine.interaction(.opened, arguments), arguments)
    }
}
