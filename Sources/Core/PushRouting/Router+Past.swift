import PushDispatch
public import PushModel
import PushTracking

extension Router {
    /// The delivery that an interaction names by its number or message id, if the tracker remembers it.
    public func rememberedDelivery(of interact: InteractRequest) -> SequenceNumber? {
        let name: Interaction.Subject
        switch interact.subject {
        case .delivery(let seq): name = .delivery(seq)
        case .message(let message): name = .message(message)
        case .payload: return nil
        }
        return tracker.delivery(for: name, app: interact.target.app, device: interact.target.device)?.seq
    }

    /// Whether a track may need the payload that an interaction is about: the tracker remembers none.
    public func wantsPayload(of interact: InteractRequest) -> Bool {
        switch UserAct(interact.kind, action: interact.action, text: interact.text) {
        case .opened: table.hasTrack(on: .opened)
        case .button: table.hasTrack(on: .action)
        case .dismissed: table.hasTrack(on: .dismissed)
        }
    }
}
