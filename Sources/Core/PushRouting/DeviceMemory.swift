import PushModel

/// What was last said of each device, and what FCM on it saw last.
struct DeviceMemory: Sendable {
    /// How many devices one request makes the router forget at most.
    private static let forgottenAtOnce = 64

    private(set) var known = KnownDevices()
    private(set) var recentMessages = ShardedDictionary<DeviceKey, RecentMessages>(shardBits: 10)
    /// How many bytes it may take, about; beyond them the device goes that was not used for longest.
    var byteLimit = Int.max

    /// - Parameters:
    ///   - devices: what is last known of each device, those first that were first heard of.
    ///   - deliveries: what FCM on the devices saw last, in order of acceptance.
    init(_ devices: [KnownDevice], _ deliveries: [RecentDelivery]) {
        known.reserve(devices.count)
        for device in devices { set(device) }
        for delivery in deliveries where known[delivery.device] != nil { see(delivery) }
    }

    /// What was last said of a device; it stands in for what a request leaves out.
    func known(_ device: String?, app: String?) -> KnownDevice? {
        device.flatMap { known[DeviceKey(app: app, device: $0)] }
    }

    /// Notes what is now known of a device.
    mutating func set(_ device: KnownDevice) { known.set(device) }

    /// Notes what a request says of its device.
    mutating func remember(_ accepted: AcceptedRequest, _ effects: inout Effects) {
        remember(accepted, instead: known(accepted.device, app: accepted.app), &effects)
    }

    /// The same, where what was last known of the device has been looked up.
    mutating func remember(_ accepted: AcceptedRequest, instead last: KnownDevice?, _ effects: inout Effects) {
        guard let name = accepted.device else { return }
        let key = DeviceKey(app: accepted.app, device: name)
        if let last, last.platform == accepted.platform, last.externalID.isSame(as: accepted.externalID) {
            // Who is in use matters once somebody may have to go.
            if known.byteCount > byteLimit / 2 { known.use(key) }
            return
        }
        let device = KnownDevice(
            number: last?.number ?? accepted.seq, key: key, platform: accepted.platform,
            externalID: accepted.externalID, token: last?.token, detail: last?.detail ?? DeviceDetail())
        set(device)
        effects.record(.device(device))
        forgetTooMany(but: key, &effects)
    }

    private mutating func forgetTooMany(but key: DeviceKey, _ effects: inout Effects) {
        // A reload may have made many too many: each request takes some.
        var left = Self.forgottenAtOnce
        while left > 0, known.byteCount > byteLimit, let forgotten = removeLeastUsed(but: key) {
            left -= 1
            effects.record(.forgottenDevice(forgotten.number))
        }
    }

    /// Notes which device has a token: it has one, and a token has one device.
    ///
    /// - Parameters:
    ///   - kind: whether the token is the device's now, or nobody's any more.
    ///   - token: the token; `nil`: the device's own.
    ///   - accepted: the request, whose device is known by now.
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

    /// Notes what changed of a device that is known.
    mutating func change(_ device: KnownDevice, _ effects: inout Effects) {
        set(device)
        effects.record(.device(device))
        forgetTooMany(but: device.key, &effects)
    }

    /// Takes out the device that was not used for longest, but not `spared`.
    mutating func removeLeastUsed(but spared: DeviceKey) -> KnownDevice? {
        guard let device = known.removeLeastUsed(but: spared) else { return nil }
        recentMessages[device.key] = nil
        return device
    }

    /// Notes that FCM on a device gets a message; returns whether it has its id. What starts the app's process, or finds it
    /// stopped, finds an empty list.
    @discardableResult
    mutating func see(_ delivery: RecentDelivery) -> Bool {
        if delivery.state?.endsProcess == true { recentMessages[delivery.device] = nil }
        guard let id = delivery.duplicateID, !id.isEmpty else { return false }
        return recentMessages[delivery.device, default: RecentMessages()].see(id)
    }

    /// Forgets a person's devices.
    mutating func forget(_ person: Person) {
        // Only what is known has recent messages.
        for key in known.remove(person) { recentMessages[key] = nil }
    }
}
