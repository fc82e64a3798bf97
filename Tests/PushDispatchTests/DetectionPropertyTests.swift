import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

/// The simplest possible detection: on decoded values, every rule, sorted at the end.
private struct Naive {
    let platform: Platform
    /// The keys that the app sees.
    let members: [(key: String, value: JSONNode)]

    func matches(_ providers: [ProviderRule]) -> [String] {
        let matching = providers.filter { provider in
            guard let rule = provider.platforms[platform] else { return false }
            if rule.probes.contains(where: holds) { return true }
            return !(rule.all + rule.any).isEmpty && rule.all.allSatisfy(holds)
                && (rule.any.isEmpty || rule.any.contains(where: holds))
        }
        return matching.map { provider in
            let rule = provider.platforms[platform]
            return (rule?.confidence == .low ? 1 : 0, rule?.order ?? 0, provider.name)
        }
        .sorted(by: <).map(\.2)
    }

    private func holds(_ condition: ProviderCondition) -> Bool {
        switch condition {
        case .keyBeginning(let prefix): return members.contains { $0.key.hasPrefix(prefix) }
        case .keyContaining(let text):
            return members.contains { key, _ in key.indices.contains { key[$0...].hasPrefix(text) } }
        case .every(let conditions): return conditions.allSatisfy(holds)
        case .inText(let key, let condition):
            guard let text = members.first(where: { $0.key == key })?.value.string,
                let root = try? JSONDocument(scanning: Array(text.utf8)).root, root.kind == .object
            else { return false }
            return Naive(platform: platform, members: root.members).holds(condition)
        case .keyCount(let count): return members.count == count
        case .value(let path, let test):
            guard var value = members.first(where: { $0.key == path[0] })?.value else { return false }
            for key in path.dropFirst() {
                guard let inner = value.members.first(where: { $0.key == key })?.value else { return false }
                value = inner
            }
            return holds(test, value)
        }
    }

    private func holds(_ test: ProviderCondition.Test, _ value: JSONNode) -> Bool {
        switch test {
        case .present: return true
        case .notNull: return value.kind != .null
        case .notEmpty: return value.string?.isEmpty == false
        case .notBlank: return value.string?.contains { !$0.isWhitespace } == true
        case .equals(let text): return value.string == text
        case .equalsIgnoringCase(let text): return value.string?.uppercased() == text.uppercased()
        case .string: return value.string != nil
        case .object: return value.kind == .object
        case .nonEmptyObject: return !value.members.isEmpty
        case .truthy:
            return ["true", "1", #""1""#, #""true""#, #""TRUE""#].contains(
                String(decoding: value.rawBytes, as: UTF8.self))
        case .jsonText(let key):
            guard let text = value.string, let root = try? JSONDocument(scanning: Array(text.utf8)).root else {
                return false
            }
            return root.members.contains { $0.key == key }
        }
    }
}

@Suite("Detection, of any payload")
struct DetectionPropertyTests {
    /// The keys of the shipped rules, and some similar ones.
    private static let keys: [String] =
        DetectionSettings.shipped.providers.flatMap(\.platforms.values).flatMap { $0.all + $0.any + $0.probes }
        .flatMap(keys)
        // An object with this name makes another form of the payload.
        .filter { $0 != "data" } + [
            "_AB", "a", "t", "gcm.message_id", "google.sent_time", "from", "message_type", "i", "é", "ab_ids", "éab_",
            "",
        ]

    private static func keys(of condition: ProviderCondition) -> [String] {
        switch condition {
        case .value(let path, _): path
        case .keyBeginning(let prefix): [prefix, prefix + "x"]
        case .keyContaining(let text): [text, "a" + text + "b"]
        case .keyCount: []
        case .inText(let key, let condition): [key] + keys(of: condition)
        case .every(let conditions): conditions.flatMap(keys)
        }
    }

    private static let values = [
        #"" ""#, #""{\"messageId\":\"x\",\"text\":\"y\"}""#, #""{\"a\":{\"k.message\":1}}""#, #""{\"a\":{}}""#,
        #""stream.chat""#, #"{"sender":"stream.chat"}"#, #""Insider""#, #""intercom_sdk""#, #"{"pinpoint":1}"#,
        #""true""#, #""TRUE""#, "true", "false", "null", "0", "1", #""1""#, #""""#, "{}", "[]", #"{"i":1}"#,
        #"{"_k":""}"#, #""{\"i\":1}""#, #""{\"j\":1}""#, #""{""#, #""SFMC""#, #""sfmc""#, #""moengage""#,
        #""Moengage""#, #""uninstall detection""#,
    ]

    private func payload(using generator: inout SeededGenerator) -> String {
        let keys = Set(Self.keys).sorted().shuffled(using: &generator).prefix(Int.random(in: 0...6, using: &generator))
        let members = keys.map { key in
            "\"\(escaped(key, using: &generator))\":\(Self.values.randomElement(using: &generator) ?? "null")"
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Writes none, some or all characters of a key as escapes.
    private func escaped(_ key: String, using generator: inout SeededGenerator) -> String {
        let share: Double = [0, 0, 0.3, 1].randomElement(using: &generator) ?? 0
        return key.utf16.map { unit in
            guard Double.random(in: 0..<1, using: &generator) < share else {
                return String(decoding: [unit], as: UTF16.self)
            }
            let digits = String(unit, radix: 16, uppercase: Bool.random(using: &generator))
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        .joined()
    }

    private func isHidden(_ key: String) -> Bool {
        key.hasPrefix("google.") || key.hasPrefix("gcm.") || ["from", "message_type", "collapse_key"].contains(key)
    }

    @Test("a simple implementation of the rules finds the same owner", arguments: 0..<10 as Range<UInt64>)
    func isNaive(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let text = payload(using: &generator)
            let root = try json(text)
            for platform in Platform.allCases {
                // Any subset of the rules, in any order.
                let providers = DetectionSettings.shipped.providers.shuffled(using: &generator)
                    .prefix(Int.random(in: 15...36, using: &generator))
                let settings = DetectionSettings(providers: Array(providers))
                let expected = Naive(platform: platform, members: root.members).matches(Array(providers))
                guard root["aps"] == nil || platform != .ios else { continue }
                let delivery = Delivery(
                    platform: platform, state: AppState.allCases.randomElement(using: &generator) ?? .background,
                    locked: Bool.random(using: &generator), payload: root)
                #expect(try decide(delivery, settings: settings).matches == expected, "\(platform) \(text)")
                guard platform == .android else { continue }
                let intent = Delivery(platform: .android, payload: try json(#"{"extras":\#(text)}"#))
                let visible = root.members.filter { !isHidden($0.key) && $0.value.kind == .string }
                #expect(
                    try decide(intent, settings: settings).matches
                        == Naive(platform: .android, members: visible).matches(Array(providers)), "intent \(text)")
            }
        }
    }
}
