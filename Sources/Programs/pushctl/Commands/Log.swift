import PushModel

extension Command {
    static let log = Command(
        name: "log", summary: "log a custom event or attributes",
        description: [
            """
            Logs what an app would: a custom event with properties, attributes that are the app's own (attribute), or \
            those that Braze knows (user-attribute: email, first_name, last_name, phone, dob, country, home_city, language, \
            gender, time_zone, and subscription states). \(Assignment.forms)
            """,
            """
            With --suite, or without --braze-id, it is stored until the next session of the app starts, and then told or \
            set for that session's user, or for USER alone if one is named. With --braze-id and no suite it is sent to \
            Braze's endpoint at once. An entry without an app, a device or a user is for a session of any. phone_number is kept as phone. \
            What an attribute is may also change: tags:='{"add":["a"]}', tags:='{"remove":["a"]}', \
            visits:='{"inc":1}'; null takes it away.
            """,
            """
            What breaks a rule is rejected with the reason, the rest is kept: the exit status is 1 then, and "pushctl \
            pending --rejected" lists it later.
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
