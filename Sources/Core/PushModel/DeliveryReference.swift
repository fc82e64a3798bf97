/// An interaction's reference to its delivery, for the code that stores the requests of deliveries.
public struct DeliveryReference: Hashable, Sendable {
    /// The name of the delivery.
    public enum Name: Hashable, Sendable {
        /// The delivery's number.
        case seq(SequenceNumber)
        /// The payload's own id: the delivery that the tracker found when the interaction was accepted, or without one
        /// the latest with that id that was not for the tracker.
        case message(String)
    }

    /// The name of the delivery.
    public var name: Name
    /// The delivery's app; `nil`: any. A delivery without an app matches every app.
    public var app: String?
    /// The delivery's device; `nil`: any.
    public var device: String?
    /// The interaction's own number; `nil` until it has one. Deliveries after that number do not match.
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

    /// Whether a delivery matches the app and the device, as far as the reference names them.
    public func admits(_ delivery: AcceptedRequest) -> Bool {
        let (app, device) = (app.map(ExactName.init), device.map(ExactName.init))
        return (app == nil || delivery.app == nil || app == delivery.app.map(ExactName.init))
            && (device == nil || device == delivery.device.map(ExactName.init))
    }
}
