import PushModel

extension Command {
    static let open = Command(
        name: "open", summary: "report that a notification was opened",
        description: [
            """
            Tells the daemon that the user opened a notification by its body. MESSAGE is the number (seq) that \
            "inject" printed, or the payload's own message id if it is not all digits. A message id stands for the \
            latest delivery with it on the device. Where the platform hands the payload back, name the notification \
            with --payload instead.
            """,
            """
            The daemon looks up a number or message id among the Braze deliveries that the tracker remembers, then in \
            the ledger, which also has the platform. A tap on another provider's notification is routed to a handler \
            as its push is. Android has no push callback for a tap, so there the callback is "none". The tracker holds \
            a tap whose message it does not know, because the delivery may still come.
            """,
            """
            The exit status is 0 when the request was accepted and none of its custom data was rejected. With --wait \
            --fail it is 1 as well when an outcome is neither handled nor handed_to_tracker.
            """,
        ],
        operands: Operands(usage: "[MESSAGE]", count: 0...1),
        options: [.payload, .platform, .app, .device, .externalID, .sdk, .at, .id, .wait, .fail, .json],
        examples: [
            Example(line: "pushctl open 41", meaning: "a tap on the delivery with the number 41"),
            Example(
                line: "pushctl open --device pixel-1 --wait 0:1700000000%31bd1c96",
                meaning: "a tap on the message with this id, with its outcome"),
        ]
    ) { arguments, session throws(Failure) in
        try session.send(try RequestLine.interaction(.opened, arguments), arguments)
    }
}
