import PushModel

/// The apps on devices with a remembered delivery, a session, or a pending decision.
struct Devices: Sendable {
    struct Session: Sendable {
        var user: UInt32
        var number: Int64
        /// Unix milliseconds.
        var startedAt: Int64
        /// Unix milliseconds; undefined while the session is open.
        var endedAt: Int64 = 0
        /// The request that ended the session; 0 while it is open.
        var endedBy: Int64 = 0
        /// The time after which it can no longer be resumed, in the tracker's own time.
        var endDue: Int64 = 0
        /// The last use, in Unix seconds of the clock.
        var since: UInt32
        /// The value of `since` at the last visit of `nextOldSession`.
        var sinceSeen = UInt32.max
        var platform: Platform

        var isOpen: Bool { endedBy == 0 }
    }

    struct Device: Sendable {
        /// The name of the device; `nil` for all unnamed devices, of which only the app is stored.
        var name: String?
        var app: UInt32
        /// The slot of another app on the same device.
        var nextApp = noSlot
        /// The unopened, displayed deliveries.
        var unopened = SlotList()
        /// The number of remembered deliveries, listed or not.
        var deliveries: UInt32 = 0
        /// The number of session starts with a pending decision.
        var pendingStarts: UInt32 = 0
        var session: Session?

        func isNamed(_ other: String?) -> Bool { name.isSame(as: other) }

        var isUnused: Bool { deliveries == 0 && pendingStarts == 0 && session == nil }
    }

    private var devices = Slab<Device>()
    /// The slot of each device's first app, by the device's name.
    private var index = HashIndex()

    /// The number of apps on devices.
    var count: Int { devices.count }

    /// All slots, free ones included.
    var slots: Range<UInt32> { devices.slots }

    subscript(slot: UInt32) -> Device {
        _read { yield devices[slot] }
        _modify { yield &devices[slot] }
    }

    /// Returns the first app of a device; the others follow by `nextApp`.
    func first(_ name: String?) -> UInt32? {
        index.find(Self.hash(name)) { devices[$0].isNamed(name) }
    }

    /// Returns an app on a device.
    func find(_ name: String?, app: UInt32) -> UInt32? {
        var next = first(name) ?? noSlot
        while next != noSlot, devices[next].app != app { next = devices[next].nextApp }
        return next == noSlot ? nil : next
    }

    /// Adds an app on a device, which must not be there yet.
    mutating func add(_ name: String?, app: UInt32) -> UInt32 {
        let slot = devices.insert(Device(name: name, app: app))
        if let first = first(name) {
            devices[slot].nextApp = devices[first].nextApp
            devices[first].nextApp = slot
        } else {
            index.insert(slot, Self.hash(name))
        }
        return slot
    }

    mutating func remove(_ slot: UInt32) {
        let device = devices[slot]
        if let first = first(device.name), first != slot {
            var before = first
            while devices[before].nextApp != slot { before = devices[before].nextApp }
            devices[before].nextApp = device.nextApp
        } else {
            let hash = Self.hash(device.name)
            index.remove(slot, hash)
            if device.nextApp != noSlot { index.insert(device.nextApp, hash) }
        }
        devices.remove(slot, leaving: Device(name: nil, app: SharedTexts.none))
    }

    /// Returns an app on a device with an open session that was last used before `horizon`; if there are too many
    /// sessions, also one unused since the previous round. Each call visits two slots, or more if there are too many.
    mutating func nextOldSession(before horizon: Int64, tooMany: Bool) -> UInt32? {
        devices.next(tooMany ? min(2 * devices.slotCount, looksMax) : 2) { device in
            // A session that ended is removed by its timer, which reports its end.
            guard let session = device.session, session.isOpen else { return false }
            defer { device.session?.sinceSeen = session.since }
            return Int64(session.since) < horizon || tooMany && session.since == session.sinceSeen
        }
    }

    private static func hash(_ name: String?) -> UInt64 { slotHash(name == nil ? 1 : 0, name ?? "") }
}
