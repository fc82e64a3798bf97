import PushModel

/// The last known facts of each device, bounded in bytes. Beyond the bound it drops the device that was least recently
/// used, approximated by the second-chance (clock) algorithm: the hand skips a device once if it was used since the
/// hand's last visit.
///
/// The devices lie in pages, and the hand goes round them. Next to each device lie 32-bit hashes of its user and its
/// name: a person's devices are found without reading other people's texts, and removed without copying a table.
struct KnownDevices: Sendable {
    private struct Mark: Sendable {
        var user: UInt32 = 0
        var name: UInt32 = 0
        var wasUsed = false
    }

    private struct Page: Sendable {
        var devices: ContiguousArray<KnownDevice?> = []
        var marks: ContiguousArray<Mark> = []
    }

    private static let pageLength = 512

    private var pages: ContiguousArray<Page> = []
    /// The index of a device in the pages.
    private var places = ShardedDictionary<DeviceKey, UInt32>(shardBits: 10)
    /// The index of the device that registered a token last.
    private var tokens = ShardedDictionary<ExactName, UInt32>(shardBits: 10)
    /// The indices of the devices that are subscribed to topics.
    private var topics = TopicIndex()
    /// The indices without a device.
    private var holes = LongQueue<UInt32>()
    /// The index that the hand visits next.
    private var hand = 0
    /// The approximate memory of the devices in bytes, with the message ids that FCM on them saw.
    private(set) var byteCount = 0

    /// The approximate memory of a device without its texts: its entries in two tables and a page, and ten ids.
    static let fixedByteCount = 400

    /// The approximate memory of a token without its text: its entry in a table.
    static let tokenByteCount = 64

    /// The most devices that the hand skips in one call, so that a turn of the loop stays short.
    private static let chancesMax = 64

    var count: Int { places.count }

    /// All devices, in no order.
    var all: [KnownDevice] { pages.flatMap { $0.devices.compactMap(\.self) } }

    subscript(key: DeviceKey) -> KnownDevice? { places[key].flatMap { device(at: Int($0)) } }

    /// Returns the device that registered a token last; `nil`: none is known.
    func device(ofToken token: String) -> KnownDevice? {
        tokens[ExactName(token)].flatMap { device(at: Int($0)) }
    }

    /// Returns the devices with one of these topics of a project; `nil` topics: with any topic. Returns `nil` if the
    /// topics have more than `limit` members together, a device counted once for each topic.
    func devices(ofTopics wanted: [String]?, of project: String, limit: Int) -> [KnownDevice]? {
        let found = topics.devices(wanted, of: project)
        guard found.reduce(0, { $0 + $1.count }) <= limit else { return nil }
        return Set(found.joined()).compactMap { device(at: Int($0)) }
    }

    /// Returns the index of a device, which it keeps as long as it is known.
    func place(of key: DeviceKey) -> UInt32? { places[key] }

    /// Returns the device at an index; `nil`: there is none.
    func device(at place: UInt32) -> KnownDevice? {
        place < UInt32(clamping: placeCount) ? device(at: Int(place)) : nil
    }

    /// The indices of all devices by their numbers.
    var placesByNumber: DevicePlaces {
        var found: [(number: SequenceNumber, place: UInt32)] = []
        found.reserveCapacity(count)
        for place in 0..<placeCount {
            if let number = device(at: place)?.number { found.append((number, UInt32(place))) }
        }
        return DevicePlaces(found)
    }

    mutating func reserve(_ count: Int) { places.reserveCapacity(count) }

    /// Stores the facts of a device.
    mutating func set(_ device: KnownDevice) {
        byteCount += device.byteCount
        if let place = places[device.key].map(Int.init) {
            if let before = self.device(at: place) {
                byteCount -= before.byteCount
                leaveTables(before, at: place)
            }
            put(device, at: place, wasUsed: true)
        } else {
            let place = freePlace()
            places[device.key] = UInt32(place)
            // The hand may reach a filled hole soon: a new device must not go before the devices that were there
            // earlier.
            put(device, at: place, wasUsed: distanceFromHand(place) < placeCount / 2)
        }
    }

    /// Marks a device as used.
    mutating func use(_ key: DeviceKey) {
        guard let place = places[key].map(Int.init) else { return }
        pages[place / Self.pageLength].marks[place % Self.pageLength].wasUsed = true
    }

    /// Returns the names of the devices whose last known user this is.
    func names(of user: String) -> [ExactName] {
        let hash = Self.hash(user)
        let devices = find { $0.user == hash }.compactMap { device(at: $0) }
        return devices.filter { $0.externalID.isSame(as: user) }.map { ExactName($0.key.device) }
    }

    /// Removes the devices of a person. Reads all hashes, but texts only of devices whose hashes match.
    ///
    /// - Returns: the devices with the name of one of the person's devices, even if another user has them now.
    mutating func remove(_ person: Person) -> [DeviceKey] {
        let user = person.externalID.map(Self.hash)
        let names = ShortHashes(person.devices.map { Self.hash($0.text) })
        var named: [DeviceKey] = []
        for place in find(where: { $0.user == user || names.mayHave($0.name) }) {
            guard let device = device(at: place) else { continue }
            if person.devices.contains(ExactName(device.key.device)) { named.append(device.key) }
            if person.includes(user: device.externalID, device: device.key.device) { remove(device, at: place) }
        }
        return named
    }

    /// Removes the least recently used device other than `spared`; returns `nil` if there is no other.
    mutating func removeLeastUsed(but spared: DeviceKey) -> KnownDevice? {
        guard places.count > (places[spared] == nil ? 0 : 1) else { return nil }
        var chances = 0
        while true {
            let place = hand
            hand = place + 1 == placeCount ? 0 : place + 1
            guard let device = device(at: place), device.key != spared else { continue }
            if pages[place / Self.pageLength].marks[place % Self.pageLength].wasUsed, chances < Self.chancesMax {
                chances += 1
                pages[place / Self.pageLength].marks[place % Self.pageLength].wasUsed = false
                continue
            }
            remove(device, at: place)
            return device
        }
    }

    // MARK: Pages

    private var placeCount: Int {
        pages.last.map { (pages.count - 1) * Self.pageLength + $0.devices.count } ?? 0
    }

    private func distanceFromHand(_ place: Int) -> Int { place >= hand ? place - hand : place + placeCount - hand }

    private func device(at place: Int) -> KnownDevice? {
        pages[place / Self.pageLength].devices[place % Self.pageLength]
    }

    /// Returns the indices whose marks satisfy `isWanted`.
    private func find(where isWanted: (Mark) -> Bool) -> [Int] {
        var found: [Int] = []
        for (number, page) in pages.enumerated() {
            page.marks.withUnsafeBufferPointer { marks in
                for place in marks.indices where isWanted(marks[place]) {
                    found.append(number * Self.pageLength + place)
                }
            }
        }
        return found
    }

    /// Returns a free index: a hole, or a new one at the end.
    private mutating func freePlace() -> Int {
        if let hole = holes.popFirst() { return Int(hole) }
        if pages.last.map({ $0.devices.count == Self.pageLength }) ?? true { pages.append(Page()) }
        pages[pages.count - 1].devices.append(nil)
        pages[pages.count - 1].marks.append(Mark())
        return placeCount - 1
    }

    private mutating func put(_ device: KnownDevice, at place: Int, wasUsed: Bool) {
        let user = device.externalID.map(Self.hash) ?? 0
        let mark = Mark(user: user, name: Self.hash(device.key.device), wasUsed: wasUsed)
        pages[place / Self.pageLength].devices[place % Self.pageLength] = device
        pages[place / Self.pageLength].marks[place % Self.pageLength] = mark
        if let token = device.token { tokens[ExactName(token)] = UInt32(place) }
        if device.hasDetail { topics.add(device.detail.topics, of: UInt32(place)) }
    }

    private mutating func leaveTables(_ device: KnownDevice, at place: Int) {
        if device.hasDetail { topics.remove(device.detail.topics, of: UInt32(place)) }
        // Another device may have registered the token since.
        guard let token = device.token, tokens[ExactName(token)] == UInt32(place) else { return }
        tokens[ExactName(token)] = nil
    }

    private mutating func remove(_ device: KnownDevice, at place: Int) {
        byteCount -= device.byteCount
        leaveTables(device, at: place)
        places[device.key] = nil
        pages[place / Self.pageLength].devices[place % Self.pageLength] = nil
        pages[place / Self.pageLength].marks[place % Self.pageLength] = Mark()
        holes.append(UInt32(place))
    }

    private static func hash(_ text: String) -> UInt32 {
        text.withBytes { UInt32(truncatingIfNeeded: WordHash.ofThisProcess($0)) }
    }
}

/// A set of hashes with a one-step membership test that may report false positives (a bitmap).
private struct ShortHashes {
    private var bits = ContiguousArray<UInt64>(repeating: 0, count: 1024)

    init(_ hashes: [UInt32]) {
        for hash in hashes { bits[Int(hash >> 6 & 1023)] |= 1 << UInt64(hash & 63) }
    }

    func mayHave(_ hash: UInt32) -> Bool { bits[Int(hash >> 6 & 1023)] & 1 << UInt64(hash & 63) != 0 }
}

extension KnownDevice {
    fileprivate var byteCount: Int {
        KnownDevices.fixedByteCount + (key.app?.utf8.count ?? 0) + key.device.utf8.count
            + (externalID?.utf8.count ?? 0) + (token.map { KnownDevices.tokenByteCount + $0.utf8.count } ?? 0)
            + (hasDetail ? detail.byteCount : 0)
    }
}

extension DeviceDetail {
    fileprivate var byteCount: Int {
        topics.reduce(MemoryLayout<DeviceDetail>.stride) {
            $0 + TopicIndex.subscriptionByteCount + $1.topic.project.utf8.count + $1.topic.topic.utf8.count
        }
    }
}
