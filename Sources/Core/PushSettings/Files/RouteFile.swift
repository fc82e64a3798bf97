import PushModel
import PushRouter

/// The contents of a `.route` file, before they are checked as a whole.
struct RouteDraft: Fillable {
    var match = RouteMatch()
    var handler: String?
    var deadline: Duration?
    var observe = false

    /// Returns the route, or `nil` if the file does not describe one. The caller checks that its handler exists.
    func validated(name: String, budget: Duration, lines: [String: Int], report: inout FileReport) -> Route? {
        if let deadline, deadline > budget {
            report.error(
                "Deadline=\(spelledTimeSpan(deadline)): more than Budget=\(spelledTimeSpan(budget)); "
                    + "a route can only shorten the time",
                line: lines["Deadline"])
        }
        if match.providers == [ProviderRule.brazeName], !observe {
            report.warning(
                "Provider=braze: Braze payloads go to the tracker; this route gets none, unless it has Observe=yes for a copy",
                line: lines["Provider"])
        }
        match.warnOfEqualsSigns(lines: lines, report: &report)
        guard let handler else {
            if lines["Handler"] == nil { report.error("Handler= is missing; [Route] needs the name of a handler") }
            return nil
        }
        return Route(name: name, match: match, handler: handler, budget: deadline, observes: observe)
    }
}

extension Schema<RouteDraft> {
    /// `routes.d/*.route`.
    static let route = Schema(keys: [
        Key("Match", "Provider", addingTo: { $1(&$0.match.providers) }, Form.providerName.list),
        Key("Match", "Platform", addingTo: { $1(&$0.match.platforms) }, Form.choice.list),
        Key("Match", "Callback", addingTo: { $1(&$0.match.callbacks) }, Form.choice(of: routedCallbacks).list),
        Key("Match", "App", addingTo: { $1(&$0.match.apps) }, Form.glob.list),
        Key("Match", "Data", addingTo: { $1(&$0.match.data) }, .keyCondition),
        Key("Match", "KeyValue", addingTo: { $1(&$0.match.keyValues) }, .keyCondition),
        Key("Route", "Handler", { $1(&$0.handler) }, Form.stem.optional),
        Key("Route", "Deadline", { $1(&$0.deadline) }, Form.budget.optional),
        Key("Route", "Observe", { $1(&$0.observe) }, .boolean),
    ])
}

extension RouteMatch {
    /// Warns about `Data=kind=sale`, which tests for a key of that whole name: a space separates key and pattern.
    func warnOfEqualsSigns(lines: [String: Int], report: inout FileReport) {
        for (name, conditions) in [("Data", data), ("KeyValue", keyValues)] {
            for condition in conditions where condition.pattern == nil {
                let parts = condition.key.split(separator: "=", maxSplits: 1)
                guard parts.count == 2 else { continue }
                let (key, meant) = (printable(condition.key), printable(parts.joined(separator: " ")))
                report.warning(
                    "\(name)=\(key): asks for a key with that name; did you mean \(name)=\(meant)?", line: lines[name])
            }
        }
    }
}

/// `none` is not a call into the app, so there is no routing for it.
private let routedCallbacks = Callback.allCases.filter { $0 != .none }

extension Form<Glob> {
    static let glob = Form { text throws(ValueError) in
        // The pattern would match the quotes themselves in the payload, which is hardly the intention.
        if text.hasPrefix("\"") || text.hasPrefix("'") {
            throw ValueError("a pattern is not quoted; leave the quotes out, or write \\ before a literal quote")
        }
        return Glob(text)
    }
}

extension Form<[RouteMatch.KeyCondition]> {
    /// `KEY [GLOB]`: the pattern is the rest of the line, including spaces.
    static let keyCondition = Form { text throws(ValueError) in
        var rest = Array(text.utf8)[...]
        let key = rest.take { !$0.isWhitespace }
        let pattern = rest.trimmed
        return [
            RouteMatch.KeyCondition(
                key: key.text, pattern: pattern.isEmpty ? nil : try Form<Glob>.glob.parse(pattern.text))
        ]
    }
}

/// The contents of a `.registration` file, before they are checked as a whole.
struct RegistrationDraft: Fillable {
    var tokens: [Glob] = []
    var platform: Platform?
    var app: String?
    var device: String?
    var externalID: String?
    var state = DeviceState()

    /// Returns the rule, or `nil` if the file does not describe one.
    func validated(name: String, lines: [String: Int], report: inout FileReport) -> RegistrationRule? {
        if tokens.isEmpty, lines["Token"] == nil {
            report.error("Token= is missing; it is the token or installation id, or a pattern of them")
        }
        if let device, tokens.contains(where: \.matchesAll) {
            report.warning(
                "Device=\(printable(device)) makes all tokens one device; without Device= each token is a device",
                line: lines["Device"])
        }
        guard !report.hasErrors else { return nil }
        return RegistrationRule(
            name: name, tokens: tokens, platform: platform, app: app, device: device, externalID: externalID,
            state: state)
    }
}

extension Schema<RegistrationDraft> {
    /// `registrations.d/*.registration`.
    static let registration = Schema(
        keys: [
            Key("Registration", "Token", addingTo: { $1(&$0.tokens) }, Form.glob.list),
            Key("Registration", "Platform", { $1(&$0.platform) }, Form.choice.optional),
            Key("Registration", "App", { $1(&$0.app) }, Form.entityName.optional),
            Key("Registration", "Device", { $1(&$0.device) }, Form.entityName.optional),
            Key("Registration", "ExternalID", { $1(&$0.externalID) }, Form.entityName.optional),
            Key("State", "State", { $1(&$0.state.state) }, Form.choice.optional),
            Key("State", "Locked", { $1(&$0.state.locked) }, Form.boolean.optional),
            Key("State", "Notifications", { $1(&$0.state.notifications) }, Form.choice.optional),
            Key("State", "OSVersion", { $1(&$0.state.osVersion) }, Form.osVersion.optional),
            Key("State", "SDK", { $1(&$0.state.sdk) }, Form.choice.optional),
        ])
}

extension Form<String> {
    /// A device, app or user name of the length that a producer may use.
    static let entityName = Form { text throws(ValueError) in
        guard !text.isEmpty, text.utf8.count <= 255, !text.utf8.contains(0) else {
            throw ValueError("a name has 1 to 255 bytes")
        }
        return text
    }

    /// A version of an operating system.
    static let osVersion = Form { text throws(ValueError) in
        guard OSVersion(text) != nil else {
            throw ValueError("a version is major[.minor[.patch]] in digits, such as 17 or 17.4.1")
        }
        return text
    }
}
