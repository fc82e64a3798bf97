import PushModel

/// The last known facts of each device and its subscriptions. ``DeviceShares`` decides which device goes when their
/// memory is full.
///
/// The devices lie in pages. Next to each device lie 32-bit hashes of its user and its name: a person's devices are
/// found without reading other people's texts, and removed without copying a table.
struct KnownDevices: Sendable {
    private struct Mark: Sendable {
        var user: UInt32 = 0
        var name: UInt32 = 0
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
    /// The index of the device that had a former token last. A token that is registered again may be here, too.
    private var formerTokens = ShardedDictionary<ExactName, UInt32>(shardBits: 10)
    /// The subscriptions of devices. The devices in the pages have none.
    private var topics = TopicIndex()
    /// The indices without a device.
    private var holes = LongQueue<UInt32>()
    private var shares = DeviceShares()

    /// The approximate memory of a device without its texts: its entries in two tables and a page, and ten ids.
    static let fixedByteCount = 400

    /// The approximate memory of a token without its text: its entry in a table.
    static let tokenByteCount = 64

    var count: Int { places.count }

    /// The approximate memory of the devices in bytes, with the message ids that FCM on them saw.
    var byteCount: Int { shares.byteCount }

    /// The part of ``byteCount`` of an account's devices.
    func byteCount(of account: Account?) -> Int { shares.byteCount(of: account) }

    /// The number of accounts with a device.
    var accountCount: Int { shares.accountCount }

    /// All devices without their topics, in no order.
    var all: [KnownDevice] { pages.flatMap { $0.devices.compactMap(\.self) } }

    /// The facts of a device without its topics.
    subscript(key: DeviceKey) -> KnownDevice? { places[key].flatMap { device(at: Int($0)) } }

    /// Returns the device that registered a token last, without its topics; `nil`: none is known.
    func device(ofToken token: String) -> KnownDevice? { place(ofToken: token).flatMap(device) }

    /// Returns the former token of a text; `nil`: the text is no token, or a device has it.
    func former(token: String) -> FormerToken? {
        guard place(ofToken: token) == nil, let place = formerTokens[ExactName(token)] else { return nil }
        return device(at: place)?.detail.formerTokens.last { $0.token.isSame(as: token) }
    }

    /// Returns the index of the device that registered a token last; `nil`: none is known.
    func place(ofToken token: String) -> UInt32? { tokens[ExactName(token)] }

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

    /// Stores the facts of a device. Its topics stay as they are; a new device gets those that it has.
    mutating func set(_ device: KnownDevice) {
        var bare = device
        if device.hasDetail { bare.detail.topics = [] }
        if let place = places[device.key].map(Int.init) {
            if let before = self.device(at: place) {
                shares.change(place, bytes: bare.byteCount - before.byteCount)
                leaveToken(before, at: place)
            }
            put(bare, at: place)
            shares.use(place)
            shares.note(place, isRegistered: bare.token != nil || topics.count(of: UInt32(place)) > 0)
        } else {
            let place = freePlace()
            places[device.key] = UInt32(place)
            put(bare, at: place)
            shares.insert(place, of: device.owner, isRegistered: bare.token != nil, bytes: bare.byteCount)
            if device.hasDetail { for topic in device.detail.topics { subscribe(device.key, topic) } }
        }
    }

    /// Marks a device as used.
    mutating func use(_ key: DeviceKey) { if let place = places[key] { shares.use(Int(place)) } }

    // MARK: Topics

    /// Subscribes a known device to a topic.
    private mutating func subscribe(_ key: DeviceKey, _ subscription: Subscription) {
        guard let place = places[key] else { return }
        start(subscription.topic, since: subscription.since, of: [place])
    }

    /// Subscribes known devices to a topic. Those that are subscribed stay as they are.
    mutating func start(_ topic: TopicName, since: Int64, of places: [UInt32]) {
        guard !places.isEmpty else { return }
        let number = topics.number(adding: topic)
        let bytes = TopicIndex.byteCount(of: topic)
        for place in places where topics.add(number, since: since, of: place) {
            shares.change(Int(place), bytes: bytes)
            shares.note(Int(place), isRegistered: true)
            shares.use(Int(place))
        }
    }

    /// Ends the subscriptions of known devices to a topic.
    mutating func end(_ topic: TopicName, of places: [UInt32]) {
        guard let number = topics.number(of: topic) else { return }
        let bytes = TopicIndex.byteCount(of: topic)
        for place in places where topics.has(number, place) {
            topics.remove(number, of: place)
            shares.change(Int(place), bytes: -bytes)
            let hasToken = device(at: Int(place))?.token != nil
            shares.note(Int(place), isRegistered: hasToken || topics.count(of: place) > 0)
            shares.use(Int(place))
        }
    }

    /// Returns the number of a topic, by which questions cost less than by its name; `nil`: it has no device. It is
    /// the topic's as long as a device is subscribed to it.
    func number(of topic: TopicName) -> UInt32? { topics.number(of: topic) }

    /// Whether a device is subscribed to the topic of a number.
    func isSubscribed(_ place: UInt32, to topic: UInt32) -> Bool { topics.has(topic, place) }

    /// The number of topics that a device is subscribed to.
    func topicCount(at place: UInt32) -> Int { topics.count(of: place) }

    /// The approximate memory of the topics that a device is subscribed to: more than their text.
    func topicByteCount(_ key: DeviceKey) -> Int { places[key].map { topics.byteCount(of: $0) } ?? 0 }

    /// Returns a device with its topics.
    func whole(_ device: KnownDevice) -> KnownDevice {
        guard let place = places[device.key], topics.count(of: place) > 0 else { return device }
        var whole = device
        whole.detail.topics = topics.subscriptions(of: place)
        return whole
    }

    /// Returns the devices with one of these topics of a project, in order of their numbers; `nil` topics: with any
    /// topic. Copies no device: a publish may reach 100,000, and other clients wait for its turn.
    ///
    /// - Parameters:
    ///   - app: the app of the devices; `nil`: of any app.
    ///   - condition: the condition that their subscriptions meet; `nil`: none.
    /// - Returns: `nil` if the topics have more than `limit` members together, a device counted once for each topic.
    func members(
        ofTopics wanted: [String]?, of project: String, app: String? = nil, condition: TopicCondition? = nil, limit: Int
    ) -> [TopicMember]? {
        guard let found = topics.devices(wanted, of: project, limit: limit) else { return nil }
        let devices = (condition?.topics ?? []).reduce(into: [String: [Set<UInt32>]]()) {
            $0[$1] = topics.devices(of: $1, of: project)
        }
        var members: [TopicMember] = []
        members.reserveCapacity(found.count)
        for place in found {
            let isMet = condition?.isMet { topic in devices[topic]?.contains { $0.contains(place) } ?? false } ?? true
            guard isMet, let member = member(at: place, app: app) else { continue }
            members.append(member)
        }
        members.sort { $0.number < $1.number }
        return members
    }

    private func member(at place: UInt32, app: String?) -> TopicMember? {
        let (page, index) = (Int(place) / Self.pageLength, Int(place) % Self.pageLength)
        if let app, pages[page].devices[index]?.key.app != app { return nil }
        guard let number = pages[page].devices[index]?.number, let platform = pages[page].devices[index]?.platform
        else { return nil }
        return TopicMember(number: number, place: place, platform: platform)
    }

    // MARK: Removals

    /// Returns the names of the devices whose last known user this is.
    func names(of user: String) -> [ExactName] {
        let hash = Self.hash(user)
        let devices = find { $0.user == hash }.compactMap { device(at: $0) }
        return devices.filter { $0.externalID.isSame(as: user) }.map { ExactName($0.key.device) }
    }

    /// Removes the devices of a person up to a number. Reads all hashes, but texts only of devices whose hashes match.
    ///
    /// - Returns: the devices with the name of one of the person's devices, even if another user has them now.
    mutating func remove(_ person: Person, through last: SequenceNumber) -> [DeviceKey] {
        let user = person.externalID.map(Self.hash)
        let names = ShortHashes(person.devices.map { Self.hash($0.text) })
        var named: [DeviceKey] = []
        for place in find(where: { $0.user == user || names.mayHave($0.name) }) {
            guard let device = device(at: place) else { continue }
            if person.devices.contains(ExactName(device.key.device)) { named.append(device.key) }
            if device.number <= last, person.includes(user: device.externalID, device: device.key.device) {
                remove(device, at: place)
            }
        }
        return named
    }

    /// Removes the device that goes next, but not `spared`. Devices of the account with the most bytes go, those
    /// without token and topics first, then the least recently used (``DeviceShares``).
    ///
    /// - Returns: the device without its topics, and whether it had a token or topics; `nil` if that account has no
    ///   other device.
    mutating func removeLeastUsed(but spared: DeviceKey?) -> (device: KnownDevice, wasRegistered: Bool)? {
        guard let next = shares.next(but: spared.flatMap { places[$0] }.map(Int.init)),
            var device = device(at: next.place)
        else { return nil }
        let wasRegistered = device.token != nil || topics.count(of: UInt32(next.place)) > 0
        remove(device, at: next.place)
        // The account of a later request may have a name.
        device.owner = next.account
        return (device, wasRegistered)
    }

    // MARK: Pages

    private var placeCount: Int {
        pages.last.map { (pages.count - 1) * Self.pageLength + $0.devices.count } ?? 0
    }

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

    private mutating func put(_ device: KnownDevice, at place: Int) {
        let user = device.externalID.map(Self.hash) ?? 0
        pages[place / Self.pageLength].devices[place % Self.pageLength] = device
        pages[place / Self.pageLength].marks[place % Self.pageLength] = Mark(
            user: user, name: Self.hash(device.key.device))
        if let token = device.token { tokens[ExactName(token)] = UInt32(place) }
        guard device.hasDetail else { return }
        for former in device.detail.formerTokens where isLatest(former, at: place) {
            formerTokens[ExactName(former.token)] = UInt32(place)
        }
    }

    /// Whether no other device had a former token later.
    private func isLatest(_ former: FormerToken, at place: Int) -> Bool {
        guard let other = formerTokens[ExactName(former.token)].map(Int.init), other != place else { return true }
        let theirs = device(at: other)?.detail.formerTokens.last { $0.token.isSame(as: former.token) }
        return theirs.map { $0.ended <= former.ended } ?? true
    }

    private mutating func leaveToken(_ device: KnownDevice, at place: Int) {
        // Another device may have registered the token since.
        if let token = device.token, tokens[ExactName(token)] == UInt32(place) { tokens[ExactName(token)] = nil }
        guard device.hasDetail else { return }
        for former in device.detail.formerTokens where formerTokens[ExactName(former.token)] == UInt32(place) {
            formerTokens[ExactName(former.token)] = nil
        }
    }

    private mutating func remove(_ device: KnownDevice, at place: Int) {
        shares.remove(place, bytes: device.byteCount + topics.byteCount(of: UInt32(place)))
        topics.removeAll(of: UInt32(place))
        leaveToken(device, at: place)
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
    /// The approximate memory without topics.
    fileprivate var byteCount: Int {
        KnownDevices.fixedByteCount + (key.app?.utf8.count ?? 0) + key.device.utf8.count
            + (externalID?.utf8.count ?? 0) + (token.map { KnownDevices.tokenByteCount + $0.utf8.count } ?? 0)
            + (hasDetail ? MemoryLayout<DeviceDetail>.stride : 0)
            + (hasDetail ? detail.formerTokens.reduce(0) { $0 + KnownDevices.tokenByteCount + $1.token.utf8.count } : 0)
    }
}

/// A device that a publish reaches.
struct TopicMember: Sendable {
    /// The number of the device.
    let number: SequenceNumber
    /// The index of the device among the known devices.
    let place: UInt32
    /// The platform of the device.
    let platform: Platform
}
