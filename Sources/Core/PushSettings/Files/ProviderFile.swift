import PushDispatch
import PushModel
import PushRouting

/// What a `.provider` file says, before it is known whether that makes a rule.
struct ProviderDraft: Fillable {
    /// A platform's section; what it leaves out `[Provider]` says for all of them.
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
    /// Where a rule stands that asks only whether a key is there.
    var order = 200
    var confidence = ProviderRule.Confidence.high
    var origin: ProviderRule.Origin?
    var source: String?
    var android = PlatformDraft()
    var ios = PlatformDraft()
    var web = PlatformDraft()

    /// The rule, if that is what the file describes.
    func validated(name: String, lines: [String: Int], report: inout FileReport) -> ProviderRule? {
        if name == RouteMatch.noProvider {
            report.error("none stands for a payload of no known provider; give the file another name")
        }
        var rule = ProviderRule(name: name, title: title ?? name, purpose: purpose)
        for (platform, section, draft) in [
            (Platform.android, "Android", android), (.ios, "iOS", ios), (.web, "Web", web),
        ] {
            guard draft.hasConditions else {
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

    /// The keys of a platform's section that say something of its conditions.
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

    /// Braze's place is its own: the first, and the tracker's.
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
        Key("Provider", "Title", \.title, Form.anyText.optional),
        Key("Provider", "Purpose", \.purpose, .choice),
        Key("Provider", "Order", \.order, .integer(0...1000)),
        Key("Provider", "Confidence", \.confidence, .choice),
        Key("Provider", "Origin", \.origin, Form.choice.optional),
        Key("Provider", "Source", \.source, Form.anyText.optional),

        Key("Android", "Order", \.android.order, Form.integer(0...1000).optional),
        Key("Android", "Confidence", \.android.confidence, Form.choice.optional),
        Key("Android", "Origin", \.android.origin, Form.choice.optional),
        Key("Android", "Source", \.android.source, Form.anyText.optional),
        Key("Android", "Entry", \.android.entry, .choice),
        Key("Android", "All", addingTo: \.android.all, .condition),
        Key("Android", "Any", addingTo: \.android.any, .condition),
        Key("Android", "Probe", addingTo: \.android.probes, .condition),
        Key("Android", "Remark", \.android.remark, Form.anyText.optional),
        Key("Android", "RemarkOn", addingTo: \.android.remarkConditions, .condition),

        Key("iOS", "Order", \.ios.order, Form.integer(0...1000).optional),
        Key("iOS", "Confidence", \.ios.confidence, Form.choice.optional),
        Key("iOS", "Origin", \.ios.origin, Form.choice.optional),
        Key("iOS", "Source", \.ios.source, Form.anyText.optional),
        Key("iOS", "Entry", \.ios.entry, .choice),
        Key("iOS", "All", addingTo: \.ios.all, .condition),
        Key("iOS", "Any", addingTo: \.ios.any, .condition),
        Key("iOS", "Probe", addingTo: \.ios.probes, .condition),
        Key("iOS", "Remark", \.ios.remark, Form.anyText.optional),
        Key("iOS", "RemarkOn", addingTo: \.ios.remarkConditions, .condition),

        Key("Web", "Order", \.web.order, Form.integer(0...1000).optional),
        Key("Web", "Confidence", \.web.confidence, Form.choice.optional),
        Key("Web", "Origin", \.web.origin, Form.choice.optional),
        Key("Web", "Source", \.web.source, Form.anyText.optional),
        Key("Web", "Entry", \.web.entry, .choice),
        Key("Web", "All", addingTo: \.web.all, .condition),
        Key("Web", "Any", addingTo: \.web.any, .condition),
        Key("Web", "Probe", addingTo: \.web.probes, .condition),
        Key("Web", "Remark", \.web.remark, Form.anyText.optional),
        Key("Web", "RemarkOn", addingTo: \.web.remarkConditions, .condition),
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
