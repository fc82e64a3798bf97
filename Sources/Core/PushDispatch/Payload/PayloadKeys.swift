public import PushModel

/// The keys of a payload, for routes to match: values as text, whatever their type.
public struct PayloadKeys: Sendable {
    /// The longest value that patterns are held against, in bytes of text. Of a longer one only `*` is true: no platform
    /// delivers so much (FCM 4096 bytes in all, APNs 4096, or 5120 of VoIP), and the patterns of hundreds of routes on 250 KB
    /// would take the time of everybody else.
    public static let longestMatched = 8 << 10

    let payload: any PlatformPayload
    /// Where the dashboard's pairs are; `nil` until somebody asked.
    private var pairs: DashboardPairs?

    init(payload: any PlatformPayload) { self.payload = payload }

    /// The value under one of the payload's own keys: the data map on Android, the top level on iOS, the object on the
    /// web. `nil` when absent; a value that is no string is its JSON without white space.
    public func data(_ key: String) -> String? {
        defer { withExtendedLifetime(payload) {} }
        return payload[key]?.text
    }

    /// Whether there is such a value, and the pattern matches it, as far as it is not too long for one.
    ///
    /// - Parameters:
    ///   - pattern: `nil`: any value.
    ///   - text: the last text that was read; of the same keys.
    public func hasData(_ key: String, matching pattern: Glob?, _ text: inout TextRead) -> Bool {
        defer { withExtendedLifetime(payload) {} }
        return payload[key]?.matches(pattern, &text) ?? false
    }

    /// The value of one of the dashboard's key-values: on Android in the JSON text `extra`, or beside the other keys
    /// where there is none (ADM); on iOS at the top level; on the web in `e`. `nil` when absent.
    public func keyValue(_ key: String) -> String? {
        withKeyValue(key) { $0.text }
    }

    /// Whether there is such a value, and the pattern matches it, as far as it is not too long for one.
    ///
    /// - Parameters:
    ///   - pattern: `nil`: any value.
    ///   - text: the last text that was read; of the same keys.
    public func hasKeyValue(_ key: String, matching pattern: Glob?, _ text: inout TextRead) -> Bool {
        withKeyValue(key) { $0.matches(pattern, &text) } ?? false
    }

    /// All of the payload's own keys that the app sees, in their order, with their values as text: the data map on Android, the
    /// top level on iOS, the object on the web.
    public var own: [(key: String, value: String)] {
        defer { withExtendedLifetime(payload) {} }
        let (first, second) = payload.keyHolders
        var found: [(key: String, value: String)] = []
        for holder in [first, second].compactMap(\.self) {
            for (key, _) in holder.view.members {
                let name = key.text
                // Keys that the app does not see are among the holders'.
                guard let value = payload[name], !found.contains(where: { $0.key == name }) else { continue }
                found.append((name, value.text))
            }
        }
        return found
    }

    /// All of the dashboard's key-values, in their order, as text.
    public var keyValues: [(key: String, value: String)] {
        defer { withExtendedLifetime(payload) {} }
        switch pairs ?? payload.dashboardPairs {
        case .none: return []
        case .object(let object): return object.textMembers
        case .text(let document):
            return document.root.withView { $0.textMembers.filter { $0.key != "appboy_uninstall_tracking" } }
        case .ownKeys(let object, let isProviders):
            return object.members.lazy.filter { !isProviders($0.key) }.map { ($0.key.text, $0.value.text) }
        }
    }

    /// The names of the dashboard's key-values that may be another spelling of a name, by their length and their first
    /// letter. Of the first hundred or so only: a payload that is delivered seldom has more.
    public func namesOfKeyValues(like name: String) -> [String] {
        defer { withExtendedLifetime(payload) {} }
        let longest = name.utf8.count + 8
        let isPlain = name.utf8.allSatisfy { $0 < 0x80 }
        func mayBeLike(_ key: JSONView) -> Bool {
            guard key.textLength <= longest, !isPlain || key.rawText.allSatisfy({ $0 < 0x80 }) else { return false }
            let (one, other) = (key.firstRawByte, name.utf8.first ?? 0)
            // What is no letter may stand before one.
            let areLetters = one | 0x20 >= UInt8(ascii: "a") && one < 0x80 && one != UInt8(ascii: "\\") && one != 0x5F
            return !areLetters || other | 0x20 < UInt8(ascii: "a") || one | 0x20 == other | 0x20
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

    /// How many bytes of memory the key-values take that were read out of a text.
    public var memorySizeOfKeyValues: Int {
        if case .text(let document)? = pairs { document.memorySize } else { 0 }
    }

    /// Reads the dashboard's key-values now, if they were not read yet: once for all that is asked of these keys, rather
    /// than once for each.
    public mutating func readKeyValues() {
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

/// The last value whose text was made for a pattern: hundreds of routes may look at the same one, which may be long. It is
/// good as long as the keys that it was read from.
public struct TextRead {
    fileprivate var value: JSONView?
    fileprivate var bytes: [UInt8] = []

    /// Nothing read yet.
    public init() {}
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
