public import PushModel

/// A rule that names the device of an unregistered token, and its state where `op: device` set none.
public struct RegistrationRule: Hashable, Sendable {
    /// The stem of its file; the first matching rule in the order of names applies.
    public var name: String
    /// The tokens and installation ids.
    public var tokens: [Glob]
    /// The platform; `nil`: the sender's assumption.
    public var platform: Platform?
    /// Package name or bundle id; `nil`: the sender's assumption.
    public var app: String?
    /// The device; `nil`: each token has a device of the token's name.
    public var device: String?
    /// The user.
    public var externalID: String?
    /// The state of the device.
    public var state: DeviceState

    /// Joins the parts.
    public init(
        name: String, tokens: [Glob], platform: Platform? = nil, app: String? = nil, device: String? = nil,
        externalID: String? = nil, state: DeviceState = DeviceState()
    ) {
        (self.name, self.tokens, self.platform, self.app) = (name, tokens, platform, app)
        (self.device, self.externalID, self.state) = (device, externalID, state)
    }

    /// Returns the target of a push to a token.
    ///
    /// - Parameter presumed: the target that the sender assumes.
    func target(ofToken token: String, presumed: Target) -> Target {
        Target(
            platform: platform ?? presumed.platform, app: app ?? presumed.app, device: device ?? token,
            externalID: externalID)
    }
}

/// The device of a token, and its state.
public struct TokenOwner: Hashable, Sendable {
    /// The device as the target of a push.
    public var target: Target
    /// Its state at the time of a push.
    public var state: DeviceState
}

extension RoutingTable {
    /// Returns the rule for a token; `nil`: no file of `registrations.d` has one.
    func registration(of token: String) -> RegistrationRule? {
        registrations.first { rule in rule.tokens.contains { $0.matches(token) } }
    }

    /// Returns the state of a known device: the fields that `op: device` set, and the others by the rule for its token.
    func state(of device: KnownDevice) -> DeviceState {
        guard !registrations.isEmpty, let rule = device.token.flatMap(registration) else { return device.detail.state }
        return rule.state.changed(by: device.detail.state)
    }
}

extension Router {
    /// Returns the device that registered a token last, or that a file of `registrations.d` names; `nil`: none.
    ///
    /// - Parameter presumed: the target that the sender assumes.
    public func owner(ofToken token: String, presumed: Target) -> TokenOwner? {
        if let device = device(ofToken: token) {
            return TokenOwner(target: device.target, state: table.state(of: device))
        }
        return table.registration(of: token).map {
            let target = $0.target(ofToken: token, presumed: presumed)
            return TokenOwner(target: target, state: $0.state.changed(by: said(of: target.device, app: target.app)))
        }
    }

    /// Returns the state that `op: device` set for a name, also for a device without a token.
    public func said(of device: String?, app: String?) -> DeviceState {
        memory.devices.known(device, app: app)?.detail.state ?? DeviceState()
    }
}
