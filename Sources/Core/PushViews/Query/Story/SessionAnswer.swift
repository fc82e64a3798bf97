public import PushModel
public import PushRouter

/// The daemon's answer to a session's start or end, in words for who reported it.
public struct SessionAnswer: Sendable {
    /// The effect of the report. The raw values are the words in JSON.
    enum Effect: String {
        case began, continues, ended, nothing
    }

    /// As many pushes as it says something about.
    public static let pushesMax = 10

    private let story: RequestStory
    private var session: SessionRow?
    private var influenced: [AnalyticsEvent] = []
    private var others: [(seq: SequenceNumber, obstacle: String)] = []
    /// Custom events that wait.
    public var waiting = WaitingEvents()
    /// Whether the influenced opens are decided.
    public var isDecided = true
    /// The names of campaigns that a person keeps, by the id in the payload.
    public var names: [String: String] = [:]

    /// - Parameter story: the request, with the events that it caused.
    public init(_ story: RequestStory) {
        self.story = story
        influenced = story.events.filter { $0.seq == story.request.seq && $0.kind == .influencedOpen }
    }

    private var request: AcceptedRequest { story.request }

    /// The query for the pushes of its device that it may count for.
    public var candidates: String? {
        guard let device = request.device, effect == .began else { return nil }
        return "owner:braze -is:opened device:\(device.asQueryValue)"
            + (request.app.map { " app:\($0.asQueryValue)" } ?? "")
    }

    /// Takes a session that the ledger has.
    public mutating func add(_ session: SessionRow) {
        guard let device = request.device, session.key == DeviceKey(app: request.app, device: device),
            session.end.map({ $0.by == request.seq }) ?? true
        else { return }
        self.session = session
    }

    /// Takes a push of its device, with the session after it.
    public mutating func add(_ push: PushFacts, _ rules: TrackerRules) {
        guard others.count < Self.pushesMax, push.story.request.seq < request.seq,
            let obstacle = push.obstacleToInfluence(rules)
        else { return }
        others.append((push.story.request.seq, obstacle))
    }

    private var effect: Effect {
        guard let session else { return .nothing }
        if session.end != nil { return .ended }
        return session.number == request.seq ? .began : .continues
    }

    private func sentence(in zone: LocalZone) -> String {
        switch effect {
        case .began: return "a session began"
        case .continues:
            return "continues the session of \(zone.text(session?.startedAt ?? request.acceptedAt.wall))"
        case .ended: return "ended the session of \(zone.text(session?.startedAt ?? request.acceptedAt.wall))"
        case .nothing:
            return request.device == nil
                ? "changed nothing: it names no device" : "changed nothing: no session was open"
        }
    }

    /// The answer for people.
    public func text(in zone: LocalZone) -> String {
        var lines = ["seq \(request.seq)  \(sentence(in: zone))"]
        if !isDecided { lines.append("its influenced opens are not decided yet (Grace=)") }
        for event in influenced {
            let campaign = event.push?.campaignID.map { " of campaign \(names.title(ofCampaign: $0))" } ?? ""
            lines.append("seq \(event.delivery)\(campaign): it counts as an influenced open")
        }
        for other in others { lines.append("seq \(other.seq): no influenced open: \(other.obstacle)") }
        if let text = waiting.text { lines.append(text) }
        return lines.map { $0.showingControls() + "\n" }.joined()
    }

    /// The answer for programs, on one line.
    public var json: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.member("seq", request.seq.value)
            $0.member("session", effect.rawValue)
            $0.member("began_at", session?.startedAt.rfc3339)
            $0.member("decided", isDecided)
            $0.member("influenced", array: { list in influenced.forEach { list.int($0.delivery.value) } })
            $0.member(
                "not_influenced",
                array: { list in
                    for other in others {
                        list.object {
                            $0.member("seq", other.seq.value)
                            $0.member("why", other.obstacle)
                        }
                    }
                })
            $0.member("custom_events_waiting", object: { waiting.write(to: &$0) })
        }
        return writer.bytes
    }
}
