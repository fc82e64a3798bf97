/// The keys of requests on both sockets, and of objects within requests. The raw values are the places in `names`.
enum RequestKey: Int, CaseIterable, Sendable {
    // Every request.
    case op, id, at, wait
    // The target.
    case platform, app, device, externalID
    // A delivery.
    case transport, payload, state, locked, osVersion, notifications, sdk, messageID, headers, sender
    // An interaction, a session, a token.
    case kind, message, action, text, token
    // Topics.
    case project, topic, condition, tokens, unknown
    // Custom data.
    case suite, brazeID, name, properties, attributes
    // Questions and orders of the forwarder and of people.
    case instance, limit, holding, reserve, after, entries, number, reason, phase, failures, until, timeout, format
    // Dead letters.
    case requests
    // The daemon's log, and its configuration.
    case level, configuration

    /// The key on the wire.
    var word: String { Self.words[rawValue] }

    /// The keys on the wire, by place; made once, since each line that is written needs some.
    private static let words = allCases.map(\.spelled)

    private var spelled: String {
        switch self {
        case .externalID: "external_id"
        case .osVersion: "os_version"
        case .brazeID: "braze_id"
        case .messageID: "message_id"
        case .timeout: "timeout_ms"
        // The name of each other case is its key on the wire.
        default: String(describing: self)
        }
    }

    /// All keys, by place.
    static let names = JSONNames(allCases.map(\.word))
}

/// A set of keys.
struct RequestKeys: Sendable {
    /// The set, with a bit for each key at its place.
    private(set) var bits: UInt64 = 0

    init(_ keys: [RequestKey]) {
        for key in keys { bits |= Self.bit(at: key.rawValue) }
    }

    /// Checks the place: a shift by 64 or more gives 0, and the key would never be allowed.
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

    /// The keys of the set, for messages.
    var inWords: String { RequestKey.allCases.filter(contains).map(\.word).sorted().joined(separator: ", ") }
}

/// A closed set of words. The raw values are the words.
protocol RequestWord: RawRepresentable<String>, CaseIterable, Sendable {
    /// All words.
    static var words: JSONNameTable<Self> { get }
}

extension RequestWord {
    static func table() -> JSONNameTable<Self> { JSONNameTable(allCases.map { ($0.rawValue, $0) }) }

    /// All words, for messages.
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
