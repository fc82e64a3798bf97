import PushModel
import PushRouter
import PushSettings
import PushViews
import Store

extension Command {
    static let users = Command(
        name: "users", summary: "find users by their attributes",
        description: [
            """
            Prints the users whose attributes meet the conditions, one a line, by name. Custom attributes and Braze's \
            own are treated alike. NAME=VALUE holds when the attribute is VALUE, as a text, a number, true or false, \
            or when it is an array with VALUE in it; NAME:=JSON holds when the attribute is exactly that. All \
            conditions must hold. It reads the ledger in the state directory, with or without a daemon. The exit \
            status is 1 when no user is found.
            """
        ],
        operands: .none,
        options: [.condition, .limit, .json],
        examples: [
            Example(
                line: "pushctl users --where plan=paid --where country=DE",
                meaning: "find users in Germany with a paid plan"),
            Example(line: "pushctl users --where visits:=3 --json", meaning: "as one JSON object, with the number"),
        ]
    ) { arguments, session throws(Failure) in
        let conditions = try arguments.conditions()
        guard !conditions.isEmpty else {
            throw arguments.usageFailure("--where NAME=VALUE is missing: it is the condition on an attribute")
        }
        let limit = try limit(arguments) ?? (arguments.has(.json) ? .max : 100)
        var users: [String] = []
        try session.reading { ledger throws(StoreError) in
            try ledger.users(where: conditions) { users.append($0) }
        }
        if arguments.has(.json) {
            var writer = JSONWriter()
            writer.object {
                $0.member("count", users.count)
                $0.member("users", array: { list in users.prefix(limit).forEach { list.string($0) } })
            }
            session.output.write(document: writer.bytes)
        } else {
            session.output.print(users.prefix(limit).map { "\($0.showingControls())\n" }.joined())
            if users.count > limit {
                session.output.note("and \(users.count - limit) more; --limit sets the number shown")
            }
        }
        guard !users.isEmpty else { throw Failure(.no, "there is no such user") }
        return .done
    }
}

extension Arguments {
    /// The conditions of `--where`.
    fileprivate func conditions() throws(Failure) -> [AttributeCondition] {
        var conditions: [AttributeCondition] = []
        for text in all(.condition) {
            let assignment = try Assignment(text, self)
            var values = [assignment.value]
            // A user who looks for 42 need not know whether it was stored as a number or as a text: both match.
            if let text = assignment.textValue, let literal = try? JSONDocument(scanning: Array(text.utf8)).root,
                literal.kind == .number || literal.kind == .bool
            {
                values.append(literal.compactBytes)
            }
            conditions.append(AttributeCondition(name: assignment.key, values: values))
        }
        return conditions
    }
}

extension Command {
    static let user = Command(
        name: "user", summary: "show the devices, sessions and attributes of one user",
        description: [
            """
            Prints the devices on which this user was last seen, the sessions, the attributes and when they were set, \
            the number of custom events, and the last ten Braze pushes that the user received, with their opens, or why no \
            session counted as an influenced open. ID is \
            the external_id of the requests. It reads the ledger in the state directory, with or without a daemon. The \
            exit status is 1 when the ledger does not know this user.
            """
        ],
        operands: Operands(usage: "ID", count: 1...1),
        options: [.names, .utc, .json],
        examples: [Example(line: "pushctl user anna", meaning: "show the user anna")]
    ) { arguments, session throws(Failure) in
        let id = arguments.operands[0]
        var profile = UserProfile(of: id, zone: arguments.zone)
        profile.names = try session.campaignNames(arguments).names
        let table = session.settingsOfReport().routing
        try session.reading { ledger throws(StoreError) in
            try ledger.snapshot { () throws(StoreError) in
                for device in try ledger.knownDevices() { profile.add(device) }
                try ledger.sessions(ofUser: id) { session in profile.add(session) }
                try ledger.events { event in profile.add(event) }
                for attribute in try ledger.attributes(of: .user(id)) { profile.add(attribute) }
                for seq in profile.unopened {
                    guard var story = try ledger.story(of: seq) else { continue }
                    story.sessionAfter = try ledger.sessionAfter(story.request)
                    let facts = PushFacts(story, detection: table.detection)
                    if let obstacle = facts.obstacleToInfluence(table.tracking) {
                        profile.add(obstacle: obstacle, to: seq)
                    }
                }
            }
        }
        guard !profile.isUnknown else { throw Failure(.no, "the ledger has no data of a user \(id)") }
        if arguments.has(.json) {
            session.output.write(document: profile.json)
        } else {
            session.output.print(profile.text)
        }
        return .done
    }
}
