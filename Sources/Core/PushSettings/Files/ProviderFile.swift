import PushModel
import PushRouter

/// The contents of a `.provider` file, before they are checked as a whole.
struct ProviderDraft: Fillable {
    /// The section of a platform; for omitted keys `[Provider]` applies.
    struct PlatformDraft {
        var order: Int?
        var confidence: ProviderRule.Confidence?
        var entry = ProviderRule.Entry.service
        var all: [ProviderCondition] = []
        var any: [ProviderCondition] = []
        var probes: [ProviderCondition] = []
        var origin: ProviderRule.Origin?
        var source: String?
        var remark: String?
        var remarkConditions: [ProviderCondition] = []

        var hasConditions: Bool { !all.isEmpty || !any.isEmpty || !probes.isEmpty }
    }

    var title: String?
    var purpose = ProviderRule.Purpose.messages
    /// The order of a rule that only tests for a key.
    var order = 200
    var confidence = ProviderRule.Confidence.high
    var origin: ProviderRule.Origin?
    var source: String?
    var android = PlatformDraft()
    var ios = PlatformDraft()
    var web = PlatformDraft()

    /// Returns the rule, or `nil` if the file does not describe one.
    func validated(name: String, lines: [String: Int], report: inout FileReport) -> ProviderRule? {
        if name == RouteMatch.noProvider {
            report.error("none stands for a payload of no known provider; give the file another name")
        }
        var rule = ProviderRule(name: name, title: title ?? name, purpose: purpose)
        for (platform, section, draft) in [
            (Platform.android, "Android", android), (.ios, "iOS", ios), (.web, "Web", web),
        ] {
            guard draft.hasConditions else {
                // Most files have no section for the platform.
                guard lines.keys.contains(where: { $0.hasPrefix("\(section).") }) else { continue }
                if let line = Self.keysOfRules.compactMap({ lines["\(section).\($0)"] }).min(),
                    lines["\(section).All"] == nil, lines["\(section).Any"] == nil, lines["\(section).Probe"] == nil
                {
                    report.error("[\(section)] has neither All= nor Any=, so it matches nothing", line: line)
                }
                continue
            }
            if draft.remark == nil, let line = lines["\(section).RemarkOn"] {
                report.error("RemarkOn= in [\(section)]: Remark= is missing", line: line)
            }
            rule.platforms[platform] = platformRule(draft)
            check(rule, draft, in: section, lines: lines, report: &report)
        }
        if rule.platforms.isEmpty, !report.hasErrors {
            report.error("no condition; [Android], [iOS] or [Web] needs All= or Any=")
        }
        return report.hasErrors ? nil : rule
    }

    /// The keys of a platform's section that need conditions.
    private static let keysOfRules = ["Order", "Confidence", "Entry", "Origin", "Source", "Remark", "RemarkOn"]

    private func platformRule(_ draft: PlatformDraft) -> ProviderRule.PlatformRule {
        var rule = ProviderRule.PlatformRule(
            order: draft.order ?? order, confidence: draft.confidence ?? confidence, entry: draft.entry,
            all: draft.all, any: draft.any)
        rule.probes = draft.probes
        rule.origin = draft.origin ?? origin
        rule.source = draft.source ?? source
        rule.remark = draft.remark
        rule.remarkConditions = draft.remarkConditions
        return rule
    }

    /// Checks the keys that are fixed for Braze: order 0, and the tracker as the owner.
    private func check(
        _ rule: ProviderRule, _ draft: PlatformDraft, in section: String, lines: [String: Int],
        report: inout FileReport
    ) {
        let orderLine = lines["\(section).Order"] ?? lines["Provider.Order"]
        guard rule.name == ProviderRule.brazeName else {
            if (draft.order ?? order) == 0 {
                report.error(
                    "Order=0 is for Braze alone, which comes before all others; use 1 or more", line: orderLine)
            }
            return
        }
        if (draft.order ?? order) != 0 {
            report.error("Order= of Braze must be 0: it comes before all others", line: orderLine)
        }
        if purpose != .messages {
            report.error("Purpose=: Braze's payloads go to the tracker; remove it", line: lines["Purpose"])
        }
        if !draft.probes.isEmpty {
            report.error("Probe=: Braze's payloads go to the tracker; remove it", line: lines["\(section).Probe"])
        }
        if draft.entry != .service {
            report.error("Entry=: Braze's payloads go to the tracker; remove it", line: lines["\(section).Entry"])
        }
    }
}

extension Schema<ProviderDraft> {
    /// `providers.d/*.provider`.
    static let provider = Schema(keys: [
        Key("Provider", "Title", { $1(&$0.title) }, Form.anyText.optional),
        Key("Provider", "Purpose", { $1(&$0.purpose) }, .choice),
        Key("Provider", "Order", { $1(&$0.order) }, .integer(0...1000)),
        Key("Provider", "Confidence", { $1(&$0.confidence) }, .choice),
        Key("Provider", "Origin", { $1(&$0.origin) }, Form.choice.optional),
        Key("Provider", "Source", { $1(&$0.source) }, Form.anyText.optional),

        Key("Android", "Order", { $1(&$0.android.order) }, Form.integer(0...1000).optional),
        Key("Android", "Confidence", { $1(&$0.android.confidence) }, Form.choice.optional),
        Key("Android", "Origin", { $1(&$0.android.origin) }, Form.choice.optional),
        Key("Android", "Source", { $1(&$0.android.source) }, Form.anyText.optional),
        Key("Android", "Entry", { $1(&$0.android.entry) }, .choice),
        Key("Android", "All", addingTo: { $1(&$0.android.all) }, .condition),
        Key("Android", "Any", addingTo: { $1(&$0.android.any) }, .condition),
        Key("Android", "Probe", addingTo: { $1(&$0.android.probes) }, .condition),
        Key("Android", "Remark", { $1(&$0.android.remark) }, Form.anyText.optional),
        Key("Android", "RemarkOn", addingTo: { $1(&$0.android.remarkConditions) }, .condition),

        Key("iOS", "Order", { $1(&$0.ios.order) }, Form.integer(0...1000).optional),
        Key("iOS", "Confidence", { $1(&$0.ios.confidence) }, Form.choice.optional),
        Key("iOS", "Origin", { $1(&$0.ios.origin) }, Form.choice.optional),
        Key("iOS", "Source", { $1(&$0.ios.source) }, Form.anyText.optional),
        Key("iOS", "Entry", { $1(&$0.ios.entry) }, .choice),
        Key("iOS", "All", addingTo: { $1(&$0.ios.all) }, .condition),
        Key("iOS", "Any", addingTo: { $1(&$0.ios.any) }, .condition),
        Key("iOS", "Probe", addingTo: { $1(&$0.ios.probes) }, .condition),
        Key("iOS", "Remark", { $1(&$0.ios.remark) }, Form.anyText.optional),
        Key("iOS", "RemarkOn", addingTo: { $1(&$0.ios.remarkConditions) }, .condition),

        Key("Web", "Order", { $1(&$0.web.order) }, Form.integer(0...1000).optional),
        Key("Web", "Confidence", { $1(&$0.web.confidence) }, Form.choice.optional),
        Key("Web", "Origin", { $1(&$0.web.origin) }, Form.choice.optional),
        Key("Web", "Source", { $1(&$0.web.source) }, Form.anyText.optional),
        Key("Web", "Entry", { $1(&$0.web.entry) }, .choice),
        Key("Web", "All", addingTo: { $1(&$0.web.all) }, .condition),
        Key("Web", "Any", addingTo: { $1(&$0.web.any) }, .condition),
        Key("Web", "Probe", addingTo: { $1(&$0.web.probes) }, .condition),
        Key("Web", "Remark", { $1(&$0.web.remark) }, Form.anyText.optional),
        Key("Web", "RemarkOn", addingTo: { $1(&$0.web.remarkConditions) }, .condition),
    ])
}

extension Form<String> {
    /// A provider's name: the stem of a `.provider` file.
    static let providerName = Form { text throws(ValueError) in
        guard text.utf8.allSatisfy({ $0.isLowercaseLetter || $0.isDigit || $0 == UInt8(ascii: "-") }) else {
            throw ValueError("a provider's name has lower case letters, digits and hyphens, such as onesignal or none")
        }
        return text
    }

    fileprivate static let anyText = Form { $0 }
}

/// The first words of a condition in a `.provider` file.
private enum ConditionWord: String, CaseIterable {
    case present, notNull = "not-null", equals, equalsIgnoringCase = "equals-ignoring-case"
    case string, notEmpty = "not-empty", notBlank = "not-blank", object
    case nonEmptyObject = "non-empty-object", truthy, json, jsonText = "json-text", prefix, contains, members

    /// The syntax after the word, for messages.
    var usage: String {
        switch self {
        case .present, .notNull, .string, .notEmpty, .notBlank, .object, .nonEmptyObject, .truthy:
            "\(rawValue) KEY..."
        case .equals, .equalsIgnoringCase: "\(rawValue) KEY... TEXT"
        case .json: "json KEY... KEY-IN-THE-TEXT"
        case .jsonText: "json-text KEY CONDITION"
        case .prefix, .contains: "\(rawValue) TEXT"
        case .members: "members NUMBER"
        }
    }
}

extension Form<[ProviderCondition]> {
    /// One condition, quoted like the words of `Exec=`: `equals push_from moengage`. Several keys are a path. A bare
    /// `&&` joins conditions that must all hold.
    static let condition = Form { text throws(ValueError) in
        var reader = QuotedWords(text)
        var conditions: [ProviderCondition] = []
        repeat {
            var words: [String] = []
            while !reader.isNext(bare: and), let word = try reader.next() { words.append(word) }
            conditions.append(try condition(words))
        } while reader.take(bare: and)
        return conditions.count == 1 ? conditions : [.every(conditions)]
    }

    private static func condition(_ words: [String]) throws(ValueError) -> ProviderCondition {
        guard let name = words.first else {
            throw ValueError("a condition is missing beside \(and); it must begin with \(alternatives(knownWords))")
        }
        guard let word = ConditionWord(rawValue: name) else {
            throw ValueError(
                "must begin with \(alternatives(knownWords))" + suggestion(for: name, among: knownWords) { $0 })
        }
        return try condition(word, Array(words.dropFirst()))
    }

    private static func condition(_ word: ConditionWord, _ words: [String]) throws(ValueError) -> ProviderCondition {
        switch word {
        case .present: return .value(at: try path(words, of: word), .present)
        case .notNull: return .value(at: try path(words, of: word), .notNull)
        case .notEmpty: return .value(at: try path(words, of: word), .notEmpty)
        case .notBlank: return .value(at: try path(words, of: word), .notBlank)
        case .string: return .value(at: try path(words, of: word), .string)
        case .object: return .value(at: try path(words, of: word), .object)
        case .nonEmptyObject: return .value(at: try path(words, of: word), .nonEmptyObject)
        case .truthy: return .value(at: try path(words, of: word), .truthy)
        case .equals:
            let (path, text) = try pathAndLast(words, of: word)
            return .value(at: path, .equals(text))
        case .equalsIgnoringCase:
            let (path, text) = try pathAndLast(words, of: word)
            return .value(at: path, .equalsIgnoringCase(text))
        case .json:
            let (path, key) = try pathAndLast(words, of: word)
            return .value(at: path, .jsonText(key: key))
        case .jsonText:
            guard words.count > 1 else { throw wrong(word) }
            let key = try path([words[0]], of: word)[0]
            return .inText(of: key, try condition(Array(words.dropFirst())))
        case .contains:
            guard words.count == 1, let text = words.first, !text.isEmpty else { throw wrong(word) }
            guard !transportKeys.contains(where: { $0.has(text) }),
                !transportPrefixes.contains(where: { text.has($0) })
            else { throw transportMark(text) }
            return .keyContaining(text)
        case .prefix:
            guard words.count == 1, let prefix = words.first, !prefix.isEmpty else { throw wrong(word) }
            guard !transportPrefixes.contains(where: { $0.hasPrefix(prefix) || prefix.hasPrefix($0) }) else {
                throw transportMark(prefix)
            }
            return .keyBeginning(with: prefix)
        case .members:
            guard words.count == 1 else { throw wrong(word) }
            return .keyCount(try Form<Int>.integer(0...1000).parse(words[0]))
        }
    }

    private static func path(_ words: [String], of word: ConditionWord) throws(ValueError) -> [String] {
        guard let key = words.first, !words.contains("") else { throw wrong(word) }
        guard !transportPrefixes.contains(where: key.hasPrefix) else { throw transportMark(key) }
        return words
    }

    private static func pathAndLast(
        _ words: [String], of word: ConditionWord
    ) throws(ValueError) -> (path: [String], last: String) {
        guard let last = words.last else { throw wrong(word) }
        return (try path(words.dropLast(), of: word), last)
    }

    private static func wrong(_ word: ConditionWord) -> ValueError {
        ValueError("must be \"\(word.usage)\"; quote a word with spaces")
    }

    private static func transportMark(_ key: String) -> ValueError {
        ValueError("\(printable(key, limit: 60)) can match a key of FCM, which carries pushes of every provider")
    }
}

private let knownWords = ConditionWord.allCases.map(\.rawValue)

/// The prefixes of the keys that FCM adds to every sender's push.
private let transportPrefixes = ["gcm.", "google."]

/// The keys of FCM that an iOS app finds in a payload; no condition may match one of them.
private let transportKeys = ["gcm.message_id", "gcm.notification", "google.c.sender.id", "google.c.fid", "google.c.a."]

/// The separator of conditions that must all hold.
private let and = "&&"
