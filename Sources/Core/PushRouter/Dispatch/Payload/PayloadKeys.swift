import PushModel

/// The keys of a payload, for matching routes: values as text, whatever their type.
public struct PayloadKeys: Sendable {
    /// The limit of values that patterns are matched against, in bytes of text. A longer value matches only `*`. No
    /// platform delivers that much (FCM 4096 bytes in all, APNs 4096, or 5120 for VoIP), and matching hundreds of
    /// routes against 250 KB would delay all other clients.
    public static let longestMatched = 8 << 10

    let payload: any PlatformPayload
    /// The dashboard's key-values; `nil` before the first read.
    private var pairs: DashboardPairs?

    init(payload: any PlatformPayload) { self.payload = payload }

    /// Returns the value of one of the payload's own keys: the data map on Android, the top level on iOS, the object on
    /// the web. `nil` if absent; a value that is no string as JSON without white space.
    public func data(_ key: String) -> String? {
        defer { withExtendedLifetime(payload) {} }
        return payload[key]?.text
    }

    /// Whether the key has a value that matches the pattern; only `*` matches an overlong value.
    ///
    /// - Parameters:
    ///   - pattern: the pattern; `nil`: any value.
    ///   - text: the last text that was read from the same keys.
    func hasData(_ key: String, matching pattern: Glob?, _ text: inout TextRead) -> Bool {
        defer { withExtendedLifetime(payload) {} }
        return payload[key]?.matches(pattern, &text) ?? false
    }

    /// Returns the value of one of the dashboard's key-values: on Android in the JSON text `extra`, or without it (ADM)
    /// next to the other keys; on iOS at the top level; on the web in `e`. `nil` if absent.
    public func keyValue(_ key: String) -> String? {
        withKeyValue(key) { $0.text }
    }

    /// Whether the key-value exists and matches the pattern; only `*` matches an overlong value.
    ///
    /// - Parameters:
    ///   - pattern: the pattern; `nil`: any value.
    ///   - text: the last text that was read from the same keys.
    func hasKeyValue(_ key: String, matching pattern: Glob?, _ text: inout TextRead) -> Bool {
        withKeyValue(key) { $0.matches(pattern, &text) } ?? false
    }

    /// All of the payload's own keys that the app sees, in order, with their values as text: the data map on Android,
    /// the top level on iOS, the object on the web.
    public var own: [(key: String, value: String)] {
        defer { withExtendedLifetime(payload) {} }
        let (first, second) = payload.keyHolders
        var found: [(key: String, value: String)] = []
        for holder in [first, second].compactMap(\.self) {
            for (key, _) in holder.view.members {
                let name = key.text
                // The holders include keys that the app does not see.
                guard let value = payload[name], !found.contains(where: { $0.key == name }) else { continue }
                found.append((name, value.text))
            }
        }
        return found
    }

    /// All of the dashboard's key-values as text, in order.
    public var keyValues: [(key: String, value: String)] {
        defer { withExtendedLifetime(payload) {} }
        switch pairs ?? payload.dashboardPairs {
        case .none: return []
        case .object(let object): return object.textMembers
        case .text(let document):
            return document.root.withView { $0.textMembers.filter { $0.key != "appboy_uninstall_tracking" } }
        case .ownKeys(let object, let isProviders):
            // FCM takes only the texts of an intent's extras.
            return object.members.compactMap { member in
                let key = isProviders(member.key) ? nil : member.key.text
                return key.flatMap { key in payload[key].map { (key, $0.text) } }
            }
        }
    }

    /// Returns the key-values of the dashboard whose length and first letter let them be a misspelt `name`. Reads the
    /// first 128 keys alone: a deliverable payload seldom has more.
    func namesOfKeyValues(like name: String) -> [String] {
        defer { withExtendedLifetime(payload) {} }
        let longest = name.utf8.count + 8
        let isPlain = name.utf8.allSatisfy { $0 < 0x80 }
        func mayBeLike(_ key: JSONView) -> Bool {
            guard key.textLength <= longest, !isPlain || key.rawText.allSatisfy({ $0 < 0x80 }) else { return false }
            let (one, other) = (key.firstRawByte, name.utf8.first ?? 0)
            // A character that is no letter may precede the first letter.
            return !one.isLetter || !other.isLetter || one | 0x20 == other | 0x20
        }
        func names(_ object: JSONView, isProviders: (JSONView) -> Bool = { _ in false }) -> [String] {
            object.members.prefix(128).compactMap { key, _ in
                mayBeLike(key) && !isProviders(key) ? key.text : nil
            }
        }
        switch pairs ?? payload.dashboardPairs {
        case .none: return []
        case .object(let object): return names(object)
        case .text(let document): return document.root.withView { names($0) }
        case .ownKeys(let object, let isProviders): return names(object, isProviders: isProviders)
        }
    }

    /// The memory of key-values that were parsed out of a text, in bytes.
    var memorySizeOfKeyValues: Int {
        if case .text(let document)? = pairs { document.memorySize } else { 0 }
    }

    /// Parses the dashboard's key-values now if they are not parsed yet: once for all later accesses instead of once
    /// for each.
    mutating func readKeyValues() {
        if pairs == nil { pairs = payload.dashboardPairs }
    }

    private func withKeyValue<Result>(_ key: String, _ body: (JSONView) -> Result) -> Result? {
        defer { withExtendedLifetime(payload) {} }
        switch pairs ?? payload.dashboardPairs {
        case .none: return nil
        case .object(let object): return object[key].map(body)
        case .text(let document): return document.root.withView { $0[key].map(body) }
        case .ownKeys: return payload[key].map(body)
        }
    }
}

/// The last value whose text was made for matching: hundreds of routes may test the same long value. Valid only with
/// the keys that it was read from.
struct TextRead {
    fileprivate var value: JSONView?
    fileprivate var bytes: [UInt8] = []

    /// No text.
    init() {}
}

extension JSONView {
    /// Whether the pattern matches the value as text.
    fileprivate func matches(_ pattern: Glob?, _ text: inout TextRead) -> Bool {
        guard let pattern, !pattern.matchesAll else { return true }
        guard textLength <= PayloadKeys.longestMatched else { return false }
        if isString, textLength == rawText.count { return withText { pattern.matches($0) } }
        if text.value != self {
            text.bytes = isString ? textBytes : compactBytes
            text.value = self
        }
        guard text.bytes.count <= PayloadKeys.longestMatched else { return false }
        return text.bytes.withUnsafeBufferPointer { pattern.matches($0) }
    }

    /// The members of an object with their values as text.
    fileprivate var textMembers: [(key: String, value: String)] { members.map { ($0.key.text, $0.value.text) } }
}

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
        case .sound: ("a volume from 0 to 1", { 0...1 ~= $0.member("volume")?.double ?? 1 })
        // Milliseconds are a time in 50,000 years.
        case .timestamp, .staleDate, .dismissalDate: ("seconds since 1970", { $0.double ?? 0 < 100_000_000_000 })
        case .badge: ("0 or more", { $0.double ?? -1 >= 0 })
        // 0 is the same as no key.
        case .contentAvailable, .mutableContent: ("1", { $0.double == 1 || $0.double == 0 })
        default: nil
        }
    }

    /// Whether the key belongs in `aps` alone: the same key beside `aps` is then a mistake, and none of the app's keys.
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
public enum Spelling {
    /// Returns the known name that another resembles: without its hyphens, in another case, with or without a plural, or
    /// with one letter that is wrong; `nil` for a known name, and for one that resembles none.
    public static func meant(by name: String, of known: [String]) -> String? {
        guard !known.contains(name) else { return nil }
        let plain = letters(name)
        return known.first { isSame($0, name) }
            ?? known.first { letters($0).count >= shortest && isOneLetterApart(letters($0), plain) }
    }

    /// Whether two names differ in case and hyphens at most.
    static func isSame(_ one: String, _ other: String) -> Bool { letters(one).elementsEqual(letters(other)) }

    /// The least length of a known name that may differ in one letter: two shorter names are often different words.
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
