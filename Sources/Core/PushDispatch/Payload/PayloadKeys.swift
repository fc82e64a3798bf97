public import PushModel

/// The keys of a payload for the conditions of routes: each value as text, whatever its type.
public struct PayloadKeys: Sendable {
    /// The longest value that patterns are matched against, in bytes of text. Only `*` matches a longer one: no
    /// platform delivers so much (FCM 4096 bytes in all, APNs 4096, or 5120 of VoIP), and matching hundreds of routes
    /// against 250 KB would delay all other requests.
    public static let longestMatched = 8 << 10

    let payload: any PlatformPayload
    /// The place of the dashboard's key-values; `nil` before the first use.
    private var pairs: DashboardPairs?

    init(payload: any PlatformPayload) { self.payload = payload }

    /// Returns the value of one of the payload's own keys: of the data map on Android, the top level on iOS, the object
    /// on the web. `nil`: absent. A value other than a string is its JSON without white space.
    public func data(_ key: String) -> String? {
        defer { withExtendedLifetime(payload) {} }
        return payload[key]?.text
    }

    /// Whether the key exists and the pattern matches its value; false for a value that is too long to match.
    ///
    /// - Parameters:
    ///   - pattern: the pattern; `nil`: any value.
    ///   - text: the last text that was read, of the same keys.
    public func hasData(_ key: String, matching pattern: Glob?, _ text: inout TextRead) -> Bool {
        defer { withExtendedLifetime(payload) {} }
        return payload[key]?.matches(pattern, &text) ?? false
    }

    /// Returns the value of one of the dashboard's key-values: on Android in the JSON text `extra`, or without it (ADM)
    /// beside the other keys; on iOS at the top level; on the web in `e`. `nil`: absent.
    public func keyValue(_ key: String) -> String? {
        withKeyValue(key) { $0.text }
    }

    /// Whether the key exists and the pattern matches its value; false for a value that is too long to match.
    ///
    /// - Parameters:
    ///   - pattern: the pattern; `nil`: any value.
    ///   - text: the last text that was read, of the same keys.
    public func hasKeyValue(_ key: String, matching pattern: Glob?, _ text: inout TextRead) -> Bool {
        withKeyValue(key) { $0.matches(pattern, &text) } ?? false
    }

    /// The payload's own keys that the app sees, in order, with their values as text: the data map on Android, the top
    /// level on iOS, the object on the web.
    public var own: [(key: String, value: String)] {
        defer { withExtendedLifetime(payload) {} }
        let (first, second) = payload.keyHolders
        var found: [(key: String, value: String)] = []
        for holder in [first, second].compactMap(\.self) {
            for (key, _) in holder.view.members {
                let name = key.text
                // The holders also have keys that the app does not see.
                guard let value = payload[name], !found.contains(where: { $0.key == name }) else { continue }
                found.append((name, value.text))
            }
        }
        return found
    }

    /// The dashboard's key-values in order, as text.
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

    /// Returns the names of key-values that may be another spelling of a name, judged by length and first letter.
    /// Checks only the first 128: a delivered payload seldom has more.
    public func namesOfKeyValues(like name: String) -> [String] {
        defer { withExtendedLifetime(payload) {} }
        let longest = name.utf8.count + 8
        let isPlain = name.utf8.allSatisfy { $0 < 0x80 }
        func mayBeLike(_ key: JSONView) -> Bool {
            guard key.textLength <= longest, !isPlain || key.rawText.allSatisfy({ $0 < 0x80 }) else { return false }
            let (one, other) = (key.firstRawByte, name.utf8.first ?? 0)
            // A first byte other than a letter may be a separator before the letter.
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

    /// The memory of key-values that were parsed from a text, in bytes.
    public var memorySizeOfKeyValues: Int {
        if case .text(let document)? = pairs { document.memorySize } else { 0 }
    }

    /// Reads the dashboard's key-values now, unless they were read before: once for all later uses.
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

/// The last value whose text was made for a pattern: hundreds of routes may check the same value, which may be long.
/// Valid as long as the keys that it was read from.
public struct TextRead {
    fileprivate var value: JSONView?
    fileprivate var bytes: [UInt8] = []

    /// Creates an empty cache.
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
