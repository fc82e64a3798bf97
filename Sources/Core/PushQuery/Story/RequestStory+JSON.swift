public import PushModel
import PushReporting

extension RequestStory {
    /// The story for programs: one object on one line; times in UTC.
    public var json: [UInt8] {
        var writer = JSONWriter(reserving: request.body.count + 1024)
        writer.object { writer in
            writer.member("seq", request.seq.value)
            writer.member("op", request.operation.rawValue)
            writer.member("id", request.id)
            writer.member("accepted_at", request.acceptedAt.wall.rfc3339)
            writer.member("peer", object: { $0.members(of: request.peer, producer) })
            writer.member("mode", request.mode.rawValue)
            writer.member("platform", request.platform.rawValue)
            writer.member("app", request.app)
            writer.member("device", request.device)
            writer.member("external_id", request.externalID)
            writer.member("message_id", request.messageID)
            writer.member("state", request.state?.rawValue)
            writer.member("transport", request.transport?.rawValue)
            writer.member("original_priority", request.originalPriority?.rawValue)
            writer.member("delivered_priority", request.deliveredPriority?.rawValue)
            if let configuration {
                writer.member(
                    "configuration",
                    object: {
                        $0.member("id", configuration.period.id.description)
                        $0.member("since", configuration.period.since.rfc3339)
                        $0.member("in_force", configuration.isInForce)
                    })
            }
            if let replayOf = request.replayOf { writer.member("replay_of", replayOf.value) }
            if !replays.isEmpty {
                writer.member("replayed_as", array: { list in replays.forEach { list.int($0.value) } })
            }
            if let fanOut {
                writer.member(
                    "fan_out",
                    object: {
                        $0.member("members", fanOut.members)
                        $0.member("made", fanOut.progress.made)
                        $0.member("left_out", fanOut.progress.leftOut)
                        $0.member("to_come", fanOut.toCome)
                    })
            }
            writer.member("request", raw: request.body)
            if request.operation == .interact { writer.member("verdict", verdict?.rawValue) }
            writer.member("invocations", array: { list in invocations.forEach { $0.write(to: &list, of: self) } })
            writer.member("custom_data", array: { list in entries.forEach { $0.write(to: &list) } })
            writer.member(
                "events", array: { list in events.forEach { event in list.object { $0.members(of: event) } } })
        }
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func members(of peer: Peer, _ producer: String?) {
        if let producer { member("producer", producer) }
        member("uid", peer.uid)
        member("gid", peer.gid)
        member("pid", peer.pid)
    }
}

extension InvocationRecord {
    fileprivate func write(to writer: inout JSONWriter, of story: RequestStory) {
        writer.object { writer in
            writer.member("n", id.n)
            writer.member("callback", callback.rawValue)
            writer.member("observer", isObserver)
            writer.member("provider", provider)
            writer.member("route", route)
            writer.member("handler", handler)
            writer.member("deadline_ms", budget.milliseconds)
            writer.member("started", started)
            writer.member("decided_at", result?.decidedAt.rfc3339)
            if let result { writer.members(of: result) } else { writer.member("outcome", String?.none) }
            if story.deadLetters.contains(where: { $0.id == id }) { writer.member("dead_letter", true) }
            writer.member("attempts_left_out", story.attemptsLeftOut[id.n] ?? 0)
            let attempts = story.attempts(at: self)
            writer.member(
                "attempts", array: { list in attempts.forEach { attempt in list.object { $0.members(of: attempt) } } })
        }
    }
}
