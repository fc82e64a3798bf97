import PushDispatch
public import PushModel

/// The path of all subscriptions of a registration, or of one of them.
public struct TopicPath: Hashable, Sendable {
    /// The action on the path.
    public enum Action: Hashable, Sendable, CaseIterable {
        /// `POST`: subscribes; an error if the subscription exists.
        case create
        /// `GET` of all.
        case list
        /// `GET` of one.
        case get
        /// `PATCH`: subscribes, or returns the existing subscription.
        case patch
        /// `DELETE`: ends the subscription.
        case delete
    }

    /// The project.
    public let project: String
    /// The token or installation id, decoded.
    public let registration: String
    /// The topic; `nil` for the path of all subscriptions.
    public let topic: String?

    /// Joins the parts.
    public init(project: String, registration: String, topic: String?) {
        self.project = project
        self.registration = registration
        self.topic = topic
    }
}

/// A request about the subscriptions of one registration, in the form of FCM v1.
///
/// Source: the discovery document, revision 20261023. It spells query parameters in camel case, firebase-admin in snake
/// case.
public struct TopicSubscriptionRequest: Hashable, Sendable {
    /// The change or the question.
    public enum Errand: Hashable, Sendable {
        /// Subscribes to a topic.
        ///
        /// - Parameter isNew: whether an existing subscription is an error.
        case subscribe(topic: String, isNew: Bool)
        /// Ends a subscription.
        ///
        /// - Parameter allowsMissing: whether a missing subscription counts as a success.
        case unsubscribe(topic: String, allowsMissing: Bool)
        /// Asks for one subscription.
        case show(topic: String)
        /// Asks for all subscriptions.
        ///
        /// - Parameters:
        ///   - limit: the largest number of subscriptions in the answer.
        ///   - page: the token of the page, from the answer with the previous page.
        case showAll(limit: Int, page: String?)
    }

    /// The project.
    public let project: String
    /// The token or installation id.
    public let registration: String
    /// The change or the question.
    public let errand: Errand

    /// The number of subscriptions on a page without `page_size`, and the largest one.
    private static let pageSizes = (usual: 1000, most: 2000)

    /// Reads a request.
    ///
    /// - Throws: the error that Google answers.
    public init(_ path: TopicPath, _ action: TopicPath.Action, _ request: GatewayRequest) throws(GoogleError) {
        (project, registration) = (path.project, path.registration)
        let allowsMissing = request.target.query("allow_missing", "allowMissing") == "true"
        switch action {
        case .create:
            let topic = try Self.topic(request.target.query("topic_name", "topicName"), "topic_name")
            errand = .subscribe(topic: topic, isNew: true)
        case .patch:
            let topic = try Self.topic(path.topic, "topic_subscription.name")
            errand = allowsMissing ? .subscribe(topic: topic, isNew: false) : .show(topic: topic)
        case .get: errand = .show(topic: try Self.topic(path.topic, "name"))
        case .delete:
            errand = .unsubscribe(topic: try Self.topic(path.topic, "name"), allowsMissing: allowsMissing)
        case .list:
            let size = request.target.query("page_size", "pageSize").flatMap { Int($0) } ?? 0
            errand = .showAll(
                limit: size > 0 ? min(size, Self.pageSizes.most) : Self.pageSizes.usual,
                page: request.target.query("page_token", "pageToken"))
        }
    }

    private static func topic(_ name: String?, _ field: String) throws(GoogleError) -> String {
        guard let name else { throw .invalidField(field, "the name of the topic is missing") }
        guard V1Body.isTopic(name) else { throw .invalidField(field, V1Body.topicForm) }
        return name
    }
}

/// The outcome of a request about the subscriptions of one registration.
public enum TopicSubscriptionOutcome: Hashable, Sendable {
    /// The registration is subscribed, newly or before.
    case subscribed(TopicSubscription)
    /// The subscription exists, and the request wants a new one.
    case exists
    /// The subscription ended, or there was none and the request allows that.
    case unsubscribed
    /// There is no such subscription.
    case missing
    /// The subscriptions of a page, and the token of the next page.
    case all([TopicSubscription], next: String?)

    /// The answer.
    public var response: GatewayResponse {
        var writer = JSONWriter()
        switch self {
        case .exists: return GoogleError(.alreadyExists, "exists").response
        case .missing: return GoogleError.notFound.response
        case .unsubscribed: writer.object { _ in }
        case .subscribed(let subscription): writer.object { $0.members(of: subscription) }
        case .all(let subscriptions, let next):
            writer.object { writer in
                // The JSON format of protobuf leaves out an empty list.
                if !subscriptions.isEmpty {
                    writer.member(
                        "topicSubscriptions",
                        array: { list in
                            for subscription in subscriptions { list.object { $0.members(of: subscription) } }
                        })
                }
                if let next { writer.member("nextPageToken", next) }
            }
        }
        return .googleJSON(writer.bytes)
    }
}

/// The subscription of one registration to one topic.
public struct TopicSubscription: Hashable, Sendable {
    /// The project.
    public var project: String
    /// The token or installation id.
    public var registration: String
    /// The topic.
    public var topic: String
    /// The time of the subscription; `nil`: the answer has the name only.
    public var created: WallTime?

    /// Joins the parts.
    public init(project: String, registration: String, topic: String, created: WallTime? = nil) {
        self.project = project
        self.registration = registration
        self.topic = topic
        self.created = created
    }
}

extension JSONWriter {
    fileprivate mutating func members(of subscription: TopicSubscription) {
        let (project, registration) = (subscription.project, subscription.registration)
        member("name", "projects/\(project)/registrations/\(registration)/topicSubscriptions/\(subscription.topic)")
        guard let created = subscription.created else { return }
        member("topicName", subscription.topic)
        member("createTime", created.rfc3339)
    }
}
