/// The deliveries that a publish is made into, and how many of them are made.
public struct FanOut: Hashable, Sendable {
    /// The number of the publish.
    public var seq: SequenceNumber
    /// How many devices were subscribed when it was accepted.
    public var members: Int
    /// To how many of them a delivery was made.
    public var made: Int
    /// How many had gone, or could not get the payload.
    public var leftOut: Int
    /// The numbers of the devices to which none was made yet, in their order.
    public var rest: [SequenceNumber]

    /// Joins the parts.
    public init(seq: SequenceNumber, members: Int, made: Int = 0, leftOut: Int = 0, rest: [SequenceNumber]) {
        (self.seq, self.members, self.made, self.leftOut, self.rest) = (seq, members, made, leftOut, rest)
    }
}
