import PushModel

/// The keys of `aps` whose values have one or two types. The raw values are the keys.
///
/// Source: Apple's "Generating a remote notification", table 1.
public enum APSKey: String, Sendable, CaseIterable {
    case alert, badge, sound, category
    case threadID = "thread-id"
    case contentAvailable = "content-available"
    case mutableContent = "mutable-content"
    case targetContentID = "target-content-id"
    case interruptionLevel = "interruption-level"
    case relevanceScore = "relevance-score"
    case filterCriteria = "filter-criteria"

    /// The types of the value.
    var kinds: [JSONNode.Kind] {
        switch self {
        case .alert, .sound: [.string, .object]
        case .badge, .contentAvailable, .mutableContent, .relevanceScore: [.number]
        case .category, .threadID, .targetContentID, .interruptionLevel, .filterCriteria: [.string]
        }
    }

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
        case .category, .threadID, .targetContentID, .interruptionLevel, .relevanceScore, .filterCriteria:
            "treated as absent"
        }
    }
}
