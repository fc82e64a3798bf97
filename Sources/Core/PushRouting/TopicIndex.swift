import PushModel

/// The subscribed devices of each topic, as places in `KnownDevices`.
struct TopicIndex: Sendable {
    private struct Project: Sendable {
        /// The devices with a subscription to a topic of the project.
        var devices: Set<UInt32> = []
        var topics: [String: Set<UInt32>] = [:]
    }

    private var projects: [String: Project] = [:]

    /// The memory of a subscription beside its texts in bytes, about: a place in two sets and in the device's list.
    static let subscriptionByteCount = 96

    mutating func add(_ subscriptions: [Subscription], of place: UInt32) {
        for subscription in subscriptions {
            projects[subscription.topic.project, default: Project()].devices.insert(place)
            projects[subscription.topic.project]?.topics[subscription.topic.topic, default: []].insert(place)
        }
    }

    mutating func remove(_ subscriptions: [Subscription], of place: UInt32) {
        for subscription in subscriptions {
            let (project, topic) = (subscription.topic.project, subscription.topic.topic)
            projects[project]?.devices.remove(place)
            projects[project]?.topics[topic]?.remove(place)
            if projects[project]?.topics[topic]?.isEmpty == true { projects[project]?.topics[topic] = nil }
            if projects[project]?.topics.isEmpty == true { projects[project] = nil }
        }
    }

    /// Returns the devices with a subscription to one of these topics; `nil`: to any.
    func devices(_ topics: [String]?, of project: String) -> [Set<UInt32>] {
        [project, TopicName.anyProject].compactMap { projects[$0] }.flatMap { project in
            guard let topics else { return [project.devices] }
            return topics.compactMap { project.topics[$0] }
        }
    }
}
