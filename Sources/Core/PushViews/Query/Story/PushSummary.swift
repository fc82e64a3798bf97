public import PushModel
import PushRouter

/// One request in a line: for lists of the page and of `pushctl`, the live stream and the API.
public struct PushSummary {
    /// The facts of the request.
    public let facts: PushFacts
    /// The most telling invocation of an owner: an undecided one, otherwise a dead letter, otherwise the first one.
    public let main: InvocationRecord?

    /// - Parameter facts: the whole story.
    public init(_ facts: PushFacts) {
        self.facts = facts
        let owners = facts.story.invocations.filter { !$0.isObserver }
        main =
            owners.first { $0.result == nil } ?? owners.first { $0.result?.outcome.isDeadLetter ?? false }
            ?? owners.first
    }

    private var request: AcceptedRequest { facts.story.request }

    /// The text that a person would see, or what stands for it.
    public var title: String {
        if let content = facts.content { return content.title }
        switch request.operation {
        case .publish:
            return facts.line?["topic"]?.string.map { "topic \($0)" } ?? facts.line?["condition"]?.string ?? ""
        case .interact:
            if let action = facts.line?["action"]?.string { return "Press of \(action)" }
            return isDismissal ? "Dismissal" : "Tap"
        case .session, .token: return facts.line?["kind"]?.string ?? ""
        case .deliver, .log, .topic, .device: return ""
        }
    }

    /// Whether a person would see nothing of it.
    var isSilent: Bool { request.operation == .deliver && facts.content == nil && !facts.isShownBySystem }

    /// Whether the gateway refused it, so that it reached nobody.
    var isRefused: Bool { main?.result?.reasonCode == .refusedSend }

    /// Its title in a list: the text that a person would see, or what it is.
    var heading: String {
        if request.isErased { return "Erased" }
        if isRefused { return "Refused send" }
        if isSilent { return "Silent push" }
        if request.operation == .deliver { return title.isEmpty ? "deliver" : title }
        if request.operation == .interact { return title }
        return "\(request.operation.rawValue) \(title)"
    }

    /// The text below it: the body, else what tells a push without a text from others.
    var subheading: String {
        if let body = facts.content?.body, !body.isEmpty { return body }
        if isRefused { return facts.sender?.client ?? "" }
        return isSilent ? (facts.data?.members ?? []).prefix(4).map(\.key).joined(separator: ", ") : ""
    }

    /// Facts about it beside its outcome.
    var marks: [String] {
        [
            isDead ? "dead letter" : nil, request.replayOf == nil ? nil : "replay",
            attempts > 1 ? "\(attempts) attempts" : nil,
        ].compactMap(\.self)
    }

    /// The provider; `none` for nobody's, `nil` where that is no question.
    public var owner: String? { main.map { $0.provider ?? "none" } }

    /// The outcome's word; `in_flight` before there is one, `nil` for a request without invocations.
    public var outcome: String? { main.map { $0.result?.outcome.rawValue ?? Self.inFlight } }

    /// The word that stands for no outcome yet.
    public static let inFlight = "in_flight"

    /// Whether it was opened, and how.
    public var opened: String? {
        // A tap has the events that it caused, which say nothing of an open of itself.
        guard facts.isPush else { return nil }
        return facts.opens.first.map { event in
            if case .influencedOpen = event.content { return "influenced" }
            return event.button.map { "direct, button \($0.id)" } ?? "direct"
        }
    }

    /// Whether one of its invocations is a dead letter.
    var isDead: Bool { !facts.story.deadLetters.isEmpty }

    /// How many attempts its main invocation took.
    public var attempts: Int { main.map { facts.story.attempts(at: $0).map(\.number).max() ?? 0 } ?? 0 }

    // MARK: In words

    /// The verdict, as sentences.
    public var sentence: String { verdict.text }

    // MARK: For programs

    /// Its members, as the API and the stream have them.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            for member in PushMember.allCases { member.write(self, to: &writer) }
        }
    }

    /// One object on one line.
    public var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}

/// The members of a push in the API and the stream: declared here alone, for the writer and the OpenAPI document.
enum PushMember: String, CaseIterable, Sendable {
    case seq
    case acceptedAt = "accepted_at"
    case op, platform, app, device
    case externalID = "external_id"
    case id
    case messageID = "message_id"
    case title, body, shown, owner, callback, handler, route, outcome
    case reasonCode = "reason_code"
    case totalMilliseconds = "total_ms"
    case budgetMilliseconds = "budget_ms"
    case pending, campaign, opened
    case deadLetter = "dead_letter"
    case replayOf = "replay_of"
    case attempts, client, sentence

    /// Its type in JSON.
    public var type: String {
        switch self {
        case .seq, .totalMilliseconds, .budgetMilliseconds, .replayOf, .attempts: "integer"
        case .pending, .deadLetter: "boolean"
        case .shown: "object"
        case .acceptedAt, .op, .platform, .app, .device, .externalID, .id, .messageID, .title, .body, .owner, .callback,
            .handler, .route, .outcome, .reasonCode, .campaign, .opened, .client, .sentence:
            "string"
        }
    }

    /// Whether it may be null.
    var isOptional: Bool {
        switch self {
        case .seq, .acceptedAt, .op, .platform, .title, .body, .pending, .deadLetter, .attempts, .sentence: false
        case .app, .device, .externalID, .id, .messageID, .shown, .owner, .callback, .handler, .route, .outcome,
            .reasonCode,
            .totalMilliseconds, .budgetMilliseconds, .campaign, .opened, .replayOf, .client:
            true
        }
    }

    /// The meaning, for people.
    public var meaning: String {
        switch self {
        case .seq: "the number of the request"
        case .acceptedAt: "the time of acceptance (RFC 3339, UTC)"
        case .op: "the operation"
        case .platform: "the platform"
        case .app: "package name or bundle id"
        case .device: "the device, as the producer names it"
        case .externalID: "the user"
        case .id: "the producer's id"
        case .messageID: "the payload's own id"
        case .title: "the text that a person sees; empty without one"
        case .body: "the text below the title; empty without one"
        case .shown: "who shows it (by: system, sdk, app, nobody), why, and the title, body, image and buttons"
        case .owner: "the provider whose payload it is; none: no known provider"
        case .callback: "the platform's callback"
        case .handler: "the handler that ran"
        case .route: "the route that picked the handler"
        case .outcome: "the outcome; \(PushSummary.inFlight): there is none yet"
        case .reasonCode: "the code of the reason"
        case .totalMilliseconds: "milliseconds from acceptance to the end"
        case .budgetMilliseconds: "milliseconds that a handler has"
        case .pending: "whether an invocation has no outcome yet"
        case .campaign: "the campaign"
        case .opened: "how it was opened: direct, with the button, or influenced"
        case .deadLetter: "whether an invocation is a dead letter"
        case .replayOf: "the request of which it is a replay"
        case .attempts: "how often a handler was tried"
        case .client: "the program that sent the push to the gateway"
        case .sentence: "the result, as a sentence"
        }
    }

    /// Writes it as a member of an object.
    public func write(_ push: PushSummary, to writer: inout JSONWriter) {
        let (request, main) = (push.facts.story.request, push.main)
        switch self {
        case .seq: writer.member(rawValue, request.seq.value)
        case .acceptedAt: writer.member(rawValue, request.acceptedAt.wall.rfc3339)
        case .op: writer.member(rawValue, request.operation.rawValue)
        case .platform: writer.member(rawValue, request.platform.rawValue)
        case .app: writer.member(rawValue, request.app)
        case .device: writer.member(rawValue, request.device)
        case .externalID: writer.member(rawValue, request.externalID)
        case .id: writer.member(rawValue, request.id)
        case .messageID: writer.member(rawValue, request.messageID)
        case .title: writer.member(rawValue, push.title)
        case .body: writer.member(rawValue, push.facts.content?.body ?? "")
        case .shown:
            writer.key(rawValue)
            if let shown = push.facts.shown { shown.write(to: &writer) } else { writer.null() }
        case .owner: writer.member(rawValue, push.owner)
        case .callback: writer.member(rawValue, main?.callback.rawValue)
        case .handler: writer.member(rawValue, main?.handler)
        case .route: writer.member(rawValue, main?.route)
        case .outcome: writer.member(rawValue, push.outcome)
        case .reasonCode: writer.member(rawValue, main?.result?.reasonCode?.rawValue)
        case .totalMilliseconds: writer.member(rawValue, main?.result?.total.milliseconds)
        case .budgetMilliseconds: writer.member(rawValue, main?.budget.milliseconds)
        case .pending: writer.member(rawValue, push.facts.story.isPending)
        case .campaign: writer.member(rawValue, push.facts.campaign)
        case .opened: writer.member(rawValue, push.opened)
        case .deadLetter: writer.member(rawValue, push.isDead)
        case .replayOf: writer.member(rawValue, request.replayOf?.value)
        case .attempts: writer.member(rawValue, push.attempts)
        case .client: writer.member(rawValue, push.facts.sender?.client)
        case .sentence: writer.member(rawValue, push.sentence)
        }
    }
}

extension FanOut {
    /// The devices and the progress, for people.
    public var inWords: String {
        "\(members) devices: \(progress.made) deliveries made"
            + (progress.leftOut > 0 ? ", \(progress.leftOut) left out" : "") + (toCome > 0 ? ", \(toCome) to come" : "")
    }
}
