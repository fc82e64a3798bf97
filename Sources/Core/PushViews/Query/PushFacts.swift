public import PushModel
public import PushRouter

/// The values of one request that queries, lists and pages ask for. A value that takes longer is computed once.
public final class PushFacts {
    /// The request, and what came of it.
    public let story: RequestStory
    let detection: DetectionSettings
    /// The routes of the configuration that decided it; `nil`: they are no question.
    private let table: RoutingTable?
    /// The names of campaigns that a person keeps, by the id in the payload.
    public var names: [String: String] = [:]
    private var scanned: JSONDocument??
    private var lowered: [UInt8]?

    /// - Parameters:
    ///   - story: the request, and what came of it.
    ///   - detection: the settings of the configuration that decided it.
    public init(_ story: RequestStory, detection: DetectionSettings = DetectionSettings()) {
        (self.story, self.detection, table) = (story, detection, nil)
    }

    /// - Parameters:
    ///   - story: the request, and what came of it.
    ///   - table: the configuration that decided it: a verdict says which route it nearly matched.
    public init(_ story: RequestStory, table: RoutingTable) {
        (self.story, detection, self.table) = (story, table.detection, table)
    }

    /// The first route that did not match because the payload has its key in another spelling.
    var nearRoute: UnmatchedRoute? {
        // Only a condition of a key can be near; the decision takes a while.
        guard let table, table.routes.contains(where: { !$0.match.data.isEmpty }), let decision else { return nil }
        return UnmatchedRoute.all(decision, platform: story.request.platform, table: table).first(
            where: \.isNear)
    }

    /// Received line; `nil`: it cannot be read.
    public var line: JSONNode? {
        if scanned == nil {
            // Limits may have been higher when it was accepted.
            scanned = .some(try? JSONDocument(scanning: story.request.body, limits: JSONLimits(depth: .max)))
        }
        return scanned??.root
    }

    /// Whether it is a push: one, or one for many.
    var isPush: Bool { story.request.operation == .deliver || story.request.operation == .publish }

    /// The keys and values of the payload's data, or the payload itself.
    var data: JSONNode? { line.flatMap(Self.data) }

    /// The same of a received line.
    static func data(of line: JSONNode) -> JSONNode? {
        guard let payload = line["payload"] else { return nil }
        let message = payload["message"] ?? payload
        return message["data"] ?? message["extras"] ?? message
    }

    /// The visible content of the payload; `nil` if there is none. Its outcome tells who shows it: a decision takes a while.
    public var content: NotificationContent? {
        guard let payload = line?["payload"], payload.kind == .object else { return nil }
        let isOfBraze = story.invocations.contains { $0.result?.outcome == .handedToTracker }
        return NotificationContent(
            payload, platform: story.request.platform, transport: story.request.transport,
            shownBy: isShownBySystem ? .system : isOfBraze ? .braze : nil)
    }

    /// Whether the system shows it, and no code of the app ran.
    var isShownBySystem: Bool { story.invocations.contains { $0.result?.outcome == .shownBySystem } }

    /// The campaign that its receipt names, or the event that it is the cause of; of a push of Braze's that the system shows, whose
    /// open is lost, that of its payload.
    public var campaign: String? {
        let seq = story.request.seq
        return story.events.lazy.filter { $0.seq == seq }.compactMap { $0.push?.campaignID }.first
            ?? (losesOpen ? campaignOfPayload : nil)
    }

    /// The campaign by its name, else by its id.
    var campaignName: String? { campaign.map { names[$0] ?? $0 } }

    /// The campaign by its name and its id.
    var campaignTitle: String? { campaign.map { id in names[id].map { "\($0) (\(id))" } ?? id } }

    /// Whether the system shows a push of Braze's without Braze's SDK, so that nothing counts its open.
    var losesOpen: Bool { story.invocations.contains { $0.result?.reasonCode == .brazeLost } }

    private var campaignOfPayload: String? {
        detection.campaign(ofLine: story.request.body, story.request.platform)
    }

    /// The result of the request, as sentences.
    public var sentence: String { PushSummary(self).sentence }

    /// The sender, where a gateway passed it on.
    public var sender: PushSender? { line.flatMap { PushSender(ofLine: $0) } }

    /// The events of later requests about it: its opens.
    public var opens: [AnalyticsEvent] {
        story.events.filter { event in
            switch event.content {
            case .open, .influencedOpen: true
            case .received, .iosForeground, .sessionStart, .sessionEnd, .tokenStateChange, .uninstall, .customEvent:
                false
            }
        }
    }

    private var label: String? {
        guard let payload = line?["payload"] else { return nil }
        let message = payload["message"] ?? payload
        for options in [message["fcm_options"], message["fcmOptions"], message["android"]?["fcm_options"]] {
            if let label = (options?["analytics_label"] ?? options?["analyticsLabel"])?.string { return label }
        }
        return payload["google.c.a.m_l"]?.string
    }

    // MARK: Terms

    func satisfies(_ condition: PushQuery.Term.Condition) -> Bool {
        let request = story.request
        switch condition {
        case .patterns(let word, let patterns):
            return values(of: word).contains { value in patterns.contains { $0.matches(value) } }
        case .data(let key, let patterns):
            guard let value = data?[key] else { return false }
            let text = value.string ?? String(decoding: value.rawBytes, as: UTF8.self)
            return patterns.contains { $0.matches(text) }
        case .words(.has, let words): return words.contains { QueryFeature(rawValue: $0).map(has) ?? false }
        case .words(.is, let words): return words.contains { QueryState(rawValue: $0).map(isIn) ?? false }
        case .words(let word, let words): return values(of: word).contains { words.contains($0) }
        case .acceptedBefore(let time): return request.acceptedAt.wall < time
        case .acceptedFrom(let time): return request.acceptedAt.wall >= time
        case .longer(than: let bytes): return request.body.count > bytes
        case .slower(than: let span): return story.invocations.contains { ($0.result?.total ?? .zero) > span }
        case .text(let text): return hasText(text)
        }
    }

    private func values(of word: QueryWord) -> [String] {
        let request = story.request
        let found: [String?] =
            switch word {
            case .app: [request.app]
            case .device: [request.device]
            case .user: [request.externalID]
            case .campaign: [campaign]
            case .id: ["\(request.seq)", request.id, request.messageID]
            case .outcome: story.invocations.map { $0.result?.outcome.rawValue }
            case .handler: story.invocations.map(\.handler)
            case .owner: story.invocations.filter { !$0.isObserver }.map { $0.provider ?? "none" }
            case .callback: story.invocations.map { $0.callback.rawValue }
            case .route: story.invocations.map(\.route)
            case .platform: [request.platform.rawValue]
            case .op: [request.operation.rawValue]
            case .client: [sender?.client]
            case .topic: [line?["topic"]?.string]
            case .code: story.invocations.map { $0.result?.reasonCode?.rawValue }
            case .label: [label]
            case .data, .has, .is, .before, .after, .larger, .slower: []
            }
        return found.compactMap(\.self)
    }

    private func has(_ feature: QueryFeature) -> Bool {
        switch feature {
        case .notification: content != nil
        case .buttons: !(content?.buttons.isEmpty ?? true)
        case .image: content?.image != nil
        case .campaign: campaign != nil
        case .replay: !story.replays.isEmpty
        case .open: !opens.isEmpty
        case .error: story.attempts.contains { $0.output != nil }
        case .attempts: isIn(.retry)
        case .customData: !story.entries.isEmpty
        }
    }

    private func isIn(_ state: QueryState) -> Bool {
        switch state {
        case .dead: !story.deadLetters.isEmpty
        case .pending: story.isPending
        case .late: story.invocations.contains { $0.result?.outcome.isMissed ?? false }
        case .retry: story.attempts.contains { $0.number > 1 } || !story.attemptsLeftOut.isEmpty
        case .replay: story.request.replayOf != nil
        case .observed: story.invocations.contains(where: \.isObserver)
        case .opened: has(.open)
        case .erased: story.request.isErased
        case .problem: PushSummary(self).verdict.tone == .bad
        }
    }

    private func hasText(_ text: [UInt8]) -> Bool {
        let body: [UInt8]
        if let lowered {
            body = lowered
        } else {
            // Other letters than those of ASCII are found in the case in which they were written.
            body = story.request.body.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
            lowered = body
        }
        return body.has(text)
            || story.invocations.contains { $0.handler.map { Array($0.lowercased().utf8).has(text) } ?? false }
    }
}

extension RequestStory {
    /// Whether one of its invocations has no outcome yet.
    var isPending: Bool { invocations.contains { $0.result == nil } }
}
