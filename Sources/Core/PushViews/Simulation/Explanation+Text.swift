public import PushModel
import PushRouter

extension Explanation {
    /// The explanation for people: lines for a terminal, each with a line feed.
    public var text: String { lines().map { "\($0.text)\n" }.joined() }

    /// Returns the explanation for people, as lines for a terminal.
    ///
    /// - Parameter place: the origin of the payload, for the start of the first line.
    public func lines(at place: String? = nil) -> [ReportLine] {
        let transport = decision.transport == platform.usualTransport ? "" : " over \(decision.transport.rawValue)"
        var lines: [ReportLine] = []
        lines.add((place.map { "\($0): " } ?? "") + headline, .heading)
        lines.add("  \(platform.rawValue)\(transport), app in state \(state.rawValue), \(mode.rawValue) mode")
        lines.add("  \(shown.text)")
        if decision.braze != nil, tap.isPossible { lines.add("  a tap: \(tap.text)") }
        if let message = decision.message { lines.add("  " + message.line) }
        if let braze = decision.braze { details(of: braze).forEach { lines.add("  " + $0) } }
        lines.add("Why", reasons.enumerated().map { "\($0.offset + 1). \($0.element)" })
        let rules = decision.providers.compactMap(\.originText)
        lines.add(rules.isEmpty ? "Remarks" : "Rules", rules + remarks)
        lines.add("Callbacks", .heading)
        if let outcome = decision.outcome {
            let nobody =
                switch outcome {
                case .ownReceiver: "No service of the app runs"
                case .swallowed where decision.reasons.contains(where: \.isForOtherCode): "Only what Why names runs"
                case .swallowed where !decision.reasons.contains { $0.isForOthers }: "No handler gets it"
                default: "No callback of the app runs"
                }
            lines.add("  \(nobody); the outcome is \(outcome.rawValue)", outcome.tone)
        }
        if mayRunNoWorker {
            lines.add("  where the browser shows it (declarative web push), no worker runs; in any other browser:")
        }
        for invocation in invocations { lines.add("  \(invocation.text)") }
        lines.add(
            "Routes that do not match",
            unmatchedRoutes.map { "\($0.callback.rawValue): \($0.route): \($0.reason)" })
        lines.add("Sent to /users/track", tracked.map(\.text))
        for tracked in trackedActs {
            lines.add("Sent to /users/track by \(tracked.act.text)", tracked.entries.map(\.text))
        }
        lines.add("Warnings", warnings.map { "- \($0)" }, .warning)
        return lines
    }

    /// Whether a browser with declarative web push shows the notification itself and runs no worker.
    var mayRunNoWorker: Bool { decision.reasons.contains(.declarativeWebPush(isMutable: false)) }

    /// The payload in one line.
    var headline: String {
        guard let braze = decision.braze else {
            guard let owner = decision.providers.first else { return "a push of no known provider" }
            let names = decision.matches.dropFirst().joined(separator: ", ")
            return "a push of \(owner.provider.name)"
                + (owner.confidence == .low ? ", by a rule of low confidence" : "")
                + (names.isEmpty ? "" : "; ambiguous, \(names) would match too")
        }
        let campaign = braze.campaignID.map { "campaign \($0)" } ?? "no campaign"
        let facts = ["a Braze push", braze.kind.rawValue, campaign] + braze.features.map(\.rawValue)
        return facts.joined(separator: ", ")
            + (countsForInfluencedOpen ? "; counts" : "; does not count") + " for influenced opens"
            + (countsForInfluencedOpen ? "" : obstacleToInfluence.map { ": \($0)" } ?? "")
    }

    /// The reason why no session counts as an influenced open of a Braze push; `nil` if none is known.
    private var obstacleToInfluence: String? {
        var rules = TrackerRules()
        if reasonCodes.contains(.campaignEventsOff) { rules.appsWithoutCampaignEvents = [Glob("*")] }
        return decision.obstacleToInfluence(rules)
    }
}

extension [ReportLine] {
    /// Appends a line, with control characters made visible so that a payload cannot control the terminal.
    fileprivate mutating func add(_ text: String, _ tone: ReportLine.Tone = .plain) {
        append(ReportLine(text.showingControls(), tone))
    }

    /// Appends a title and indented texts; appends nothing if there are no texts.
    fileprivate mutating func add(_ title: String, _ texts: [String], _ tone: ReportLine.Tone = .plain) {
        guard !texts.isEmpty else { return }
        add(title, tone == .plain ? .heading : tone)
        for text in texts { add("  \(text)", tone) }
    }
}

extension Explanation {
    private func details(of braze: BrazeFacts) -> [String] {
        var lines: [String] = []
        // Android opens what the block names, and shows no button of Braze's.
        let isLost = reasonCodes.contains(.brazeLost)
        if isLost {
            let action = decision.message?.notification?.first { $0.name == "click_action" }
            let opened = action.map { "the activity for \($0.text), the block's click_action" } ?? "the app"
            lines.append("a tap opens \(opened)" + (braze.deepLink.map { ", and not Braze's link \($0)" } ?? ""))
        } else if let link = braze.deepLink {
            lines.append("a tap opens \(link)")
        }
        for action in isLost ? [] : braze.actions {
            let title = action.title.map { "\"\($0)\"" } ?? "without text"
            let id = action.id.map { ", id \($0)" } ?? ""
            let uri = action.uri.map { " \($0)" } ?? ""
            lines.append("button \(title)\(id): \(action.kind.rawValue)\(uri)")
        }
        return lines + decision.keys.keyValues.map { "key-value \($0) = \($1)" }
    }
}

extension RemoteMessage {
    /// The fields of the message that an app can read, without those at FCM's defaults.
    fileprivate var line: String {
        var facts = [messageID.map { "message \($0)" } ?? "a message without an id"]
        if let from { facts.append("from \(from)") }
        if originalPriority != nil || priority != nil {
            let delivered = priority == originalPriority ? "" : priority.map { ", delivered as \($0.rawValue)" } ?? ""
            facts.append("priority \(originalPriority?.rawValue ?? "unknown")\(delivered)")
        }
        if ttl != 0 { facts.append("ttl \(ttl) s") }
        if sentTime != 0 { facts.append("sent at " + Self.date(sentTime)) }
        if let collapseKey { facts.append("collapse key \(collapseKey)") }
        if let notification {
            let title = notification.first { $0.name == "title" }
            facts.append(title.map { "notification \"\($0.text)\"" } ?? "notification without title")
        }
        return facts.joined(separator: ", ")
    }

    /// Returns milliseconds since 1970 as RFC 3339 up to the year 9999, and any other value as a number of ms.
    private static func date(_ milliseconds: Int64) -> String {
        let endOf9999: Int64 = 253_402_300_800_000
        guard (0..<endOf9999).contains(milliseconds) else { return "\(milliseconds) ms" }
        return WallTime(milliseconds: milliseconds).rfc3339
    }
}

extension TrackedData {
    fileprivate var text: String {
        let profile = identifier.map { " for \($0.textWithKind)" } ?? ""
        let told = "\(kind.rawValue) \(String(decoding: object.rawBytes, as: UTF8.self))\(profile), by track \(rule)"
        return fault.map { "\(told): rejected: \($0.text)" } ?? told
    }
}

extension UserAct {
    fileprivate var text: String {
        switch self {
        case .opened: "a tap"
        case .button(let id, _): "the button \(id)"
        case .dismissed: "a dismissal"
        }
    }
}

extension UserIdentifier {
    /// The identifier for people, always with its kind.
    fileprivate var textWithKind: String {
        if case .externalID(let id) = self { "external_id \(id)" } else { text }
    }
}

extension ProviderMatch {
    /// The origin of the rule; `nil` if its file does not state it.
    var originText: String? {
        guard let origin = rule.origin else { return nil }
        let what =
            switch origin {
            case .sdk: "the SDK's own test"
            case .reading: "the keys that the SDK's code reads"
            case .documentation: "the provider's documentation"
            case .copy: "a copy, not the SDK's own code"
            case .interpretation: "an interpretation"
            }
        return "\(provider.name): \(what)" + (rule.source.map { "; source: \($0)" } ?? "")
    }
}

extension Explanation.Invocation {
    var text: String {
        let callback = planned.callback.rawValue
        guard planned.owner == .route else { return "\(callback) -> tracker of opens" }
        guard let route, let handler else { return "\(callback) -> nobody" }
        let what = isObserver ? "copy to handler" : "handler"
        let open = routeWhileOpen.map { "route \($0) has it" } ?? "it ends as failed"
        let matched = conditions.isEmpty ? "" : " (\(conditions.joined(separator: ", ")))"
        return "\(callback) -> \(what) \(handler), by route \(route)\(matched), within \(budget.milliseconds) ms"
            + (breaker == nil ? "" : "; while the breaker of \(handler) is open, \(open)")
    }
}
