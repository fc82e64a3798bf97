import PushModel

/// What is last known of each device, bounded in bytes. Beyond the bound the one goes that was not used for longest, as far
/// as a second chance tells: one that was used since it last came up for going is passed over once.
struct KnownDevices: Sendable {
    private struct Entry: Sendable {
        var device: KnownDevice
        var wasUsed = false
    }

    private var entries = ShardedDictionary<DeviceKey, Entry>(shardBits: 10)
    private var queue = LongQueue<DeviceKey>()
    /// About how many bytes of memory they take, with the ids that FCM on them saw.
    private(set) var byteCount = 0

    /// About what a device takes beside its texts: its places in two tables and the queue, and ten ids.
    static let fixedByteCount = 400

    /// How many are passed over at once: a turn of the loop is short.
    private static let chancesMax = 64

    var count: Int { entries.count }

    /// All of them, in no order.
    var all: [KnownDevice] { entries.values.map(\.device) }

    subscript(key: DeviceKey) -> KnownDevice? { entries[key]?.device }

    mutating func reserve(_ count: Int) { entries.reserveCapacity(count) }

    /// Notes what is now known of a device.
    mutating func set(_ device: KnownDevice) {
        byteCount += device.byteCount
        if let before = entries.updateValue(Entry(device: device, wasUsed: true), forKey: device.key) {
            byteCount -= before.device.byteCount
        } else {
            entries[device.key]?.wasUsed = false
            queue.append(device.key)
        }
    }

    /// Notes that a device is in use.
    mutating func use(_ key: DeviceKey) {
        entries.change(key) { $0.wasUsed = true }
    }

    /// Takes out all of which this holds; linear in what is known.
    mutating func remove(where isWanted: (KnownDevice) -> Bool) {
        for device in all where isWanted(device) {
            entries[device.key] = nil
            byteCount -= device.byteCount
        }
        var rest = LongQueue<DeviceKey>()
        while let key = queue.popFirst() { if entries[key] != nil { rest.append(key) } }
        queue = rest
    }

    /// Takes out the one that was not used for longest, but not `spared`; `nil` when there is no other.
    mutating func removeLeastUsed(but spared: DeviceKey) -> KnownDevice? {
        guard entries.count > 1 else { return nil }
        var chances = 0
        while let key = queue.popFirst() {
            guard key == spared || entries[key]?.wasUsed == true && chances < Self.chancesMax else {
                guard let device = entries.removeValue(forKey: key)?.device else { continue }
                byteCount -= device.byteCount
                return device
            }
            chances += 1
            entries[key]?.wasUsed = false
            queue.append(key)
        }
        return nil
    }
}

extension KnownDevice {
    fileprivate var byteCount: Int {
        KnownDevices.fixedByteCount + (key.app?.utf8.count ?? 0) + key.device.utf8.count
            + (externalID?.utf8.count ?? 0)
    }
}
