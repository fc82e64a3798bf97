import PushModel

extension Command {
    static let log = Command(
        name: "log", summary: "log a custom event or attributes",
        description: [
            """
            Logs custom data as an app would: a custom event with properties, attributes of the app's own (attribute), \
            or attributes that Braze knows (user-attribute: email, first_name, last_name, phone, dob, country, \
            home_city, language, gender, time_zone, and subscription states). \(Assignment.forms)
            """,
            """
            With --suite, or without --braze-id, the entry is stored until the next session of the app starts. Then it \
            is flushed for that session's user; if USER is named, only a session of USER flushes it. With --braze-id \
            and no suite it is sent to Braze's endpoint at once. A session of any app, device or user flushes an entry \
            that names none. phone_number is kept as phone. An attribute's value can also be a change: \
            tags:='{"add":["a"]}', tags:='{"remove":["a"]}', visits:='{"inc":1}'; null removes the attribute.
            """,
            """
            The daemon rejects data that breaks a rule with the reason, and keeps the other data: then the exit status \
            is 1, and "pushctl pending --rejected" lists the entry later.
            """,
        ],
        operands: Operands(usage: "event NAME|[user-]attribute KEY=TEXT...", count: 2...Int.max),
        options: [.property, .suite, .brazeID, .platform, .app, .device, .externalID, .at, .id, .json],
        examples: [
            Example(
                line: "pushctl log event bought --property price:=9.99 --app com.shop",
                meaning: "an event that waits for the next session of com.shop"),
            Example(
                line: "pushctl log attribute plan=free visits:=3 --suite group.com.shop", meaning: "two attributes"),
            Example(line: "pushctl log user-attribute email=anna@example.com --external-id anna", meaning: "of anna"),
        ]
    ) { arguments, session throws(Failure) in
        try session.send(try RequestLine.log(arguments), arguments)
    }
}
