import PushModel
import PushRouter

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
