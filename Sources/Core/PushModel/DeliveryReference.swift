/// The delivery that an interaction names, for a search among stored requests.
public struct DeliveryReference: Hashable, Sendable {
    /// The name of the delivery.
    public enum Name: Hashable, Sendable {
        /// The number of the delivery.
        case seq(SequenceNumber)
        /// The payload's own id: names the delivery that the tracker found when the interaction was accepted. If the
        /// tracker found none, it names the latest delivery with this id that was not for the tracker.
        case message(String)
    }

    /// The name of the delivery.
    public var name: Name
    /// The app of the delivery; `nil`: any. A delivery without an app matches any app.
    public var app: String?
    /// The device of the delivery; `nil`: any.
    public var device: String?
    /// The interaction's own number; `nil` while it has none. Deliveries with a larger number do not match.
    public var interaction: SequenceNumber?

    public init(_ name: Name, app: String?, device: String?, interaction: SequenceNumber? = nil) {
        (self.name, self.app, self.device, self.interaction) = (name, app, device, interaction)
    }

    /// Makes the reference of an interaction with a number or a message id; `nil` if the interaction has the payload
    /// instead.
    ///
    /// - Parameter number: the interaction's own number, once it has one.
    public init?(_ interact: InteractRequest, interaction number: SequenceNumber? = nil) {
        switch interact.subject {
        case .delivery(let seq): name = .seq(seq)
        case .message(let id): name = .message(id)
        case .payload: return nil
        }
        app = interact.target.app
        device = interact.target.device
        interaction = number
    }

    /// Whether a delivery has the app and the device of this reference, as far as they are set.
    public func admits(_ delivery: AcceptedRequest) -> Bool {
        let (app, device) = (app.map(ExactName.init), device.map(ExactName.init))
        return (app == nil || delivery.app == nil || app == delivery.app.map(ExactName.init))
            && (device == nil || device == delivery.device.map(ExactName.init))
    }
}
