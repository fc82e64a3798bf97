package import PushModel

/// One row of the ledger as a report reads it: an invocation and the facts of its request.
package struct ReportRow: Hashable, Sendable {
    /// The invocation, decided or in flight.
    package var invocation: InvocationRecord
    /// In whose place the router stood when the request was accepted.
    package var mode: DispatchMode
    /// The platform of the request.
    package var platform: Platform
    /// Package name or bundle id.
    package var app: String?
    /// The device, as the producer names it.
    package var device: String?
    /// The producer's own id of the request.
    package var id: String?
    /// The payload's own id.
    package var messageID: String?
    /// When the request was accepted.
    package var acceptedAt: WallTime

    /// Joins the parts.
    package init(
        invocation: InvocationRecord, mode: DispatchMode, platform: Platform, app: String?, device: String?,
        id: String?, messageID: String?, acceptedAt: WallTime
    ) {
        self.invocation = invocation
        self.mode = mode
        self.platform = platform
        self.app = app
        self.device = device
        self.id = id
        self.messageID = messageID
        self.acceptedAt = acceptedAt
    }
}
