public import PushModel

/// A publish with deliveries that the router has not made yet.
public struct OpenFanOut: Sendable {
    /// The number of the publish.
    let seq: SequenceNumber
    /// The publish as it came.
    let request: Request
    /// The sender.
    let peer: Peer
    /// The progress.
    var progress: FanOut.Progress
    /// The devices whose deliveries are not made yet, the last one first; `nil` for a device that is forgotten.
    var devices: [DeviceKey?]

    /// - Parameters:
    ///   - seq: the number of the publish.
    ///   - request: the publish as it came.
    ///   - peer: the sender.
    ///   - progress: the progress.
    ///   - devices: the devices of the deliveries that are left, in their order.
    init(
        _ seq: SequenceNumber, _ request: Request, from peer: Peer, progress: FanOut.Progress = FanOut.Progress(),
        to devices: [DeviceKey?]
    ) {
        (self.seq, self.request, self.peer, self.progress) = (seq, request, peer, progress)
        self.devices = devices.reversed()
    }
}

/// A publish that an earlier run of the daemon did not finish.
public struct UnfinishedFanOut: Sendable {
    /// The devices, and the progress.
    public var fanOut: FanOut
    /// The publish as it came.
    public var request: Request
    /// The sender.
    public var peer: Peer

    /// Joins the parts.
    public init(_ fanOut: FanOut, _ request: Request, from peer: Peer) {
        (self.fanOut, self.request, self.peer) = (fanOut, request, peer)
    }
}

/// The publishes with deliveries left to make, one after the other, in slices.
struct FanOuts: Sendable {
    /// The limit of open publishes.
    static let openMax = 64
    /// The number of deliveries of one turn.
    static let slice = 32

    var open: [OpenFanOut] = []
    /// The earliest time for the next slice, after the router was too busy for one; `nil`: at once.
    var pausedUntil: Instant?

    /// Whether the router can make a slice of deliveries now.
    var hasWorkLeft: Bool { !open.isEmpty && pausedUntil == nil }

    /// The number of deliveries that are left to make.
    var membersLeft: Int { open.reduce(0) { $0 + $1.devices.count } }
}
