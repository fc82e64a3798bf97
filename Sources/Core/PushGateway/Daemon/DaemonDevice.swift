import PushHosts
import PushModel

/// The daemon's reply about the device of a token.
enum DaemonDevice {
    /// The device registered the token.
    case known(Target, DeviceState)
    /// No device registered the token: the presumed device.
    case presumed(Target, DeviceState)
    /// The daemon refused the question.
    case refused(ProtocolError)
    /// The daemon did not reply.
    case none

    /// Reads the reply to `resolve`; an unreadable line counts as no reply.
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

    /// Returns the device for a push, with its state; `nil`: there is none.
    func taken(_ unknown: GatewaySettings.Unknown) -> (Target, DeviceState)? {
        switch self {
        case .known(let target, let state): (target, state)
        case .presumed(let target, let state): unknown == .accept ? (target, state) : nil
        case .refused, .none: nil
        }
    }
}
