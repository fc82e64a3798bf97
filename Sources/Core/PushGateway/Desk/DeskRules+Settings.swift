public import PushHosts

extension GatewaySettings {
    /// The rules of the desk.
    public var rules: DeskRules {
        var rules = DeskRules()
        if credentials != nil { rules.accounts = .strict }
        if provider == .strict { rules.providers = .strict }
        rules.unknown = unknown
        rules.apns.takesOnlyHexadecimalTokens = hexadecimalTokens
        return rules
    }
}
