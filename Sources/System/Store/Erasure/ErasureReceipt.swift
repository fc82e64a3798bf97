/// What an erasure takes out of the ledger, or would take out.
public struct ErasureReceipt: Hashable, Sendable {
    /// Requests whose rows stay without anything that names the person.
    public var requests = 0
    /// Analytics events.
    public var events = 0
    /// Entries of custom data.
    public var entries = 0
    /// How many of these the endpoint took already: it has them still.
    public var entriesSent = 0
    /// Attributes of the profile.
    public var attributes = 0
    /// Sessions, session starts, and what is last known of devices.
    public var states = 0
    /// The person's devices.
    public var devices = 0
    /// Requests of others that name one of these devices; they stay.
    public var othersOnDevices = 0
    /// The batch of the chain that has the order, where machines share a log: it and those before have the person.
    public var batch: UInt64?

    /// Nothing.
    public init() {}

    /// How many rows are the person's: what somebody is asked to type.
    public var rows: Int { requests + events + entries + attributes + states }

    /// Its counts, in the order in which people and programs are told them, each by its name in JSON.
    public static var counts: [(name: String, value: WritableKeyPath<ErasureReceipt, Int>)] {
        [
            ("requests", \.requests), ("events", \.events), ("entries", \.entries), ("entries_sent", \.entriesSent),
            ("attributes", \.attributes), ("states", \.states), ("devices", \.devices),
            ("others_on_devices", \.othersOnDevices),
        ]
    }
}
