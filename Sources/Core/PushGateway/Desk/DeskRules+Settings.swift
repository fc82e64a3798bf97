public import PushHosts

extension GatewaySettings {
    /// The rules of the desk.
    public var rules: DeskRules {
        var rules = DeskRules()
        if credentials != nil { rules.accounts = .strict }
        if provider == .strict { rules.providers = .strict }
        rules.unknown = unknown
        rules.apns.takesOnlyHexadecimalTokens = hexadecimalTokens
        rules.quotas.projectPerMinute = projectPerMinute
        rules.quotas.devicePerMinute = devicePerMinute
        rules.quotas.devicePerHour = devicePerHour
        rules.quotas.appleDevicePerMinute = appleDevicePerMinute
        return rules
    }
}

extension GatewaySettings {
    /// Returns the changed keys that take effect only at the next start.
    public func keysForNextStart(from running: GatewaySettings) -> [String] {
        let keys: [(String, Bool)] = [
            ("Listen", listen != running.listen), ("Names", names != running.names),
            ("ConnectionsMax", connectionsMax != running.connectionsMax),
            ("StreamsMax", streamsMax != running.streamsMax), ("BodySizeMax", bodySizeMax != running.bodySizeMax),
            ("IdleTimeout", idleTimeout != running.idleTimeout),
        ]
        return keys.filter(\.1).map(\.0)
    }
}
