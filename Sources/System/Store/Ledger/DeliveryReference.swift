public import PushModel

/// How an interaction names its delivery.
public struct DeliveryReference: Hashable, Sendable {
    /// What it is called.
    public enum Name: Hashable, Sendable {
        /// By its number.
        case seq(SequenceNumber)
        /// By the payload's own id; the latest that has it.
        case message(String)
    }

    /// What it is called.
    public var name: Name
    /// Its app; `nil`: any.
    public var app: String?
    /// Its device; `nil`: any.
    public var device: String?

    /// Only requests with a lower number are meant; `nil`: any.
    public var before: SequenceNumber?

    /// Joins the parts.
    public init(_ name: Name, app: String?, device: String?, before: SequenceNumber? = nil) {
        self.before = before
        self.name = name
        self.app = app
        self.device = device
    }
}

extension Statement {
    /// Binds where the delivery was made to `?2` and `?3`.
    mutating func bind(placeOf reference: DeliveryReference) {
        bind(reference.app, at: 2)
        bind(reference.device, at: 3)
    }
}
