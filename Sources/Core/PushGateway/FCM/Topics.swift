import PushModel
import PushRouter
import PushSettings

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

/// A change of one topic's subscriptions for many tokens at once, as clients older than the topics of FCM v1 send it.
///
/// Source: firebase-admin 6.5.0 and async-firebase 6.4.0, recorded. Google's page has the limit of 1,000 tokens.
public struct TopicBatch: Hashable, Sendable {
    /// The reason why a token was not changed. The raw values are those of the answer.
    ///
    /// Source: firebase-admin's tests, and its recording. The conditions of each are unknown (UNVERIFIED).
    public enum Failure: String, Sendable, CaseIterable {
        case notFound = "NOT_FOUND"
        case invalidArgument = "INVALID_ARGUMENT"
        case internalError = "INTERNAL"
        case tooManyTopics = "TOO_MANY_TOPICS"
        case resourceExhausted = "RESOURCE_EXHAUSTED"
        case permissionDenied = "PERMISSION_DENIED"

        /// The failure for an answer to a single subscription, by its status; `nil` for an existing subscription, which
        /// is none here.
        init?(ofStatus status: Int) {
            switch status {
            case 400: self = .invalidArgument
            case 403: self = .permissionDenied
            case 404: self = .notFound
            case 409: return nil
            case 429: self = .resourceExhausted
            default: self = .internalError
            }
        }
    }

    /// The error for a malformed body.
    ///
    /// The word, and an answer without further members, are those that firebase-admin reads (UNVERIFIED).
    public struct Fault: Error, Hashable, Sendable {
        /// The error, for people; the answer does not contain it.
        public let message: String

        /// The answer.
        public var response: GatewayResponse {
            var writer = JSONWriter()
            writer.object { $0.member("error", "InvalidArgument") }
            return GatewayResponse.googleJSON(status: GoogleStatus.invalidArgument.code, writer.bytes)
                .because("Google", "InvalidArgument", message)
        }
    }

    /// Whether the request subscribes the tokens; otherwise it unsubscribes them.
    let isAdding: Bool
    /// The topic, without the prefix `/topics/`.
    let topic: String
    /// The tokens, in the order of the request.
    public let tokens: [String]

    /// The limit of tokens in one request.
    static let tokensMax = 1000

    /// Reads the body of a request.
    init(isAdding: Bool, body: [UInt8], limits: JSONLimits = JSONLimits()) throws(Fault) {
        let root: JSONNode
        do {
            root = try JSONDocument(scanning: body, limits: limits).root
        } catch {
            throw Fault(message: error.message)
        }
        self.isAdding = isAdding
        guard let to = root["to"]?.string else { throw Fault(message: "to is missing, or not a string") }
        topic = to.hasPrefix(Self.prefix) ? String(to.dropFirst(Self.prefix.count)) : to
        guard V1Body.isTopic(topic) else { throw Fault(message: "to: \(V1Body.topicForm)") }
        guard let list = root["registration_tokens"], list.kind == .array, list.count > 0 else {
            throw Fault(message: "registration_tokens is missing, empty, or not a list")
        }
        guard list.count <= Self.tokensMax else {
            throw Fault(message: "registration_tokens has \(list.count), more than \(Self.tokensMax)")
        }
        tokens = list.elements.compactMap(\.string)
        guard tokens.count == list.count else {
            throw Fault(message: "registration_tokens has a token that is not a string")
        }
    }

    private static let prefix = "/topics/"

    /// Returns the answer.
    ///
    /// - Parameter failures: the failure of each token, in the order of the tokens; `nil` for a success.
    public func response(_ failures: [Failure?]) -> GatewayResponse {
        var writer = JSONWriter()
        writer.object {
            $0.member(
                "results",
                array: { list in
                    for failure in failures {
                        list.object { result in
                            if let failure { result.member("error", failure.rawValue) }
                        }
                    }
                })
        }
        return .googleJSON(writer.bytes)
    }
}

// The daemon stores the subscriptions: these are the lines to change or read them, and the answers made from its
// replies.

/// The daemon's reply about subscriptions.
enum TopicReply {
    /// The results, in the order of the tokens.
    case results([TopicRequest.Result])
    /// The topics of a token, and the start of the next page; `nil` for a token that nobody registered.
    case topics([(topic: String, created: WallTime?)]?, next: String?)
    /// The daemon refused, or gave no reply: the error for the sender.
    case failed(GoogleError)

    /// The error for a reply that does not fit the request.
    static let ofAnother = GoogleError(.internalError).caused(by: "the daemon's answer belongs to another request")

    init(_ line: [UInt8]?) {
        guard let line else {
            self = .failed(GoogleError(.unavailable, retryAfter: 1).caused(by: "the daemon gave no answer"))
            return
        }
        do {
            let root = try ControlReply(line: line).root
            if let results = root["results"]?.elements {
                self = .results(results.compactMap { $0.string.flatMap(TopicRequest.Result.init) })
            } else {
                let topics = root[TopicQuestion.word]?.elements.compactMap { entry in
                    entry["topic"]?.string.map { ($0, entry["created_at"]?.string.flatMap(WallTime.init(rfc3339:))) }
                }
                self = .topics(
                    root["known"]?.bool == true ? topics : nil, next: root["next"]?.string)
            }
        } catch {
            switch error {
            case .refused(let refusal): self = .failed(GoogleError(refusal))
            case .unreadable(let message): self = .failed(GoogleError(.internalError).caused(by: message))
            }
        }
    }
}

extension GoogleError {
    /// Translates a refusal of the daemon.
    init(_ refusal: ProtocolError) {
        let error =
            switch RefusalMeaning(refusal) {
            case .later(let seconds): GoogleError(.unavailable, retryAfter: seconds)
            case .gatewaysFault: GoogleError(.internalError)
            case .notAllowed: GoogleError(.permissionDenied)
            case .sendersFault: GoogleError(.invalidArgument)
            }
        self = error.caused(by: refusal.message)
    }
}

extension GatewaySettings.Unknown {
    /// The corresponding treatment in a request about topics.
    fileprivate var ofTopics: TopicRequest.Unknown {
        switch self {
        case .accept: .register
        case .unregistered: .refuse
        }
    }
}

extension TopicSubscriptionRequest {
    /// Returns the line for the daemon, with its line feed.
    func line(unknown: GatewaySettings.Unknown) throws(GoogleError) -> [UInt8] {
        func change(_ kind: TopicRequest.Kind, _ topic: String) throws(GoogleError) -> [UInt8] {
            guard let name = TopicName(project: project, topic: topic) else {
                throw GoogleError(.unseen("parent")).caused(by: "the topic is not valid")
            }
            return TopicRequest(kind: kind, topic: name, tokens: [registration], unknown: unknown.ofTopics).line
        }
        switch operation {
        case .subscribe(let topic, _): return try change(.subscribe, topic)
        case .unsubscribe(let topic, _): return try change(.unsubscribe, topic)
        case .show(let topic):
            return TopicQuestion.line(project: project, token: registration, topic: topic, limit: nil, after: nil)
        case .showAll(let limit, let page):
            return TopicQuestion.line(project: project, token: registration, topic: nil, limit: limit, after: page)
        }
    }

    /// Returns the answer for the daemon's reply.
    func answer(to line: [UInt8]?) -> GatewayResponse {
        switch (TopicReply(line), operation) {
        case (.failed(let error), _): return error.response
        case (.results(let results), .subscribe(let topic, let isNew)):
            switch results.first {
            case .exists where isNew: return TopicSubscriptionOutcome.exists.response
            case .subscribed, .exists: return TopicSubscriptionOutcome.subscribed(subscription(topic)).response
            case .tooManyTopics:
                return GoogleError(.resourceExhausted)
                    .caused(by: "a registration has at most \(TopicRequest.topicsMax) topics").response
            case .unregistered, .missing, .unsubscribed, nil: return TopicSubscriptionOutcome.missing.response
            }
        case (.results(let results), .unsubscribe(_, let allowsMissing)):
            let wasThere = results.first == .unsubscribed
            return (wasThere || allowsMissing ? TopicSubscriptionOutcome.unsubscribed : .missing).response
        case (.topics(let topics, _), .show(let topic)):
            guard let found = topics?.first else { return TopicSubscriptionOutcome.missing.response }
            return TopicSubscriptionOutcome.subscribed(subscription(topic, found.created)).response
        case (.topics(let topics, let next), .showAll):
            return TopicSubscriptionOutcome.all(
                (topics ?? []).map { subscription($0.topic, $0.created) }, next: next
            ).response
        case (.results, _), (.topics, _):
            return TopicReply.ofAnother.response
        }
    }

    private func subscription(_ topic: String, _ created: WallTime? = nil) -> TopicSubscription {
        TopicSubscription(project: project, registration: registration, topic: topic, created: created)
    }
}

extension TopicBatch {
    /// Returns the line for the daemon, with its line feed.
    ///
    /// - Parameters:
    ///   - project: the project of the account.
    ///   - failures: the demanded failure of each token, in their order; the line leaves these tokens out.
    func line(
        project: String, unknown: GatewaySettings.Unknown, without failures: [Failure?]
    ) throws(Fault) -> [UInt8] {
        guard let name = TopicName(project: project, topic: topic) else {
            throw Fault(message: "the account has no project")
        }
        let taken = zip(tokens, failures).filter { $0.1 == nil }.map(\.0)
        return TopicRequest(
            kind: isAdding ? .subscribe : .unsubscribe, topic: name, tokens: taken, unknown: unknown.ofTopics
        ).line
    }

    /// Returns the answer for the daemon's reply.
    ///
    /// - Parameter failures: the same as for ``line(project:unknown:without:)``.
    func answer(to line: [UInt8]?, injected failures: [Failure?]) -> GatewayResponse {
        switch TopicReply(line) {
        case .failed(let error): return error.response
        case .topics: return TopicReply.ofAnother.response
        case .results(let results):
            var rest = results[...]
            return response(failures.map { failure in failure ?? Failure(rest.popFirst()) })
        }
    }
}

extension TopicBatch.Failure {
    /// - Returns: `nil` for a success; unsubscribing a token without the subscription is one.
    fileprivate init?(_ result: TopicRequest.Result?) {
        switch result {
        case .subscribed, .exists, .unsubscribed, .missing: return nil
        case .unregistered: self = .notFound
        case .tooManyTopics: self = .tooManyTopics
        case nil: self = .internalError
        }
    }
}
