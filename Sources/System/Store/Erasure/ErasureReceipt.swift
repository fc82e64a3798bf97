/// The rows that an erasure removes from the ledger, or would remove.
public struct ErasureReceipt: Hashable, Sendable {
    /// Requests whose rows stay, without any data that names the person.
    public var requests = 0
    /// Analytics events.
    public var events = 0
    /// Entries of custom data.
    public var entries = 0
    /// How many of these the endpoint has accepted: it still has them.
    public var entriesSent = 0
    /// Attributes of the profile.
    public var attributes = 0
    /// Sessions, session starts, and last known facts of devices.
    public var states = 0
    /// The person's devices.
    public var devices = 0
    /// Requests of others that name one of these devices; they stay.
    public var othersOnDevices = 0
    /// The batch of the chain with the order, if machines share a log: this batch and earlier ones still have the
    /// person's data.
    public var batch: UInt64?

    /// An empty receipt.
    public init() {}

    /// The number of the person's rows, which the user is asked to type.
    public var rows: Int { requests + events + entries + attributes + states }

    /// The counts in the order of the output for people and programs, each with its name in JSON.
    public static var counts: [(name: String, value: WritableKeyPath<ErasureReceipt, Int>)] {
        [
            ("requests", \.requests), ("events", \.events), ("entries", \.entries), ("entries_sent", \.entriesSent),
            ("attributes", \.attributes), ("states", \.states), ("devices", \.devices),
            ("others_on_devices", \.othersOnDevices),
        ]
    }
}
