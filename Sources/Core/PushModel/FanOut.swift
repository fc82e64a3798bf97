/// The devices of a publish, and the number of deliveries that are made to them.
public struct FanOut: Hashable, Sendable {
    /// The number of the publish.
    public var seq: SequenceNumber
    /// The number of devices that were subscribed when the daemon accepted the publish.
    public var members: Int
    /// The progress.
    public var progress: Progress
    /// The numbers of the devices, in the order of their deliveries; empty once all are made.
    public var devices: [SequenceNumber]

    /// The number of deliveries that are made, and of those that cannot be.
    public struct Progress: Hashable, Sendable {
        /// The number of deliveries that are made.
        public var made: Int
        /// The number of devices that no longer exist, or whose platform does not accept the payload.
        public var leftOut: Int

        /// Joins the parts.
        public init(made: Int = 0, leftOut: Int = 0) { (self.made, self.leftOut) = (made, leftOut) }

        /// The number of devices that need no more work.
        public var done: Int { made + leftOut }
    }

    /// Joins the parts.
    public init(
        seq: SequenceNumber, members: Int, progress: Progress = Progress(), devices: [SequenceNumber]
    ) {
        (self.seq, self.members, self.progress, self.devices) = (seq, members, progress, devices)
    }

    /// The number of deliveries that are still to be made.
    public var toCome: Int { members - progress.done }
}
