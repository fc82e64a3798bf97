import PushModel

/// The keys of `aps`. The raw values are the keys.
///
/// Source: Apple's "Generating a remote notification", table 1, and "Starting and updating Live Activities with ActivityKit
/// push notifications".
public enum APSKey: String, Sendable, CaseIterable {
    case alert, badge, sound, category
    case threadID = "thread-id"
    case contentAvailable = "content-available"
    case mutableContent = "mutable-content"
    case targetContentID = "target-content-id"
    case interruptionLevel = "interruption-level"
    case relevanceScore = "relevance-score"
    case filterCriteria = "filter-criteria"
    case timestamp, event, attributes
    case contentState = "content-state"
    case staleDate = "stale-date"
    case dismissalDate = "dismissal-date"
    case attributesType = "attributes-type"
    case inputPushToken = "input-push-token"
    case inputPushChannel = "input-push-channel"
    case contentChanged = "content-changed"
    case urlArguments = "url-args"

    /// The types of the value.
    var kinds: [JSONNode.Kind] {
        switch self {
        case .alert, .sound: [.string, .object]
        case .badge, .contentAvailable, .mutableContent, .relevanceScore, .timestamp, .staleDate, .dismissalDate,
            .inputPushToken:
            [.number]
        case .category, .threadID, .targetContentID, .interruptionLevel, .filterCriteria, .event, .attributesType,
            .inputPushChannel:
            [.string]
        case .contentState, .attributes: [.object]
        case .contentChanged: [.bool, .number]
        case .urlArguments: [.array]
        }
    }

    /// Whether the value is a number.
    public var isNumber: Bool { kinds.contains(.number) }

    /// The types of the value, for messages.
    var type: String { kinds.map(\.name).joined(separator: " or ") }

    /// The treatment of a value of another type, for messages.
    var readingOfAnotherType: String {
        switch self {
        case .alert: "there is no alert"
        case .badge: "true and false are the numbers 1 and 0; any other value is not a badge"
        case .sound: "there is no sound"
        case .contentAvailable, .mutableContent:
            #"read as Foundation's intValue reads it: "1" and true are 1, no object is"#
        case .category, .threadID, .targetContentID, .interruptionLevel, .relevanceScore, .filterCriteria, .timestamp,
            .event, .attributes, .contentState, .staleDate, .dismissalDate, .attributesType, .inputPushToken,
            .inputPushChannel, .contentChanged, .urlArguments:
            "treated as absent"
        }
    }

    /// The values that Apple documents, for a value of the right type; `nil`: any.
    func range(ofLiveActivity: Bool) -> (words: String, contains: @Sendable (JSONView) -> Bool)? {
        func words(_ list: [String]) -> (String, @Sendable (JSONView) -> Bool) {
            (list.joined(separator: ", "), { value in value.string.map(list.contains) ?? false })
        }
        return switch self {
        case .interruptionLevel: words(["passive", "active", "time-sensitive", "critical"])
        case .event: words(["start", "update", "end"])
        case .relevanceScore where !ofLiveActivity: ("0 to 1", { 0...1 ~= $0.double ?? -1 })
        case .badge: ("0 or more", { $0.double ?? -1 >= 0 })
        // 0 is the same as no key.
        case .contentAvailable, .mutableContent: ("1", { $0.double == 1 || $0.double == 0 })
        default: nil
        }
    }

    /// Whether a push has it in `aps` alone, so that the same key beside `aps` is a mistake and no key of the app.
    var isTypicalOfAPS: Bool {
        switch self {
        case .alert, .badge, .sound, .threadID, .contentAvailable, .mutableContent, .interruptionLevel,
            .relevanceScore, .contentState, .staleDate, .dismissalDate, .attributesType:
            true
        case .category, .targetContentID, .filterCriteria, .timestamp, .event, .attributes, .inputPushToken,
            .inputPushChannel, .contentChanged, .urlArguments:
            false
        }
    }

    /// Returns the key that is meant beside `aps`, where the app's own keys are, too: only hyphens and case may differ.
    static func meantBeside(_ name: String) -> APSKey? {
        allCases.first { $0.isTypicalOfAPS && Spelling.isSame($0.rawValue, name) }
    }

    /// The keys of the object `alert`.
    static let keysOfAlert = [
        "title", "subtitle", "body", "launch-image", "title-loc-key", "title-loc-args", "subtitle-loc-key",
        "subtitle-loc-args", "loc-key", "loc-args", "action-loc-key", "summary-arg", "summary-arg-count", "action",
    ]
    /// The keys of the object `sound`.
    static let keysOfSound = ["critical", "name", "volume"]
}

/// The comparison of a name with the names that a platform knows: `content_available`, `mutableContent`, `events`.
enum Spelling {
    /// Returns the known name that another resembles: without its hyphens, in another case, with or without a plural, or
    /// with one letter that is wrong; `nil` for a known name, and for one that resembles none.
    static func meant(by name: String, of known: [String]) -> String? {
        guard !known.contains(name) else { return nil }
        let plain = letters(name)
        return known.first { isSame($0, name) }
            ?? known.first { letters($0).count >= shortest && isOneLetterApart(letters($0), plain) }
    }

    /// Whether two names differ in case and hyphens at most.
    static func isSame(_ one: String, _ other: String) -> Bool { letters(one).elementsEqual(letters(other)) }

    /// The shortest name that is compared letter by letter: two short words are often two words.
    private static let shortest = 5

    private static func letters(_ name: String) -> [UInt8] {
        name.lowercased().utf8.filter { !"-_. ".utf8.contains($0) }
    }

    private static func isOneLetterApart(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard abs(one.count - other.count) <= 1 else { return false }
        let begin = zip(one, other).prefix { $0 == $1 }.count
        let end = zip(one.dropFirst(begin).reversed(), other.dropFirst(begin).reversed()).prefix { $0 == $1 }.count
        let rests = [one.count - begin - end, other.count - begin - end]
        if rests.allSatisfy({ $0 <= 1 }) { return true }
        let (left, right) = (one.dropFirst(begin).dropLast(end), other.dropFirst(begin).dropLast(end))
        return rests == [2, 2] && left.elementsEqual(right.reversed())
    }
}
