import PushModel
import Store

extension RequestStory {
    /// The story for people.
    var text: String {
        "Request \(request.seq)\n" + Text.columns(requestFacts, indent: 2)
            + "\nAs it came\n  \(String(decoding: request.body, as: UTF8.self))\n"
            + invocations.map(\.story).joined() + eventList
    }

    private var requestFacts: [[String]] {
        let peer = request.peer
        let facts: [(String, String?)] = [
            ("op", request.operation.rawValue),
            ("accepted", LocalTime.text(request.acceptedAt.wall)),
            ("from", "uid \(peer.uid), gid \(peer.gid), pid \(peer.pid)"),
            ("id", request.id),
            ("mode", request.mode.rawValue),
            ("platform", request.platform.rawValue),
            ("app", request.app),
            ("device", request.device),
            ("user", request.externalID),
            ("message id", request.messageID),
        ]
        return facts.compactMap { name, value in value.map { [name, $0] } }
    }

    private var eventList: String {
        guard !events.isEmpty else { return "" }
        let rows = events.map { event in
            [
                LocalTime.text(WallTime(milliseconds: event.time * 1000)), event.kind.rawValue,
                "by request \(event.seq)", event.campaignID.map { "campaign \($0)" } ?? "no campaign",
            ]
        }
        return "\nEvents\n" + Text.columns(rows, indent: 2)
    }
}

extension InvocationRecord {
    fileprivate var story: String {
        "\nInvocation \(id.n): \(callback.rawValue), \(result?.outcome.rawValue ?? "in flight")\n"
            + Text.columns(facts, indent: 2)
    }

    private var facts: [[String]] {
        let times = result.map { result in
            "queue \(result.queue.milliseconds) ms, exec \(result.exec.milliseconds) ms, "
                + "total \(result.total.milliseconds) ms of \(budget.milliseconds) ms"
        }
        let completion = result?.completion.map { completion in
            let options = completion.options.isEmpty ? "" : ", options \(completion.options.joined(separator: " "))"
            return "by \(completion.by.rawValue), \(completion.times) x, \(completion.result.rawValue)\(options)"
        }
        let facts: [(String, String?)] = [
            ("provider", provider),
            ("route", route),
            ("handler", handler),
            ("reason", result?.reason),
            ("times", times ?? (started ? "started" : "not started")),
            ("completed", completion),
            ("decided", result.map { LocalTime.text($0.decidedAt) }),
        ]
        return facts.compactMap { name, value in value.map { [name, $0] } }
    }
}
