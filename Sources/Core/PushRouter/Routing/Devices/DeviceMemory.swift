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
        device.replaceToken(by: token, at: accepted.acceptedAt.wall)
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
            if let holder, holder.key != device.key { take(nil, to: holder, at: accepted.acceptedAt.wall, &effects) }
            take(token, to: device, at: accepted.acceptedAt.wall, &effects)
        case .unregistered:
            guard let device = token == nil ? own : holder, device.token != nil else { return }
            take(nil, to: device, at: accepted.acceptedAt.wall, &effects)
        }
    }

    private mutating func take(
        _ token: String?, to device: KnownDevice, at now: WallTime, _ effects: inout Effects
    ) {
        var device = device
        device.replaceToken(by: token, at: now)
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

/// The indices of the known devices by their numbers, for many look-ups.
struct DevicePlaces {
    private var entries: [(number: SequenceNumber, place: UInt32)]

    /// - Parameter entries: the number and the index of each device, in any order.
    init(_ entries: [(number: SequenceNumber, place: UInt32)]) {
        // After a start the devices lie in this order.
        self.entries = entries
        self.entries.sort { $0.number < $1.number }
    }

    /// Returns the index of the device with a number; `nil`: it is not known any more.
    subscript(number: SequenceNumber) -> UInt32? {
        var (first, end) = (0, entries.count)
        while first < end {
            let middle = (first + end) / 2
            if entries[middle].number < number { first = middle + 1 } else { end = middle }
        }
        return first < entries.count && entries[first].number == number ? entries[first].place : nil
    }
}

/// The last message ids that FCM on one device saw: FCM drops a message whose id is among them.
///
/// Source: firebase-android-sdk a089298ed9, FirebaseMessagingService.alreadyReceivedMessage: at most ten ids, the
/// oldest is removed first, a dropped message changes nothing. The list is a static of the process, so it is lost with
/// the process.
struct RecentMessages: Sendable {
    private static let capacity = 10

    /// Hashes of the ids, the oldest first: ids are long and devices are many.
    private var hashes: [Int] = []

    /// Adds the id of a message.
    ///
    /// - Returns: whether the message is a repeat.
    mutating func receive(_ id: String) -> Bool {
        var hasher = Hasher()
        var bytes = id
        // Hashes the bytes, because Java compares code units: `String` treats two spellings of one letter as equal.
        bytes.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        let hash = hasher.finalize()
        if hashes.contains(hash) { return true }
        if hashes.count == Self.capacity { hashes.removeFirst() }
        hashes.append(hash)
        return false
    }
}
