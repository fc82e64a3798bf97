import PushModel

/// The subscriptions of devices, by the indices of the devices in their table.
///
/// A name of a topic is in memory once, under a number, however many devices are subscribed to it.
struct TopicIndex: Sendable {
    private struct Topic: Sendable {
        var name: TopicName
        var devices: Set<UInt32> = []
    }

    private struct Project: Sendable {
        /// The number of topics of the project that each device is subscribed to.
        var devices: [UInt32: Int] = [:]
        /// The numbers of the topics, by their names.
        var topics: [String: UInt32] = [:]
    }

    private struct Entry: Sendable {
        var topic: UInt32
        var since: Int64
    }

    private var topics: ContiguousArray<Topic?> = []
    /// The numbers without a topic.
    private var holes: [UInt32] = []
    private var projects: [String: Project] = [:]
    private var entries: [UInt32: ContiguousArray<Entry>] = [:]

    /// The approximate memory of a subscription without its name: an entry in two sets and in the device's list.
    static let subscriptionByteCount = 96

    /// The approximate memory of a subscription with its name. The name counts for each device, though it is in memory
    /// once, so the sum is never less than the memory.
    static func byteCount(of name: TopicName) -> Int {
        subscriptionByteCount + name.project.utf8.count + name.topic.utf8.count
    }

    // MARK: Changes

    /// Subscribes a device to the topic of a number.
    ///
    /// - Returns: whether it was not subscribed.
    mutating func add(_ topic: UInt32, since: Int64, of place: UInt32) -> Bool {
        guard topics[Int(topic)]?.devices.insert(place).inserted == true, let project = topics[Int(topic)]?.name.project
        else { return false }
        projects[project]?.devices[place, default: 0] += 1
        entries[place, default: []].append(Entry(topic: topic, since: since))
        return true
    }

    /// Ends a subscription to the topic of a number; does nothing without one.
    mutating func remove(_ topic: UInt32, of place: UInt32) {
        guard has(topic, place), let name = topics[Int(topic)]?.name else { return }
        entries[place]?.removeAll { $0.topic == topic }
        if entries[place]?.isEmpty == true { entries[place] = nil }
        leave(topic, name, place)
    }

    /// Ends all subscriptions of a device.
    mutating func removeAll(of place: UInt32) {
        for entry in entries.removeValue(forKey: place) ?? [] {
            guard let name = topics[Int(entry.topic)]?.name else { continue }
            leave(entry.topic, name, place)
        }
    }

    /// Returns the number of a topic, which gets one if it has none. A topic with a new number must get a device.
    mutating func number(adding name: TopicName) -> UInt32 {
        if let number = number(of: name) { return number }
        let number = holes.popLast() ?? UInt32(topics.count)
        if Int(number) == topics.count { topics.append(nil) }
        topics[Int(number)] = Topic(name: name)
        projects[name.project, default: Project()].topics[name.topic] = number
        return number
    }

    private mutating func leave(_ topic: UInt32, _ name: TopicName, _ place: UInt32) {
        topics[Int(topic)]?.devices.remove(place)
        if projects[name.project]?.devices[place] == 1 {
            projects[name.project]?.devices[place] = nil
        } else {
            projects[name.project]?.devices[place]? -= 1
        }
        guard topics[Int(topic)]?.devices.isEmpty == true else { return }
        topics[Int(topic)] = nil
        holes.append(topic)
        projects[name.project]?.topics[name.topic] = nil
        if projects[name.project]?.topics.isEmpty == true { projects[name.project] = nil }
    }

    // MARK: Questions

    /// Returns the number of a topic; `nil`: it has no device.
    func number(of name: TopicName) -> UInt32? { projects[name.project]?.topics[name.topic] }

    /// Whether a device is subscribed to the topic of a number.
    func has(_ topic: UInt32, _ place: UInt32) -> Bool {
        Int(topic) < topics.count && topics[Int(topic)]?.devices.contains(place) == true
    }

    /// The number of a device's subscriptions.
    func count(of place: UInt32) -> Int { entries[place]?.count ?? 0 }

    /// The approximate memory that the subscriptions of a device count with.
    func byteCount(of place: UInt32) -> Int {
        (entries[place] ?? []).reduce(0) { sum, entry in
            sum + (topics[Int(entry.topic)].map { Self.byteCount(of: $0.name) } ?? 0)
        }
    }

    /// The subscriptions of a device.
    func subscriptions(of place: UInt32) -> [Subscription] {
        (entries[place] ?? []).compactMap { entry in
            topics[Int(entry.topic)].map { Subscription(topic: $0.name, since: entry.since) }
        }
    }

    /// Returns the devices of a topic of a project, and those of the topic of this name that belongs to every project.
    func devices(of topic: String, of project: String) -> [Set<UInt32>] {
        ownProjects(project).compactMap { $0.topics[topic] }.compactMap { topics[Int($0)]?.devices }
    }

    /// Returns the devices with one of these topics; `nil` topics: with any topic. Returns `nil` if the topics have
    /// more than `limit` members together, a device counted once for each topic.
    func devices(_ wanted: [String]?, of project: String, limit: Int) -> Set<UInt32>? {
        let projects = ownProjects(project)
        guard let wanted else {
            guard projects.reduce(0, { $0 + $1.devices.count }) <= limit else { return nil }
            return Set(projects.map(\.devices.keys).joined())
        }
        let found = projects.flatMap { project in wanted.compactMap { project.topics[$0] } }
            .compactMap { topics[Int($0)]?.devices }
        guard found.reduce(0, { $0 + $1.count }) <= limit else { return nil }
        return Set(found.joined())
    }

    /// The project, and the one whose topics belong to every project.
    private func ownProjects(_ project: String) -> [Project] {
        [project, TopicName.anyProject].compactMap { projects[$0] }
    }
}
