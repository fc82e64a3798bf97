/// A delivery that an interaction names by its number or message id, as the ledger knows it.
public struct PastDelivery: Sendable {
    /// Its number.
    public var seq: SequenceNumber
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user at the time.
    public var externalID: String?
    /// The payload's own id.
    public var messageID: String?
    /// Whose payload it is; `nil` when no provider's rule matched.
    public var provider: String?
    /// The version of the operating system.
    public var osVersion: OSVersion?
    /// The payload as it came.
    public var payload: JSONNode

    /// Joins the parts.
    public init(
        seq: SequenceNumber, platform: Platform, app: String?, device: String?, externalID: String?,
        messageID: String?, provider: String?, osVersion: OSVersion?, payload: JSONNode
    ) {
        self.seq = seq
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.messageID = messageID
        self.provider = provider
        self.osVersion = osVersion
        self.payload = payload
    }
}
