/// The devices of a publish, and the number of deliveries that the daemon has made to them.
public struct FanOut: Hashable, Sendable {
    /// The number of the publish.
    public var seq: SequenceNumber
    /// The number of devices that were subscribed when the daemon accepted the publish.
    public var members: Int
    /// The number of deliveries made and devices left out.
    public var progress: Progress
    /// The numbers of the devices, in the order of their deliveries; empty once all deliveries are made.
    public var devices: [SequenceNumber]

    /// The number of deliveries made and of devices left out.
    public struct Progress: Hashable, Sendable {
        /// The number of deliveries made.
        public var made: Int
        /// The number of devices that no longer existed, whose platform does not take the payload, or that had no
        /// delivery when the time of the publish was over.
        public var leftOut: Int

        /// Joins the parts.
        public init(made: Int = 0, leftOut: Int = 0) { (self.made, self.leftOut) = (made, leftOut) }

        /// The number of devices for which nothing is left to do.
        public var done: Int { made + leftOut }
    }

    /// Joins the parts.
    public init(
        seq: SequenceNumber, members: Int, progress: Progress = Progress(), devices: [SequenceNumber]
    ) {
        (self.seq, self.members, self.progress, self.devices) = (seq, members, progress, devices)
    }

    /// The number of deliveries yet to make.
    public var toCome: Int { members - progress.done }
}
