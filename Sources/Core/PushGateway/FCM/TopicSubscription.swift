import PushModel
import PushRouter

/// The path of a registration's subscriptions, or of a single subscription.
struct TopicPath: Hashable, Sendable {
    /// The action on that path.
    enum Action: Hashable, Sendable, CaseIterable {
        /// `POST`: subscribes; an error if the subscription exists.
        case create
        /// `GET` of all subscriptions.
        case list
        /// `GET` of one subscription.
        case get
        /// `PATCH`: subscribes, or returns the existing subscription.
        case patch
        /// `DELETE`: ends the subscription.
        case delete
    }

    /// The project.
    let project: String
    /// The token or installation id, decoded.
    let registration: String
    /// The topic; `nil` in the path of all subscriptions.
    let topic: String?
}

/// A request of FCM v1 about the subscriptions of one registration.
///
/// Source: the discovery document, revision 20261023. It has query parameters in camel case, firebase-admin has snake
/// case.
struct TopicSubscriptionRequest: Hashable, Sendable {
    /// The change, or the question.
    enum Operation: Hashable, Sendable {
        /// Subscribes to a topic.
        ///
        /// - Parameter isNew: whether an existing subscription is an error.
        case subscribe(topic: String, isNew: Bool)
        /// Ends a subscription.
        ///
        /// - Parameter allowsMissing: whether a missing subscription counts as success.
        case unsubscribe(topic: String, allowsMissing: Bool)
        /// Asks for one subscription.
        case show(topic: String)
        /// Asks for all subscriptions.
        ///
        /// - Parameters:
        ///   - limit: the limit of subscriptions in the answer.
        ///   - page: the token of the page, from the previous answer.
        case showAll(limit: Int, page: String?)
    }

    /// The project.
    let project: String
    /// The token or installation id.
    let registration: String
    /// The change, or the question.
    let operation: Operation

    /// The default and the limit of subscriptions on one page.
    private static let pageSizes = (usual: 1000, most: 2000)

    /// Reads a request.
    ///
    /// - Throws: the error that Google answers.
    init(_ path: TopicPath, _ action: TopicPath.Action, _ request: GatewayRequest) throws(GoogleError) {
        (project, registration) = (path.project, path.registration)
        try GoogleError.check(project: project)
        try GoogleError.check(registration: registration, "parent")
        let allowsMissing = request.target.query("allow_missing", "allowMissing") == "true"
        switch action {
        case .create:
            let topic = try Self.topic(request.target.query("topic_name", "topicName"), "topic_name")
            operation = .subscribe(topic: topic, isNew: true)
        case .patch:
            let topic = try Self.topic(path.topic, "topic_subscription.name")
            operation = allowsMissing ? .subscribe(topic: topic, isNew: false) : .show(topic: topic)
        case .get: operation = .show(topic: try Self.topic(path.topic, "name"))
        case .delete:
            operation = .unsubscribe(topic: try Self.topic(path.topic, "name"), allowsMissing: allowsMissing)
        case .list:
            let size = request.target.query("page_size", "pageSize").flatMap { Int($0) } ?? 0
            operation = .showAll(
                limit: size > 0 ? min(size, Self.pageSizes.most) : Self.pageSizes.usual,
                page: request.target.query("page_token", "pageToken"))
        }
    }

    private static func topic(_ name: String?, _ field: String) throws(GoogleError) -> String {
        guard let name else { throw GoogleError(.unseen(field)).caused(by: "the name of the topic is missing") }
        guard V1Body.isTopic(name) else { throw GoogleError(.unseen(field)).caused(by: V1Body.topicForm) }
        return name
    }
}

/// The outcome of a request about the subscriptions of one registration.
enum TopicSubscriptionOutcome: Hashable, Sendable {
    /// The subscription exists, new or before.
    case subscribed(TopicSubscription)
    /// A subscription that had to be new exists already.
    case exists
    /// The subscription has ended, or was missing and may be.
    case unsubscribed
    /// The subscription is missing.
    case missing
    /// The subscriptions of a page, and the token of the next page.
    case all([TopicSubscription], next: String?)

    /// The answer.
    public var response: GatewayResponse {
        var writer = JSONWriter()
        switch self {
        case .exists: return GoogleError(.alreadyExists).response
        case .missing: return GoogleError.notFound.response
        case .unsubscribed: writer.object { _ in }
        case .subscribed(let subscription): writer.object { $0.members(of: subscription) }
        case .all(let subscriptions, let next):
            writer.object { writer in
                // The JSON mapping of protobuf omits an empty list.
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
struct TopicSubscription: Hashable, Sendable {
    /// The project.
    var project: String
    /// The token or installation id.
    var registration: String
    /// The topic.
    var topic: String
    /// The time of its creation; `nil` for an answer with the name alone.
    public var created: WallTime?
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
