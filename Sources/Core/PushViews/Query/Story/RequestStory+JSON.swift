public import PushModel

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
            if let result {
                writer.members(of: result, at: callback)
            } else {
                writer.member("outcome", String?.none)
            }
            if story.deadLetters.contains(where: { $0.id == id }) { writer.member("dead_letter", true) }
            writer.member("attempts_left_out", story.attemptsLeftOut[id.n] ?? 0)
            let attempts = story.attempts(at: self)
            writer.member(
                "attempts", array: { list in attempts.forEach { attempt in list.object { $0.members(of: attempt) } } })
        }
    }
}

extension RequestStory {
    /// Every attempt at an invocation. The ledger has no row of the last one where the invocation says all of it: it was
    /// handled, and the handler wrote nothing.
    public func attempts(at invocation: InvocationRecord) -> [AttemptRecord] {
        var attempts = attempts.filter { $0.id == invocation.id }
        guard let result = invocation.result, result.outcome == .handled, let handler = invocation.handler,
            attempts.last?.answer != .handled
        else { return attempts }
        let start = max(result.queue, attempts.last?.ended ?? .zero)
        attempts.append(
            AttemptRecord(
                id: invocation.id, route: invocation.route, handler: handler, asked: start, started: start,
                ended: result.total, answer: .handled, number: (attempts.last?.number ?? 0) + 1))
        return attempts
    }

    /// Returns the steps of an invocation, each with its time since acceptance; empty if no handler had it.
    public func steps(of invocation: InvocationRecord) -> [[String]] {
        let attempts = attempts(at: invocation)
        let ahead = invocation.result?.ahead
        guard !attempts.isEmpty || ahead != nil else { return [] }
        var steps = [["0 ms", "accepted"]]
        if let ahead { steps.append(["0 ms", "queued in its lane, \(ahead) ahead of it"]) }
        var before = 0
        for attempt in attempts {
            if attempt.number > before + 1, before > 0 {
                steps.append(["", "\(counted(attempt.number - before - 1, "attempt")) between these are not shown"])
            }
            before = attempt.number
            let number = attempts.count == 1 && attempt.number == 1 ? "" : "attempt \(attempt.number), "
            if let started = attempt.started {
                steps.append(["\(started.milliseconds) ms", "\(number)handler \(attempt.handler) started"])
            } else {
                let asked = "\(number)handler \(attempt.handler) was to start"
                steps.append(["\(attempt.asked.milliseconds) ms", asked])
            }
            steps.append(["\(attempt.ended.milliseconds) ms", attempt.end])
        }
        // A handler's end often has the outcome's word.
        if let result = invocation.result, steps.last?.last != result.outcome.rawValue {
            steps.append(["\(result.total.milliseconds) ms", result.outcome.rawValue])
        }
        return steps
    }

    /// The ends of standard error of the handlers.
    public func outputs(of invocation: InvocationRecord) -> String {
        let attempts = attempts(at: invocation)
        var text = ""
        for attempt in attempts {
            guard let output = attempt.output else { continue }
            let number = attempts.count == 1 && attempt.number == 1 ? "" : " in attempt \(attempt.number)"
            let cut = output.cut == 0 ? "" : ", after \(output.cut) bytes that are not kept"
            text += "  \(attempt.handler) wrote to standard error\(number)\(cut):\n"
            var lines = output.text.shownLines
            if lines.last?.isEmpty == true { lines.removeLast() }
            for line in lines { text += "    \(line)\n" }
        }
        return text
    }
}

extension AttemptRecord {
    /// How it ended, for people.
    fileprivate var end: String {
        let words: String =
            switch answer {
            case .handled: "handled"
            case .retry: "asked for a retry" + (retryAfter.map { ", tried again after \($0.milliseconds) ms" } ?? "")
            case .declined: "declined"
            case .rejected: "rejected"
            case .timedOut: "not finished at the deadline, killed"
            case .killed: "killed by \(signalText(signal ?? 0))"
            case .notStarted: "not started"
            }
        // A program's exit status is less than 256, and one of HTTP that is shown is more.
        let detail = reason ?? status.flatMap { $0 == 0 ? nil : $0 > 255 ? "HTTP status \($0)" : "exit status \($0)" }
        return words + (detail.map { ": \($0)" } ?? "")
    }
}

extension RequestStory {
    /// Whether the gateway knew no device for a push, so that the token stands in its place.
    var hasTokenAsDevice: Bool {
        invocations.contains { $0.result?.reasonCode == .refusedSend } && (request.device?.utf8.count ?? 0) > 32
    }

    /// The same story with push tokens shortened.
    public var withShortTokens: RequestStory {
        var story = self
        story.request.body = PushTokens.shortened(in: request.body)
        story.events = events.map(\.withShortToken)
        if hasTokenAsDevice { story.request.device = request.device.map(PushTokens.shortened) }
        return story
    }
}
