import PushHosts
import PushModel

/// The daemon's word on the device of a token.
enum DaemonDevice {
    /// The device registered the token.
    case known(Target)
    /// Nobody did: the device as it is presumed.
    case presumed(Target)
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
            self = known ? .known(target) : .presumed(target)
        } catch {
            switch error {
            case .refused(let refusal): self = .refused(refusal)
            case .unreadable: self = .none
            }
        }
    }

    /// Whether a push goes to it.
    func isTaken(_ unknown: GatewaySettings.Unknown) -> Bool {
        switch self {
        case .known: true
        case .presumed: unknown == .accept
        case .refused, .none: false
        }
    }
}
