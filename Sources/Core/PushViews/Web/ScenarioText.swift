import PushModel

/// A delivery and the interactions with it as a scenario for `pushctl test`: requests with their times, and expectations
/// that hold today.
struct ScenarioText {
    private let story: RequestStory
    private let interactions: [RequestStory]
    private let isShortened: Bool

    /// - Parameters:
    ///   - story: of the delivery.
    ///   - interactions: the requests that told what a person did with it, in their order.
    ///   - isShortened: whether tokens in it are cut.
    init(_ story: RequestStory, interactions: [RequestStory], isShortened: Bool = false) {
        (self.story, self.interactions, self.isShortened) = (story, interactions, isShortened)
    }

    /// The lines, each with its line feed.
    var text: String {
        let head = line {
            $0.member("scenario", "push \(story.request.seq)\(isShortened ? "; its push tokens are cut" : "")")
            $0.member("mode", story.request.mode.rawValue)
        }
        let requests = [request(story, message: nil)] + expectations + interactions.map { request($0, message: 1) }
        return head + requests.joined() + opens
    }

    private func line(_ members: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.object(members)
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }

    /// A request as it came, at the time of its acceptance, for whom the router took it.
    ///
    /// - Parameter message: the number of the delivery in the scenario; `nil`: the request names none.
    private func request(_ story: RequestStory, message: Int64?) -> String {
        let request = story.request
        let root = try? JSONDocument(scanning: request.body, limits: JSONLimits(depth: .max)).root
        let known: [(String, String?)] = [
            ("op", request.operation.rawValue), ("at", root?["at"]?.string ?? request.acceptedAt.wall.rfc3339),
            ("platform", request.platform.rawValue), ("app", request.app), ("device", request.device),
            ("external_id", request.externalID), ("state", request.state?.rawValue),
        ]
        let scripts = scripts(of: story)
        return line { writer in
            for case (let name, let value?) in known { writer.member(name, value) }
            for (name, value) in root?.members ?? [] {
                switch name {
                case _ where known.contains { $0.0 == name }, "id", "wait", "sender": break
                case "message" where message != nil: writer.member("message", message)
                default: writer.member(name, raw: value.rawBytes)
                }
            }
            if !scripts.isEmpty {
                writer.member("script", raw: "{\"handlers\":{\(scripts.joined(separator: ","))}}".utf8)
            }
        }
    }

    /// How the handlers behaved, as members of a script: how long they ran, and their exit status.
    private func scripts(of story: RequestStory) -> [String] {
        var names: Set<String> = []
        return story.invocations.compactMap { invocation in
            guard let name = invocation.handler, let result = invocation.result, Self.isRepeated(result),
                names.insert(name).inserted
            else { return nil }
            // A handler that was stopped would have gone on.
            let budget = invocation.budget.milliseconds
            let takes = result.outcome == .timedOut ? budget + 1000 : result.exec.milliseconds
            return "\(name.asJSON):{\"takes_ms\":\(takes),\"exit\":\(result.outcome == .failed ? 1 : 0)}"
        }
    }

    /// Whether a simulation of this push alone comes to the same outcome: others' calls in its lane are not in it.
    private static func isRepeated(_ result: InvocationResult) -> Bool {
        switch result.outcome {
        case .handled, .timedOut, .failed: true
        default: !result.outcome.isDue
        }
    }

    /// The lines that expect the delivery's invocations.
    private var expectations: [String] {
        story.invocations.filter { !$0.isObserver }.compactMap { invocation in
            guard let result = invocation.result else { return nil }
            return line { writer in
                writer.member(
                    "expect",
                    object: { expect in
                        expect.member("seq", 1)
                        expect.member("callback", invocation.callback.rawValue)
                        expect.member("provider", invocation.provider)
                        if let handler = invocation.handler { expect.member("handler", handler) }
                        if Self.isRepeated(result) { expect.member("outcome", result.outcome.rawValue) }
                    })
            }
        }
    }

    /// How often it was opened.
    private var opens: String {
        guard !interactions.isEmpty else { return "" }
        let counted = story.events.filter { if case .open = $0.content { true } else { false } }
        let open = AnalyticsEvent.Kind.open.rawValue
        return "{\"expect\":{\"count\":{\"event\":{\"event_type\":\"\(open)\"}},\"is\":\(counted.count)}}\n"
    }
}

extension WebDesk {
    /// Answers with a delivery and the interactions with it, as a scenario file for `pushctl test`.
    func scenario(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let original = try story(request)
        let (story, delivery) = (shown(original), original.request)
        guard delivery.operation == .deliver, !delivery.isErased else {
            throw WebProblem(409, "request \(delivery.seq) is not a delivery that can be sent again")
        }
        // Taps that count nothing have no event: they are found by the number that they name.
        let query = try query("op:interact after:\(delivery.acceptedAt.wall.rfc3339)")
        let found = try search(PushSearch(query, limit: 50, patience: .milliseconds(200)))
        let interactions = found.stories.reversed().filter { interaction in
            guard let message = PushFacts(interaction).line?["message"] else { return false }
            return message.int64 == delivery.seq.value
                || message.string.map { $0 == delivery.messageID } ?? false
        }
        let text = ScenarioText(
            story, interactions: interactions, isShortened: story.request.body != delivery.body
        ).text
        return .response(WebResponse(200, text).saved(as: "push-\(delivery.seq).jsonl"))
    }
}
