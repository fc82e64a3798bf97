public import PushModel

/// The last known facts of each device, and the last message ids that FCM on the device saw.
struct DeviceMemory: Sendable {
    /// The most devices that one request makes the router forget.
    static let forgottenAtOnce = 64

    private(set) var known = KnownDevices()
    private(set) var recentMessages = ShardedDictionary<DeviceKey, RecentMessages>(shardBits: 10)
    /// The approximate limit of memory in bytes. Beyond it the router forgets devices.
    var byteLimit = Int.max
    /// The devices that were forgotten for want of room.
    private(set) var evictions = DeviceEvictions()

    /// - Parameters:
    ///   - devices: the last known facts of each device, in order of its first request.
    ///   - deliveries: the last messages that FCM on the devices saw, in order of acceptance.
    init(_ devices: [KnownDevice], _ deliveries: [RecentDelivery]) {
        known.reserve(devices.count)
        for device in devices { set(device) }
        for delivery in deliveries where known[delivery.device] != nil { receive(delivery) }
    }

    /// Returns the last known facts of a device; they replace the fields that a request omits.
    func known(_ device: String?, app: String?) -> KnownDevice? {
        device.flatMap { known[DeviceKey(app: app, device: $0)] }
    }

    /// Stores the facts of a device.
    mutating func set(_ device: KnownDevice) { known.set(device) }

    /// Stores the facts of a request about its device.
    mutating func remember(_ accepted: AcceptedRequest, _ effects: inout Effects) {
        remember(accepted, instead: known(accepted.device, app: accepted.app), &effects)
    }

    /// Stores the facts of a request about its device, whose last known facts the caller has looked up.
    mutating func remember(_ accepted: AcceptedRequest, instead last: KnownDevice?, _ effects: inout Effects) {
        guard let name = accepted.device else { return }
        let key = DeviceKey(app: accepted.app, device: name)
        if let last, last.platform == accepted.platform, last.externalID.isSame(as: accepted.externalID) {
            // The use of a device matters only when the memory may soon be full.
            if known.byteCount > byteLimit / 2 { known.use(key) }
            return
        }
        set(facts(of: accepted, key, instead: last), &effects)
        makeRoom(but: key, &effects)
    }

    /// Returns the facts of a device after a request about it.
    private func facts(of accepted: AcceptedRequest, _ key: DeviceKey, instead last: KnownDevice?) -> KnownDevice {
        KnownDevice(
            number: last?.number ?? accepted.seq, key: key, platform: accepted.platform,
            externalID: accepted.externalID, token: last?.token,
            owner: last == nil ? accepted.peer.account : last?.owner, detail: last?.detail ?? DeviceDetail())
    }

    /// Stores facts, and writes their row.
    private mutating func set(_ device: KnownDevice, _ effects: inout Effects) {
        set(device)
        effects.record(.device(effects.takesSubscriptions ? device : known.whole(device)))
    }

    /// Forgets devices while all have more bytes than ``byteLimit``.
    ///
    /// - Parameters:
    ///   - key: a device that stays; `nil`: none.
    ///   - limit: the most devices to forget: a reload may have lowered the limit by many devices' worth, and each
    ///     request removes some.
    mutating func makeRoom(but key: DeviceKey?, atMost limit: Int = forgottenAtOnce, _ effects: inout Effects) {
        var left = limit
        while left > 0, known.byteCount > byteLimit, let (device, wasRegistered) = known.removeLeastUsed(but: key) {
            left -= 1
            recentMessages[device.key] = nil
            evictions.note(wasRegistered, of: device.owner)
            effects.record(.forgottenDevice(device.number))
        }
    }

    /// Stores the facts of a request about a device, and a token that no device has. The caller makes room.
    ///
    /// - Returns: the device.
    mutating func register(_ token: String, of accepted: AcceptedRequest, _ effects: inout Effects) -> KnownDevice? {
        guard let name = accepted.device else { return nil }
        let key = DeviceKey(app: accepted.app, device: name)
        var device = facts(of: accepted, key, instead: known[key])
        device.token = token
        set(device, &effects)
        return device
    }

    /// Stores which device has a token: a device has one token, and a token has one device.
    ///
    /// - Parameters:
    ///   - kind: whether the device registered or unregistered the token.
    ///   - token: the token; `nil`: the device's own token.
    ///   - accepted: the request, whose device ``remember(_:_:)`` has stored.
    mutating func register(
        _ kind: TokenRequest.Kind, _ token: String?, of accepted: AcceptedRequest, _ effects: inout Effects
    ) {
        let own = accepted.device.flatMap { known[DeviceKey(app: accepted.app, device: $0)] }
        let holder = token.flatMap { known.device(ofToken: $0) }
        switch kind {
        case .new, .registered:
            guard let device = own, let token, !device.token.isSame(as: token) else { return }
            if let holder, holder.key != device.key { take(nil, to: holder, &effects) }
            take(token, to: device, &effects)
        case .unregistered:
            guard let device = token == nil ? own : holder, device.token != nil else { return }
            take(nil, to: device, &effects)
        }
    }

    private mutating func take(_ token: String?, to device: KnownDevice, _ effects: inout Effects) {
        var device = device
        device.token = token
        change(device, &effects)
    }

    /// Stores changed facts of a known device, and writes its row.
    mutating func change(_ device: KnownDevice, _ effects: inout Effects) {
        set(device, &effects)
        makeRoom(but: device.key, &effects)
    }

    /// Starts or ends the subscriptions of known devices, each at most once in the list. Writes one row. The caller
    /// makes room.
    ///
    /// - Parameter places: the indices of the devices.
    mutating func change(_ change: SubscriptionChange, at places: [UInt32], _ effects: inout Effects) {
        guard !places.isEmpty else { return }
        if let since = change.since {
            known.start(change.topic, since: since, of: places)
        } else {
            known.end(change.topic, of: places)
        }
        guard !effects.takesSubscriptions else { return effects.record(.subscriptions(change)) }
        for device in places.compactMap(known.device) { effects.record(.device(known.whole(device))) }
    }

    /// Notes that FCM on a device receives a message; returns whether its list of recent ids has the message's id. A
    /// message that starts the app's process, or finds it stopped, finds an empty list.
    @discardableResult
    mutating func receive(_ delivery: RecentDelivery) -> Bool {
        if delivery.state?.endsProcess == true { recentMessages[delivery.device] = nil }
        guard let id = delivery.duplicateID, !id.isEmpty else { return false }
        return recentMessages[delivery.device, default: RecentMessages()].receive(id)
    }

    /// Forgets a person's devices up to a number.
    mutating func forget(_ person: Person, through last: SequenceNumber) {
        // Only known devices have recent messages.
        for key in known.remove(person, through: last) { recentMessages[key] = nil }
    }
}

/// The devices that the router forgot because ``DeviceMemory/byteLimit`` was reached, since its start.
public struct DeviceEvictions: Hashable, Sendable {
    /// The number of devices.
    public private(set) var count = 0
    /// How many of them had a token or a topic: pushes to the token and publishes no longer reach them.
    public private(set) var registered = 0
    /// The owner of the last device with a token or a topic; `nil`: none yet, or unknown.
    public private(set) var lastOwner: Account?

    /// No eviction yet.
    public init() {}

    mutating func note(_ isRegistered: Bool, of owner: Account?) {
        count += 1
        guard isRegistered else { return }
        registered += 1
        lastOwner = owner
    }
}

/// The devices that the router remembers.
public struct DeviceUsage: Hashable, Sendable {
    /// The number of devices.
    public var count: Int
    /// Their approximate memory, in bytes.
    public var byteCount: Int
}
