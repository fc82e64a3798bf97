import PushModel

/// A delivery and the interactions with it as a scenario for `pushctl test`: requests with their times, and expectations
/// that hold today.
struct ScenarioText {
    private let story: RequestStory
    private let interactions: [RequestStory]

    /// - Parameters:
    ///   - story: of the delivery.
    ///   - interactions: the requests that told what a person did with it, in their order.
    init(_ story: RequestStory, interactions: [RequestStory]) {
        (self.story, self.interactions) = (story, interactions)
    }

    /// The lines, each with its line feed.
    var text: String {
        var lines = [head]
        lines.append(line(of: story.request, message: nil))
        lines += expectations(of: story)
        for interaction in interactions { lines.append(line(of: interaction.request, message: 1)) }
        lines += opens
        return lines.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
    }

    private var head: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.member("scenario", "push \(story.request.seq)")
            $0.member("mode", story.request.mode.rawValue)
        }
        return writer.bytes
    }

    /// A request as it came, at the time of its acceptance, for whom the router took it.
    ///
    /// - Parameter message: the number of the delivery in the scenario; `nil`: the request names none.
    private func line(of request: AcceptedRequest, message: Int64?) -> [UInt8] {
        guard let line = try? JSONDocument(scanning: request.body, limits: JSONLimits(depth: .max)).root else {
            return []
        }
        var writer = JSONWriter(reserving: request.body.count + 256)
        writer.object { writer in
            writer.member("op", request.operation.rawValue)
            writer.member("at", line["at"]?.string ?? request.acceptedAt.wall.rfc3339)
            writer.member("platform", request.platform.rawValue)
            for (name, value) in [
                ("app", request.app), ("device", request.device), ("external_id", request.externalID),
            ] {
                if let value { writer.member(name, value) }
            }
            if let state = request.state { writer.member("state", state.rawValue) }
            for (name, value) in line.members {
                switch name {
                case "op", "at", "platform", "app", "device", "external_id", "state", "id", "wait", "sender": break
                case "message" where message != nil: writer.member("message", message)
                default: writer.member(name, raw: value.rawBytes)
                }
            }
        }
        return writer.bytes
    }

    /// The lines that expect the delivery's invocations.
    private func expectations(of story: RequestStory) -> [[UInt8]] {
        story.invocations.filter { !$0.isObserver }.compactMap { invocation in
            guard let outcome = invocation.result?.outcome else { return nil }
            var writer = JSONWriter()
            writer.object { writer in
                writer.member(
                    "expect",
                    object: {
                        $0.member("seq", 1)
                        $0.member("callback", invocation.callback.rawValue)
                        $0.member("provider", invocation.provider)
                        // The scenario has no script for handlers, and a handler without a script is done at once.
                        if !outcome.isDue { $0.member("outcome", outcome.rawValue) }
                    })
            }
            return writer.bytes
        }
    }

    /// How often it was opened.
    private var opens: [[UInt8]] {
        let counted = story.events.filter { if case .open = $0.content { true } else { false } }
        guard !interactions.isEmpty else { return [] }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(
                "expect",
                object: { expect in
                    expect.member(
                        "count",
                        object: {
                            $0.member("event", object: { $0.member("event_type", AnalyticsEvent.Kind.open.rawValue) })
                        })
                    expect.member("is", counted.count)
                })
        }
        return [writer.bytes]
    }
}

extension WebDesk {
    /// Answers with a delivery and the interactions with it, as a scenario file for `pushctl test`.
    func scenario(_ seq: SequenceNumber?) throws(WebProblem) -> WebAnswer {
        let story = try story(seq)
        guard story.request.operation == .deliver, !story.request.isErased else {
            throw WebProblem(409, "request \(story.request.seq) is not a delivery that can be sent again")
        }
        // Taps that count nothing have no event: they are found by the number that they name.
        let search = PushSearch(try interactions(after: story.request), limit: 50, patience: .milliseconds(200))
        let found = try reading { () throws(SourceError) in try source.search(search) }
        let interactions = found.stories.reversed().filter { interaction in
            guard let line = PushFacts(interaction).line else { return false }
            return line["message"]?.int64 == story.request.seq.value
                || line["message"]?.string.map { $0 == story.request.messageID } ?? false
        }
        let text = ScenarioText(story, interactions: interactions).text
        return .response(.text(text, name: "push-\(story.request.seq).jsonl"))
    }

    private func interactions(after request: AcceptedRequest) throws(WebProblem) -> PushQuery {
        do throws(QueryError) {
            return try PushQuery("op:interact after:\(request.acceptedAt.wall.rfc3339)", now: now())
        } catch {
            throw WebProblem(error)
        }
    }
}
