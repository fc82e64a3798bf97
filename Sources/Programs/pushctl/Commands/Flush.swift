import PushModel

extension Command {
    static let flush = Command(
        name: "flush", summary: "flush stored custom data as if a session of the app started",
        description: [
            """
            Makes the daemon flush the entries that wait for a session of APP on that device of that user: events are \
            recorded and attributes are set, in the order in which they were saved. No session starts, and no session \
            event is recorded. "pushctl pending" lists the entries that wait.
            """,
            """
            An entry that names a device or a user waits for a session of that device or user: without --device it \
            stays, and it stays for another user. An entry that names no app is flushed by a session of any app.
            """,
        ],
        operands: .none,
        options: [.sessionApp, .sessionDevice, .sessionUser, .onlySuite, .json],
        examples: [
            Example(line: "pushctl flush --app com.shop --device pixel-1 --external-id anna", meaning: "for anna")
        ]
    ) { arguments, session throws(Failure) in
        guard let app = arguments[.sessionApp] else {
            throw arguments.usageFailure("--app APP is missing: it names the app whose session starts")
        }
        let target = Target(app: app, device: arguments[.sessionDevice], externalID: arguments[.sessionUser])
        let reply = try session.control(.flush(FlushRequest(target: target, suite: arguments[.onlySuite])))
        session.printCount("flushed", reply["flushed"], of: reply, arguments)
        if let unsent = reply["not_sent"]?.int64 {
            session.output.note(
                "\(counted(unsent, "entry was", "entries were")) not sent to the endpoint, though SendFlushed=yes: "
                    + "the session has no user; name the user with --external-id")
        }
        return .done
    }
}

extension Session {
    /// Prints the daemon's action and the number of entries.
    func printCount(_ done: String, _ count: JSONNode?, of reply: JSONNode, _ arguments: Arguments) {
        if arguments.has(.json) {
            output.write(document: Array(reply.rawBytes))
        } else {
            let count = count?.int64 ?? 0
            output.print("\(done) \(counted(count, "entry", "entries"))\n")
        }
    }
}
