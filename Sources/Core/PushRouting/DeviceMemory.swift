import PushModel

/// The last known facts of each device, and the last message ids that FCM on the device saw.
struct DeviceMemory: Sendable {
    /// The most devices that one request makes the router forget.
    private static let forgottenAtOnce = 64

    private(set) var known = KnownDevices()
    private(set) var recentMessages = ShardedDictionary<DeviceKey, RecentMessages>(shardBits: 10)
    /// The approximate limit of memory in bytes. Beyond it the router forgets the least recently used device.
    var byteLimit = Int.max

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
        let device = KnownDevice(
            number: last?.number ?? accepted.seq, key: key, platform: accepted.platform,
            externalID: accepted.externalID, token: last?.token, detail: last?.detail ?? DeviceDetail())
        set(device)
        effects.record(.device(device))
        evictExcess(but: key, &effects)
    }

    private mutating func evictExcess(but key: DeviceKey, _ effects: inout Effects) {
        // A reload may have lowered the limit by many devices' worth: each request removes some.
        var left = Self.forgottenAtOnce
        while left > 0, known.byteCount > byteLimit, let forgotten = removeLeastUsed(but: key) {
            left -= 1
            effects.record(.forgottenDevice(forgotten.number))
        }
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
        set(device)
        effects.record(.device(device))
        evictExcess(but: device.key, &effects)
    }

    /// Removes the least recently used device other than `spared`.
    mutating func removeLeastUsed(but spared: DeviceKey) -> KnownDevice? {
        guard let device = known.removeLeastUsed(but: spared) else { return nil }
        recentMessages[device.key] = nil
        return device
    }

    /// Notes that FCM on a device receives a message; returns whether its list of recent ids has the message's id. A
    /// message that starts the app's process, or finds it stopped, finds an empty list.
    @discardableResult
    mutating func receive(_ delivery: RecentDelivery) -> Bool {
        if delivery.state?.endsProcess == true { recentMessages[delivery.device] = nil }
        guard let id = delivery.duplicateID, !id.isEmpty else { return false }
        return recentMessages[delivery.device, default: RecentMessages()].receive(id)
    }

    /// Forgets a person's devices.
    mutating func forget(_ person: Person) {
        // Only known devices have recent messages.
        for key in known.remove(person) { recentMessages[key] = nil }
    }
}
