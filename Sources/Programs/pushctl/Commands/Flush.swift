import PushModel

extension Command {
    static let flush = Command(
        name: "flush", summary: "flush stored custom data as if a session of the app started",
        description: [
            """
            Has the daemon tell and set what waits for a session of APP on that device of that user: events are recorded, \
            attributes are set, in the order in which they were saved. There is no session, and no session event. "pushctl \
            pending" lists what waits.
            """,
            """
            An entry that names a device or a user waits for a session of that one: without --device it stays, and so it \
            does for another user. One that names no app is flushed by a session of any app.
            """,
        ],
        operands: .none,
        options: [.sessionApp, .sessionDevice, .sessionUser, .onlySuite, .json],
        examples: [
            Example(line: "pushctl flush --app com.shop --device pixel-1 --external-id anna", meaning: "for anna")
        ]
    ) { arguments, session throws(Failure) in
        guard let app = arguments[.sessionApp] else {
            throw arguments.usageFailure("--app APP says the session of which app starts")
        }
        let target = Target(app: app, device: arguments[.sessionDevice], externalID: arguments[.sessionUser])
        let reply = try session.control(.flush(FlushRequest(target: target, suite: arguments[.onlySuite])))
        session.tell("flushed", reply["flushed"], of: reply, arguments)
        if let unsent = reply["not_sent"]?.int64 {
            session.output.note(
                "\(unsent) of them were not sent to the endpoint, though SendFlushed=yes: the session has no user; name it "
                    + "with --external-id")
        }
        return .done
    }
}

extension Session {
    /// Prints what the daemon did with how many entries.
    func tell(_ done: String, _ count: JSONNode?, of reply: JSONNode, _ arguments: Arguments) {
        if arguments.has(.json) {
            output.write(document: Array(reply.rawBytes))
        } else {
            let count = count?.int64 ?? 0
            output.print("\(done) \(count) \(count == 1 ? "entry" : "entries")\n")
        }
    }
}
