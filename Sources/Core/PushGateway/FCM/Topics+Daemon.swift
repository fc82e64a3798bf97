import PushModel
import PushRouter
import PushSettings

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
