public import PushModel

/// A publish whose deliveries are not all made.
public struct OpenFanOut: Sendable {
    /// How far it is.
    public var fanOut: FanOut
    /// The publish as it came.
    public var request: Request
    /// Who sent it.
    public var peer: Peer
    /// The devices of ``FanOut/rest``, the last first.
    var devices: [DeviceKey] = []

    /// - Parameters:
    ///   - fanOut: how far it is.
    ///   - request: the publish as it came.
    ///   - peer: who sent it.
    public init(_ fanOut: FanOut, _ request: Request, from peer: Peer) {
        (self.fanOut, self.request, self.peer) = (fanOut, request, peer)
    }
}

/// The publishes whose deliveries are being made, one after the other, in slices.
struct FanOuts: Sendable {
    /// How many may be open at once.
    static let openMax = 64
    /// How many deliveries a turn makes.
    static let slice = 32

    var open: [OpenFanOut] = []
    /// When the next slice may be tried, after the router was too busy for one; `nil`: at once.
    var pausedUntil: Instant?

    /// Whether a slice can be made now.
    var hasWorkLeft: Bool { !open.isEmpty && pausedUntil == nil }

    /// How many deliveries are yet to be made.
    var membersLeft: Int { open.reduce(0) { $0 + $1.devices.count } }
}
