/// The keys of the requests of both sockets, and of what requests hold. The raw values are their places among all.
enum RequestKey: Int, CaseIterable, Sendable {
    // What every request has.
    case op, id, at, wait
    // Whom it is about.
    case platform, app, device, externalID
    // A delivery.
    case transport, payload, state, locked, osVersion, notifications, sdk, messageID, headers, sender
    // What somebody did, a session, a token.
    case kind, message, action, text, token
    // Topics.
    case project, topic, condition, tokens, unknown
    // What is logged.
    case suite, brazeID, name, properties, attributes
    // What the forwarder and people ask.
    case instance, limit, holding, reserve, after, entries, number, reason, phase, failures, until, timeout, format
    // Dead letters.
    case requests
    // The log of the daemon.
    case level

    /// The key as it is written.
    var word: String { Self.words[rawValue] }

    /// The words of all, at their places: each line that is written needs some.
    private static let words = allCases.map(\.spelled)

    private var spelled: String {
        switch self {
        case .externalID: "external_id"
        case .osVersion: "os_version"
        case .brazeID: "braze_id"
        case .messageID: "message_id"
        case .timeout: "timeout_ms"
        // The others are called here as they are written.
        default: String(describing: self)
        }
    }

    /// All of them, at their places.
    static let names = JSONNames(allCases.map(\.word))
}

/// Some of the keys.
struct RequestKeys: Sendable {
    /// A bit for each, by its place.
    private(set) var bits: UInt64 = 0

    init(_ keys: [RequestKey]) {
        for key in keys { bits |= Self.bit(at: key.rawValue) }
    }

    /// A shift by 64 or more would give no bit, and the key would never be allowed.
    static func bit(at place: Int) -> UInt64 {
        precondition(place < UInt64.bitWidth, "there are more keys than RequestKeys has bits")
        return 1 << UInt64(place)
    }

    func contains(_ key: RequestKey) -> Bool { bits & 1 << UInt64(key.rawValue) != 0 }

    static func + (left: RequestKeys, right: RequestKeys) -> RequestKeys {
        var all = left
        all.bits |= right.bits
        return all
    }

    static func + (left: RequestKeys, right: [RequestKey]) -> RequestKeys { left + RequestKeys(right) }

    /// All of them, for messages.
    var inWords: String { RequestKey.allCases.filter(contains).map(\.word).sorted().joined(separator: ", ") }
}

/// A closed set of words. The raw values are the words.
protocol RequestWord: RawRepresentable<String>, CaseIterable, Sendable {
    /// All of them.
    static var words: JSONNameTable<Self> { get }
}

extension RequestWord {
    static func table() -> JSONNameTable<Self> { JSONNameTable(allCases.map { ($0.rawValue, $0) }) }

    /// The set, for messages.
    static var inWords: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension MetricsFormat: RequestWord { static let words = table() }
extension Platform: RequestWord { static let words = table() }
extension Transport: RequestWord { static let words = table() }
extension AppState: RequestWord { static let words = table() }
extension NotificationPermission: RequestWord { static let words = table() }
extension SDKState: RequestWord { static let words = table() }
extension InteractRequest.Kind: RequestWord { static let words = table() }
extension SessionRequest.Kind: RequestWord { static let words = table() }
extension TokenRequest.Kind: RequestWord { static let words = table() }
extension TopicRequest.Kind: RequestWord { static let words = table() }
extension TopicRequest.Unknown: RequestWord { static let words = table() }
extension EntryKind: RequestWord { static let words = table() }
extension SendingState.Phase: RequestWord { static let words = table() }
