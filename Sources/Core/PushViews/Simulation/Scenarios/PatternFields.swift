import PushModel
import PushRouter

/// The type of a pattern's member, and the way to compare it.
indirect enum PatternField: Sendable {
    /// A text, compared for equality.
    case text
    /// A word of a closed set.
    case word([String])
    /// A text for people, which must contain the expected text.
    case excerpt
    /// An integer.
    case number
    /// A number, with or without a fraction.
    case decimal
    /// A boolean; a missing member counts as false.
    case flag
    /// A time as a number of units of `unit` milliseconds; the pattern may use RFC 3339 too.
    case time(unit: Int64)
    /// The name of an analytics event: the full name, or its last part.
    case eventType
    /// A list of strings, in order.
    case list
    /// An object that must have the given members with these values, and may have others.
    case values
    /// An object with these members.
    case object([String: PatternField])
    /// A list of objects with these members, in order.
    case objects([String: PatternField])
}

extension Pattern.Subject {
    /// The members of its lines in the output of `simulate`; `null` in a pattern means no value.
    var fields: [String: PatternField] {
        switch self {
        case .invocation: Self.invocationFields
        case .event: Self.eventFields
        case .entry: Self.entryFields
        case .interaction: Self.interactionFields
        case .breaker: Self.breakerFields
        case .error: Self.errorFields
        }
    }

    private static let invocationFields: [String: PatternField] = [
        "seq": .number, "n": .number, "id": .text, "at": .time(unit: 1), "callback": .words(Callback.self),
        "provider": .text, "route": .text, "handler": .text, "observer": .flag, "outcome": .words(Outcome.self),
        "reason": .excerpt, "reason_code": .words(ReasonCode.self), "queue_ms": .number, "exec_ms": .number,
        "total_ms": .number,
        "waited_for": .object(["seq": .number, "n": .number, "handler": .text, "took_ms": .number]), "ahead": .number,
        "attempts": .objects([
            "route": .text, "handler": .text, "asked_ms": .number, "started_ms": .number, "ended_ms": .number,
            "answer": .words(AttemptRecord.Answer.self), "status": .number, "signal": .number,
            "retry_after_ms": .number, "reason": .excerpt, "errors": .excerpt, "errors_cut": .number,
        ]),
        "completion": .object([
            "by": .word(["handler", "tracker", "default"]), "times": .number, "result": .words(FetchResult.self),
            "options": .list,
        ]),
    ]

    private static let eventFields: [String: PatternField] = [
        "event_type": .eventType, "at": .time(unit: 1), "id": .text, "time": .time(unit: 1000),
        "external_user_id": .text,
        "device_id": .text, "app_id": .text, "platform": .words(Platform.self), "campaign_id": .text,
        "message_id": .text, "button_action_type": .words(ButtonAction.self), "button_string": .text,
        "duration": .decimal, "push_token": .text, "push_token_device_id": .text,
        "push_token_state_change_type": .words(TokenRequest.Kind.self), "name": .text, "properties": .text,
    ]

    private static let entryFields: [String: PatternField] = [
        "entry": .number, "seq": .number, "at": .time(unit: 1), "state": .words(EntryState.self),
        "kind": .words(EntryKind.self), "suite": .text, "braze_id": .text, "external_id": .text,
        "alias": .object(["name": .text, "label": .text]), "name": .text, "properties": .values,
        "attributes": .values, "reason": .excerpt,
    ]

    private static let interactionFields: [String: PatternField] = [
        "seq": .number, "id": .text, "at": .time(unit: 1), "verdict": .words(Interaction.Verdict.self),
        "delivery": .number, "reason": .excerpt,
    ]

    private static let breakerFields: [String: PatternField] = [
        "at": .time(unit: 1), "handler": .text, "state": .words(HandlerStatus.BreakerState.self),
    ]

    private static let errorFields: [String: PatternField] = [
        "code": .words(ProtocolError.Code.self), "field": .text, "message": .excerpt,
    ]
}

extension PatternField {
    /// The full names of the events; each last part is unique.
    static let eventTypes = AnalyticsEvent.Kind.allCases.map(\.rawValue)

    fileprivate static func words<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> PatternField {
        .word(type.allCases.map(\.rawValue))
    }

    /// Returns the fault of an expected value; `nil` if it is valid.
    func complaint(about value: JSONNode) -> String? {
        if value.kind == .null { return nil }
        switch self {
        case .text, .excerpt: return value.kind == .string ? nil : "is a string, or null for none"
        case .number: return value.int64 != nil ? nil : "is a whole number, or null for none"
        case .decimal: return value.double != nil ? nil : "is a number, or null for none"
        case .flag: return value.bool != nil ? nil : "is true or false"
        case .word(let words):
            return value.string.map(words.contains) == true ? nil : "is one of \(words.joined(separator: ", "))"
        case .time(let unit): return Self.time(value, unit: unit) != nil ? nil : "is a time: RFC 3339, or a number"
        case .eventType:
            let isKnown = value.string.map { name in Self.eventTypes.contains { Self.names($0, name) } }
            return isKnown == true ? nil : "is one of \(Self.eventTypes.joined(separator: ", ")), or the end of one"
        case .list:
            let isList = value.kind == .array && value.elements.allSatisfy { $0.kind == .string }
            return isList ? nil : "is a list of strings"
        case .object, .values: return value.kind == .object ? nil : "is an object, or null for none"
        case .objects:
            let isList = value.kind == .array && value.elements.allSatisfy { $0.kind == .object }
            return isList ? nil : "is a list of objects"
        }
    }

    /// Whether an actual value is as expected; `nil` means no value.
    func matches(_ expected: JSONNode, _ actual: JSONNode?) -> Bool {
        guard let actual, actual.kind != .null else { return isNothing(expected) }
        switch self {
        case .text, .word, .list, .flag: return expected.isEquivalent(to: actual)
        case .number: return expected.int64 == actual.int64
        case .decimal: return expected.double == actual.double
        case .time(let unit): return Self.time(expected, unit: unit) == actual.int64
        case .excerpt: return expected.string.map { Self.contains(actual.string ?? "", $0) } ?? false
        case .eventType: return expected.string.map { Self.names(actual.string ?? "", $0) } ?? false
        case .object, .values: return expected.kind == .object
        case .objects: return expected.kind == .array && expected.count == actual.count
        }
    }

    /// Whether an expected value equals the default of a missing member.
    private func isNothing(_ value: JSONNode) -> Bool {
        switch value.kind {
        case .null: true
        case .array: value.count == 0
        default: value.bool == false
        }
    }

    /// Whether a name is an event's full name or its last part.
    static func names(_ full: String, _ name: String) -> Bool { full == name || full.hasSuffix(".\(name)") }

    private static func contains(_ text: String, _ part: String) -> Bool {
        let (text, part) = (Array(text.utf8), Array(part.utf8))
        guard part.count <= text.count else { return false }
        return (0...text.count - part.count).contains { text[$0...].starts(with: part) }
    }

    private static func time(_ value: JSONNode, unit: Int64) -> Int64? {
        if let text = value.string { return WallTime(rfc3339: text).map { $0.milliseconds / unit } }
        return value.int64
    }
}
