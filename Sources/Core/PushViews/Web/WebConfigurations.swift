public import PushModel
public import PushRouter

/// A configuration that the page explains with.
public struct UsedConfiguration: Sendable {
    /// Its id; `nil`: the files as they are now, because the daemon does not answer.
    public var id: ConfigurationID?
    /// When it came into force, if that is known.
    public var since: WallTime?
    /// Its routing table.
    public var table: RoutingTable
    /// Its limits of a payload's scan.
    public var limits: JSONLimits

    /// Joins the parts.
    public init(id: ConfigurationID?, since: WallTime? = nil, table: RoutingTable, limits: JSONLimits) {
        (self.id, self.since, self.table, self.limits) = (id, since, table, limits)
    }
}

/// The source of configurations. For one thread at a time.
public protocol WebConfigurations: AnyObject {
    /// The configuration that was read last. It asks nobody.
    var current: UsedConfiguration { get }
    /// Asks the daemon for the configuration in force; without an answer the current one stays.
    func refreshed() -> UsedConfiguration
    /// A configuration that was in force; `nil` if nobody has it, or nobody answers.
    func past(_ id: ConfigurationID) -> UsedConfiguration?
    /// The names of campaigns that a person keeps beside the configuration, by the id in the payload.
    var campaignNames: [String: String] { get }
}

extension WebConfigurations {
    /// None.
    public var campaignNames: [String: String] { [:] }
}

extension WebDesk {
    /// The configuration that decided a push; `nil`: nobody has it. Without a record it is today's.
    private func deciding(_ story: RequestStory) -> UsedConfiguration? {
        let current = configurations.current
        guard let id = story.configuration?.period.id, id != current.id else { return current }
        return configurations.past(id)
    }

    /// The configuration that explains a push, with a sentence about it: the one that decided it, else today's.
    ///
    /// - Parameter isFile: whether the sentence is read later: then it has a date.
    func configuration(of story: RequestStory, isFile: Bool = false) -> (used: UsedConfiguration, sentence: Markup) {
        let today: Markup =
            isFile
            ? "As the configuration decided on \(HTML.time(now())), when this file was made."
            : "As the configuration decides today."
        guard let deciding = story.configuration else { return (configurations.current, today) }
        let period = deciding.period
        let begin: Markup =
            "Decided by the configuration <code>\(period.id.description)</code>, in force from \(HTML.time(period.since)) on."
        guard let used = self.deciding(story) else {
            return (
                configurations.current, "\(begin) It cannot be had any more, or the daemon does not answer. \(today)"
            )
        }
        let end: Markup =
            isFile
            ? "\(deciding.isInForce ? "It was" : "Another one was") in force on \(HTML.time(now())), when this file was made."
            : "\(deciding.isInForce ? "It is still in force" : "Another one is in force now")."
        return (used, "\(begin) \(end)")
    }

    /// The rules for the campaign of a push: those of the configuration that decided it, for lists, searches and streams alike.
    public func detection(of story: RequestStory) -> DetectionSettings {
        (deciding(story) ?? configurations.current).table.detection
    }

    /// The facts of a push, by the configuration that decided it.
    func pushFacts(_ story: RequestStory) -> PushFacts {
        let facts = PushFacts(story, table: (deciding(story) ?? configurations.current).table)
        facts.names = configurations.campaignNames
        return facts
    }

    /// A push in a line, by the configuration that decided it.
    func summary(_ story: RequestStory) -> PushSummary { PushSummary(pushFacts(story)) }

    /// A sentence about the configuration of an explanation without a push.
    func sentence(about used: UsedConfiguration) -> Markup {
        guard let id = used.id else {
            return "By the files of the configuration as they are: the daemon did not answer."
        }
        let since: Markup? = used.since.map { ", in force since \(HTML.time($0))" }
        return "By the configuration <code>\(id.description)</code>\(since)."
    }
}
