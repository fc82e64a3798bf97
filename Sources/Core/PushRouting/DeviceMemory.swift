import PushModel

/// The last known facts of each device, and the last messages that FCM on it saw.
struct DeviceMemory: Sendable {
    /// The most devices that the router forgets in one request.
    private static let forgottenAtOnce = 64

    private(set) var known = KnownDevices()
    private(set) var recentMessages = ShardedDictionary<DeviceKey, RecentMessages>(shardBits: 10)
    /// The limit in bytes, about; beyond it the router forgets the devices that were unused for longest.
    var byteLimit = Int.max

    /// - Parameters:
    ///   - devices: the known devices, in the order in which they were first seen.
    ///   - deliveries: the last messages that FCM on the devices saw, in order of acceptance.
    init(_ devices: [KnownDevice], _ deliveries: [RecentDelivery]) {
        known.reserve(devices.count)
        for device in devices { set(device) }
        for delivery in deliveries where known[delivery.device] != nil { see(delivery) }
    }

    /// Returns the last known facts of a device; they stand in for fields that a request leaves out.
    func known(_ device: String?, app: String?) -> KnownDevice? {
        device.flatMap { known[DeviceKey(app: app, device: $0)] }
    }

    /// Stores the facts of a device.
    mutating func set(_ device: KnownDevice) { known.set(device) }

    /// Stores what a request says of its device.
    mutating func remember(_ accepted: AcceptedRequest, _ effects: inout Effects) {
        remember(accepted, instead: known(accepted.device, app: accepted.app), &effects)
    }

    /// Stores what a request says of its device, whose last known facts the caller has looked up.
    mutating func remember(_ accepted: AcceptedRequest, instead last: KnownDevice?, _ effects: inout Effects) {
        guard let name = accepted.device else { return }
        let key = DeviceKey(app: accepted.app, device: name)
        if let last, last.platform == accepted.platform, last.externalID.isSame(as: accepted.externalID) {
            // The mark of use matters only when a device may soon have to go.
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
        // A reload may lower the limit by much: each request then forgets up to `forgottenAtOnce` devices.
        var left = Self.forgottenAtOnce
        while left > 0, known.byteCount > byteLimit, let forgotten = removeLeastUsed(but: key) {
            left -= 1
            effects.record(.forgottenDevice(forgotten.number))
        }
    }

    /// Stores which device has a token: a device has one token, and a token one device.
    ///
    /// - Parameters:
    ///   - kind: whether the device gets the token or loses it.
    ///   - token: the token; `nil`: the device's own.
    ///   - accepted: the request; its device is known already.
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

    /// Stores a change of a known device.
    mutating func change(_ device: KnownDevice, _ effects: inout Effects) {
        set(device)
        effects.record(.device(device))
        forgetTooMany(but: device.key, &effects)
    }

    /// Removes the device that was unused for longest, except `spared`.
    mutating func removeLeastUsed(but spared: DeviceKey) -> KnownDevice? {
        guard let device = known.removeLeastUsed(but: spared) else { return nil }
        recentMessages[device.key] = nil
        return device
    }

    /// Notes that FCM on a device gets a message; returns whether FCM's list has its id already. A message that starts
    /// the app's process, or finds it stopped, finds an empty list.
    @discardableResult
    mutating func see(_ delivery: RecentDelivery) -> Bool {
        if delivery.state?.endsProcess == true { recentMessages[delivery.device] = nil }
        guard let id = delivery.duplicateID, !id.isEmpty else { return false }
        return recentMessages[delivery.device, default: RecentMessages()].see(id)
    }

    /// Forgets a person's devices.
    mutating func forget(_ person: Person) {
        // Only known devices have recent messages.
        for key in known.remove(person) { recentMessages[key] = nil }
    }
}
