import PushHosts
import PushModel

/// The daemon's word on the device of a token.
enum DaemonDevice {
    /// The device registered the token.
    case known(Target, DeviceState)
    /// Nobody did: the device as it is presumed.
    case presumed(Target, DeviceState)
    /// The daemon does not say.
    case refused(ProtocolError)
    /// There is no reply.
    case none

    /// Reads the reply to `resolve`; a line that is no reply is none.
    init(_ line: [UInt8]?) {
        guard let line else {
            self = .none
            return
        }
        do {
            let root = try ControlReply(line: line).root
            guard let known = root["known"]?.bool else {
                self = .none
                return
            }
            let target = Target(
                platform: root["platform"]?.string.flatMap(Platform.init), app: root["app"]?.string,
                device: root["device"]?.string, externalID: root["external_id"]?.string)
            let state = DeviceState(reply: root)
            self = known ? .known(target, state) : .presumed(target, state)
        } catch {
            switch error {
            case .refused(let refusal): self = .refused(refusal)
            case .unreadable: self = .none
            }
        }
    }

    /// The device that a push goes to, with what was said of it; `nil`: it goes to none.
    func taken(_ unknown: GatewaySettings.Unknown) -> (Target, DeviceState)? {
        switch self {
        case .known(let target, let state): (target, state)
        case .presumed(let target, let state): unknown == .accept ? (target, state) : nil
        case .refused, .none: nil
        }
    }
}
