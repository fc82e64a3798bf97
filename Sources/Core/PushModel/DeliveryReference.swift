/// How an interaction names its delivery, for whoever keeps the requests of deliveries.
public struct DeliveryReference: Hashable, Sendable {
    /// What it is called.
    public enum Name: Hashable, Sendable {
        /// By its number.
        case seq(SequenceNumber)
        /// By the payload's own id: the delivery that the tracker found when the interaction was accepted; without one the
        /// latest that has the id and was not for the tracker.
        case message(String)
    }

    /// What it is called.
    public var name: Name
    /// Its app; `nil`: any. A delivery without an app is that of any.
    public var app: String?
    /// Its device; `nil`: any.
    public var device: String?
    /// The interaction's own number; `nil` while it has none. What was delivered after it is not meant.
    public var interaction: SequenceNumber?

    public init(_ name: Name, app: String?, device: String?, interaction: SequenceNumber? = nil) {
        (self.name, self.app, self.device, self.interaction) = (name, app, device, interaction)
    }

    /// The delivery that an interaction names by its number or message id; `nil` when it brings the payload along.
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

    /// Whether a delivery reached the app and the device that are named, as far as they are.
    public func admits(_ delivery: AcceptedRequest) -> Bool {
        let (app, device) = (app.map(ExactName.init), device.map(ExactName.init))
        return (app == nil || delivery.app == nil || app == delivery.app.map(ExactName.init))
            && (device == nil || device == delivery.device.map(ExactName.init))
    }
}
