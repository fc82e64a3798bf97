public import PushModel

/// A file of `registrations.d`: names the device of a token that no device registered, and the parts of the device's
/// state that `op: device` has not set.
public struct RegistrationRule: Hashable, Sendable {
    /// The file name without its extension. Rules apply in order of their names; the first match wins.
    public var name: String
    /// The tokens and installation ids.
    public var tokens: [Glob]
    /// The platform; `nil`: the sender's guess.
    public var platform: Platform?
    /// The package name or bundle id; `nil`: the sender's guess.
    public var app: String?
    /// The device; `nil`: each token is the name of its own device.
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
    /// - Parameter presumed: the sender's guess.
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
    /// Returns the rule for a token; `nil`: no file has one.
    func registration(of token: String) -> RegistrationRule? {
        registrations.first { rule in rule.tokens.contains { $0.matches(token) } }
    }

    /// Returns the state of a known device: the rule for its token, changed by `op: device`.
    func state(of device: KnownDevice) -> DeviceState {
        guard !registrations.isEmpty, let rule = device.token.flatMap(registration) else { return device.detail.state }
        return rule.state.changed(by: device.detail.state)
    }
}

extension Router {
    /// Returns the device that registered a token last, or that a file of `registrations.d` names; `nil`: none is
    /// known.
    ///
    /// - Parameter presumed: the sender's guess of the target.
    public func owner(ofToken token: String, presumed: Target) -> TokenOwner? {
        if let device = memory.devices.known.device(ofToken: token) {
            return TokenOwner(target: device.target, state: table.state(of: device))
        }
        return table.registration(of: token).map {
            let target = $0.target(ofToken: token, presumed: presumed)
            return TokenOwner(
                target: target, state: $0.state.changed(by: reportedState(of: target.device, app: target.app)))
        }
    }

    /// Returns the time at which the last device of a token replaced or unregistered it; `nil`: no device had it.
    public func end(ofToken token: String) -> WallTime? { memory.devices.known.former(token: token)?.ended }

    /// Returns the state that `op: device` set for a device, even if the device never registered a token.
    public func reportedState(of device: String?, app: String?) -> DeviceState {
        memory.devices.known(device, app: app)?.detail.state ?? DeviceState()
    }
}
