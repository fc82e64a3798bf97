import PushModel

/// The apps on devices that something is remembered of: deliveries, a session, or a decision that is still to come.
struct Devices: Sendable {
    struct Session: Sendable {
        var user: UInt32
        var number: Int64
        /// Unix milliseconds.
        var startedAt: Int64
        /// Unix milliseconds; meaningless while it is open.
        var endedAt: Int64 = 0
        /// The request that ended it; 0 while it is open.
        var endedBy: Int64 = 0
        /// When it can no longer be resumed, in the tracker's own time.
        var endDue: Int64 = 0
        /// When it was last used, in Unix seconds of the clock.
        var since: UInt32
        /// What that was when it was last looked at for being old.
        var sinceSeen = UInt32.max
        var platform: Platform

        var isOpen: Bool { endedBy == 0 }
    }

    struct Device: Sendable {
        /// Nobody knows which device it is without a name; only the app is kept then.
        var name: String?
        var app: UInt32
        /// Another app on the same device.
        var nextApp = noSlot
        /// Its unopened, displayed deliveries.
        var unopened = SlotList()
        /// How many deliveries are remembered, listed or not.
        var deliveries: UInt32 = 0
        /// How many session starts wait for their decision.
        var pendingStarts: UInt32 = 0
        var session: Session?

        func isNamed(_ other: String?) -> Bool { name.isSame(as: other) }

        var isUnused: Bool { deliveries == 0 && pendingStarts == 0 && session == nil }
    }

    private var devices = Slab<Device>()
    /// The first app of each device, by the device's name.
    private var index = HashIndex()

    /// How many there are.
    var count: Int { devices.count }

    /// All slots, those of no device too.
    var slots: Range<UInt32> { devices.slots }

    subscript(slot: UInt32) -> Device {
        _read { yield devices[slot] }
        _modify { yield &devices[slot] }
    }

    /// The first of a device's apps; the others follow by `nextApp`.
    func first(_ name: String?) -> UInt32? {
        index.find(Self.hash(name)) { devices[$0].isNamed(name) }
    }

    /// An app on a device.
    func find(_ name: String?, app: UInt32) -> UInt32? {
        var next = first(name) ?? noSlot
        while next != noSlot, devices[next].app != app { next = devices[next].nextApp }
        return next == noSlot ? nil : next
    }

    /// Adds an app on a device that is not there.
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

    /// An app on a device with an open session that was last used before `horizon`, or, when there are too many, one that
    /// was not used for a round. Each call looks at two.
    mutating func nextOldSession(before horizon: Int64, tooMany: Bool) -> UInt32? {
        devices.next(tooMany ? min(2 * devices.slotCount, looksMax) : 2) { device in
            // One that ended goes by itself, and its end is to be told.
            guard let session = device.session, session.isOpen else { return false }
            defer { device.session?.sinceSeen = session.since }
            return Int64(session.since) < horizon || tooMany && session.since == session.sinceSeen
        }
    }

    private static func hash(_ name: String?) -> UInt64 { slotHash(name == nil ? 1 : 0, name ?? "") }
}
