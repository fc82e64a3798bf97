import PushModel
import PushViews
import Store

extension RequestStory {
    /// The story for people.
    func lines(in zone: LocalZone) -> [ReportLine] {
        let head = titled("Request \(request.seq)", Text.columns(requestFacts(zone), indent: 2))
        let body =
            request.isErased
            ? [ReportLine(""), ReportLine("Erased: \"pushctl erase\" removed the payload and the names of the person")]
            : titled("As received", "  \(String(decoding: request.body, as: UTF8.self).showingControls())\n")
        return head.dropFirst() + senderList + body + invocationList(zone) + eventList(zone) + entryList(zone)
    }

    /// The facts about the sender, if a gateway passed the push on.
    private var senderList: [ReportLine] {
        guard let line = try? JSONDocument(scanning: request.body, limits: JSONLimits(depth: .max)),
            let sender = PushSender(ofLine: line.root)
        else { return [] }
        var facts: [[String]] = []
        sender.forEachFact { key, value in facts.append([key, value.showingControls()]) }
        return facts.isEmpty ? [] : titled("Sent by", Text.columns(facts, indent: 2))
    }

    /// A part of the story: a blank line, its title, and its text.
    private func titled(_ title: String, _ text: String, _ tone: ReportLine.Tone = .heading) -> [ReportLine] {
        [ReportLine(""), ReportLine(title, tone)] + text.split(separator: "\n").map { ReportLine(String($0)) }
    }

    private func invocationList(_ zone: LocalZone) -> [ReportLine] {
        guard invocations.isEmpty else {
            return invocations.flatMap { invocation in
                let steps = steps(of: invocation)
                return titled(
                    invocation.title,
                    Text.columns(invocation.facts(request.mode, zone), indent: 2)
                        + (steps.isEmpty ? "" : "  steps\n" + Text.columns(steps, indent: 4)) + outputs(of: invocation),
                    invocation.result?.outcome.tone ?? .heading)
            }
        }
        let isMissing = request.operation.hasInvocations
        return [
            ReportLine(""),
            ReportLine("No invocation" + (isMissing ? ", although there should be one: the ledger is damaged" : "")),
        ]
    }

    private func requestFacts(_ zone: LocalZone) -> [[String]] {
        let peer = request.peer
        let facts: [(String, String?)] = [
            ("op", request.operation.rawValue),
            ("accepted", zone.text(request.acceptedAt.wall, milliseconds: true)),
            ("from", "\(producer ?? "uid \(peer.uid)"), gid \(peer.gid), pid \(peer.pid)"),
            ("id", request.id),
            ("replay of", request.replayOf.map { "request \($0)" }),
            ("replayed as", replays.isEmpty ? nil : replays.map { "request \($0)" }.joined(separator: ", ")),
            (
                "dead letter",
                deadLetters.isEmpty ? nil : "yes: \"pushctl replay \(request.seq)\" accepts the request again"
            ),
            ("mode", request.mode.rawValue),
            ("platform", request.platform.rawValue),
            ("app", request.app),
            ("device", request.device),
            ("user", request.externalID),
            ("message id", request.messageID),
            ("state", request.state?.rawValue),
            ("transport", request.transport?.rawValue),
            ("priority", request.priorities),
        ]
        let ends = [("became", verdict?.rawValue), ("reaches", fanOut?.inWords)]
        return (facts + request.requestMembers + ends).compactMap { name, value in value.map { [name, $0] } }
    }

    private func eventList(_ zone: LocalZone) -> [ReportLine] {
        guard !events.isEmpty else { return [] }
        let rows = events.map { event in
            [
                zone.text(WallTime(milliseconds: event.time * 1000)), event.kind.rawValue,
                "by request \(event.seq)", event.subject,
            ]
        }
        return titled("Events", Text.columns(rows, indent: 2))
    }
}

extension AcceptedRequest {
    /// FCM's priorities, as sent and as delivered; `nil` if the payload has none.
    fileprivate var priorities: String? {
        guard originalPriority != nil || deliveredPriority != nil else { return nil }
        let delivered =
            deliveredPriority == originalPriority ? "" : ", delivered as \(deliveredPriority?.rawValue ?? "unknown")"
        return "\(originalPriority?.rawValue ?? "unknown")\(delivered)"
    }
}

extension AnalyticsEvent {
    /// The name of a custom event, or the campaign and the button that was pressed.
    fileprivate var subject: String {
        if case .customEvent(let name, _) = content { return name }
        let campaign = push?.campaignID.map { "campaign \($0)" } ?? "no campaign"
        return campaign + (button.map { ", button \($0.id)" } ?? "")
    }
}

extension RequestStory {
    private func entryList(_ zone: LocalZone) -> [ReportLine] {
        guard !entries.isEmpty else { return [] }
        let rows = entries.map { record in
            let entry = record.entry
            let end = record.settledAt.map { " \(zone.text($0, milliseconds: true))" } ?? ""
            let by = record.settledBy.map { " by request \($0)" } ?? ""
            let reason = record.reason.map { ": \($0)" } ?? ""
            return [
                "\(entry.number)", entry.kind.rawValue, entry.name ?? "-", entry.destination.displayText,
                "\(record.state.rawValue)\(end)\(by)\(reason)",
            ]
        }
        return titled("Custom data", Text.columns(rows, indent: 2))
    }
}

extension EntryDestination {
    fileprivate var displayText: String {
        if case .stored(let suite, _) = self { "in \(suite)" } else { "(direct)" }
    }
}

extension AcceptedRequest {
    /// The members of the request line that are neither the payload nor the target.
    fileprivate var requestMembers: [(String, String?)] {
        let keys: [String] =
            switch operation {
            case .interact: ["kind", "action", "text", "message"]
            case .session: ["kind"]
            case .token: ["kind", "token"]
            case .log: ["kind", "suite", "braze_id", "name"]
            case .topic: ["kind", "project", "topic"]
            case .publish: ["project", "topic", "condition"]
            case .deliver, .device: []
            }
        // The limits may have been higher when the request was accepted.
        guard !keys.isEmpty, let line = try? JSONDocument(scanning: body, limits: JSONLimits(depth: .max)) else {
            return []
        }
        return keys.map { key in (key, line.root[key].map { $0.string ?? String(decoding: $0.rawBytes, as: UTF8.self) })
        }
    }
}

extension Predecessor {
    fileprivate var text: String {
        "invocation \(id.n) of request \(id.seq), " + (handler.map { "handler \($0)" } ?? "the tracker")
            + (took.map { ", \($0.milliseconds) ms" } ?? "")
    }
}

extension InvocationRecord {
    fileprivate var title: String {
        "\(isObserver ? "Observer" : "Invocation") \(id.n): \(callback.rawValue), \(result?.outcome.rawValue ?? "in flight")"
    }

    fileprivate func facts(_ mode: DispatchMode, _ zone: LocalZone) -> [[String]] {
        let times = result.map { result in
            let (waited, ran) = (result.queue.milliseconds, result.exec.milliseconds)
            let (total, budget) = (result.total.milliseconds, budget.milliseconds)
            // The daemon or leader was gone, so the waiting and the running time are unknown.
            if [.daemonCrashed, .leaderLost].contains(result.reasonCode) {
                return "started; \(total) ms in all, \(budget) ms allowed"
            }
            return switch mode {
            case .device: "waited \(waited) ms, ran \(ran) of \(budget) ms"
            case .relay: "waited \(waited) ms, ran \(ran) ms: \(total) of \(budget) ms"
            }
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
            ("reason code", result?.reasonCode?.rawValue),
            ("times", times ?? (started ? "started" : "not started")),
            ("ahead of it", result?.ahead.map(String.init)),
            ("longest before it", result?.waitedFor.map(\.text)),
            ("completed", completion),
            ("decided", result.map { zone.text($0.decidedAt, milliseconds: true) }),
        ]
        return facts.compactMap { name, value in value.map { [name, $0] } }
    }
}
