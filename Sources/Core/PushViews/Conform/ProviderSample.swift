import PushModel
import PushRouter

/// A payload that meets a rule, made from its conditions: for the cases of each provider.
struct ProviderSample {
    /// A value in it. A class, because a condition reaches into nested objects.
    private final class Value {
        var text = "1"
        var members: [(key: String, value: Value)] = []
        var isObject = false
        /// Whether the object is the text of a string.
        var isInText = false

        func member(_ key: String) -> Value {
            isObject = true
            if let known = members.first(where: { $0.key == key }) { return known.value }
            members.append((key, Value()))
            return members[members.count - 1].value
        }

        func write(to writer: inout JSONWriter) {
            guard isObject else { return writer.string(text) }
            guard isInText else {
                return writer.object { object in
                    for (key, value) in members {
                        object.key(key)
                        value.write(to: &object)
                    }
                }
            }
            isInText = false
            var inner = JSONWriter()
            write(to: &inner)
            writer.string(String(decoding: inner.bytes, as: UTF8.self))
        }
    }

    /// Returns a push that meets a rule on a platform.
    ///
    /// - Parameter withBraze: whether it also meets Braze's rule.
    static func push(
        of provider: ProviderRule, _ rule: ProviderRule.PlatformRule, on platform: Platform, withBraze: Bool = false
    ) -> ConformPush {
        let root = Value()
        root.isObject = true
        let isProbeAlone = rule.all.isEmpty && rule.any.isEmpty
        let conditions = rule.all + rule.any.prefix(1) + (isProbeAlone ? rule.probes.prefix(1) : [])
        conditions.forEach { meet($0, in: root) }
        if withBraze, let braze = ProviderRule.braze.platforms[platform] {
            // The first of iOS is an uninstall test.
            (braze.all + braze.any.dropFirst().prefix(1)).forEach { meet($0, in: root) }
        }
        if platform.showsAlerts {
            let aps = root.member("aps")
            if aps.member("alert").members.isEmpty { aps.member("alert").member("body").text = "Body" }
        }
        var writer = JSONWriter()
        root.write(to: &writer)
        return ConformPush(
            path: "\(withBraze ? "braze/with-" : "providers/")\(provider.name)", platform: platform,
            deliver: DeliverRequest(
                target: Target(platform: platform), payload: ConformCall.document(writer.bytes).root))
    }

    private static func meet(_ condition: ProviderCondition, in object: Value) {
        switch condition {
        case .value(let path, let test):
            let value = path.reduce(object) { $0.member($1) }
            switch test {
            case .present, .notNull, .string, .notEmpty, .notBlank, .truthy: break
            case .equals(let text), .equalsIgnoringCase(let text): value.text = text
            case .object: value.isObject = true
            case .nonEmptyObject: _ = value.member("id")
            case .jsonText(let key):
                _ = value.member(key)
                value.isInText = true
            }
        case .keyBeginning(let prefix): _ = object.member("\(prefix)id")
        case .keyContaining(let text): _ = object.member("a\(text)")
        // Other keys would be none of the provider's: the rule's other conditions have as many.
        case .keyCount: break
        case .inText(let key, let condition):
            let value = object.member(key)
            meet(condition, in: value)
            value.isInText = true
        case .every(let conditions): conditions.forEach { meet($0, in: object) }
        }
    }
}
