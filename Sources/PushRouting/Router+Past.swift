public import PushModel
import PushTracking

extension Router {
    /// Whether the tracker remembers the delivery that an interaction names by its number or message id.
    public func remembersDelivery(of interact: InteractRequest) -> Bool {
        let name: Interaction.Subject
        switch interact.subject {
        case .delivery(let seq): name = .delivery(seq)
        case .message(let message): name = .message(message)
        case .payload: return false
        }
        return tracker.delivery(for: name, app: interact.target.app, device: interact.target.device) != nil
    }
}
