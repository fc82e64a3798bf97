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
            return object.members.lazy.filter { !isProviders($0.key) }.map { ($0.key.text, $0.value.text) }
        }
    }

    /// Returns the names of key-values that may be another spelling of a name, judged by length and first letter. Reads
    /// only the first 128 keys: a deliverable payload seldom has more.
    func namesOfKeyValues(like name: String) -> [String] {
        defer { withExtendedLifetime(payload) {} }
        let longest = name.utf8.count + 8
        let isPlain = name.utf8.allSatisfy { $0 < 0x80 }
        func mayBeLike(_ key: JSONView) -> Bool {
            guard key.textLength <= longest, !isPlain || key.rawText.allSatisfy({ $0 < 0x80 }) else { return false }
            let (one, other) = (key.firstRawByte, name.utf8.first ?? 0)
            // A character that is no letter may precede the first letter.
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
